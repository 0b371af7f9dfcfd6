#!/usr/bin/env bash
# Gets the tools of `npm run test:faults -- foreign`, into the folder that it prints: grpcio, mcp and schemathesis
# from PyPI, MCP's own tools and Node 22 for them from npm, and h2spec and a client of connect-go and grpc-go, built
# by Go. Needs Python 3.10 or newer with venv, Go 1.26 or newer, and this repository's node_modules. What is there
# already is not fetched again.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/recalld

need() {
  command -v "$1" >/dev/null || { echo "the foreign tools need $2: there is no $1 in the PATH" >&2 && exit 1; }
}
need python3 "Python 3.10 or newer"
need go "Go 1.26 or newer"
need sha256sum "coreutils"

# A change of the contract or of a version makes another folder.
version=$(cd "$root" && find proto third_party "${here#"$root/"}" -type f \
  \( -name '*.proto' -o -name 'go.*' -o -name '*.go' -o -name 'requirements.txt' \
  -o -name '*.json' -o -name 'mcp-client.js' -o -name 'install.sh' \) |
  LC_ALL=C sort | xargs sha256sum | sha256sum | cut -c 1-16)
tools=$cache/foreign-$version
if [ -d "$tools" ]; then
  echo "$tools"
  exit
fi
mkdir -p "$cache"
scratch=$(mktemp -d "$cache/new-XXXXXX")
trap 'rm -rf "$scratch"' EXIT

# Wheels alone: nothing is run to install them.
python3 -m venv "$scratch/venv" >&2
"$scratch/venv/bin/python" -m pip install --quiet --disable-pip-version-check --only-binary :all: --no-deps \
  --requirement "$here/requirements.txt" >&2

# Its own Node, or else the one at hand.
cp -r "$here/node" "$scratch/node"
cd "$scratch/node"
npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >&2
for node in node_modules/node-*/bin/node "$(command -v node)"; do
  if [ -x "$node" ]; then
    ln -s "$node" node
    break
  fi
done

cp -r "$here/go" "$scratch/go"
cd "$scratch/go"
export GOFLAGS=-mod=readonly GOBIN="$scratch/bin"
go install tool >&2
(cd "$root" && PATH="$scratch/bin:$PATH" npx --no-install buf generate --template "$here/go/buf.gen.yaml" \
  --output "$scratch/go") >&2
go build -o "$scratch/bin/client" . >&2

mkdir "$scratch/python"
"$scratch/venv/bin/python" -m grpc_tools.protoc -I "$root/proto" -I "$root/third_party" \
  --python_out="$scratch/python" --grpc_python_out="$scratch/python" \
  recalld/v1/memory.proto recalld/v1/account.proto buf/validate/validate.proto >&2

# Moved whole, so that a run that is cut off leaves nothing half made. Programs of the environment hold its old
# path and do not run there; its Python does, and so do modules (`python -m`).
mv -T "$scratch" "$tools" 2>/dev/null || [ -d "$tools" ]
echo "$tools"
