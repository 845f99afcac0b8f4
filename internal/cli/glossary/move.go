package glossary

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"

	"quarry/internal/cli/command"
	"quarry/internal/glossary"
)

// batch is how many terms one call of the service takes.
const batch = 1000

type importCmd struct {
	one
	File string `arg:"" help:"CSV file with a term and its expansion on each line, - for standard input."`
}

func (importCmd) Help() string {
	return "A first line with term,expansion is passed over. Quotes stand around what has a comma, a quote or a line break. Terms that the glossary has " +
		"get the expansion of the file, all others stay. Nothing is sent if a line is wrong; up to 1,000 terms are sent at once.\n\n" +
		"Example: quarry glossary import plant terms.csv"
}

func (c *importCmd) Run(e *command.Env) error {
	rows, err := c.read(e)
	if err != nil {
		return err
	}
	cl, err := c.Connect()
	if err != nil {
		return err
	}
	bar := command.NewProgress(e.Err, len(rows), "terms")
	sent := 0
	for some := range slices.Chunk(rows, batch) {
		entries := make(map[string]string, len(some))
		for _, r := range some {
			entries[r.Term] = r.Expansion
		}
		if _, err := cl.Call(e.Ctx, http.MethodPost, c.entries(), map[string]any{"entries": entries}, nil); err != nil {
			bar.Done()
			if sent > 0 {
				fmt.Fprintf(e.Err, "%s up to line %d of %s are written; the others are not\n", command.Count(int64(sent), "term"), some[0].line-1, c.File)
			}
			return err
		}
		if sent += len(some); len(rows) > batch {
			bar.At(sent)
		}
	}
	bar.Done()
	if c.JSON {
		command.PrintJSON(e.Out, fmt.Appendf(nil, `{"imported":%d}`, sent))
		return nil
	}
	fmt.Fprintf(e.Out, "imported %s into glossary %s\n", command.Count(int64(sent), "term"), c.Glossary)
	return nil
}

// read reads the file.
func (c *importCmd) read(e *command.Env) ([]row, error) {
	from, what := e.In, "standard input"
	if c.File != "-" {
		f, err := os.Open(c.File)
		if err != nil {
			return nil, command.Failed(command.ExitUsage, "can't read the terms: %v", err)
		}
		defer f.Close()
		from, what = f, c.File
	}
	raw, err := io.ReadAll(from)
	if err != nil {
		return nil, command.Failed(command.ExitUsage, "can't read the terms: %v", err)
	}
	rows, err := parse(raw)
	switch {
	case err != nil:
		return nil, command.Failed(command.ExitUsage, "%s, %v", what, err)
	case len(rows) == 0:
		return nil, command.Failed(command.ExitUsage, "%s has no terms; write a line such as: HPU,hydraulic power unit", what)
	}
	return rows, nil
}

type exportCmd struct{ one }

func (exportCmd) Help() string {
	return "The terms are in order, under a line with term,expansion. quarry glossary import reads them back as they are. With --json they are a list.\n\n" +
		"Example: quarry glossary export plant > terms.csv"
}

// entry is a term as the service writes it.
type entry struct {
	Term      string `json:"term"`
	Expansion string `json:"expansion"`
}

func (c *exportCmd) Run(e *command.Env) error {
	cl, err := c.Connect()
	if err != nil {
		return err
	}
	out := bufio.NewWriter(e.Out)
	all, first := []json.RawMessage{}, true
	err = cl.Pages(e.Ctx, c.entries(), "entries", url.Values{"limit": {strconv.Itoa(batch)}}, func(items []json.RawMessage) error {
		if c.JSON {
			all = append(all, items...)
			return nil
		}
		if first {
			fmt.Fprintf(out, "%s,%s\n", termColumn, expansionColumn)
			first = false
		}
		for _, raw := range items {
			var one entry
			if err := json.Unmarshal(raw, &one); err != nil {
				return err
			}
			if err := write(out, glossary.Entry(one)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if c.JSON {
		raw, err := json.Marshal(all)
		if err != nil {
			return err
		}
		command.PrintJSON(out, raw)
	}
	return out.Flush()
}
