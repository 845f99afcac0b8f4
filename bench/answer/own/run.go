package own

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"quarry/internal/llm"
)

// Options are what a run is told.
type Options struct {
	Vectors string // folder of the vector cache, empty for none
	Show    bool   // print each question of the seen half
}

// verdict is what became of a question.
type verdict int

const (
	good     verdict = iota // the first sentence printed has the answer
	partly                  // a later one has it
	bad                     // none has it
	refused                 // the answer says that there is none
	answered                // there is none, and yet something was said
)

var verdicts = [...]string{"good", "partly", "bad", "refused", "answered"}

// tally counts the questions of a half.
type tally struct {
	with    [bad + 2]float64 // questions with an answer, by verdict up to refused
	refused float64          // of those without an answer
	none    float64
	heading float64 // questions whose first hit is the heading of a section with text
}

// Run asks the questions of all sets and prints a table with a row for each half of each set and of all.
func Run(ctx context.Context, o Options) error {
	var rows []string
	var all [2]tally
	if err := eachSet(ctx, o.Vectors, func(s *service, set Set) error {
		halves, err := s.measure(ctx, set, o.Show)
		for i := range halves {
			rows = append(rows, halves[i].row(set.Name, i))
			all[i].add(halves[i])
		}
		return err
	}); err != nil {
		return err
	}
	fmt.Println("| set | half | with an answer | good | partly | bad | refused wrongly | without | refused | answered | first hit a heading with text |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|---|")
	for i := range all {
		rows = append(rows, all[i].row("all", i))
	}
	fmt.Println(strings.Join(rows, "\n"))
	return nil
}

// measure asks the questions of a set and returns the tallies of the seen and the unseen half.
func (s *service) measure(ctx context.Context, set Set, show bool) (halves [2]tally, err error) {
	for _, q := range set.Questions {
		r, err := s.ask(ctx, set.Name, q.Question)
		if err != nil {
			return halves, fmt.Errorf("%s: %w", q.ID, err)
		}
		heading := false
		if len(r.SearchResults) > 0 {
			if heading, err = s.heads(ctx, set.Name, r.SearchResults[0]); err != nil {
				return halves, err
			}
		}
		v := judge(q, r.Summary)
		half := 0
		if q.Unseen() {
			half = 1
		}
		halves[half].count(q, v, heading)
		if show && half == 0 {
			fmt.Printf("%s %s (%s): %s\n  expected: %s\n  answered: %s\n", q.ID, verdicts[v], q.Kind, q.Question, expected(q), fold(r.Summary))
			if heading {
				fmt.Printf("  first hit is the heading: %s\n", fold(r.SearchResults[0].Text))
			}
		}
	}
	return halves, nil
}

func expected(q Question) string {
	if q.None {
		return "nothing"
	}
	return q.Expect
}

// cited is the mark behind each piece that an answer quotes.
var cited = regexp.MustCompile(`\s*\[\d+\]`)

// judge returns what an answer is worth.
func judge(q Question, answer string) verdict {
	switch {
	case llm.IsNoAnswer(answer):
		return refused
	case q.None:
		return answered
	}
	for i, sentence := range cited.Split(answer, -1) {
		if q.Answers(sentence) {
			return min(verdict(i), partly)
		}
	}
	return bad
}

func (t *tally) count(q Question, v verdict, heading bool) {
	if heading {
		t.heading++
	}
	if !q.None {
		t.with[v]++
		return
	}
	t.none++
	if v == refused {
		t.refused++
	}
}

func (t *tally) add(o tally) {
	for i := range t.with {
		t.with[i] += o.with[i]
	}
	t.refused, t.none, t.heading = t.refused+o.refused, t.none+o.none, t.heading+o.heading
}

func (t *tally) row(name string, half int) string {
	n := t.with[good] + t.with[partly] + t.with[bad] + t.with[refused]
	of := func(x float64) string { return fmt.Sprintf("%.0f (%.2f)", x, x/max(1, n)) }
	none := func(x float64) string { return fmt.Sprintf("%.0f (%.2f)", x, x/max(1, t.none)) }
	return fmt.Sprintf("| %s | %s | %.0f | %s | %s | %s | %s | %.0f | %s | %s | %.0f (%.2f) |", name, [...]string{"seen", "unseen"}[half], n,
		of(t.with[good]), of(t.with[partly]), of(t.with[bad]), of(t.with[refused]), t.none, none(t.refused), none(t.none-t.refused), t.heading, t.heading/max(1, n+t.none))
}
