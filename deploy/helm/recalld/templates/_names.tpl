{{- define "recalld.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{/* 52 at most: a StatefulSet adds up to 11 for its revision, and the longest suffix here is shorter. */}}
{{- define "recalld.fullname" -}}
{{- $name := include "recalld.name" . -}}
{{- $full := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) -}}
{{- default $full .Values.fullnameOverride | trunc 52 | trimSuffix "-" -}}
{{- end -}}

{{- define "recalld.selector" -}}
app.kubernetes.io/name: {{ include "recalld.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{/* Of the pod of helm test: not those of the service, which would send calls there. */}}
{{- define "recalld.testSelector" -}}
app.kubernetes.io/name: {{ include "recalld.name" . | trunc 58 | trimSuffix "-" }}-test
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "recalld.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{ include "recalld.selector" . }}
{{- end -}}

{{- define "recalld.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ default $.Chart.AppVersion .tag }}
{{- end -}}
{{- end -}}
{{- end -}}

{{/*
The resource that the MongoDB Community Operator is asked for, and the secret it answers with. The operator makes a
StatefulSet of the same name.
*/}}
{{- define "recalld.mongodb" -}}
{{ include "recalld.fullname" . | trunc 44 | trimSuffix "-" }}-mongodb
{{- end -}}

{{- define "recalld.mongodbSecret" -}}
{{ include "recalld.mongodb" . }}-connection
{{- end -}}

{{/* StatefulSets keep the volume of each pod. */}}
{{- define "recalld.stateful" -}}
{{- if or (eq .Values.database.kind "embedded") .Values.persistence.enabled -}}true{{- end -}}
{{- end -}}

{{- define "recalld.replicated" -}}
{{- if or .Values.autoscaling.enabled (gt (int .Values.replicaCount) 1) -}}true{{- end -}}
{{- end -}}
