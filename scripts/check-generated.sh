#!/usr/bin/env bash
# Fails when gen/ or the client's contract.ts is not what the contract generates. Generates elsewhere: the tree is left as it is.
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
node_modules/.bin/tsx scripts/generate-client.ts "$fresh"
if ! diff "$fresh/contract.ts" clients/typescript/src/contract.ts; then
  echo "clients/typescript/src/contract.ts is not what proto/ generates: run \`npm run generate\`" >&2
  exit 1
fi
