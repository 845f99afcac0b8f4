package passage

import (
	"cmp"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"quarry/internal/llm"
)

// reader goes through one passage.
type reader struct {
	*cutter
	passage  int
	evidence *llm.Evidence
	text     string

	before    string // the last sentence
	from, end int    // where that is in text; end 0 is before the text
	terms     []term // what the next piece may belong to, innermost last
	rest      bool   // the label of the paragraph before has got its paragraph
}

// term is what pieces below it belong to: a paragraph that is a label, or an item of a list.
type term struct {
	level int // 0 of headings, 1 of labels, 2 and more of items by their indentation
	text  string
}

// above returns the terms that stand above the passage: its innermost heading, or the label before it.
func (r *reader) above() []term {
	var out []term
	if h := r.evidence.Headings; len(h) > 0 && len(h[len(h)-1]) <= longest {
		out = append(out, term{0, h[len(h)-1]})
	}
	before := r.item(r.before)
	beside := bullet.MatchString(strings.TrimSpace(r.text)) && len(before) < len(r.before) // two items of a list
	if before != "" && len(before) <= longest && r.names(before) && (!beside || named(before) || strings.HasSuffix(before, ":")) {
		out = append(out, term{1, strings.TrimRight(before, ": ")})
	}
	if id := cmp.Or(option(before), key(before)); id != "" && len(before) < len(r.before) && !bullet.MatchString(strings.TrimSpace(r.text)) && r.valued() {
		out = append(out, term{1, id})
	}
	return out
}

// valued reports whether the passage is the value of what was named before it.
func (r *reader) valued() bool {
	text := strings.TrimSpace(r.text)
	return !strings.Contains(text, "\n\n") && (r.words.sets(text) || key(text) != "" && !few(text, 0) && few(text, fewInLabel))
}

// names reports whether a text is a label, which is a term of what follows. A short sentence is none.
func (r *reader) names(text string) bool {
	if strings.HasSuffix(text, ":") {
		return r.kind(text, "") == Label
	}
	return !ends(text) && key(text) == "" && r.kind(text, "") == Label && !looksLikeCode(text)
}

// bullet matches the sign of a list item, which is not part of its text.
var bullet = regexp.MustCompile(`^(?:[-*+•◦▪·–—]\s+)+|^o\s+`)

func trimBullet(text string) string { return bullet.ReplaceAllString(strings.TrimSpace(text), "") }

// counted matches the number of an item of a list in front of its text.
var counted = regexp.MustCompile(`^\(?\d{1,3}[.)]\s+(?:\pL|["“(\x60])`)

// item returns a text without the sign or the number of a list item. In languages with ordinals such as "3. Oktober" numbers stay.
func (c *cutter) item(text string) string {
	text = trimBullet(text)
	if m := counted.FindString(text); m != "" && c.words.counts {
		_, size := utf8.DecodeLastRuneInString(m)
		text = text[len(m)-size:]
	}
	return text
}

// keyed matches a value behind its name.
var keyed = regexp.MustCompile(`^(\S[^:;.!?\n]{0,58}?)(?:: +| +[–—] +)\S`)

// dashed matches a word and what it is, as manual pages begin.
var dashed = regexp.MustCompile(`^([\w.@+-]+(?:, [\w.@+-]+)*) +[-\x{2010}] +\pL`)

// key returns the name in front of a value, of five words at most; "" for none.
func key(text string) string {
	m := keyed.FindStringSubmatch(text)
	if m == nil {
		m = dashed.FindStringSubmatch(text)
	}
	if m == nil || len(strings.Fields(m[1])) > 5 || !balanced(m[1]) {
		return ""
	}
	return strings.TrimSpace(m[1])
}

// sentence adds the piece text[start:end].
func (r *reader) sentence(start, end int) {
	raw := r.text[start:end]
	text, marked := withoutMarks(raw)
	item := r.item(text)
	fresh := strings.Contains(r.text[r.end:start], "\n\n") || r.end == 0 // a paragraph begins
	listed := len(item) < len(text)
	if !says(item) {
		return
	}
	r.leave(start, fresh, listed)
	p := Piece{Text: item, Passage: r.passage, Lead: -1, Before: r.before, Kind: r.kind(item, r.term())}
	if marked || len(item) > longest {
		p.Kind = Fragment
	}
	name := key(item)
	if id := option(item); listed && id != "" {
		name = id
	}
	first := r.end == 0 && r.before == ""
	if p.Kind == Label && !strings.HasSuffix(item, ":") && (first && named(r.term()) && !few(item, 1) || credits.MatchString(r.term())) {
		p.Kind = Item // the explanation of a term
	}
	if p.Kind == Prose && (listed || name != "" || row(item)) {
		p.Kind = Item
	}
	p.Term = r.term()
	p.Named = named(p.Term)
	at := start + strings.Index(raw, item)
	r.settle(&p, at)
	r.enter(&p, start, name, fresh, listed)
	r.before, r.from, r.end = item, at, end
	r.add(p)
}

// settle sets what a piece needs in front of it.
func (r *reader) settle(p *Piece, at int) {
	before := r.item(p.Before)
	known := before != "" && before != r.evidence.Title && !r.names(before) // a label is the term of what follows
	joined := p.Before + " " + p.Text
	switch {
	case p.Kind == Label && known && ends(p.Text):
		p.Kind, p.Leans = Prose, true
	case p.Kind <= Item && !balanced(p.Text):
		if p.Leans = known && balanced(joined); !p.Leans {
			p.Kind = Fragment
		}
	case p.Kind == Prose && known:
		p.Leans = r.words.leans(p.Text) || few(p.Text, fewest-1) || !p.Named && r.words.sets(p.Text)
	}
	if p.Leans && !balanced(joined) {
		p.Kind = Fragment
	}
	if p.Leans && r.end > 0 {
		if wide := r.text[r.from : at+len(p.Text)]; len(wide) <= longest && !marks.MatchString(wide) {
			p.Wide = wide
		}
	}
}

// credits matches headings below which names are values.
var credits = regexp.MustCompile(`(?i)^(?:authors?|maintainers?|contributors?|written by)$`)

// symbols are what names have and headings in words have not.
const symbols = "_=<>/{}[]$@\\"

// named reports whether a term is a name: of an option, a function, a file or a word that a program knows.
func named(term string) bool {
	term = strings.Trim(term, "`* ")
	last, _ := utf8.DecodeLastRuneInString(term)
	if term == "" || !few(term, fewInLabel) || strings.ContainsRune("?!.", last) && !strings.HasSuffix(term, "...") {
		return false
	}
	if option(term) != "" || strings.ContainsAny(term, symbols) {
		return true
	}
	// a lower case letter that begins no sentence
	first, _ := utf8.DecodeRuneInString(term)
	return unicode.IsLower(first) && few(term, 3)
}

// term returns what a piece belongs to.
func (r *reader) term() string {
	if len(r.terms) == 0 {
		return ""
	}
	return r.terms[len(r.terms)-1].text
}

// indent returns the level of an item that begins at start.
func (r *reader) indent(start int) int {
	return 2 + start - 1 - strings.LastIndexByte(r.text[:start], '\n')
}

// leave takes the terms away that the next piece does not belong to.
func (r *reader) leave(start int, fresh, listed bool) {
	level := 10_000
	switch {
	case listed:
		level = r.indent(start)
	case fresh && r.rest:
		level = 1
	case fresh:
		level = 2
	}
	for n := len(r.terms); n > 0 && r.terms[n-1].level >= level; n = len(r.terms) {
		r.terms = r.terms[:n-1]
	}
	if fresh && !listed {
		r.rest = len(r.terms) > 0 && r.terms[len(r.terms)-1].level == 1
	}
}

// enter adds a piece to the terms if what follows belongs to it.
func (r *reader) enter(p *Piece, start int, name string, fresh, listed bool) {
	switch {
	case listed && name != "":
		r.terms = append(r.terms, term{r.indent(start), name})
	case listed && p.Kind == Label && !ends(p.Text):
		r.terms = append(r.terms, term{r.indent(start), strings.TrimRight(p.Text, ": ")})
	case fresh && p.Kind == Label && !ends(p.Text):
		for n := len(r.terms); n > 0 && r.terms[n-1].level >= 1; n = len(r.terms) {
			r.terms = r.terms[:n-1]
		}
		r.terms, r.rest = append(r.terms, term{1, strings.TrimRight(p.Text, ": ")}), false
	}
}

// code adds the block text[start:end].
func (r *reader) code(start, end int) {
	text := strings.Trim(r.text[start:end], "\r\n")
	if end-start > longestCode || !says(text) {
		return
	}
	kind := Code
	if marks.MatchString(text) { // an index would become a citation
		kind = Fragment
	}
	r.leave(start, true, false)
	r.add(Piece{Text: text, Passage: r.passage, Kind: kind, Term: r.term(), Named: named(r.term()), Before: r.before, Lead: -1})
	r.before, r.from, r.end = "", 0, end
}

// add adds a piece unless its text is known.
func (r *reader) add(p Piece) {
	k := bare(p.Text)
	if p.Kind == Item && few(p.Text, fewInLabel) {
		k += "\x00" + bare(p.Term) // "Default: none" is another value under each option
	}
	if p.Kind == Code {
		k = strings.Join(strings.Fields(p.Text), " ")
	}
	if _, known := r.seen[k]; known {
		return
	}
	r.seen[k] = len(r.out)
	if k = bare(p.Text); r.places[k] == 0 {
		r.places[k] = len(r.out) + 1
	}
	r.out = append(r.out, p)
}

// says reports whether a text has a letter or a digit.
func says(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}
