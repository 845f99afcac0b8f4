package ooxml

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"strings"
	"unicode"

	"quarry/internal/extract/archive"
)

// Math returns the formula that was started last (oMath or oMathPara, ECMA-376 part 1, chapter 22.1) as LaTeX, which is how formulas are
// written in every format that has no other notation for them.
func Math(x *archive.XML) string {
	f := formula{x: x}
	f.content()
	if len(bytes.TrimSpace(f.out)) == 0 {
		return ""
	}
	return "$" + strings.Join(strings.Fields(string(f.out)), " ") + "$"
}

// formula writes LaTeX while the elements come. archive.XML bounds the depth of its recursion.
type formula struct {
	x      *archive.XML
	out    []byte
	naming bool // the name of a function is being read
}

// properties are the values that the properties of an object have, by the names of their elements.
type properties map[string]string

// on reports whether a property is switched on; one without a value is.
func (p properties) on(name string) bool {
	v, ok := p[name]
	return ok && v != "0" && v != "off" && v != "false"
}

// or returns the value of a property, which may be empty, or what holds where the file has none.
func (p properties) or(name, absent string) string {
	if v, ok := p[name]; ok {
		return v
	}
	return absent
}

// content writes what is inside the element that was started last.
func (f *formula) content() {
	f.x.Each(func(e xml.StartElement) { f.element(e.Name.Local) })
}

// parts calls visit with the name of each part of the object that was started last; visit writes its content. The properties
// come before the parts.
func (f *formula) parts(visit func(part string, p properties)) properties {
	p := properties{}
	f.x.Each(func(e xml.StartElement) {
		if !strings.HasSuffix(e.Name.Local, "Pr") {
			visit(e.Name.Local, p)
			return
		}
		f.x.Each(func(e xml.StartElement) {
			p[e.Name.Local] = archive.Attr(e, "val")
		})
	})
	return p
}

// element writes one element by its kind; those that only hold others are their content.
func (f *formula) element(name string) {
	switch name {
	case "r":
		f.run()
	case "t":
		f.text(f.x.Text())
	case "f":
		f.fraction()
	case "sSup", "sSub", "sSubSup", "sPre", "limLow", "limUpp":
		f.scripts(name)
	case "rad":
		f.root()
	case "nary":
		f.nary()
	case "d":
		f.delimited()
	case "func":
		f.parts(func(part string, _ properties) {
			before := f.naming
			f.naming = part == "fName"
			f.content()
			f.naming = before
		})
	case "acc", "bar", "groupChr", "borderBox":
		f.parts(func(_ string, p properties) { f.braces(over(name, p)) })
	case "m":
		f.rows("matrix", "mr", func() { f.list("e", " & ") })
	case "eqArr":
		f.rows("aligned", "e", f.content)
	case "rPr", "del", "moveFrom", "Fallback", "ctrlPr", "oMathParaPr", "argPr", "boxPr", "phantPr":
		f.x.Skip()
	default:
		f.content()
	}
}

// write adds LaTeX; a command is kept apart from what people would read as part of it.
func (f *formula) write(s string) {
	if s == "" {
		return
	}
	if letter(s[0]) || s[0] >= '0' && s[0] <= '9' {
		i := len(f.out)
		for i > 0 && letter(f.out[i-1]) {
			i--
		}
		if i < len(f.out) && i > 0 && f.out[i-1] == '\\' {
			f.out = append(f.out, ' ')
		}
	}
	f.out = append(f.out, s...)
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// text adds the characters of a formula, of which many are commands.
func (f *formula) text(s string) {
	for _, r := range s {
		if command, ok := symbols[r]; ok {
			f.write(command)
		} else if !unicode.IsControl(r) && !invisible[r] {
			f.write(string(r))
		}
	}
}

// run adds a run of characters: names of functions as commands, words in it as such.
func (f *formula) run() {
	word := false
	f.x.Each(func(e xml.StartElement) {
		switch e.Name.Local {
		case "nor":
			word = properties{"nor": archive.Attr(e, "val")}.on("nor")
		case "t":
			s := f.x.Text()
			name := strings.TrimSpace(s)
			switch {
			case f.naming && functions[name]:
				f.write(`\` + name)
			case f.naming && plainName(name):
				f.write(`\operatorname{` + name + `}`)
			case word && len(name) > 1 && strings.ContainsFunc(name, unicode.IsLetter):
				f.write(`\text{` + s + `}`)
			default:
				f.text(s)
			}
		case "instrText", "delText":
			f.x.Skip()
		}
	})
}

// plainName reports whether s is a name of several letters.
func plainName(s string) bool {
	return len(s) > 1 && !strings.ContainsFunc(s, func(r rune) bool { return r > unicode.MaxASCII || !letter(byte(r)) })
}

// braces adds a command with the content of the element that was started last as its argument.
func (f *formula) braces(command string) {
	f.write(command + "{")
	f.content()
	f.write("}")
}

func (f *formula) fraction() {
	f.parts(func(part string, p properties) {
		switch kind := p["type"]; {
		case kind == "lin" && part == "num":
			f.content()
		case kind == "lin":
			f.write("/")
			f.content()
		case part == "num" && kind == "noBar":
			f.braces(`\genfrac{}{}{0pt}{}`)
		case part == "num":
			f.braces(`\frac`)
		default:
			f.braces("")
		}
	})
}

// scripts adds an object with what stands below and above it, or before it.
func (f *formula) scripts(kind string) {
	marks := map[string]string{"sub": "_", "sup": "^", "lim": "_"}
	if kind == "limUpp" {
		marks["lim"] = "^"
	}
	if kind == "sPre" {
		f.write("{}")
	}
	f.parts(func(part string, _ properties) {
		if mark, ok := marks[part]; ok {
			f.script(mark, false)
			return
		}
		f.base()
	})
}

// script adds what stands below or above, unless there is nothing or it is hidden.
func (f *formula) script(mark string, hidden bool) {
	start := len(f.out)
	f.write(mark + "{")
	before := len(f.out)
	f.content()
	if len(f.out) == before || hidden {
		f.out = f.out[:start]
		return
	}
	f.write("}")
}

// base adds what scripts are set to, in braces unless it is one symbol or has its own.
func (f *formula) base() {
	start := len(f.out)
	f.content()
	if base := strings.TrimSpace(string(f.out[start:])); strings.ContainsAny(base, "^_") || strings.Contains(base, `\frac`) {
		f.out = append(append(append(f.out[:start:start], '{'), base...), '}')
	}
}

func (f *formula) root() {
	deg := false
	f.parts(func(part string, p properties) {
		if part != "deg" {
			if !deg {
				f.write(`\sqrt`)
			}
			f.braces("")
			return
		}
		start := len(f.out)
		f.write(`\sqrt[`)
		before := len(f.out)
		f.content()
		if deg = len(f.out) > before && !p.on("degHide"); deg {
			f.write("]")
		} else {
			f.out = f.out[:start]
		}
	})
}

// nary adds a large operator with its limits and what it is applied to.
func (f *formula) nary() {
	named := false
	f.parts(func(part string, p properties) {
		if !named {
			f.text(cmp.Or(p["chr"], "∫"))
			named = true
		}
		switch part {
		case "sub":
			f.script("_", p.on("subHide"))
		case "sup":
			f.script("^", p.on("supHide"))
		default:
			f.content()
		}
	})
}

// delimited adds what stands between brackets.
func (f *formula) delimited() {
	open := false
	p := f.parts(func(_ string, p properties) {
		if !open {
			f.write(`\left` + delimiter(p.or("begChr", "(")))
		} else {
			f.text(p.or("sepChr", "|"))
		}
		open = true
		f.content()
	})
	if open {
		f.write(`\right` + delimiter(p.or("endChr", ")")))
	}
}

func delimiter(s string) string {
	if s == "" {
		return "."
	}
	var f formula
	f.text(s)
	return string(f.out)
}

// over returns the command for an object with something above or below it.
func over(kind string, p properties) string {
	mark := cmp.Or(p["chr"], map[string]string{"acc": "\u0302", "groupChr": "⏟"}[kind])
	switch {
	case kind == "borderBox":
		return `\boxed`
	case kind == "bar" && p["pos"] != "top":
		return `\underline`
	case kind == "bar":
		return `\overline`
	case accents[mark] != "":
		return accents[mark]
	case p["pos"] == "top":
		return `\overset{` + delimiter(mark) + `}`
	}
	return `\underset{` + delimiter(mark) + `}`
}

// rows adds an environment with a row for each part of that name; row writes one.
func (f *formula) rows(environment, part string, row func()) {
	begin := `\begin{` + environment + `}`
	start, rows := len(f.out), 0
	f.write(begin)
	f.parts(func(name string, _ properties) {
		if name != part {
			f.x.Skip()
			return
		}
		if rows++; rows > 1 {
			f.write(` \\ `)
		}
		row()
	})
	if rows > 1 {
		f.write(`\end{` + environment + `}`)
		return
	}
	f.out = append(f.out[:start], f.out[start+len(begin):]...) // one row needs none
}

// list adds the parts of that name with something between them.
func (f *formula) list(part, between string) {
	first := true
	f.parts(func(name string, _ properties) {
		if !first && name == part {
			f.write(between)
		}
		first = false
		f.content()
	})
}
