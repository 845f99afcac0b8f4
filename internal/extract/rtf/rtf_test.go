package rtf_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"quarry/internal/extract/extracttest"
	"quarry/internal/extract/outline"
	"quarry/internal/extract/rtf"
)

const header = `{\rtf1\ansi\ansicpg1252\uc1\deff0
{\fonttbl{\f0\froman\fcharset0{\*\panose 020}Times{\*\falt Roman};}{\f1\fcharset2 Symbol;}{\f2\fcharset204 Cyr;}{\f3\fcharset128 Mincho;}{\f4\cpg1250 x;}}
{\colortbl;\red0;}{\stylesheet{\ql Normal;}{\s1\sbasedon0\snext0 heading 1;}{\s2\sbasedon1{\*\keycode x}Mine;}{\s3\outlinelevel2 Kop;}{\s4 Title;}{\s5 toc 1;}{\s6 caption;}{\s7\sbasedon7 Loop;}{\*\cs10 Default;}}
{\info{\title Pump  manual}{\author Ada}{\operator Bob}{\upr{\subject P?ll}{\*\ud{\subject P\u246?ll}}}{\creatim\yr2024\mo2\dy3\hr4\min5}{\revtim\yr2024\mo13}{\nofpages3}{\nofwords42}{\*\company x}}
{\header Confidential}{\*\generator x;}`

// everything has what the reader knows.
const everything = header + `\pard\s4 Pump 42\par
{\field{\*\fldinst TOC \\o "1-3"}{\fldrslt \pard Start 1\par Sizes 2\par}}\pard\s5 Start\tab 1\par
\pard\s1 Start\par\pard\plain Open {\b the} valve\'2c wait\line then{\footnote \chftn  Three bar.\par More.} close{\v secret}{\deleted gone}{\*\bkmkstart x} it.\par
{\pard\s3 Deeper\par}\pard\s2{\listtext 1.1\tab}Mine\par
\pard\ls1{\listtext\f1\'b7\tab}dot\par\pard\ls1\ilvl1{\listtext\f0 a)\tab}deep\par\pard{\pntext\f1\'b7\tab}{\*\pn\pnlvlblt{\pntxtb\'b7}}old\par\pard\ls2 bare\par\pard\ls2{\listtext}unmarked\par
\pard\s6 Table 1: bolts\par
\trowd\trhdr\cellx1000\clmgf\cellx2000\clmrg\cellx3000\pard\intbl bolt\cell torque\cell\cell\row
\trowd\clvmgf\cellx1000\cellx2000\cellx3000\pard\intbl M6\cell 10\par Nm\cell a\cell\row\trowd\clvmrg\cellx1010\cellx3000{\intbl\cell}{\intbl 12\cell\row}\trowd\cellx1\pard\intbl x\cell y\cell z\cell\row
\pard Between tables.\par\trowd\cellx5000\pard\intbl around\par\pard\intbl\itap2 in\nestcell b\nestcell{\*\nesttableprops\trowd\cellx1\cellx2\nestrow}{\nonesttables\par}1\nestcell 2\nestcell{\*\nesttableprops\trowd\cellx1\cellx2\nestrow}\pard\intbl after\cell\row
\pard\s6 A caption\par\pard\trowd\cellx5000\intbl only\cell\row\pard
{\f2\'cf\'f0\'e8\'e2\'e5\'f2} {\f3\'93\'fa\'96\'7b} {\f4\'9e} \u-10179?\u-8694? \u8364\'80 \uc2\u220??\uc0\u223\u223  \lquote x\rquote  \~y\-z\_\{\}\\
\par A deleted {\deleted mark\par}goes on{\shp{\*\shpinst\shpleft1{\sp{\sn wzDescription}{\sv a red valve}}{\sp{\sn pib}{\sv 00}}{\shptxt\pard\s1 Box\par\pard boxed\par}}{\shprslt x}}\par
{\*\shppict{\pict{\*\picprop{\sp{\sn wzDescription}{\sv a pump}}}\pngblip 89504e47}}{\nonshppict{\pict 00}}{\object\objemb{\*\objclass x}{\*\objdata 00}{\result{result}}}\bin5 {}\}{x\par
{\field{\*\fldinst{HYPERLINK "http://x"}}{\fldrslt{a link}}}{\mmath{\*\moMath{\mf{\mfPr{\mtype bar}}{\mnum 1}{\mden 2}}}{\mmathPict x}}\par
\pard\s7 loop\par \pard no end}`

func read(data []byte) (*outline.Document, error) { return rtf.Read(data, outline.Options{}) }

// TestRead proves what everything in a document becomes: see testdata.
func TestRead(t *testing.T) {
	t.Parallel()
	doc, err := read([]byte(everything))
	if err != nil {
		t.Fatal(err)
	}
	extracttest.Golden(t, "testdata/everything.golden", doc)
	extracttest.Damage(t, read, []byte(everything))
}

// TestReadCut proves that a file that ends in the middle is refused, wherever that is.
func TestReadCut(t *testing.T) {
	t.Parallel()
	for at := range len(everything) {
		if _, err := read([]byte(everything[:at])); !errors.Is(err, outline.ErrUnparsable) {
			t.Fatalf("cut at %d: %v", at, err)
		}
	}
}

// TestReadRefusals proves that what is no RTF or too deep is refused with the reason.
func TestReadRefusals(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ data, want string }{
		"empty":        {"", "does not begin"},
		"text":         {"hello", "does not begin"},
		"100,000 deep": {`{\rtf1` + strings.Repeat("{", 100_000) + strings.Repeat("}", 100_001), "nested more than 1000 deep"},
		"open":         {`{\rtf1{\b x}`, "ends in the middle"},
	} {
		if _, err := read([]byte(tt.data)); !errors.Is(err, outline.ErrUnparsable) || !strings.Contains(fmt.Sprint(err), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

// TestReadBounds proves that small files that ask for much are read within bounds.
func TestReadBounds(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"cells":  strings.Repeat(`\cellx1`, 100_000) + strings.Repeat(`\cell`, 100_000) + `\row`,
		"rows":   strings.Repeat(`\trowd\cellx9x\cell\row`, 50_000),
		"spans":  `\trowd` + strings.Repeat(`\cellx99`, 3) + `a\cell\cell\cell\row` + strings.Repeat(`\trowd\cellx1\cellx99999 b\cell c\cell\row`, 1000),
		"notes":  strings.Repeat(`{\footnote`, 900) + strings.Repeat(`}`, 900),
		"skips":  `\uc99999\u65 ` + strings.Repeat("x", 40),
		"number": `\s99999999999999999999 \bin-5 \bin99999999999999 }`,
		"styles": `{\stylesheet` + strings.Repeat(`{\s1\sbasedon1 a;}`, 10_000) + `}\s1 x`,
		"wide":   `\f3` + strings.Repeat(`\'81`, 1000),
	} {
		if _, err := read([]byte(`{\rtf1` + body + `}`)); err != nil && !strings.Contains(err.Error(), "ends in the middle") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{\rtf1\fromhtml1{\*\htmltag64 <p>}\htmlrtf {\htmlrtf0 a\par\tab b\htmlrtf }\htmlrtf0{\*\htmltag72 </p>}}`))
	f.Add([]byte(everything))
	f.Add([]byte(`{\rtf1{\pict\pngblip 8950{\*\picprop{\sp{\sn wzDescription}{\sv a}}}4e4\bin3 abc7{\pict 00}}\par}`))
	f.Add([]byte(`{\rtf1\ansi\trowd\cellx-5\cellx1 a\cell\cell\row{\footnote{\shptxt x\par}\cell}\row{\*\ud x}\u-1?\'8`))
	f.Fuzz(func(t *testing.T, data []byte) {
		doc, err := rtf.Read(data, outline.Options{Pictures: true})
		if err != nil {
			if !errors.Is(err, outline.ErrUnparsable) {
				t.Fatal(err)
			}
			return
		}
		extracttest.Dump(t, doc)
	})
}
