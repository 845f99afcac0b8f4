package own

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"quarry/internal/extract"
	"quarry/internal/text/sentence"
)

// most is the number of sentences of a set that may match what is expected; more, and it says too little.
const most = 8

// Verify checks what the questions expect against the documents of the set.
func (s Set) Verify(documents map[string][]byte) error {
	all := map[string][]string{}
	for name, data := range documents {
		d, err := extract.Read(extract.Input{Name: name, Data: data})
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		all[name] = sentences(d.Sections)
	}
	var errs []error
	answerable, shared := 0, 0
	for _, q := range s.Questions {
		if q.None {
			continue
		}
		answerable++
		matches, here, shares := 0, 0, false
		for name, lines := range all {
			for _, line := range lines {
				if !q.Answers(line) {
					continue
				}
				matches++
				if name == q.Document {
					here++
					shares = shares || share(q.Question, line)
				}
			}
		}
		if here == 0 {
			errs = append(errs, fmt.Errorf("%s: no sentence of %s matches %q", q.ID, q.Document, q.Expect))
		}
		if matches > most {
			errs = append(errs, fmt.Errorf("%s: %d sentences of the set match %q", q.ID, matches, q.Expect))
		}
		if shares {
			shared++
		}
	}
	if shared*3 > answerable {
		errs = append(errs, fmt.Errorf("%d of %d questions share three words in a row with a sentence that answers", shared, answerable))
	}
	return errors.Join(errs...)
}

// sentences returns the sentences of sections and the rows of their tables.
func sentences(sections []extract.Section) (out []string) {
	for _, s := range sections {
		for _, span := range sentence.Split(s.Text) {
			out = append(out, s.Text[span.Start:span.End])
		}
		for _, t := range s.Tables {
			for _, row := range t.Rows {
				out = append(out, strings.Join(row, " "))
			}
		}
		out = append(out, sentences(s.Sections)...)
	}
	return out
}

// share reports whether two texts have three words in a row in common.
func share(a, b string) bool {
	rest := " " + strings.Join(words(b), " ") + " "
	w := words(a)
	for i := 0; i+3 <= len(w); i++ {
		if strings.Contains(rest, " "+strings.Join(w[i:i+3], " ")+" ") {
			return true
		}
	}
	return false
}

func words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(fold(text)), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}
