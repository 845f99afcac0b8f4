// Package ledger keeps account of the contract: which operations are built,
// which scenarios call them and which statuses those scenarios saw. It writes
// docs/reference/operations.md and names the built operations whose success
// or documented refusals no scenario has shown. It runs no scenario itself and
// knows nothing of HTTP; the scenario runner calls it with what it saw.
package ledger

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"quarry/internal/api"
)

// Evidence is one call of an operation by a scenario, and its answer.
type Evidence struct {
	Operation string `json:"operation"`
	Scenario  string `json:"scenario"` // file, relative to the folder of scenarios
	Status    int    `json:"status"`
}

// ReadEvidence reads a JSON array of Evidence.
func ReadEvidence(r io.Reader) ([]Evidence, error) {
	dec := json.NewDecoder(r)
	dec.DisallowUnknownFields()
	var seen []Evidence
	if err := dec.Decode(&seen); err != nil {
		return nil, fmt.Errorf("read evidence: %w", err)
	}
	return seen, nil
}

// Ledger is the account of all operations of the contract. It is not changed
// after New and safe for concurrent use.
type Ledger struct {
	built map[string]bool
	// seen is operation → scenario → statuses.
	seen map[string]map[string]map[int]bool
}

// New returns the account of the ids of the built operations and what the
// scenarios saw. An id that the contract does not have is an error.
func New(built []string, evidence []Evidence) (*Ledger, error) {
	l := &Ledger{built: map[string]bool{}, seen: map[string]map[string]map[int]bool{}}
	for _, id := range built {
		if api.OperationByID(id) == nil {
			return nil, fmt.Errorf("built operation %q is not in the contract", id)
		}
		l.built[id] = true
	}
	for _, e := range evidence {
		if api.OperationByID(e.Operation) == nil {
			return nil, fmt.Errorf("scenario %s calls %q, which is not in the contract", e.Scenario, e.Operation)
		}
		if l.seen[e.Operation] == nil {
			l.seen[e.Operation] = map[string]map[int]bool{}
		}
		if l.seen[e.Operation][e.Scenario] == nil {
			l.seen[e.Operation][e.Scenario] = map[int]bool{}
		}
		l.seen[e.Operation][e.Scenario][e.Status] = true
	}
	return l, nil
}

// A Gap is a status of a built operation that no scenario has seen.
type Gap struct {
	Operation string
	Status    int
}

func (g Gap) String() string {
	return fmt.Sprintf("%s: no scenario sees %d", g.Operation, g.Status)
}

// Missing lists the gaps in contract order: for each built operation its
// success status and each 4xx that the contract lists, except those that the
// contract marks as never sent by this server.
func (l *Ledger) Missing() []Gap {
	var gaps []Gap
	for _, op := range api.Operations {
		for _, status := range l.open(&op) {
			gaps = append(gaps, Gap{op.ID, status})
		}
	}
	return gaps
}

// open lists the statuses of op that a scenario has yet to show.
func (l *Ledger) open(op *api.Operation) []int {
	if !l.built[op.ID] {
		return nil
	}
	var open []int
	for _, status := range op.Statuses {
		wanted := status == op.Success || status >= 400 && status < 500 && op.NotSent[status] == ""
		if wanted && !l.saw(op.ID, status) {
			open = append(open, status)
		}
	}
	return open
}

func (l *Ledger) saw(id string, status int) bool {
	for _, statuses := range l.seen[id] {
		if statuses[status] {
			return true
		}
	}
	return false
}

// Markdown is the text of docs/reference/operations.md.
func (l *Ledger) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "<!-- Written by `make ledger`; do not edit. -->\n\n# Operations\n\n"+
		"%d of the %d operations of the contract are built; the others answer 501.\n"+
		"Beside each scenario stand the statuses that it saw.\n", len(l.built), len(api.Operations))
	for _, tag := range tags() {
		fmt.Fprintf(&b, "\n## %s\n\n| Operation | Route | State | What it does | Scenarios |\n|---|---|---|---|---|\n", tag)
		for _, op := range api.Operations {
			if op.Tag == tag {
				l.row(&b, &op)
			}
		}
	}
	return b.String()
}

// tags lists the areas in contract order.
func tags() []string {
	var all []string
	for _, op := range api.Operations {
		if !slices.Contains(all, op.Tag) {
			all = append(all, op.Tag)
		}
	}
	return all
}

func (l *Ledger) row(b *strings.Builder, op *api.Operation) {
	state := "501"
	if l.built[op.ID] {
		state = "built"
	}
	var cells []string
	for _, scenario := range slices.Sorted(maps.Keys(l.seen[op.ID])) {
		cells = append(cells, fmt.Sprintf("`%s` %s", scenario, numbers(slices.Sorted(maps.Keys(l.seen[op.ID][scenario])))))
	}
	if open := l.open(op); len(open) > 0 {
		cells = append(cells, "**not seen: "+numbers(open)+"**")
	}
	for _, status := range slices.Sorted(maps.Keys(op.NotSent)) {
		if l.built[op.ID] {
			cells = append(cells, fmt.Sprintf("never %d: %s", status, op.NotSent[status]))
		}
	}
	fmt.Fprintf(b, "| %s | `%s %s` | %s | %s | %s |\n", op.ID, op.Method, op.Path, state, op.Summary, strings.Join(cells, "<br>"))
}

func numbers(all []int) string {
	texts := make([]string, len(all))
	for i, n := range all {
		texts[i] = strconv.Itoa(n)
	}
	return strings.Join(texts, ", ")
}
