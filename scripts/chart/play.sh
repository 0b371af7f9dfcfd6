#!/usr/bin/env bash
# scripts/chart/play.sh 'podman …' IMAGE
#
# Runs the pod of the plain manifests by podman: it must become ready, have no rights, and end at SIGTERM within
# its grace. It listens on port 8080 of this machine. Needs catatonit, which is podman's first process of a pod.
set -euo pipefail
cd "$(dirname "$0")/../.."

engine=$1
pod=recalld-played
container=$pod-recalld
manifest=$(mktemp)
cleanup() {
  local status=$?
  [ "$status" -eq 0 ] || $engine logs "$container" || true
  $engine kube down "$manifest" >/dev/null 2>&1 || true
  $engine volume rm --force "$pod" >/dev/null 2>&1 || true
  rm -f "$manifest"
}
trap cleanup EXIT
fail() {
  echo "play: $*" >&2
  exit 1
}
inspect() { $engine inspect --format "$1" "$container"; }

node scripts/chart/pod.js "$2" >"$manifest"
$engine kube play "$manifest" >/dev/null
ready=
for _ in $(seq 300); do
  if curl --fail --silent --output /dev/null http://127.0.0.1:8080/readyz; then ready=1 && break; fi
  sleep 0.2
done
[ -n "$ready" ] || fail "it is not ready within a minute"
rights=$(inspect '{{.HostConfig.ReadonlyRootfs}} {{.Config.User}} {{.EffectiveCaps}} {{.HostConfig.SecurityOpt}}')
[ "$rights" = "true 1000:1000 [] [no-new-privileges]" ] || fail "it has other rights: $rights"
begun=$SECONDS
$engine stop -t 60 "$container" >/dev/null
[ "$(inspect '{{.State.ExitCode}}')" = 0 ] || fail "it ended with $(inspect '{{.State.ExitCode}}')"
echo "play: the pod runs, and ended with 0 after $((SECONDS - begun)) s"
