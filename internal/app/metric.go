package app

import (
	"log/slog"

	"quarry/internal/httpapi"
	httpanalytics "quarry/internal/httpapi/analytics"
	"quarry/internal/metric"
	"quarry/internal/store"
	sqlmetrics "quarry/internal/store/metrics"
)

// metricServices count what happens and answer with series of it.
type metricServices struct {
	recorder *metric.Recorder
	metrics  *metric.Service
}

func newMetric(db *store.DB, log *slog.Logger) metricServices {
	rows := sqlmetrics.New(db)
	recorder := metric.NewRecorder(rows, log)
	return metricServices{recorder, metric.New(metric.NewCatalogue(metric.Traces, metric.Tokens, metric.Tools, metric.Queries), rows, recorder)}
}

// areas returns the handlers of these services.
func (m metricServices) areas() []httpapi.Area {
	return []httpapi.Area{httpanalytics.NewMetrics(m.metrics)}
}
