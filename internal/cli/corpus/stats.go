package corpus

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"quarry/internal/cli/command"
)

type statsCmd struct {
	one
	Fields string `help:"Only these attributes, separated by commas, such as doc.year,part.kind." placeholder:"NAMES" wire:"fields"`
	Filter string `help:"Count values only where this metadata filter holds." placeholder:"FILTER" wire:"metadata_filter"`
	Values int    `help:"Values per attribute, 1 to 1000." default:"10" wire:"max_values"`
	Index  bool   `help:"Show the search index instead: its segments, what it takes, how far it has followed the changes."`
}

func (statsCmd) Help() string {
	return "Example: quarry corpus stats manuals --fields doc.year --filter \"part.lang = 'eng'\""
}

// sizeView is the answer of compute_size.
type sizeView struct {
	Docs     int64 `json:"used_docs"`
	Parts    int64 `json:"used_parts"`
	All      int64 `json:"used_characters"`
	Metadata int64 `json:"used_metadata_characters"`
}

// statView is one attribute of filter_attribute_stats; numbers keep the text that came.
type statView struct {
	Name   string `json:"name"`
	Type   string `json:"type"`
	Values []struct {
		Value json.RawMessage `json:"value"`
		Count int64           `json:"count"`
	} `json:"values"`
	Numbers *struct {
		Min, Max, Avg, Sum json.Number
	} `json:"stats"`
}

func (c *statsCmd) Run(e *command.Env) error {
	if c.Index {
		return c.showIndex(e)
	}
	cl, err := c.Connect()
	if err != nil {
		return err
	}
	var size sizeView
	rawSize, err := cl.Call(e.Ctx, "POST", c.path()+"/compute_size", nil, &size)
	if err != nil {
		return err
	}
	query := url.Values{"max_values": {strconv.Itoa(c.Values)}}
	if c.Fields != "" {
		query.Set("fields", c.Fields)
	}
	if c.Filter != "" {
		query.Set("metadata_filter", c.Filter)
	}
	var stats struct {
		All []statView `json:"filter_attribute_stats"`
	}
	rawStats, err := cl.Call(e.Ctx, "GET", c.path()+"/filter_attribute_stats?"+query.Encode(), nil, &stats)
	if err != nil {
		return err
	}
	if c.JSON {
		both := append(bytes.TrimRight(rawSize, "}\n "), ',') // two objects, neither empty, as one
		command.PrintJSON(e.Out, append(both, bytes.TrimLeft(rawStats, "{ ")...))
		return nil
	}
	showStats(e, size, stats.All)
	return nil
}

func showStats(e *command.Env, size sizeView, all []statView) {
	command.Table(e.Out, []string{"HOLDS", "COUNT"}, [][]string{
		{"documents", strconv.FormatInt(size.Docs, 10)}, {"parts", strconv.FormatInt(size.Parts, 10)},
		{"characters", strconv.FormatInt(size.All, 10)}, {"of them metadata", strconv.FormatInt(size.Metadata, 10)},
	})
	if len(all) == 0 {
		return
	}
	var rows [][]string
	for _, s := range all {
		name, kind := s.Name, s.Type
		if n := s.Numbers; n != nil {
			kind += fmt.Sprintf(" (min %s, max %s, avg %s)", n.Min, n.Max, short(n.Avg))
		}
		if len(s.Values) == 0 {
			rows = append(rows, []string{name, kind, "no values", ""})
		}
		for _, v := range s.Values {
			rows = append(rows, []string{name, kind, strings.Trim(string(v.Value), `"`), strconv.FormatInt(v.Count, 10)})
			name, kind = "", "" // said once
		}
	}
	fmt.Fprintln(e.Out)
	command.Table(e.Out, []string{"ATTRIBUTE", "TYPE", "VALUE", "COUNT"}, rows)
}

// short rounds a number for reading.
func short(n json.Number) string {
	f, err := n.Float64()
	if err != nil {
		return n.String()
	}
	return strconv.FormatFloat(f, 'g', 6, 64)
}
