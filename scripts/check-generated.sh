#!/usr/bin/env bash
# Fails when gen/ or a generated file of clients/ is not what the contract generates. Generates elsewhere: the tree is left as it is.
set -euo pipefail
cd "$(dirname "$0")/.."

fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
node_modules/.bin/buf generate -o "$fresh"
node_modules/.bin/tsx scripts/generate-openapi.ts "$fresh/gen"
if ! diff -r "$fresh/gen" gen; then
  echo "gen/ is not what proto/ generates: run \`npm run generate\` and commit the result" >&2
  exit 1
fi
node_modules/.bin/tsx scripts/generate-client.ts "$fresh/clients"
(cd "$fresh/clients" && find . -type f) | while read -r file; do
  if ! diff "$fresh/clients/$file" "clients/$file"; then
    echo "clients/${file#./} is not what proto/ generates: run \`npm run generate\`" >&2
    exit 1
  fi
done
