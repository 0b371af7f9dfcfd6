{{/* Combinations that a schema would refuse in words that nobody understands. */}}
{{- define "recalld.check" -}}
{{- $values := .Values -}}
{{- $mongodb := .Values.database.mongodb -}}
{{- $name := include "recalld.fullname" . -}}
{{- if not (regexMatch "^[a-z]([-a-z0-9]*[a-z0-9])?$" $name) -}}
{{- fail (printf "%s cannot be the name of a Service, which begins with a letter and has no dots: set fullnameOverride" $name) -}}
{{- end -}}
{{- if eq .Values.database.kind "embedded" -}}
{{- if .Values.autoscaling.enabled -}}
{{- fail "autoscaling.enabled needs database.kind=mongodb: the embedded database is for one replica" -}}
{{- end -}}
{{- if ne (int .Values.replicaCount) 1 -}}
{{- fail (printf "replicaCount is %d with database.kind=embedded, which is for one replica: set database.kind=mongodb for more" (int .Values.replicaCount)) -}}
{{- end -}}
{{- if or $mongodb.existingSecret.name $mongodb.community.enabled -}}
{{- fail "database.mongodb is set, but database.kind is embedded: set database.kind=mongodb" -}}
{{- end -}}
{{- else if and $mongodb.existingSecret.name $mongodb.community.enabled -}}
{{- fail "database.mongodb.existingSecret.name and database.mongodb.community.enabled are both set: one database, please" -}}
{{- else if $mongodb.community.enabled -}}
{{- if not $mongodb.community.passwordSecret.name -}}
{{- fail "database.mongodb.community.passwordSecret.name is missing: the secret with the password of the user recalld" -}}
{{- end -}}
{{- else if not $mongodb.existingSecret.name -}}
{{- fail "database.kind is mongodb: set database.mongodb.existingSecret.name to the secret with the connection string, or database.mongodb.community.enabled" -}}
{{- end -}}
{{- if and .Values.autoscaling.enabled (gt (int .Values.autoscaling.minReplicas) (int .Values.autoscaling.maxReplicas)) -}}
{{- fail (printf "autoscaling.minReplicas is %d, more than autoscaling.maxReplicas, which is %d" (int .Values.autoscaling.minReplicas) (int .Values.autoscaling.maxReplicas)) -}}
{{- end -}}
{{- if and .Values.autoscaling.enabled (not (dig "requests" "cpu" "" (.Values.resources | default dict))) -}}
{{- fail "autoscaling.enabled needs resources.requests.cpu, of which the load is a part" -}}
{{- end -}}
{{- if and .Values.service.externalTrafficPolicy (eq .Values.service.type "ClusterIP") -}}
{{- fail "service.externalTrafficPolicy is for service.type NodePort and LoadBalancer" -}}
{{- end -}}
{{- if and .Values.service.loadBalancerSourceRanges (ne .Values.service.type "LoadBalancer") -}}
{{- fail "service.loadBalancerSourceRanges is for service.type LoadBalancer" -}}
{{- end -}}
{{- if and .Values.ingress.enabled (not .Values.ingress.host) -}}
{{- fail "ingress.enabled needs ingress.host" -}}
{{- end -}}
{{- if and .Values.gateway.enabled (not .Values.gateway.parentRefs) -}}
{{- fail "gateway.enabled needs gateway.parentRefs: the Gateway that the routes belong to" -}}
{{- end -}}
{{- /* Pods that speak TLS are reached by TLS alone. */ -}}
{{- if .Values.tls.existingSecret -}}
{{- if .Values.gateway.enabled -}}
{{- fail "gateway.enabled with tls.existingSecret: the Gateway would speak to the pods without TLS. Leave TLS to the Gateway, or write the routes yourself, beside a BackendTLSPolicy" -}}
{{- end -}}
{{- $nginx := get .Values.ingress.annotations "nginx.ingress.kubernetes.io/backend-protocol" -}}
{{- if and .Values.ingress.enabled $nginx (not (has $nginx (list "GRPCS" "HTTPS"))) -}}
{{- fail (printf "the Ingress has nginx.ingress.kubernetes.io/backend-protocol: %s with tls.existingSecret: the pods speak TLS, make it GRPCS" $nginx) -}}
{{- end -}}
{{- $traefik := get .Values.service.annotations "traefik.ingress.kubernetes.io/service.serversscheme" -}}
{{- if and $traefik (ne $traefik "https") -}}
{{- fail (printf "the Service has traefik.ingress.kubernetes.io/service.serversscheme: %s with tls.existingSecret: the pods speak TLS, make it https" $traefik) -}}
{{- end -}}
{{- end -}}
{{- range .Values.gateway.grpc.hostnames -}}
{{- if or (not $values.gateway.hostnames) (has . $values.gateway.hostnames) -}}
{{- fail (printf "gateway.grpc.hostnames has %s, which the HTTPRoute has too: give gateway.hostnames other names" .) -}}
{{- end -}}
{{- end -}}
{{- range $part := list "serviceMonitor" "prometheusRule" "dashboard" -}}
{{- if and (get $values.metrics $part).enabled (not $values.metrics.enabled) -}}
{{- fail (printf "metrics.%s.enabled needs metrics.enabled" $part) -}}
{{- end -}}
{{- end -}}
{{- if eq (int .Values.metrics.port) 8080 -}}
{{- fail "metrics.port is 8080, on which the calls come: choose another" -}}
{{- end -}}
{{- if and .Values.plans (not (hasKey .Values.plans "free")) -}}
{{- fail "plans has no plan free, which is the plan of accounts that sign up" -}}
{{- end -}}
{{- if and .Values.plans (hasKey .Values.settings "FREE_CALLS") -}}
{{- fail "settings.FREE_CALLS is set beside plans: say it as plans.free.calls" -}}
{{- end -}}
{{- $limit := dig "limits" "memory" "" (.Values.resources | default dict) -}}
{{- $index := get .Values.settings "INDEX_MEMORY_BYTES_MAX" | default 0 | int64 -}}
{{- if and $limit (gt $index (include "recalld.bytes" $limit | int64)) -}}
{{- fail (printf "settings.INDEX_MEMORY_BYTES_MAX is %d, more than resources.limits.memory, which is %v" $index $limit) -}}
{{- end -}}
{{- $taken := keys (include "recalld.managed" . | fromYaml) .Values.settings (dict "MONGODB_URI" "") -}}
{{- range .Values.extraEnv -}}
{{- if has .name $taken -}}
{{- fail (printf "extraEnv has %s, which is set already: by settings, or by a value of its own" .name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
