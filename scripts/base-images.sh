#!/usr/bin/env bash
# scripts/base-images.sh ENGINE STORE
#
# Makes what the Dockerfile builds on, without a registry: Debian as debootstrap makes it, and the same with
# Node and npm from npm's own packages, as localhost/recalld-base-debian and -node. Kept in STORE.
set -euo pipefail
engine=$1
store=$2
suite=trixie

case $(uname -m) in
x86_64) arch=x64 ;;
aarch64) arch=arm64 ;;
*) echo "base-images: no Node for $(uname -m)" >&2 && exit 1 ;;
esac

if ! $engine image exists localhost/recalld-base-node; then
  root=$(mktemp -d)
  trap 'rm -rf "$root"' EXIT
  debootstrap --variant=minbase "$suite" "$root" >&2
  tar -C "$root" -c . | $engine import - localhost/recalld-base-debian
  for package in "node-linux-$arch@24" npm@11; do
    folder=$root/usr/local/lib/packages/${package%@*}
    mkdir -p "$folder"
    (cd "$folder" && tar -xz --strip-components 1 -f "$(npm pack --silent "$package")" && rm ./*.tgz)
  done
  ln -s "../lib/packages/npm/bin/npm-cli.js" "$root/usr/local/bin/npm"
  ln -s "../lib/packages/npm/bin/npx-cli.js" "$root/usr/local/bin/npx"
  mv "$root/usr/local/lib/packages/node-linux-$arch/bin/node" "$root/usr/local/bin/node"
  changes=()
  # Whoever goes through a proxy with a certificate of its own does so in the build as well.
  if [ -n "${NODE_EXTRA_CA_CERTS:-}" ]; then
    cp "$NODE_EXTRA_CA_CERTS" "$root/usr/local/lib/extra-ca.crt"
    changes=(--change "ENV NODE_EXTRA_CA_CERTS=/usr/local/lib/extra-ca.crt")
  fi
  tar -C "$root" -c . | $engine import "${changes[@]}" - localhost/recalld-base-node
fi
