package index

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"quarry/internal/cli/command"
	"quarry/internal/folder"
	"quarry/internal/folder/source"
)

// output shows what passes do: progress on standard error, sums on standard output, every item in the report and, with
// --json, in the answer.
type output struct {
	c      *Cmd
	e      *command.Env
	corpus string
	report *os.File

	mu    sync.Mutex
	items []folder.Item // kept for --json and --dry-run
	err   error         // of writing the report
	bar   bar
	began time.Time
}

func (c *Cmd) open(e *command.Env, corpus string) (*output, error) {
	o := &output{c: c, e: e, corpus: corpus}
	if c.Report != "" {
		f, err := os.Create(c.Report)
		if err != nil {
			return nil, command.Failed(command.ExitUsage, "--report: %v", err)
		}
		o.report = f
	}
	return o, nil
}

// start begins a pass.
func (o *output) start() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.items, o.began = nil, time.Now()
	o.bar.start(o.e.Err)
}

// each takes an outcome.
func (o *output) each(i folder.Item) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.c.JSON || o.c.DryRun {
		o.items = append(o.items, i)
	}
	o.write(i)
}

// write writes a line of the report.
func (o *output) write(v any) {
	if o.report == nil || o.err != nil {
		return
	}
	raw, err := json.Marshal(v)
	if err == nil {
		_, err = o.report.Write(append(raw, '\n'))
	}
	o.err = err
}

func (o *output) progress(p folder.Progress) { o.bar.set(p) }

// leftOut is a line of the report, and an element of the answer, for what is not read.
type leftOut struct {
	source.LeftOut
	State string `json:"state"`
}

// stop ends a pass and shows its sums, unless they are of no interest.
func (o *output) stop(r *folder.Result, show bool) error {
	o.bar.stop()
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, l := range r.LeftOut {
		o.write(leftOut{l, "left out"})
	}
	// Outcomes come in the order in which files were done; what is shown has always the same.
	slices.SortStableFunc(o.items, byID)
	slices.SortStableFunc(r.Failures, byID)
	switch {
	case o.err != nil:
		return command.Failed(command.ExitSomeFailed, "--report: %v", o.err)
	case !show:
	case o.c.JSON:
		return o.json(r)
	default:
		o.text(r)
	}
	return nil
}

func byID(a, b folder.Item) int { return strings.Compare(a.ID, b.ID) }

func (o *output) json(r *folder.Result) error {
	out := struct {
		Corpus    string           `json:"corpus"`
		DryRun    bool             `json:"dry_run"`
		New       int              `json:"new"`
		Changed   int              `json:"changed"`
		Unchanged int              `json:"unchanged"`
		Gone      int              `json:"gone"`
		Removed   int              `json:"removed"`
		Failed    int              `json:"failed"`
		Passages  int              `json:"passages"`
		Encoded   int              `json:"encoded"`
		Files     []folder.Item    `json:"files"`
		LeftOut   []source.LeftOut `json:"left_out"`
	}{
		o.corpus, o.c.DryRun, r.New, r.Changed, r.Unchanged, r.Gone + r.Removed, r.Removed, r.Failed, r.Passages, r.Encoded, o.items, r.LeftOut,
	}
	if out.Files == nil {
		out.Files = []folder.Item{}
	}
	if out.LeftOut == nil {
		out.LeftOut = []source.LeftOut{}
	}
	raw, err := json.Marshal(out)
	if err != nil {
		return err
	}
	command.PrintJSON(o.e.Out, raw)
	return nil
}

// maxFailures is how many failures the table lists; the report has all.
const maxFailures = 50

func (o *output) text(r *folder.Result) {
	if o.c.DryRun {
		o.plan()
	}
	if took := time.Since(o.began); r.Passages > 0 {
		fmt.Fprintf(o.e.Err, "%s in %s, %.0f/s\n", command.Count(int64(r.Passages), "passage"), round(took), float64(r.Passages)/took.Seconds())
	}
	fmt.Fprintf(o.e.Out, "corpus %s: %d new, %d changed, %d unchanged, %d gone, %d failed\n", o.corpus, r.New, r.Changed, r.Unchanged, r.Gone+r.Removed, r.Failed)
	for _, line := range (source.Found{LeftOut: r.LeftOut}).Summary() {
		fmt.Fprintln(o.e.Out, line)
	}
	if len(r.Failures) > 0 {
		o.failures(r.Failures)
	}
	switch {
	case o.c.DryRun:
		fmt.Fprintln(o.e.Out, "dry run: nothing was sent or removed")
	case r.Removed > 0:
		fmt.Fprintf(o.e.Out, "removed %s without a file\n", command.Count(int64(r.Removed), "document"))
	case r.Gone == 1:
		fmt.Fprintln(o.e.Out, "1 document has no file any more; --sync removes it")
	case r.Gone > 0:
		fmt.Fprintf(o.e.Out, "%d documents have no file any more; --sync removes them\n", r.Gone)
	}
}

// plan lists what a dry run would do.
func (o *output) plan() {
	var rows [][]string
	for _, i := range o.items {
		switch {
		case i.State == folder.Gone && o.c.Sync:
			rows = append(rows, []string{"remove", i.ID})
		case i.State == folder.Gone:
			rows = append(rows, []string{"gone", i.ID})
		case i.State == folder.New, i.State == folder.Changed:
			rows = append(rows, []string{string(i.State), i.ID})
		}
	}
	if len(rows) > 0 {
		command.Table(o.e.Out, []string{"WOULD", "DOCUMENT"}, rows)
	}
}

func (o *output) failures(all []folder.Item) {
	rows := make([][]string, 0, min(len(all), maxFailures))
	for _, i := range all[:min(len(all), maxFailures)] {
		place := i.Place
		if place == "" {
			place = i.ID
		}
		rows = append(rows, []string{place, i.Stage, i.Reason, i.Advice})
	}
	command.Table(o.e.Err, []string{"FILE", "STAGE", "REASON", "WHAT TO DO"}, rows)
	if more := len(all) - len(rows); more > 0 {
		fmt.Fprintf(o.e.Err, "and %d more; --report FILE.jsonl lists all\n", more)
	}
}

func round(d time.Duration) time.Duration {
	if d < 10*time.Second {
		return max(d.Round(100*time.Millisecond), 100*time.Millisecond)
	}
	return d.Round(time.Second)
}
