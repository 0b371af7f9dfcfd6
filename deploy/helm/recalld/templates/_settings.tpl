{{/* A quantity of Kubernetes in bytes. */}}
{{- define "recalld.bytes" -}}
{{- $units := dict "" 1 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776 -}}
{{- $quantity := toString . -}}
{{- $unit := regexFind "[A-Za-z]+$" $quantity -}}
{{- mulf (trimSuffix $unit $quantity | float64) (get $units $unit | float64) | int64 -}}
{{- end -}}

{{/*
INDEX_MEMORY_BYTES_MAX that fits the memory's limit: what is left beside the process, its embedding threads
and connections of 20 KB each, halved, because a fresh index may be built beside the one it replaces.
docs/deploy.md#sizing
*/}}
{{- define "recalld.indexMemory" -}}
{{- $limit := include "recalld.bytes" .Values.resources.limits.memory | int64 -}}
{{- $threads := mul (default 1 .Values.settings.EMBED_WORKERS | int64) (include "recalld.bytes" .Values.workerMemory | int64) -}}
{{- $connections := mul 20000 (default 10000 .Values.settings.CONNECTIONS_MAX | int64) -}}
{{- $left := sub $limit (add (include "recalld.bytes" "192Mi" | int64) $threads $connections) -}}
{{- if lt $left (include "recalld.bytes" "64Mi" | int64) -}}
{{- fail (printf "resources.limits.memory is %v: too little for the process (192Mi), the embedding threads (settings.EMBED_WORKERS of workerMemory, %v), connections (settings.CONNECTIONS_MAX of 20 kB) and indexes (64Mi at least)" .Values.resources.limits.memory .Values.workerMemory) -}}
{{- end -}}
{{- div $left 2 -}}
{{- end -}}

{{/*
Room in an emptyDir, beyond which the kubelet evicts the pod at once: twice the budget of indexes, within
which the program keeps their files, and 1Gi for a model that is downloaded.
*/}}
{{- define "recalld.scratchSize" -}}
{{- $env := merge dict .Values.settings (include "recalld.managed" . | fromYaml) -}}
{{- $index := get $env "INDEX_MEMORY_BYTES_MAX" | default 2000000000 | int64 -}}
{{- $bytes := add (mul 2 $index) (include "recalld.bytes" "1Gi" | int64) -}}
{{- default (printf "%dMi" (div (add $bytes 1048575) 1048576)) .Values.scratchSizeLimit | toYaml -}}
{{- end -}}

{{/* What the chart sets by itself, which wins over nothing: values.schema.json keeps these out of `settings`. */}}
{{- define "recalld.managed" -}}
PORT: "8080"
HOST: {{ .Values.host | quote }}
DATA_DIR: /data
{{- if .Values.tls.existingSecret }}
TLS_CERT: /tls/tls.crt
TLS_KEY: /tls/tls.key
{{- end }}
{{- if .Values.plans }}
PLANS_FILE: /etc/recalld/plans.json
{{- end }}
{{- if .Values.metrics.enabled }}
METRICS_PORT: {{ .Values.metrics.port | quote }}
{{- end }}
{{- if and (dig "limits" "memory" "" (.Values.resources | default dict)) (not (hasKey .Values.settings "INDEX_MEMORY_BYTES_MAX")) }}
INDEX_MEMORY_BYTES_MAX: {{ include "recalld.indexMemory" . | quote }}
{{- end }}
{{- end -}}

{{- define "recalld.env" -}}
{{- $env := include "recalld.managed" . | fromYaml -}}
{{- range $name, $value := .Values.settings -}}
{{- /* Numbers in values are floats, which would be printed as 2e+09. */ -}}
{{- $text := ternary ($value | int64 | toString) ($value | toString) (kindIs "float64" $value) -}}
{{- /* Kubernetes puts other variables in place of $(NAME), and makes one $ of two. */ -}}
{{- $_ := set $env $name ($text | replace "$" "$$") -}}
{{- end -}}
{{- range $name, $value := $env }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- if eq .Values.database.kind "mongodb" }}
- name: MONGODB_URI
  valueFrom:
    secretKeyRef:
      {{- if .Values.database.mongodb.community.enabled }}
      name: {{ include "recalld.mongodbSecret" . }}
      key: connectionString.standard
      {{- else }}
      name: {{ .Values.database.mongodb.existingSecret.name }}
      key: {{ .Values.database.mongodb.existingSecret.key }}
      {{- end }}
{{- end }}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/*
From the signal to the end: DRAIN_NOTICE_MS, SHUTDOWN_TIMEOUT_MS, 30 s for what is written last, and some
to spare. docs/operations.md#start-and-stop
*/}}
{{- define "recalld.gracePeriod" -}}
{{- $noticeMs := dig "DRAIN_NOTICE_MS" 5000 .Values.settings | int64 -}}
{{- $callsMs := dig "SHUTDOWN_TIMEOUT_MS" 10000 .Values.settings | int64 -}}
{{- $needed := add (div (add $noticeMs $callsMs 999) 1000) 45 -}}
{{- $given := .Values.terminationGracePeriodSeconds -}}
{{- if kindIs "invalid" $given -}}
{{- $needed -}}
{{- else if lt (int64 $given) $needed -}}
{{- fail (printf "terminationGracePeriodSeconds is %d: ending may take %d (settings.DRAIN_NOTICE_MS, settings.SHUTDOWN_TIMEOUT_MS, and 45 for what is written last)" (int64 $given) $needed) -}}
{{- else -}}
{{- int64 $given -}}
{{- end -}}
{{- end -}}
