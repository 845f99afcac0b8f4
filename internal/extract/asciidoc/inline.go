package asciidoc

import (
	"regexp"
	"strings"
)

// Marks within a line, in the order in which they are taken away.
var (
	passed    = regexp.MustCompile(`\+\+\+(.*?)\+\+\+|pass:\w*\[(.*?)\]`)
	named     = regexp.MustCompile(`\{([\w][\w-]*)\}`)
	noted     = regexp.MustCompile(`footnote(?:ref)?:[\w-]*\[(?:[\w-]+,)?((?:[^\[\]]|\[[^\[\]]*\])*)\]`)
	keys      = regexp.MustCompile(`\b(?:kbd|btn|stem|latexmath|asciimath):\[((?:[^\[\]]|\[[^\[\]]*\])*)\]`)
	menu      = regexp.MustCompile(`\bmenu:([^\[\]\s]+)\[([^\[\]]*)\]`)
	pictured  = regexp.MustCompile(`\b(?:image|icon):[^:\s\[\]]\S*?\[([^\[\]]*)\]`)
	linked    = regexp.MustCompile(`\b(?:link|xref|mailto):[^\s\[\]]*\[((?:[^\[\]]|\[[^\[\]]*\])*)\]`)
	addressed = regexp.MustCompile(`\b((?:https?|ftp|irc)://[^\s\[\]<>]+)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]`)
	crossed   = regexp.MustCompile(`<<([^<>,]+)(?:,\s*([^<>]*))?>>`)
	anchored  = regexp.MustCompile(`\[\[[^\[\]]*\]\]|anchor:[\w-]+\[[^\[\]]*\]|\(\(\(.*?\)\)\)`)
	indexed   = regexp.MustCompile(`\(\(([^()]+)\)\)|indexterm2:\[([^\[\]]*)\]`)
	roled     = regexp.MustCompile(`\[[.#%][\w.#% -]*\]([*_#\x60])`)
	doubled   = regexp.MustCompile("\\*\\*(.+?)\\*\\*|__(.+?)__|``(.+?)``|##(.+?)##")
	single    = regexp.MustCompile("(^|[\\s(\\[{\"'“‘,;:>/—–-])(?:\\*(\\S|\\S[^*]*?\\S)\\*|_(\\S|\\S[^_]*?\\S)_|`(\\S|\\S[^`]*?\\S)`|#(\\S|\\S[^#]*?\\S)#)($|[\\s)\\]}\"'”’,;:.!?</—–-])")
	raised    = regexp.MustCompile(`(\S)\^(\S+?)\^`)
	lowered   = regexp.MustCompile(`~(\S+?)~`)
	escaped   = regexp.MustCompile(`\\([*_#\x60^~{<\[:])`)
)

// longestMarked bounds, in bytes, the paragraph in which marks are looked for.
const longestMarked = 64 << 10

// inline returns the text of a line without its marks. Attributes of the document stand for their values.
func (r *reader) inline(text string) string {
	if !strings.ContainsAny(text, "*_`#^~{}[]<>+\\(") || len(text) > longestMarked {
		return text
	}
	if strings.Contains(text, "+++") || strings.Contains(text, "pass:") {
		text = passed.ReplaceAllString(text, "$1$2")
	}
	if strings.Contains(text, "{") {
		text = named.ReplaceAllStringFunc(text, r.value)
	}
	if strings.Contains(text, "[") {
		text = macros(text)
	}
	if strings.Contains(text, "((") {
		text = indexed.ReplaceAllString(anchored.ReplaceAllString(text, ""), "$1$2")
	}
	if strings.Contains(text, "<<") {
		text = crossed.ReplaceAllStringFunc(text, func(s string) string {
			m := crossed.FindStringSubmatch(s)
			if m[2] != "" {
				return m[2]
			}
			return strings.TrimLeft(m[1], "#_")
		})
	}
	if strings.ContainsAny(text, "*_`#") {
		text = formatted(text)
	}
	if strings.ContainsAny(text, "^~") {
		text = lowered.ReplaceAllString(raised.ReplaceAllString(text, "$1^$2"), "$1")
	}
	if strings.Contains(text, `\`) {
		text = escaped.ReplaceAllString(text, "$1")
	}
	return text
}

// macros replaces what has brackets: links, notes, keys, pictures, anchors and roles.
func macros(text string) string {
	if strings.Contains(text, ":") {
		text = noted.ReplaceAllString(text, " ($1)")
		text = keys.ReplaceAllString(text, "$1")
		text = menu.ReplaceAllString(text, "$1 > $2")
		text = pictured.ReplaceAllStringFunc(text, func(s string) string {
			alt, _, _ := strings.Cut(pictured.FindStringSubmatch(s)[1], ",")
			return alt
		})
		text = linked.ReplaceAllStringFunc(text, func(s string) string { return words(linked.FindStringSubmatch(s)[1]) })
		text = addressed.ReplaceAllStringFunc(text, func(s string) string {
			m := addressed.FindStringSubmatch(s)
			if w := words(m[2]); w != "" {
				return w
			}
			return m[1]
		})
	}
	return anchored.ReplaceAllString(roled.ReplaceAllString(text, "$1"), "")
}

// formatted takes the marks of bold, italic and other type away.
func formatted(text string) string {
	text = doubled.ReplaceAllString(text, "$1$2$3$4")
	for range 3 { // marks beside each other share the space between them, and marks within marks
		next := single.ReplaceAllString(text, "$1$2$3$4$5$6")
		if next == text {
			break
		}
		text = next
	}
	return text
}

// words returns the text of a link without its attributes, such as the window to open.
func words(list string) string {
	if before, _, ok := strings.Cut(list, ",window="); ok {
		list = before
	}
	if before, _, ok := strings.Cut(list, ",role="); ok {
		list = before
	}
	return strings.TrimSuffix(strings.Trim(list, `"`), "^")
}

// characters are attributes that stand for characters.
var characters = map[string]string{
	"nbsp": " ", "zwsp": "", "empty": "", "sp": " ", "amp": "&", "lt": "<", "gt": ">", "plus": "+", "apos": "'", "quot": `"`, "asterisk": "*",
	"deg": "°", "ldquo": "“", "rdquo": "”", "lsquo": "‘", "rsquo": "’", "vbar": "|", "startsb": "[", "endsb": "]", "caret": "^", "tilde": "~", "backslash": `\`, "backtick": "`",
}

// value returns the value of an attribute, or the reference to it if there is none.
func (r *reader) value(reference string) string {
	name := strings.ToLower(strings.Trim(reference, "{}"))
	if v, ok := r.attributes[name]; ok && r.expanded < mostExpanded {
		r.expanded += len(v)
		return v
	}
	if v, ok := characters[name]; ok {
		return v
	}
	return reference
}
