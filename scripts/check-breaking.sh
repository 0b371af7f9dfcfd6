#!/usr/bin/env bash
# Fails when the contract breaks a client of the last commit on main.
set -euo pipefail
cd "$(dirname "$0")/.."

skip() {
  echo "buf breaking: skipped, $1"
  exit 0
}

# A CI job may run as another user than the one who owns the checkout.
own_git() { git -c safe.directory="$PWD" "$@"; }

# Prints the newest commit of main that this one builds upon; on main itself that is the one before.
find_base() {
  local head candidate commit
  head=$(own_git rev-parse HEAD)
  for candidate in origin/main main HEAD~1; do
    commit=$(own_git merge-base HEAD "$candidate" 2>/dev/null) || continue
    if [ "$commit" != "$head" ]; then
      echo "$commit"
      return
    fi
  done
}

command -v git >/dev/null || skip "git is not installed"
own_git rev-parse --verify --quiet HEAD >/dev/null || skip "this is not a git checkout with a commit"
base=$(find_base)
[ -n "$base" ] || skip "this is the first commit, or a shallow clone"
own_git cat-file -e "$base:proto" 2>/dev/null || skip "there is no proto/ in $base"

# The files themselves: unlike buf's own `.git#branch=main`, this works in shallow clones and worktrees.
before=$(mktemp -d)
trap 'rm -rf "$before"' EXIT
own_git archive "$base" buf.yaml proto third_party | tar -x -C "$before"
node_modules/.bin/buf breaking --against "$before"
echo "buf breaking: nothing breaks against $base"
