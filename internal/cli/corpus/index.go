package corpus

import (
	"fmt"
	"strconv"

	"quarry/internal/cli/command"
	"quarry/internal/cli/job"
)

// indexView is the part of an index that tables show.
type indexView struct {
	Segments []struct {
		Number int64    `json:"number"`
		Rows   int64    `json:"rows"`
		Live   int64    `json:"live"`
		Bytes  int64    `json:"bytes"`
		Lists  int64    `json:"lists"`
		Share  *float64 `json:"share"`
	} `json:"segments"`
	Applied  int64  `json:"applied"`
	Sequence int64  `json:"sequence"`
	State    string `json:"state"`
	Mapped   int64  `json:"mapped_bytes"`
	Heap     int64  `json:"heap_bytes"`
	Recall   []struct {
		Way     string  `json:"way"`
		Queries int64   `json:"queries"`
		Mean    float64 `json:"mean"`
	} `json:"recall"`
}

func (c *statsCmd) showIndex(e *command.Env) error {
	return command.Show(e, c.Remote, c.path()+"/index", func(v *indexView) {
		number := func(n int64) string { return strconv.FormatInt(n, 10) }
		rows := [][]string{
			{"state", v.State}, {"changes applied", fmt.Sprintf("%d of %d", v.Applied, v.Sequence)},
			{"mapped", command.Short(v.Mapped) + " bytes"}, {"in memory", command.Short(v.Heap) + " bytes"},
		}
		for _, r := range v.Recall {
			rows = append(rows, []string{"recall by " + r.Way, fmt.Sprintf("%.4f of %d queries", r.Mean, r.Queries)})
		}
		command.Fields(e, rows)
		var segments [][]string
		for _, s := range v.Segments {
			name, share := number(s.Number), ""
			if s.Number == 0 {
				name = "in memory"
			}
			if s.Share != nil {
				share = strconv.FormatFloat(*s.Share, 'g', 3, 64)
			}
			segments = append(segments, []string{name, number(s.Rows), number(s.Live), command.Short(s.Bytes), number(s.Lists), share})
		}
		if len(segments) > 0 {
			fmt.Fprintln(e.Out)
			command.Table(e.Out, []string{"SEGMENT", "ROWS", "LIVE", "BYTES", "LISTS", "SHARE"}, segments)
		}
	})
}

type rebuildIndexCmd struct {
	one
	Wait bool `help:"Wait until the new index is in use; fails if the job failed."`
}

func (rebuildIndexCmd) Help() string {
	return "Queries and changes go on meanwhile. While a rebuild waits or runs this finds the same job.\n\nExample: quarry corpus rebuild-index manuals --wait"
}

func (c *rebuildIndexCmd) Run(e *command.Env) error {
	cl, err := c.Connect()
	if err != nil {
		return err
	}
	var begun struct {
		Job string `json:"job_id"`
	}
	raw, err := cl.Call(e.Ctx, "POST", c.path()+"/rebuild_index", nil, &begun)
	switch {
	case err != nil:
		return err
	case c.Wait:
		return job.Wait(e, cl, begun.Job, c.JSON)
	case c.JSON:
		command.PrintJSON(e.Out, raw)
	default:
		fmt.Fprintf(e.Out, "rebuilding the index of corpus %s: %s\n", c.CorpusKey, begun.Job)
	}
	return nil
}
