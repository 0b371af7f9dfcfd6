#!/usr/bin/env bash
# scripts/check-image.sh [--without-registry]
#
# Builds the image and puts it to the test as a cluster would run it: as its own user, on a root file system
# that is read-only, without capabilities, within 512 MB. It must answer, end at SIGTERM, and find again what
# it stored. ENGINE says with what; docker if not set. podman runs the pod of deploy/kubernetes as well.
#
# With --without-registry the bases come from Debian's and npm's packages in place of a registry, and podman
# runs it, also inside a sandbox. That needs root, podman, crun, catatonit and debootstrap.
set -euo pipefail
cd "$(dirname "$0")/.."

engine=${ENGINE:-docker}
build_options=()
run_options=()
if [ "${1:-}" = --without-registry ]; then
  # crun takes no mixture of both versions of cgroups; in a mount namespace of its own the second can go.
  [ "${CHECK_IMAGE_UNSHARED:-}" = 1 ] || CHECK_IMAGE_UNSHARED=1 exec unshare --mount "$0" "$@"
  if mountpoint -q /sys/fs/cgroup/unified; then umount /sys/fs/cgroup/unified; fi
  store=${IMAGE_STORE:-/var/tmp/recalld-image-store}
  engine="podman --root $store/images --runroot $store/run --cgroup-manager cgroupfs --events-backend file"
  engine+=" --runtime crun"
  scripts/base-images.sh "$engine" "$store"
  build_options=(--layers=false --isolation chroot --network host --format docker
    --build-arg NODE_IMAGE=localhost/recalld-base-node --build-arg DEBIAN_IMAGE=localhost/recalld-base-debian)
  # podman's own would be more than a sandbox may ask for; a pod's containers take theirs from a file.
  limits=("nofile=$(ulimit -Sn):$(ulimit -Hn)" nproc=4096:4096)
  run_options=(--health-interval disable --ulimit "${limits[0]}" --ulimit "${limits[1]}")
  export CONTAINERS_CONF=$store/containers.conf
  printf '[containers]\ndefault_ulimits = ["%s", "%s"]\n' "${limits[@]}" >"$CONTAINERS_CONF"
fi

name=recalld-check-$$
port=${PORT:-18480}
url=http://127.0.0.1:$port
json='Content-Type: application/json'
cleanup() {
  local status=$?
  [ "$status" -eq 0 ] || $engine logs "$name" || true
  $engine rm --force "$name" >/dev/null 2>&1 || true
  $engine volume rm "$name" >/dev/null 2>&1 || true
}
trap cleanup EXIT
fail() {
  echo "check-image: $*" >&2
  exit 1
}
call() { curl --fail --silent --show-error --max-time 30 "$url$1" --header "$json" "${@:2}"; }
hardened=(--read-only --cap-drop all --security-opt no-new-privileges --memory 512m --network host
  --volume "$name:/data" --env HOST=127.0.0.1 --env "PORT=$port" --env EMBED_WORKERS=1)

until_ready() {
  for _ in $(seq 300); do
    if curl --fail --silent --output /dev/null "$url/readyz"; then return; fi
    [ "$($engine inspect --format '{{.State.Running}}' "$name")" = true ] || fail "it has ended"
    sleep 0.2
  done
  fail "it is not ready within a minute"
}

until_healthy() {
  for _ in $(seq 60); do
    [ "$($engine inspect --format '{{.State.Health.Status}}' "$name")" != healthy ] || return 0
    sleep 0.5
  done
  fail "HEALTHCHECK does not find it well"
}

recall() {
  call /recall --header "Authorization: Bearer $key" \
    --data '{"namespace": "check", "query": "Where does the cat sleep?"}' |
    grep --quiet 'The cat sleeps on the sofa' || fail "what was stored is not recalled"
}

stop() {
  local begun=$SECONDS code
  $engine stop -t 60 "$name" >/dev/null
  code=$($engine inspect --format '{{.State.ExitCode}}' "$name")
  [ "$code" = 0 ] || fail "it ended with $code"
  echo "ended with 0 after $((SECONDS - begun)) s"
}

$engine build "${build_options[@]}" --build-arg "REVISION=$(git rev-parse HEAD)" --tag recalld .
$engine image inspect --format '{{.Size}}' recalld | awk '{ printf "image: %.0f MB\n", $1 / 1e6 }'

$engine run --detach --name "$name" "${hardened[@]}" "${run_options[@]}" recalld >/dev/null
until_ready
[ "$($engine exec "$name" node -p 'process.getuid()')" = 1000 ] || fail "it does not run as its own user"
if $engine exec "$name" touch /app/planted 2>/dev/null; then fail "its root file system can be written"; fi
$engine exec "$name" node health.js || fail "health.js finds it ill"
# Docker asks HEALTHCHECK by itself; podman would need systemd for that.
if [ "$engine" = docker ]; then until_healthy; else $engine healthcheck run "$name"; fi
if $engine exec --env PORT=1 "$name" node health.js; then fail "health.js finds well what is not there"; fi
if $engine exec "$name" sh -c 'command -v npm'; then fail "npm is in the image"; fi
key=$(call /signup --data '{}' | grep --only-matching 'rcl_[0-9A-Za-z]*')
call /store --header "Authorization: Bearer $key" --output /dev/null \
  --data '{"namespace": "check", "text": "The cat sleeps on the sofa."}'
recall
$engine exec "$name" sh -c 'grep VmHWM /proc/1/status'
stop
$engine start "$name" >/dev/null
until_ready
recall
stop
$engine run --rm "${hardened[@]}" "${run_options[@]}" recalld recalld-admin verify
if [ "$engine" != docker ]; then scripts/chart/play.sh "$engine" localhost/recalld:latest; fi
echo "check-image: all is well"
