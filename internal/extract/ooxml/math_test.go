package ooxml_test

import (
	"encoding/xml"
	"strings"
	"testing"

	"quarry/internal/extract/archive"
	"quarry/internal/extract/ooxml"
)

// read returns the formulas of a part.
func read(content string) (out []string) {
	x := archive.NewXML([]byte(`<w xmlns:m="m">` + content + `</w>`))
	x.Each(func(e xml.StartElement) {
		if e.Name.Local == "oMath" {
			out = append(out, ooxml.Math(x))
		}
	})
	return out
}

// TestMath proves what each kind of object of a formula is in LaTeX.
func TestMath(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ omml, want string }{
		{`r(E=mc)`, `$E=mc$`},
		{`sSup(e(r(r))sup(r(2)))`, `$r^{2}$`},
		{`sSup(e(f(num(r(a))den(r(b))))sup(r(2)))`, `${\frac{a}{b}}^{2}$`},
		{`sSubSup(e(r(N))sub(r(s))sup(r(H)))`, `$N_{s}^{H}$`},
		{`sPre(sub(r(6))sup(r(12))e(r(C)))`, `${}_{6}^{12}C$`},
		{`f(fPr(type=lin)num(r(a))den(r(b)))`, `$a/b$`},
		{`f(fPr(type=noBar)num(r(n))den(r(k)))`, `$\genfrac{}{}{0pt}{}{n}{k}$`},
		{`rad(radPr(degHide=1)deg()e(r(x)))`, `$\sqrt{x}$`},
		{`rad(deg(r(3))e(r(x)))`, `$\sqrt[3]{x}$`},
		{`nary(naryPr(chr=∑)sub(r(i=1))sup(r(n))e(r(i)))`, `$\sum_{i=1}^{n}i$`},
		{`nary(naryPr(supHide=on)sub(r(C))sup(r(x))e(r(f)))`, `$\int_{C}f$`},
		{`d(e(r(x))e(r(y)))`, `$\left(x|y\right)$`},
		{`d(dPr(begChr={;endChr=)e(r(x)))`, `$\left\{x\right.$`},
		{`func(fName(r(log))e(r(x)))`, `$\log x$`},
		{`func(fName(limLow(e(r(argmax))lim(r(θ))))e(r(L)))`, `$\operatorname{argmax}_{\theta}L$`},
		{`limUpp(e(groupChr(groupChrPr(chr=⏞;pos=top)e(r(a+b))))lim(r(n)))`, `$\overbrace{a+b}^{n}$`},
		{`acc(e(r(x)))bar(barPr(pos=top)e(r(y)))borderBox(e(r(z)))`, `$\hat{x}\overline{y}\boxed{z}$`},
		{`groupChr(groupChrPr(chr=→;pos=top)e(r(x)))`, `$\overset{\to}{x}$`},
		{`m(mr(e(r(1))e(r(2)))mr(e(r(3))e(r(4))))`, `$\begin{matrix}1 & 2 \\ 3 & 4\end{matrix}$`},
		{`eqArr(e(r(a&=b))e(r(c&=d)))`, `$\begin{aligned}a&=b \\ c&=d\end{aligned}$`},
		{`eqArr(e(r(a=b)))`, `$a=b$`},
		{`r(2π)r(r≤1)r(50%)`, `$2\pi r\leq 150\%$`},
		{`r(nor! if x)`, `$\text{ if x}$`},
		{`box(e(r(x)))del(r(gone))`, `$x$`},
		{`r( )`, ``},
	} {
		if got := strings.Join(read("<m:oMath>"+omml(tt.omml)+"</m:oMath>"), ""); got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.omml, got, tt.want)
		}
	}
}

// omml writes the elements of a formula out: name(content), properties as name=value, and the text of runs.
func omml(short string) string {
	var b strings.Builder
	for short != "" {
		name, rest, _ := strings.Cut(short, "(")
		end, depth := 0, 1
		for ; depth > 0; end++ {
			depth += map[byte]int{'(': 1, ')': -1}[rest[end]]
		}
		in := rest[:end-1]
		short = rest[end:]
		switch {
		case name == "r":
			word, isWord := strings.CutPrefix(in, "nor!")
			if b.WriteString("<m:r><m:rPr>"); isWord {
				b.WriteString("<m:nor/>")
			}
			b.WriteString("</m:rPr><m:t>" + strings.NewReplacer("&", "&amp;", "<", "&lt;").Replace(word) + "</m:t></m:r>")
			continue
		case strings.HasSuffix(name, "Pr"):
			b.WriteString("<m:" + name + ">")
			for p := range strings.SplitSeq(in, ";") {
				key, value, _ := strings.Cut(p, "=")
				b.WriteString("<m:" + key + ` m:val="` + value + `"/>`)
			}
			in = ""
		default:
			b.WriteString("<m:" + name + ">" + omml(in))
		}
		b.WriteString("</m:" + name + ">")
	}
	return b.String()
}

func FuzzMath(f *testing.F) {
	// Proves that no formula makes the reader panic, and that what it writes is one formula.
	f.Add(omml(`nary(naryPr(chr=∑)sub(r(i=1))sup(r(n))e(d(e(r(x))e(m(mr(e(r(1))))))))`))
	f.Add(`<m:rad><m:e><m:eqArr/></m:e><m:deg><m:t>\</m:t></m:deg></m:rad><m:sSup/><m:d/><m:func><m:r><m:t>log</m:t></m:r></m:func>`)
	f.Fuzz(func(t *testing.T, content string) {
		for _, text := range read("<m:oMath>" + content + "</m:oMath>") {
			if text != "" && (len(text) < 3 || text[0] != '$' || text[len(text)-1] != '$') {
				t.Errorf("%q", text)
			}
		}
	})
}
