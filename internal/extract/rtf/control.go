package rtf

import (
	"strings"
	"time"

	"quarry/internal/extract/outline"
)

// signs are the words that stand for text.
var signs = map[string]string{
	"\\": "\\", "{": "{", "}": "}", "~": "\u00A0", "_": "\u2011", "tab": " ", "line": "\n", "lbr": "\n", "softline": "\n", "page": "\n", "column": "\n",
	"emdash": "—", "endash": "–", "bullet": "•", "lquote": "‘", "rquote": "’", "ldblquote": "“", "rdblquote": "”",
	"emspace": " ", "enspace": " ", "qmspace": " ", "zwj": "\u200D", "zwnj": "\u200C",
}

// ignored are the places of groups whose text is not that of the document; of unknown groups that say of themselves that they may be
// ignored (\*) it is not either.
var ignored = map[string]place{
	"colortbl": nowhere, "header": nowhere, "headerl": nowhere, "headerr": nowhere, "headerf": nowhere,
	"footer": nowhere, "footerl": nowhere, "footerr": nowhere, "footerf": nowhere, "nonshppict": nowhere, "shprslt": nowhere,
	"tc": nowhere, "tcn": nowhere, "xe": nowhere, "annotation": nowhere, "pntxta": nowhere, "pntxtb": nowhere, "ftnsep": nowhere,
	"ftnsepc": nowhere, "ftncn": nowhere, "aftnsep": nowhere, "aftnsepc": nowhere, "aftncn": nowhere, "nonesttables": nowhere,
	"mmathPict": nowhere, "objdata": nowhere, "themedata": nowhere, "datastore": nowhere, "filetbl": nowhere, "listtable": nowhere,
	"pict": quiet, "shpinst": quiet, "picprop": quiet, "sp": quiet,
}

// passed are the groups that may be ignored, and whose text is nevertheless that of the document.
var passed = map[string]bool{"nesttableprops": true, "shppict": true, "moMath": true, "moMathPara": true}

// properties are the keys of metadata by the words of the properties of a document.
var properties = map[string]string{"title": "title", "subject": "subject", "author": "Author", "operator": "Last-Author", "keywords": "keywords", "doccomm": "description"}

// formulas are the signs between the parts of formulas, as Word's other formats show them.
var formulas = map[string]string{"mden": "/", "msup": "^", "msub": "_"}

// begin notes that a group begins.
func (r *reader) begin() {
	s := &r.state
	if s.place != styleTable {
		return
	}
	one := &style{base: -1, outline: -1}
	s.declared, s.number = one, 0
	s.closes = func() {
		if one.name = strings.TrimSuffix(outline.OneLine(one.name), ";"); one.name != "" {
			r.styles[r.state.number] = *one
		}
	}
}

// control follows a control word.
func (r *reader) control(t *token) {
	s := &r.state
	if s.place == nowhere {
		return
	}
	if t.name == "*" {
		s.starred = true
		return
	}
	if t.name == "u" {
		r.unicode(t.value)
		return
	}
	r.decode()
	starred := s.starred
	s.starred = false
	if r.group(t) {
		return
	}
	switch {
	case r.markup && r.tag(t):
	case starred && !passed[t.name], strings.HasPrefix(t.name, "m") && strings.HasSuffix(t.name, "Pr"): // properties of formulas
		s.place = nowhere
	case signs[t.name] != "":
		r.write(signs[t.name])
	case formulas[t.name] != "":
		r.write(formulas[t.name])
	default:
		_ = r.declare(t) || r.character(t) || r.layout(t) || r.block(t)
	}
}

// group follows a word that says where the text of its group belongs, and reports whether it is one.
func (r *reader) group(t *token) bool {
	s := &r.state
	if p, ok := ignored[t.name]; ok {
		s.place = p
		if t.name == "pict" {
			r.beginPicture()
		}
		return true
	}
	switch t.name {
	case "fonttbl":
		s.place = fontTable
	case "stylesheet":
		s.place = styleTable
	case "info":
		s.place, s.info = quiet, true
	case "creatim", "revtim":
		r.date(map[string]string{"creatim": "date", "revtim": "modified"}[t.name])
	case "listtext", "pntext":
		if s.place == body {
			s.mark = r.capture(func(text string) {
				p := r.flow.paragraph()
				p.mark, p.marked = text, true
			})
		}
	case "field":
		s.field = &strings.Builder{}
	case "fldinst":
		if s.field == nil {
			s.field = &strings.Builder{}
		}
		s.place, s.text = capture, s.field
	case "fldrslt":
		if s.field != nil && strings.HasPrefix(strings.TrimSpace(s.field.String())+" ", "TOC ") {
			s.place = nowhere
		}
	case "footnote", "shptxt":
		r.aside(t.name == "footnote")
	case "sn":
		r.capture(func(text string) { r.shape = text })
	case "sv":
		r.capture(func(text string) {
			switch {
			case r.shape != "wzDescription" || text == "": // else it is the alternative text of a picture
			case r.state.picture != nil:
				r.state.picture.Description = text
			default:
				r.flow.text().WriteString(" " + text + " ")
			}
		})
	case "upr": // a text for old programs, and inside of it the same one in Unicode
		outer := *s
		s.outer, s.place = &outer, quiet
	case "ud":
		if s.outer != nil {
			s.place, s.text = s.outer.place, s.outer.text
		}
	default:
		key, ok := properties[t.name]
		if !ok || !s.info {
			return false
		}
		r.capture(func(text string) {
			if text != "" {
				r.metadata[key] = text
			}
			if r.metadata["Author"] == nil && r.metadata["Last-Author"] != nil {
				r.metadata["Author"] = r.metadata["Last-Author"]
			}
		})
	}
	return true
}

// capture keeps the text of the group beside the body and hands it to done at its end, on one line.
func (r *reader) capture(done func(text string)) *strings.Builder {
	text := &strings.Builder{}
	r.state.place, r.state.text = capture, text
	r.state.closes = func() { done(outline.OneLine(text.String())) }
	return text
}

// aside begins a note or a text box, which hangs on the open paragraph.
func (r *reader) aside(note bool) {
	s := &r.state
	if s.place != body && (note || s.place != quiet) {
		s.place = nowhere
		return
	}
	s.place, s.inTable, s.depth, s.list, s.style, s.outline, s.mark = body, false, 0, 0, 0, -1, nil
	around, inner := r.flow, &flow{}
	var all []block
	inner.put = func(b block) { all = append(all, b) }
	r.flow = inner
	s.closes = func() {
		r.paragraph()
		inner.end()
		r.flow = around
		p := around.paragraph()
		if !note {
			p.after = append(p.after, all...)
			return
		}
		var lines []string
		for _, b := range all {
			lines = append(lines, b.plain()...)
		}
		if len(lines) > 0 {
			p.notes = append(p.notes, strings.Join(lines, "\n"))
		}
	}
}

// date reads the date in a group into the metadata.
func (r *reader) date(key string) {
	when := &[5]int{}
	r.state.when = when
	r.state.closes = func() {
		t := time.Date(when[0], time.Month(when[1]), when[2], when[3], when[4], 0, 0, time.UTC)
		if when[0] > 0 && t.Year() == when[0] && t.Month() == time.Month(when[1]) {
			r.metadata[key] = t.Format(time.RFC3339)
		}
	}
}

// declare follows a word about the file, its fonts and its styles, and reports whether it is one.
func (r *reader) declare(t *token) bool {
	s := &r.state
	switch {
	case s.when != nil:
		if i := map[string]int{"yr": 1, "mo": 2, "dy": 3, "hr": 4, "min": 5}[t.name]; i > 0 && t.value >= 0 && t.value < 10_000 {
			s.when[i-1] = t.value
		}
		return true
	case s.place == fontTable:
		f := r.fonts[s.number]
		switch t.name {
		case "f":
			s.number = t.value
			return true
		case "fcharset":
			f.page, f.symbols = charsets[t.value], t.value == symbols
		case "cpg":
			if pages[t.value] != nil {
				f.page = t.value
			}
		}
		r.fonts[s.number] = f
		return true
	case s.declared != nil && s.place == styleTable:
		switch t.name {
		case "s":
			s.number = t.value
		case "sbasedon":
			s.declared.base = t.value
		case "outlinelevel":
			s.declared.outline = min(max(t.value, 0), 9)
		}
		return true
	}
	return s.info && r.count(t) || r.codes(t)
}

// count follows a word with a number about the document.
func (r *reader) count(t *token) bool {
	key := map[string]string{"nofpages": "Page-Count", "nofwords": "Word-Count"}[t.name]
	if key != "" && t.value > 0 {
		r.metadata[key] = t.value
	}
	return key != ""
}

// codes follows a word about the character set of the file.
func (r *reader) codes(t *token) bool {
	number := 0
	switch t.name {
	case "mac":
		number = 10000
	case "pc":
		number = 437
	case "pca":
		number = 850
	case "ansicpg":
		number = t.value
	case "deff":
		r.standard = t.value
		r.state.font = t.value
		return true
	default:
		return false
	}
	if p := pages[number]; p != nil {
		r.page = p
	}
	return true
}

// character follows a word about characters, and reports whether it is one.
func (r *reader) character(t *token) bool {
	s := &r.state
	switch t.name {
	case "f":
		s.font = t.value
	case "uc":
		s.skip = min(max(t.value, 0), 16)
	case "v":
		s.hidden = !t.off()
	case "deleted", "mvf": // mvf is text that was moved away
		s.deleted = !t.off()
	case "plain":
		s.hidden, s.deleted, s.font = false, false, r.standard
	default:
		return false
	}
	return true
}

// layout follows a word about paragraphs and rows, and reports whether it is one.
func (r *reader) layout(t *token) bool {
	s, row := &r.state, &r.flow.format
	if s.place != body {
		return true
	}
	if s.nested {
		row = &r.flow.at(s.depth).format
	}
	switch t.name {
	case "pard":
		s.style, s.outline, s.list, s.level, s.inTable, s.depth = 0, -1, 0, 0, false, 0
	case "s":
		s.style = t.value
	case "outlinelevel":
		s.outline = min(max(t.value, 0), 9)
	case "ls":
		s.list = t.value
	case "ilvl":
		s.level = t.value
	case "intbl":
		s.inTable = !t.off()
	case "itap":
		s.depth = min(max(t.value, 0), maxTables)
	case "nesttableprops":
		s.nested = true
	case "trowd":
		*row = rowFormat{}
	case "trhdr", "tbllkhdrrows":
		row.header = true
	case "clmrg":
		row.next.left = true
	case "clvmrg":
		row.next.above = true
	case "cellx":
		row.next.edge = t.value
		row.cells = append(row.cells, row.next)
		row.next = cellFormat{}
	default:
		return false
	}
	return true
}

// block follows a word that ends something, and reports whether it is one.
func (r *reader) block(t *token) bool {
	switch t.name {
	case "par", "\n", "\r", "sect":
		r.paragraph()
	case "cell":
		r.state.inTable, r.state.depth = true, 1
		r.paragraph()
		r.flow.endCell()
	case "row":
		r.flow.endRow()
	case "nestcell":
		r.state.depth = max(r.state.depth, 2)
		r.paragraph()
		r.flow.at(r.state.depth).endCell()
	case "nestrow":
		r.flow.at(max(r.state.depth, 2)).endRow()
	default:
		return false
	}
	return true
}
