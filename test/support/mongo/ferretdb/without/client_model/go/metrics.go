// Package io_prometheus_client has what FerretDB needs of Prometheus' messages to compile: nobody reads its metrics.
package io_prometheus_client

type Label struct{}

func (*Label) GetName() string  { return "" }
func (*Label) GetValue() string { return "" }

type Counter struct{}

func (*Counter) GetValue() float64 { return 0 }

type Metric struct{}

func (*Metric) GetLabel() []*Label   { return nil }
func (*Metric) GetCounter() *Counter { return nil }
