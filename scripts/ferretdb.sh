#!/usr/bin/env bash
# Builds FerretDB 1 on SQLite, a stand-in for MongoDB, and prints the path of the program. What is built already
# is not built again.
set -euo pipefail
cd "$(dirname "$0")/../test/support/mongo/ferretdb"

cache=${XDG_CACHE_HOME:-$HOME/.cache}/recalld
program=$cache/ferretdb-$(find . -type f | LC_ALL=C sort | xargs cat | git hash-object --stdin)
if [ ! -x "$program" ]; then
  mkdir -p "$cache"
  go=$(../../../../scripts/find-go.sh)
  # The compiler collects less garbage, inlines nothing and writes nothing for debuggers: two
  # fifths less time. The conformance suite is built with the same flags, so that Go's own packages are compiled once.
  GOGC=400 GOFLAGS='' CGO_ENABLED=0 "$go" build -tags ferretdb_no_postgresql -gcflags=all='-l -dwarf=false' \
    -ldflags='-s -w' -o "$program.$$" . >&2 &
  trap 'kill $!' TERM
  wait $!
  mv "$program.$$" "$program"
fi
echo "$program"
