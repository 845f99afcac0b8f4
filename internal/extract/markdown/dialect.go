package markdown

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
)

// Documentation tools add to Markdown: boxes ("!!! note", ":::{warning}", "```{tip}"), names of places ("(start)="), roles in front of
// code ("{doc}`start`") and lists of attributes ("{ #id .class }"). Readers of their pages see the text in them; so do we.
var (
	box        = regexp.MustCompile(`^( {0,12})(?:!!!|\?\?\?\+?|===\+?!?) +(?:[\w-]+ *)*(?:"(.*)")?\s*$`)
	fence      = regexp.MustCompile("^ {0,12}(?:[-*+>] +)*(`{3,}|~{3,})")
	colons     = regexp.MustCompile(`^\s*:{3,}\s*(?:\{([\w:-]+)\}\s*(.*?)|[\w-]+)?\s*$`)
	target     = regexp.MustCompile(`^\s*\([\w./:-]+\)=\s*$`)
	setting    = regexp.MustCompile(`^\s*:[\w-]+:(?:\s.*)?$`)
	directive  = regexp.MustCompile(`^\{([\w:-]+)\}\s*(.*)$`)
	attributes = regexp.MustCompile(`\s*\{:?\s*(?:[#.][\w:.-]+\s*)+(?:[\w-]+=\S+\s*)*\}`)
	role       = regexp.MustCompile(`\{[a-zA-Z][\w:+-]*\}$`)
	aimed      = regexp.MustCompile(`^([^<>]+?)\s*<[^<>]+>$`)
	alert      = regexp.MustCompile(`^\[!(?:NOTE|TIP|WARNING|IMPORTANT|CAUTION)\]\s*`)
	icon       = regexp.MustCompile(`^:[\w+-]+:\s*`)
)

// unbox takes the marks of boxes out of a source: the title of a box becomes a paragraph, and its text one of those around it. Code
// stays as it is.
func unbox(source string) string {
	if !strings.Contains(source, "!!!") && !strings.Contains(source, "???") && !strings.Contains(source, "===") &&
		!strings.Contains(source, ":::") && !strings.Contains(source, ")=") {
		return source
	}
	var b strings.Builder
	open := ""     // the fence of the code that the line is in
	indent := -1   // indentation of the box whose text follows
	begun := false // a line of that text was seen
	for line := range strings.Lines(source) {
		if m := fence.FindStringSubmatch(line); m != nil {
			switch {
			case open == "":
				open = m[1]
			case strings.HasPrefix(m[1], open) && strings.Trim(line, " `~\r\n") == "":
				open = ""
			}
		}
		blank := strings.TrimSpace(line) == ""
		depth := len(line) - len(strings.TrimLeft(line, " "))
		if indent >= 0 && !blank && depth < indent+4 {
			if indent = -1; begun {
				b.WriteString("\n")
			}
		}
		inside := indent >= 0 && !blank && depth >= indent+4
		if inside {
			line, begun = line[:indent]+line[indent+4:], true
		}
		if m := box.FindStringSubmatch(strings.TrimRight(line, "\r\n")); m != nil && open == "" {
			indent, begun = len(m[1]), false
			b.WriteString("\n" + m[1] + icon.ReplaceAllString(m[2], "") + "\n\n")
			continue
		}
		if m := colons.FindStringSubmatch(line); m != nil && open == "" {
			b.WriteString("\n" + m[2] + "\n\n")
			continue
		}
		if open == "" && target.MatchString(line) {
			b.WriteString("\n")
			continue
		}
		b.WriteString(line)
	}
	return b.String()
}

// hidden are directives whose content is not shown as it is written, and coded those whose content is code.
var (
	hidden = words(`toctree contents include image figure automodule autoclass autofunction autodata currentmodule module raw
		only index highlight tableofcontents sectionauthor`)
	coded = words(`code code-block code-cell sourcecode literalinclude parsed-literal math mermaid prompt doctest
		testcode eval-rst`)
)

func words(all string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(all) {
		out[w] = true
	}
	return out
}

// directed adds the content of a fenced block that is a directive ("```{note}"), and reports whether it is one.
func (w *walker) directed(n *ast.FencedCodeBlock) (bool, error) {
	if n.Info == nil {
		return false, nil
	}
	m := directive.FindStringSubmatch(strings.TrimSpace(string(n.Info.Segment.Value(w.src))))
	if m == nil {
		return false, nil
	}
	name := strings.ToLower(m[1])
	if hidden[name] {
		return true, nil
	}
	lines := slices.DeleteFunc(strings.SplitAfter(w.raw(n), "\n"), func(l string) bool { return strings.HasPrefix(l, ".. ") })
	for len(lines) > 0 && (setting.MatchString(strings.TrimRight(lines[0], "\r\n")) || strings.TrimSpace(lines[0]) == "" && len(lines) > 1) {
		lines = lines[1:]
	}
	body := strings.Join(lines, "")
	if coded[name] || strings.Contains(name, ":") || w.nested >= maxNested {
		w.listing(strings.TrimRight(body, "\n"))
		return true, nil
	}
	if strings.ContainsFunc(m[2], unicode.IsLetter) { // not the number of a version
		w.paragraph(m[2])
	}
	inner := walker{out: w.out, src: []byte(body), nested: w.nested + 1}
	return true, inner.read()
}

// maxNested bounds directives within directives.
const maxNested = 4

// plainText returns the text of a block without lists of attributes and the mark of an alert ("[!NOTE]"). Braces of code were replaced by shields.
func plainText(text string) string {
	return unshield.Replace(alert.ReplaceAllString(attributes.ReplaceAllString(text, ""), ""))
}

// shield replaces the braces of code by characters of no meaning, so that they don't pass for attributes.
var (
	shield   = strings.NewReplacer("{", "\uE0F0", "}", "\uE0F1")
	unshield = strings.NewReplacer("\uE0F0", "{", "\uE0F1", "}")
)
