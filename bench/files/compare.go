package main

import (
	"regexp"
	"strings"
	"unicode"
)

// document is what the comparison needs of GET document.
type document struct {
	Parts []struct {
		Text     string         `json:"text"`
		Metadata map[string]any `json:"metadata"`
	} `json:"parts"`
	Tables []struct {
		Title string `json:"title"`
		Data  struct {
			Headers, Rows [][]struct {
				Text string `json:"text_value"`
			}
		} `json:"data"`
	} `json:"tables"`
}

// text returns the words of the document once: parts made of tables stand for their tables.
func (d *document) text() string {
	var b strings.Builder
	for _, p := range d.Parts {
		if _, made := p.Metadata["vectara"]; !made {
			b.WriteString(p.Text + "\n")
		}
	}
	for _, t := range d.Tables {
		b.WriteString(t.Title + "\n")
	}
	return b.String() + strings.Join(d.cells(), "\n")
}

// cells returns the texts of all cells of tables that have any.
func (d *document) cells() []string {
	var out []string
	for _, t := range d.Tables {
		for _, row := range append(t.Data.Headers, t.Data.Rows...) {
			for _, c := range row {
				out = append(out, c.Text)
			}
		}
	}
	return out
}

// markup matches what is no word of the text: targets of links, comments, tags of HTML; escapes are put back afterwards.
var markup = regexp.MustCompile(`\]\([^)]*\)|(?s:<!--.*?-->)|</?[a-zA-Z][^<>]*>`)

// fold returns Markdown without its markup.
func fold(text string) string {
	return strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&", `\_`, "_").Replace(markup.ReplaceAllString(text, " "))
}

// words returns the words of a text in lower case.
func words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// rule matches the line below the header of a table.
var rule = regexp.MustCompile(`^\|[-:| ]+\|$`)

// markdownCells returns the texts of all cells of tables in Markdown.
func markdownCells(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") || !strings.HasSuffix(line, "|") || rule.MatchString(line) || len(line) < 2 {
			continue
		}
		line = strings.ReplaceAll(line[1:len(line)-1], `\|`, "\x00")
		for cell := range strings.SplitSeq(line, "|") {
			out = append(out, strings.ReplaceAll(fold(cell), "\x00", "|"))
		}
	}
	return out
}

// recall returns the share of the words of want, counted with repetition, that are in got, and the others.
func recall(want, got []string) (float64, []string) {
	have, found := count(got), 0
	var missing []string
	for _, w := range want {
		if have[w] > 0 {
			have[w]--
			found++
		} else {
			missing = append(missing, w)
		}
	}
	if len(want) == 0 {
		return 1, nil
	}
	return float64(found) / float64(len(want)), missing
}

// f1 compares cells as multisets of their words, those without words left out; it is -1 if neither has any.
func f1(want, got []string) float64 {
	want, got = keys(want), keys(got)
	if len(want)+len(got) == 0 {
		return -1
	}
	share, _ := recall(want, got)
	both := share * float64(len(want))
	return 2 * both / float64(len(want)+len(got))
}

func keys(cells []string) []string {
	var out []string
	for _, c := range cells {
		if k := strings.Join(words(c), " "); k != "" {
			out = append(out, k)
		}
	}
	return out
}

func count(all []string) map[string]int {
	m := map[string]int{}
	for _, w := range all {
		m[w]++
	}
	return m
}
