package query

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"quarry/internal/cli/command"
)

// planStep is what a search did in one segment of an index.
type planStep struct {
	CorpusKey string `json:"corpus_key"`
	Segment   int64  `json:"segment"`
	Rows      int64  `json:"rows"`
	Passing   int64  `json:"passing"`
	Way       string `json:"way"`
	Lists     int64  `json:"lists_read"`
	Codes     int64  `json:"codes"`
	Settled   int64  `json:"settled"`
	Postings  int64  `json:"postings"`
	Skipped   int64  `json:"skipped_blocks"`
}

// printPlan prints how each segment was searched; its columns are the members of the answer.
func (c *Cmd) printPlan(w io.Writer, plan []planStep) {
	if len(plan) == 0 {
		return
	}
	header := []string{"SEGMENT", "ROWS", "PASSING", "WAY", "LISTS_READ", "CODES", "SETTLED", "POSTINGS", "SKIPPED_BLOCKS"}
	several := strings.Contains(c.CorpusKey, ",")
	if several {
		header = append([]string{"CORPUS"}, header...)
	}
	var rows [][]string
	for _, s := range plan {
		name := "in memory"
		if s.Segment > 0 {
			name = strconv.FormatInt(s.Segment, 10)
		}
		way := s.Way
		if way == "" {
			way = "-" // words alone
		}
		row := []string{name, fmt.Sprint(s.Rows), fmt.Sprint(s.Passing), way}
		for _, n := range []int64{s.Lists, s.Codes, s.Settled, s.Postings, s.Skipped} {
			row = append(row, strconv.FormatInt(n, 10))
		}
		if several {
			row = append([]string{s.CorpusKey}, row...)
		}
		rows = append(rows, row)
	}
	fmt.Fprintln(w)
	command.Table(w, header, rows)
}
