module github.com/prometheus/client_golang

go 1.24

require github.com/prometheus/client_model v0.6.2
