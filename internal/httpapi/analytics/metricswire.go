package analytics

import (
	"time"

	"quarry/internal/metric"
)

// metricsBody is ListMetricsResponse.
type metricsBody struct {
	Metrics []descriptorBody `json:"metrics"`
}

// descriptorBody is MetricDescriptor.
type descriptorBody struct {
	Name        string      `json:"name"`
	Type        string      `json:"type"`
	Category    string      `json:"category"`
	DisplayName string      `json:"display_name"`
	Description string      `json:"description"`
	Unit        string      `json:"unit,omitempty"`
	Labels      []string    `json:"labels"`
	Percentiles []entryBody `json:"percentiles,omitempty"`
	Bins        []binBody   `json:"bins,omitempty"`
}

// entryBody is PercentileEntry, and a bin of DistributionMetricPoint.
type entryBody struct {
	Label string  `json:"label"`
	Value float64 `json:"value"`
}

// binBody is DistributionBinDescriptor.
type binBody struct {
	Label string   `json:"label"`
	Min   float64  `json:"range_min"`
	Max   *float64 `json:"range_max,omitempty"`
}

// seriesBody is MetricSeries.
type seriesBody struct {
	Name   string              `json:"metric_name"`
	Type   string              `json:"type"`
	Labels map[string][]string `json:"labels"`
	Bin    int64               `json:"bin_size_seconds"`
	Points []pointBody         `json:"points"`
}

// pointBody is a point of each type of series.
type pointBody struct {
	Start       time.Time   `json:"bin_start"`
	Value       *uint64     `json:"value,omitempty"`
	Percentiles []entryBody `json:"percentiles,omitempty"`
	Bins        []entryBody `json:"bins,omitempty"`
}

func wireDescriptor(d *metric.Descriptor) descriptorBody {
	out := descriptorBody{
		Name: d.Name, Type: string(d.Type), Category: d.Category, DisplayName: d.DisplayName, Description: d.Description, Unit: d.Unit, Labels: d.Labels,
	}
	for _, p := range d.Percentiles {
		out.Percentiles = append(out.Percentiles, entryBody{p.Label, p.Rank})
	}
	for _, b := range d.Bins {
		out.Bins = append(out.Bins, binBody(b))
	}
	return out
}

// wireSeries maps a series to what clients see; labels are those that were asked for.
func wireSeries(s metric.Series, labels map[string][]string) seriesBody {
	out := seriesBody{
		Name: s.Metric.Name, Type: string(s.Metric.Type), Labels: labels, Bin: int64(s.Bin / time.Second), Points: make([]pointBody, len(s.Points)),
	}
	for i, p := range s.Points {
		point := pointBody{Start: p.Start}
		switch s.Metric.Type {
		case metric.Counter:
			point.Value = &p.Value
		case metric.Percentiles:
			for j, v := range p.Percentiles {
				point.Percentiles = append(point.Percentiles, entryBody{s.Metric.Percentiles[j].Label, v})
			}
		case metric.Distribution:
			for j, n := range p.Counts {
				if n > 0 {
					point.Bins = append(point.Bins, entryBody{s.Metric.Bins[j].Label, float64(n)})
				}
			}
		}
		out.Points[i] = point
	}
	return out
}
