// Package prometheus has what FerretDB needs of Prometheus' client to compile: nobody reads its metrics.
package prometheus

import dto "github.com/prometheus/client_model/go"

type Desc struct{}

type Metric interface {
	Desc() *Desc
	Write(*dto.Metric) error
}

type Collector interface {
	Describe(chan<- *Desc)
	Collect(chan<- Metric)
}

type Registerer interface{ Register(Collector) error }

type Labels map[string]string

type ValueType int

const (
	CounterValue ValueType = iota
	GaugeValue
)

func BuildFQName(namespace, subsystem, name string) string                { return "" }
func NewDesc(name, help string, variable []string, constant Labels) *Desc { return nil }
func MustNewConstMetric(*Desc, ValueType, float64, ...string) Metric      { return nil }
func DescribeByCollect(Collector, chan<- *Desc)                           {}

type CounterOpts struct {
	Namespace, Subsystem, Name, Help string
}

type Counter struct{}

func (Counter) Inc()        {}
func (Counter) Add(float64) {}

type CounterVec struct{}

func NewCounterVec(CounterOpts, []string) *CounterVec     { return nil }
func (*CounterVec) WithLabelValues(...string) (_ Counter) { return }
func (*CounterVec) Describe(chan<- *Desc)                 {}
func (*CounterVec) Collect(chan<- Metric)                 {}

type HistogramOpts struct {
	Namespace, Subsystem, Name, Help string
	Buckets                          []float64
}

type Histogram struct{}

func (Histogram) Observe(float64) {}

type HistogramVec struct{}

func NewHistogramVec(HistogramOpts, []string) *HistogramVec   { return nil }
func (*HistogramVec) WithLabelValues(...string) (_ Histogram) { return }
func (*HistogramVec) Describe(chan<- *Desc)                   {}
func (*HistogramVec) Collect(chan<- Metric)                   {}
