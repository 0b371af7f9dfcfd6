// Package otlptracehttp has what FerretDB needs of OpenTelemetry's exporter to compile: the tests have no collector.
package otlptracehttp

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/sdk/trace"
)

type Option struct{}

type Compression int

const NoCompression Compression = 0

func WithEndpointURL(string) Option        { return Option{} }
func WithHeaders(map[string]string) Option { return Option{} }
func WithTimeout(time.Duration) Option     { return Option{} }
func WithCompression(Compression) Option   { return Option{} }

type Exporter struct{}

func NewUnstarted(...Option) *Exporter { return &Exporter{} }

func (*Exporter) Start(context.Context) error                             { return nil }
func (*Exporter) ExportSpans(context.Context, []trace.ReadOnlySpan) error { return nil }
func (*Exporter) Shutdown(context.Context) error                          { return nil }
