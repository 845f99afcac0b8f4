package trace

import (
	"cmp"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"quarry/internal/cli/command"
)

// MetricCmd is the commands about metrics.
type MetricCmd struct {
	List metricListCmd `cmd:"" help:"List the metrics that can be read."`
	Show metricShowCmd `cmd:"" help:"Show a metric over time, as a line of bars."`
}

// metrics is the path of all metrics.
const metrics = "/v2/metrics"

type metricListCmd struct {
	command.Remote
	Category []string `help:"Only metrics of this category; repeatable." placeholder:"NAME" wire:"category"`
}

func (metricListCmd) Help() string {
	return "The labels are what quarry metric show can filter by.\n\nExample: quarry metric list --category agent"
}

func (c *metricListCmd) Run(e *command.Env) error {
	type view struct {
		Metrics []struct {
			Name, Type, Unit, Description string
			Labels                        []string
		}
	}
	path := metrics
	if len(c.Category) > 0 {
		path += "?" + url.Values{"category": c.Category}.Encode()
	}
	return command.Show(e, c.Remote, path, func(v *view) {
		if len(v.Metrics) == 0 {
			fmt.Fprintln(e.Out, "no metrics; list all of them without --category")
			return
		}
		var rows [][]string
		for _, m := range v.Metrics {
			rows = append(rows, []string{m.Name, m.Type, m.Unit, strings.Join(m.Labels, ", "), m.Description})
		}
		command.Table(e.Out, []string{"NAME", "TYPE", "UNIT", "LABELS", "DESCRIPTION"}, rows)
	})
}

type metricShowCmd struct {
	command.Remote
	Metric string   `arg:"" help:"Name of the metric." wire:"metric_name"`
	Last   string   `help:"How far back, such as 90m, 24h or 7d; at most 30d." default:"24h" placeholder:"TIME"`
	Start  string   `help:"Where the span begins instead." placeholder:"RFC3339" wire:"start"`
	End    string   `help:"Where the span ends; default: now." placeholder:"RFC3339" wire:"end"`
	Label  []string `help:"Only what has this value of the label, or another one that is given; repeatable." placeholder:"LABEL=VALUE" sep:"none" wire:"labels"`
	Bins   int      `help:"At most this many bars." default:"60" placeholder:"N" wire:"max_bins"`
}

func (metricShowCmd) Help() string {
	return "Each bar is a stretch of time, the last one up to the end. Where nothing was measured there is none.\n\n" +
		"Example: quarry metric show agent.trace.duration_ms --last 7d --label agent_keys=desk"
}

func (c *metricShowCmd) Run(e *command.Env) error {
	query, end, err := c.query(time.Now())
	if err != nil {
		return err
	}
	return command.Show(e, c.Remote, metrics+"/"+command.Segment(c.Metric)+"?"+query.Encode(), func(v *series) {
		v.print(e, end)
	})
}

// query returns the parameters that the flags make, and where the span ends.
func (c *metricShowCmd) query(now time.Time) (url.Values, time.Time, error) {
	out := url.Values{"max_bins": {strconv.Itoa(c.Bins)}}
	end := now.UTC()
	if c.End != "" {
		out.Set("end", c.End)
		end, _ = time.Parse(time.RFC3339, c.End) // the service refuses what is none
	} else {
		out.Set("end", end.Format(time.RFC3339Nano))
	}
	start := c.Start
	if start == "" {
		last, err := howFar(c.Last)
		if err != nil {
			return nil, end, err
		}
		start = end.Add(-last).Format(time.RFC3339Nano)
	}
	out.Set("start", start)
	for _, label := range c.Label {
		name, value, ok := strings.Cut(label, "=")
		if !ok || name == "" || value == "" {
			return nil, end, command.Failed(command.ExitUsage, "--label takes LABEL=VALUE, such as agent_keys=desk, not %q", label)
		}
		out.Add("labels["+name+"]", value)
	}
	return out, end, nil
}

// howFar returns a length of time, which may be in days.
func howFar(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if days, ok := strings.CutSuffix(text, "d"); ok {
		var n float64
		n, err = strconv.ParseFloat(days, 64)
		d = time.Duration(n * float64(24*time.Hour))
	}
	if err != nil || d <= 0 || d > 30*24*time.Hour {
		return 0, command.Failed(command.ExitUsage, "--last must be a time such as 90m, 24h or 7d, at most 30d, not %q", text)
	}
	return d, nil
}

// series is an answer of the service.
type series struct {
	Name   string              `json:"metric_name"`
	Type   string              `json:"type"`
	Labels map[string][]string `json:"labels"`
	Bin    int64               `json:"bin_size_seconds"`
	Points []point             `json:"points"`
}

// point is a point of each type.
type point struct {
	Start       time.Time `json:"bin_start"`
	Value       float64   `json:"value"`
	Percentiles []entry   `json:"percentiles"`
	Bins        []entry   `json:"bins"`
}

type entry struct {
	Label string  `json:"label"`
	Value float64 `json:"value"`
}

// print prints the series up to a moment.
func (s *series) print(e *command.Env, end time.Time) {
	fmt.Fprintf(e.Out, "%s until %s, %s a bar%s\n", s.Name, end.UTC().Format("2006-01-02 15:04Z"), length(s.Bin), s.filter())
	if len(s.Points) == 0 {
		fmt.Fprintln(e.Out, "nothing was measured in this time")
		return
	}
	switch s.Type {
	case "percentiles":
		s.printPercentiles(e, end)
	case "distribution":
		s.printBins(e)
	default:
		values, total := make([]float64, len(s.Points)), 0.0
		for i, p := range s.Points {
			values[i], total = p.Value, total+p.Value
		}
		fmt.Fprintf(e.Out, "%s\ntotal %s, at most %s a bar\n", bars(values), number(total), number(slices.Max(values)))
	}
}

// filter returns the labels that were asked for, for people.
func (s *series) filter() string {
	var all []string
	for name, values := range s.Labels {
		all = append(all, name+" "+strings.Join(values, " or "))
	}
	if len(all) == 0 {
		return ""
	}
	slices.Sort(all)
	return command.Prose(", " + strings.Join(all, ", "))
}

// printPercentiles prints a line for each percentile. Bins without data have no bar, so bars stand below each other.
func (s *series) printPercentiles(e *command.Env, end time.Time) {
	size := time.Duration(s.Bin) * time.Second
	end = end.Add(time.Minute - 1).Truncate(time.Minute) // as the service rounds it
	place := func(p *point) int { return -int((end.Sub(p.Start) + size - 1) / size) }
	first := place(&s.Points[0])
	var rows [][]string
	for i, one := range s.Points[0].Percentiles {
		values := make([]float64, -first)
		for j := range values {
			values[j] = math.NaN()
		}
		least, most := math.Inf(1), 0.0
		for _, p := range s.Points {
			v := p.Percentiles[i].Value
			values[place(&p)-first] = v
			least, most = min(least, v), max(most, v)
		}
		rows = append(rows, []string{one.Label, bars(values), number(least), number(most)})
	}
	for i, head := range []string{"least", "most"} {
		for _, row := range rows {
			row[2+i] = head + " " + row[2+i]
		}
	}
	for _, row := range rows {
		fmt.Fprintf(e.Out, "%-4s %s  %s, %s\n", row[0], row[1], row[2], row[3])
	}
}

// printBins prints how much was in each range over the whole time.
func (s *series) printBins(e *command.Env) {
	sums := map[string]float64{}
	for _, p := range s.Points {
		for _, b := range p.Bins {
			sums[b.Label] += b.Value
		}
	}
	labels, most := []string{}, 0.0
	for label, n := range sums {
		labels, most = append(labels, label), max(most, n)
	}
	begin := func(label string) float64 {
		from, _, _ := strings.Cut(strings.TrimSuffix(label, "+"), "-")
		n, _ := strconv.ParseFloat(from, 64)
		return n
	}
	slices.SortFunc(labels, func(a, b string) int { return cmp.Compare(begin(a), begin(b)) })
	const widest = 40
	var rows [][]string
	for _, label := range labels {
		n := sums[label]
		rows = append(rows, []string{label, number(n), strings.Repeat("█", max(1, int(n/most*widest)))})
	}
	command.Table(e.Out, []string{"RANGE", "COUNT", "SHARE"}, rows)
}

// bars returns a line with a bar for each value, as high as its share of the largest one; NaN has none.
func bars(values []float64) string {
	const blocks = "▁▂▃▄▅▆▇█"
	heights := []rune(blocks)
	most := 0.0
	for _, v := range values {
		if !math.IsNaN(v) {
			most = max(most, v)
		}
	}
	var out strings.Builder
	for _, v := range values {
		switch {
		case math.IsNaN(v):
			out.WriteByte(' ')
		case most == 0:
			out.WriteRune(heights[0])
		default:
			out.WriteRune(heights[int(math.Ceil(v/most*float64(len(heights)-1)))])
		}
	}
	return out.String()
}

// number returns a value with as many digits as people read.
func number(v float64) string {
	if v == math.Trunc(v) && v < 1e15 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	digits := 1
	switch {
	case v < 1:
		digits = 3
	case v < 10:
		digits = 2
	}
	return strconv.FormatFloat(v, 'f', digits, 64)
}

// length returns seconds in their largest whole unit.
func length(seconds int64) string {
	for _, u := range []struct {
		seconds int64
		name    string
	}{{86400, "day"}, {3600, "hour"}, {60, "minute"}} {
		if seconds%u.seconds == 0 {
			return command.Count(seconds/u.seconds, u.name)
		}
	}
	return command.Count(seconds, "second")
}
