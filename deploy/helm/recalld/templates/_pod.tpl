{{- define "recalld.probe" -}}
httpGet:
  path: {{ .path }}
  port: {{ .port }}
  {{- if and .root.Values.tls.existingSecret (eq .port "http") }}
  scheme: HTTPS
  {{- end }}
{{- end -}}

{{/* The pod of both kinds of workload. */}}
{{- define "recalld.pod" -}}
{{- include "recalld.check" . -}}
metadata:
  # Without the chart's version, so that a new chart with the same program leaves the pods running.
  labels:
    {{- include "recalld.selector" . | nindent 4 }}
    app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
    {{- with .Values.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- if or .Values.podAnnotations .Values.plans }}
  annotations:
    {{- with .Values.plans }}
    # The file is read at the start.
    checksum/plans: {{ toJson . | sha256sum }}
    {{- end }}
    {{- with .Values.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- end }}
spec:
  serviceAccountName: {{ include "recalld.fullname" . }}
  automountServiceAccountToken: false
  # They would be variables such as RECALLD_PORT, and one too close to a setting's name stops the start.
  enableServiceLinks: false
  {{- with .Values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  securityContext:
    runAsNonRoot: true
    {{- with .Values.podSecurityContext }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile:
      type: RuntimeDefault
  # No preStop: for DRAIN_NOTICE_MS the program itself goes on serving while it says that it is not ready.
  terminationGracePeriodSeconds: {{ include "recalld.gracePeriod" . }}
  containers:
    - name: recalld
      image: {{ include "recalld.image" . | quote }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      env:
        {{- include "recalld.env" . | trim | nindent 8 }}
      ports:
        - name: http
          containerPort: 8080
        {{- if .Values.metrics.enabled }}
        - name: metrics
          containerPort: {{ .Values.metrics.port }}
        {{- end }}
      # The port listens once the database is open and the model loaded; a database that is not there ends
      # the start by itself. From then on liveness asks nothing of the database: a restart would not bring
      # it back.
      startupProbe:
        {{- include "recalld.probe" (dict "root" . "path" "/livez" "port" "http") | nindent 8 }}
        periodSeconds: 2
        timeoutSeconds: 2
        failureThreshold: {{ div (add .Values.startupSeconds 1) 2 }}
      # Where there is a port that callers do not reach, they cannot take all of its connections.
      livenessProbe:
        {{- include "recalld.probe" (dict "root" . "path" "/livez" "port" (ternary "metrics" "http" .Values.metrics.enabled)) | nindent 8 }}
        periodSeconds: 10
        timeoutSeconds: 5
        # A minute: nothing that lasts shorter is mended by a restart.
        failureThreshold: 6
      # 503 while indexes are opened, while the database is away, and from SIGTERM on.
      readinessProbe:
        {{- include "recalld.probe" (dict "root" . "path" "/readyz" "port" "http") | nindent 8 }}
        periodSeconds: 2
        # A process that is busy is not one that is away: the calls would go to others, which are as busy.
        timeoutSeconds: 5
        failureThreshold: 2
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities:
          drop: [ALL]
      {{- with .Values.resources }}
      resources:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      volumeMounts:
        - name: data
          mountPath: /data
        {{- if .Values.tls.existingSecret }}
        - name: tls
          mountPath: /tls
          readOnly: true
        {{- end }}
        {{- if .Values.plans }}
        - name: plans
          mountPath: /etc/recalld
          readOnly: true
        {{- end }}
        {{- with .Values.extraVolumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
  {{- if or .Values.tls.existingSecret .Values.plans .Values.extraVolumes (not (include "recalld.stateful" .)) }}
  volumes:
    {{- if not (include "recalld.stateful" .) }}
    - name: data
      emptyDir:
        sizeLimit: {{ include "recalld.scratchSize" . }}
    {{- end }}
    {{- with .Values.tls.existingSecret }}
    - name: tls
      secret:
        secretName: {{ . }}
        defaultMode: 0440
    {{- end }}
    {{- if .Values.plans }}
    - name: plans
      configMap:
        name: {{ include "recalld.fullname" . }}-plans
    {{- end }}
    {{- with .Values.extraVolumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- end }}
  {{- if .Values.topologySpreadConstraints }}
  topologySpreadConstraints:
    {{- toYaml .Values.topologySpreadConstraints | nindent 4 }}
  {{- else if include "recalld.replicated" . }}
  topologySpreadConstraints:
    {{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
    - maxSkew: 1
      topologyKey: {{ . }}
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "recalld.selector" $ | nindent 10 }}
      {{- if not (include "recalld.stateful" $) }}
      # Of the new pods alone: the old ones are about to go.
      matchLabelKeys: [pod-template-hash]
      {{- end }}
    {{- end }}
  {{- end }}
  {{- with .Values.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
{{- end -}}
