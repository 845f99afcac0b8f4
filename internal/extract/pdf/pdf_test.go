package pdf

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/extract/outline"
	"quarry/internal/extract/pdf/syntax"
)

// dump returns a tree as text, with a line for each section.
func dump(all []outline.Section, indent string) string {
	var b strings.Builder
	for _, s := range all {
		fmt.Fprintf(&b, "%s%d %q page %d %v: %q\n", indent, s.Level, s.Title, s.Page, s.Pages, s.Text)
		b.WriteString(dump(s.Sections, indent+"  "))
	}
	return b.String()
}

// marked is a page with a head that the file marks as one.
const marked = "/Artifact <</Type/Pagination>> BDC BT /F 9 Tf 50 800 Td (Chapter 1) Tj ET EMC BT /F 10 Tf 50 700 Td (Text.) Tj ET"

func TestReadText(t *testing.T) {
	// Proves what each operator of text and each habit of writers becomes.
	t.Parallel()
	tests := []struct{ name, content, want string }{
		{"lines of a paragraph, paragraphs by distance", lay("F", 10, 50, 700, 12, "The first line of a paragraph that goes on", "in the second line and ends there.") + lay("F", 10, 50, 650, 12, "Another one."),
			"The first line of a paragraph that goes on in the second line and ends there.\n\nAnother one."},
		{"words by gaps, letters by kerning", "BT /F 10 Tf 50 700 Td [(W) 80 (ord) -300 (an) 10 (other)] TJ ET", "Word another"},
		{"words that are placed one by one", "BT /F 10 Tf 1 0 0 1 50 700 Tm (one) Tj 1 0 0 1 70 700 Tm (two) Tj 1 0 0 1 90 700 Tm (three) Tj ET", "one two three"},
		{"each operator that shows text", "BT /F 10 Tf 12 TL 50 700 Td (a) Tj (b) ' 1 2 (c) \" T* [(d)] TJ 0 -12 TD (e) Tj ET", "a b c d e"},
		{"letters drawn twice to look bold", "BT /F 10 Tf 50 700 Td (bold) Tj 1 0 0 1 50.2 700 Tm (bold) Tj ET", "bold"},
		{"hyphens at the end of lines", lay("F", 10, 50, 700, 12, "This sentence is about irri-", "gation and about the well-known case", "and well-", "known and state-of-", "The-Art cases with a soft hyphen, or with-", "out any further words in it at all."),
			"This sentence is about irrigation and about the well-known case and well-known and state-of-The-Art cases with a soft hyphen, or without any further words in it at all."},
		{"escapes and codes of the font", `BT /F 10 Tf 50 700 Td (\(a\) \344\366\374 \200 \223q\224 \\) Tj <41> Tj ET`, "(a) äöü € “q” \\A"},
		{"text that says what it reads as", "BT /F 10 Tf 50 700 Td (x ) Tj /Span <</ActualText (fi)>> BDC (zz) Tj EMC ( y) Tj ET", "x fi y"},
		{"a running head of a single page, which repeats nothing", marked, "Chapter 1\n\nText."},
		{"an inline picture", "BI /W 1 /H 1 ID \x01(\xFF EI BT /F 10 Tf 50 700 Td (after) Tj ET", "after"},
		{"graphics states and scales", "q 2 0 0 2 0 0 cm BT /F 5 Tf 25 350 Td (scaled) Tj ET Q BT /F 10 Tf 50 Tz 50 660 Td (narrow) Tj ET", "scaled\n\nnarrow"},
		{"text of lists", lay("F", 10, 50, 700, 12, "Items:", "\225 one", "\225 two which goes on and on and on and", "  on", "3. three"), "Items:\n\n- one\n- two which goes on and on and on and on\n3. three"},
		{"raised letters", "BT /F 10 Tf 50 700 Td (x) Tj 4 Ts /F 6 Tf (2) Tj 0 Ts /F 10 Tf ( = y) Tj ET", "x2 = y"},
		{"nothing but spaces and unknown operators", "BT /F 10 Tf 50 700 Td ( ) Tj (a) Tj ET foo 1 2 bar ] >> )", "a"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			doc, err := Read(one(t, tt.content), outline.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, s := range doc.Sections {
				got = append(got, s.Title+s.Text)
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, "\n")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// prosaic returns lines of text that are long enough for a column.
func prosaic(word string, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("%s%d with words that fill a column of it", word, i)
	}
	return out
}

func TestReadOrder(t *testing.T) {
	// Proves reading order: columns below a title that spans them, rows of tables, turned pages and turned text.
	t.Parallel()
	two := lay("F", 10, 320, 700, 12, prosaic("right", 5)...) + lay("F", 10, 50, 700, 12, prosaic("left", 5)...)
	w := newWriter()
	title := lay("F", 18, 120, 760, 20, "A title across the columns of the page")
	doc, err := Read(w.bytes(w.page(two+title, "")), outline.Options{})
	if err != nil {
		t.Fatal(err)
	}
	got := dump(doc.Sections, "")
	if at := []int{strings.Index(got, "A title"), strings.Index(got, "left0"), strings.Index(got, "left4"), strings.Index(got, "right0"), strings.Index(got, "right4")}; at[0] < 0 || at[1] < at[0] || at[2] < at[1] || at[3] < at[2] || at[4] < at[3] {
		t.Errorf("columns: %v\n%s", at, got)
	}
	table := lay("F", 10, 50, 700, 12, "Part", "Flange", "Bolt", "Nut", "Gasket") + lay("F", 10, 320, 700, 12, "Torque", "40 Nm", "12 Nm", "11 Nm", "none")
	if doc, err = Read(one(t, table), outline.Options{}); err != nil || !strings.Contains(dump(doc.Sections, ""), "Flange 40 Nm") {
		t.Errorf("a table: %v\n%s", err, dump(doc.Sections, ""))
	}
	w = newWriter()
	doc, err = Read(w.bytes(w.page("BT /F 10 Tf 0 1 -1 0 300 50 Tm (upright once the page is turned) Tj 0 1 -1 0 312 50 Tm (and its second line) Tj ET", "/Rotate 90")), outline.Options{})
	if err != nil || !strings.Contains(dump(doc.Sections, ""), "upright once the page is turned and its second line") {
		t.Errorf("a turned page: %v\n%s", err, dump(doc.Sections, ""))
	}
	doc, err = Read(one(t, lay("F", 10, 50, 700, 12, "The text of the page.")+"BT /F 8 Tf 0 1 -1 0 20 300 Tm (in the margin) Tj ET"), outline.Options{})
	if err != nil || !strings.Contains(dump(doc.Sections, ""), `"The text of the page.\n\nin the margin"`) {
		t.Errorf("text in the margin: %v\n%s", err, dump(doc.Sections, ""))
	}
}

// TestReadMarkedHeads proves that running heads that the file marks are left out of more than one page.
func TestReadMarkedHeads(t *testing.T) {
	t.Parallel()
	w := newWriter()
	doc, err := Read(w.bytes(w.page(marked, ""), w.page(marked, "")), outline.Options{})
	if err != nil || strings.Contains(dump(doc.Sections, ""), "Chapter") || !strings.Contains(dump(doc.Sections, ""), "Text.") {
		t.Errorf("%v\n%s", err, dump(doc.Sections, ""))
	}
}

// TestReadSpread proves that two facing pages on one page are read one after the other, however short their lines are, and that a wide
// table in the same place stays rows.
func TestReadSpread(t *testing.T) {
	t.Parallel()
	var left, right []string
	for i := range 14 {
		left, right = append(left, fmt.Sprintf("Left %d", i)), append(right, fmt.Sprintf("Right %d", i))
	}
	left[3], right[5] = "A line of the left page that is nearly as wide as it is, to its margin", "A line of the right page that is nearly as wide as it is, to its margin"
	spread := lay("F", 10, 50, 500, 14, left...) + lay("F", 10, 450, 496, 15, right...)
	doc, err := Read(one(t, spread), outline.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := dump(doc.Sections, ""); strings.Index(got, "Left 13") > strings.Index(got, "Right 0") {
		t.Error(got)
	}
	crossed := spread + lay("F", 10, 50, 520, 14, "A line across both sides of the page, over the middle, which no line of a page would do, whatever it may be that it says")
	if doc, err = Read(one(t, crossed), outline.Options{}); err != nil || !strings.Contains(dump(doc.Sections, ""), "Left 0 Right 0") {
		t.Errorf("%v\n%s", err, dump(doc.Sections, ""))
	}
}

// TestSpellRightToLeft proves that numbers and foreign words are read from left to right, and stand apart from words of the other script.
func TestSpellRightToLeft(t *testing.T) {
	t.Parallel()
	place := func(leftToRight ...string) (all []glyph) {
		for i, s := range leftToRight {
			all = append(all, glyph{text: s, x0: float32(6 * i), x1: float32(6*i + 6), size: 10, space: 3})
		}
		return all
	}
	for _, tt := range []struct {
		glyphs []glyph
		want   string
	}{
		{place("ן", "מ", "P", "y", "ו"), "ו Py מן"},
		{place("ן", "מ", " ", "P", "y", " ", "ו"), "ו Py מן"},
		{place("ב", " ", "1", "2", ".", "5", " ", "א"), "א 12.5 ב"},
		{place("1", "2", "א"), "א12"},
	} {
		if got := spellRightToLeft(tt.glyphs); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}

// book returns a file of pages with headers, headings and a paragraph across each page break.
func book(t testing.TB, pages int, packed bool) []byte {
	t.Helper()
	w := newWriter()
	w.packed = packed
	w.trailer = fmt.Sprintf("/Info %d 0 R", w.add("<</Title(The pump book)/Author<FEFF00C40064>/CreationDate(D:20240203040506+01'00')/Keywords()>>"))
	var all []int
	for i := range pages {
		var lines []string
		for j := range 40 {
			lines = append(lines, fmt.Sprintf("Line %d of page %d tells something about pumps, their valves and seals,", j, i+1))
		}
		c := lay("F", 9, 50, 810, 10, "The pump book  chapter "+fmt.Sprint(i/10)) + lay("F", 9, 290, 30, 10, fmt.Sprint(i+1)) +
			lay("B", 16, 50, 770, 12, fmt.Sprintf("%d Pumps of kind %d", i+1, i)) + lay("F", 10, 50, 740, 12, lines[0], "which is all.") + lay("B", 12, 50, 700, 12, "Valves") +
			lay("F", 10, 50, 680, 12, lines[1:]...)
		all = append(all, w.page(c, ""))
	}
	return w.bytes(all...)
}

// TestReadManyPages proves that a file of five thousand pages is read to its end.
func TestReadManyPages(t *testing.T) {
	t.Parallel()
	const pages = 5_000
	w := newWriter()
	var all []int
	for i := range pages {
		all = append(all, w.page(lay("F", 10, 50, 740, 12, fmt.Sprintf("Page %d tells of pump %d.", i+1, i)), ""))
	}
	doc, err := Read(w.bytes(all...), outline.Options{})
	if err != nil {
		t.Fatal(err)
	}
	last := doc.Sections[len(doc.Sections)-1]
	if text := dump(doc.Sections, ""); doc.Metadata["Page-Count"] != pages || strings.Count(text, "tells of pump") != pages || last.Pages[len(last.Pages)-1].Page != pages {
		t.Errorf("%v pages, %d of them with their text", doc.Metadata["Page-Count"], strings.Count(text, "tells of pump"))
	}
}

func TestReadBook(t *testing.T) {
	// Proves headings by size, pages of sections and parts, running heads left out, paragraphs across pages, properties;
	// with plain and with packed objects, and when the cross references are missing or wrong.
	t.Parallel()
	plain := book(t, 12, false)
	cut := plain[:bytes.LastIndex(plain, []byte("xref\n0"))]
	wrong := bytes.Replace(plain, []byte("%PDF-1.7\n"), []byte("%PDF-1.7\n%one more line\n"), 1)
	for name, data := range map[string][]byte{"plain": plain, "packed": book(t, 12, true), "no cross references": cut, "wrong cross references": wrong, "junk before": append([]byte("junk\n"), plain...)} {
		doc, err := Read(data, outline.Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if name != "no cross references" { // which go with the trailer
			want := map[string]any{"title": "The pump book", "Author": "Äd", "date": "2024-02-03T03:05:06Z", "Page-Count": 12}
			if diff := cmp.Diff(want, doc.Metadata); diff != "" {
				t.Errorf("%s: metadata (-want +got):\n%s", name, diff)
			}
		}
		if len(doc.Sections) != 12 {
			t.Errorf("%s: %d sections\n%.2000s", name, len(doc.Sections), dump(doc.Sections, ""))
			continue
		}
		s := doc.Sections[4]
		if s.Title != "5 Pumps of kind 4" || s.Page != 5 || len(s.Sections) != 1 || s.Sections[0].Title != "Valves" || s.Sections[0].Page != 5 {
			t.Errorf("%s: section %+v", name, s)
		}
		if text := dump(doc.Sections, ""); strings.Contains(text, "chapter") || strings.Contains(text, "\\n5\"") {
			t.Errorf("%s: running heads are in the text", name)
		}
	}
	// A sentence that goes on over the page.
	w := newWriter()
	a := w.page(lay("F", 10, 50, 700, 12, "The beginning of a sentence that does not end on", "the page on which it began and that"), "")
	b := w.page(lay("F", 10, 50, 700, 12, "goes on here."), "")
	doc, err := Read(w.bytes(a, b), outline.Options{})
	if want := "0 \"\" page 0 [{0 1 false} {85 2 false}]: \"The beginning of a sentence that does not end on the page on which it began and that goes on here.\"\n"; err != nil || dump(doc.Sections, "") != want {
		t.Errorf("over the page: %v %s", err, dump(doc.Sections, ""))
	}
}

func TestReadBookmarks(t *testing.T) {
	// Proves that the file's own table of contents makes the sections, even where the letters say nothing, and that
	// bookmarks in a circle end.
	t.Parallel()
	w := newWriter()
	w.objects[0] = "<</Type/Catalog/Pages 2 0 R/Lang(en-GB)/Outlines 5 0 R>>"
	w.add("<</First 6 0 R/Last 7 0 R>>")
	w.add("<</Title(Scope)/Dest[9 0 R/Fit]/Next 7 0 R/First 8 0 R>>")
	w.add("<</Title(Terms)/A<</S/GoTo/D[9 0 R/Fit]>>/Next 6 0 R>>")
	page := 11 - 2
	w.add("<</Title(Inner part)/Next 8 0 R>>")
	w.add("<</Type/Page/Parent 2 0 R/Contents 10 0 R/Resources<</Font<</F 3 0 R>>>>>>")
	w.stream("", lay("F", 10, 50, 700, 30, "Scope", "It is about pumps.", "1.1 Inner part", "More of it.", "Terms", "A pump is a pump."))
	doc, err := Read(w.bytes(page), outline.Options{})
	want := "1 \"Scope\" page 1 [{0 1 false}]: \"It is about pumps.\"\n  2 \"1.1 Inner part\" page 1 [{0 1 false}]: \"More of it.\"\n1 \"Terms\" page 1 [{0 1 false}]: \"A pump is a pump.\"\n"
	if err != nil || dump(doc.Sections, "") != want || doc.Metadata["Content-Language"] != "en-GB" {
		t.Errorf("%v %v\n%s", err, doc.Metadata, dump(doc.Sections, ""))
	}
}

func TestReadFonts(t *testing.T) {
	// Proves how codes become text: differences, ToUnicode, composite fonts with and without it, character sets of names.
	t.Parallel()
	font := func(dict string, more ...string) string {
		w := newWriter()
		f := w.add(dict)
		for i := 0; i < len(more); i += 2 {
			w.stream(more[i], more[i+1])
		}
		c := w.stream("", "BT /X 10 Tf 50 700 Td "+fmt.Sprintf("<%x>", strings.Split(dict, "%")[1])+" Tj ET")
		p := w.add(fmt.Sprintf("<</Type/Page/Parent 2 0 R/Contents %d 0 R/Resources<</Font<</X %d 0 R>>>>>>", c, f))
		doc, err := Read(w.bytes(p), outline.Options{})
		if err != nil || len(doc.Sections) == 0 {
			return fmt.Sprint(err)
		}
		return doc.Sections[0].Text + doc.Sections[0].Title
	}
	tests := []struct {
		name, dict string
		more       []string
		want       string
	}{
		{"differences", "<</Subtype/Type1/Encoding<</Differences[65/aacute/f_i 67/uni20AC/afii10065/Lslash/germandbls]>>>>%ABCDEF%", nil, "áfi€аŁß"},
		{"ToUnicode", "<</Subtype/TrueType/ToUnicode 6 0 R>>%ABCDz%", []string{"", "1 begincodespacerange <00><FF> endcodespacerange 2 beginbfchar <41><0066006C> <42><D83DDE00> endbfchar 1 beginbfrange <43><44><0410> endbfrange"}, "fl😀АБz"},
		{"composite with ToUnicode", "<</Subtype/Type0/Encoding/Identity-H/ToUnicode 6 0 R/DescendantFonts[<</W[1[500 600]]>>]>>%\x00\x01\x00\x02%",
			[]string{"/Filter/FlateDecode", "1 begincodespacerange <0000><FFFF> endcodespacerange 1 beginbfrange <0001><0002>[<4E2D><6587>] endbfrange"}, "中文"},
		{"codes that are Unicode", "<</Subtype/Type0/Encoding/UniGB-UCS2-H/DescendantFonts[<<>>]>>%\x4E\x2D\x65\x87%", nil, "中文"},
		{"codes of a character set", "<</Subtype/Type0/Encoding/GBK-EUC-H/DescendantFonts[<<>>]>>%\xD6\xD0A%", nil, "中A"},
		{"Shift JIS", "<</Subtype/Type0/Encoding/90ms-RKSJ-H/DescendantFonts[<<>>]>>%\x93\xFA\x96\x7B%", nil, "日本"},
		{"the font Symbol", "<</Subtype/Type1/BaseFont/Symbol>>%abG%", nil, "αβΓ"},
		{"Mac Roman", "<</Subtype/TrueType/Encoding/MacRomanEncoding>>%\x8A\x9F%", nil, "äü"},
		{"an encoding inside the font", "<</Subtype/Type1/FontDescriptor<</FontFile 6 0 R>>>>%A%", []string{"", "/Encoding 256 array dup 65 /eacute put readonly def eexec"}, "é"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := font(tt.dict, tt.more...); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestReadRefusals(t *testing.T) {
	// Proves that what can't or must not be read is refused with its reason.
	t.Parallel()
	noPages := newWriter()
	noPages.objects[1] = "<</Type/Pages/Kids[]>>"
	cyclic := newWriter()
	cyclic.objects[1] = "<</Type/Pages/Kids[5 0 R]>>"
	cyclic.add("<</Type/Pages/Kids[2 0 R]>>")
	secret := newWriter()
	secret.trailer = "/ID[<00><00>]/Encrypt<</Filter/Standard/V 2/R 3/Length 128/P -4/O(" + strings.Repeat("o", 32) + ")/U(" + strings.Repeat("u", 32) + ")>>"
	many := newWriter()
	for range 100_000 {
		many.add("null")
	}
	deep := newWriter()
	deep.add(strings.Repeat("[", 100_000))
	deep.objects[0] = "<</Type/Catalog/Pages 2 0 R/Outlines 5 0 R>>"
	tests := []struct {
		name string
		data []byte
		want string
		is   error
	}{
		{"text", []byte("hello"), "does not begin", outline.ErrUnparsable},
		{"only the beginning", []byte("%PDF-1.7\n"), "end is missing", outline.ErrUnparsable},
		{"no pages", noPages.bytes(), "no pages", outline.ErrUnparsable},
		{"a password", secret.bytes(secret.page("BT ET", "")), "password", outline.ErrProtected},
		{"a cyclic page tree", cyclic.bytes(), "cyclic", outline.ErrUnparsable},
		{"100,000 objects", many.bytes(many.page(lay("F", 10, 50, 700, 12, "x"), "")), "objects", outline.ErrUnparsable},
		{"deep objects", deep.bytes(deep.page(lay("F", 10, 50, 700, 12, "x"), "")), "deep", outline.ErrUnparsable},
		{"deep objects in content", one(t, strings.Repeat("[", 100_000)), "deep", outline.ErrUnparsable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if _, err := Read(tt.data, outline.Options{}); !errors.Is(err, tt.is) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Read: %v, want %v with %q", err, tt.is, tt.want)
			}
		})
	}
}

func TestReadWithinLimits(t *testing.T) { // not parallel: it measures memory
	// Proves that files made to cost time or memory end within the budget: streams that unpack a thousandfold, forms that
	// draw each other, streams that overlap, wide ranges of codes, a million glyphs.
	bomb := newWriter()
	bomb.stream("/Filter/FlateDecode", strings.Repeat("\x00", 70<<20))
	var refs strings.Builder
	for range 100 {
		refs.WriteString("5 0 R ")
	}
	bombs := bomb.bytes(bomb.add("<</Type/Page/Contents[" + refs.String() + "]>>"))
	forms := newWriter()
	for i := range 12 {
		forms.stream(fmt.Sprintf("/Subtype/Form/Resources<</XObject<</A %d 0 R>>>>", 6+i), strings.Repeat("/A Do ", 500))
	}
	formed := forms.bytes(forms.add("<</Type/Page/Contents 5 0 R/Resources<</XObject<</A 5 0 R>>>>>>"))
	overlap := newWriter()
	var contents strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&contents, "%d 0 R ", 5+i)
		overlap.add("<</Length 900000>>\nstream\n")
	}
	overlapping := bytes.Replace(overlap.bytes(overlap.add("<</Type/Page/Contents["+contents.String()+"]>>")), []byte("trailer"), append(bytes.Repeat([]byte("% x\n"), 250_000), "trailer"...), 1)
	for name, data := range map[string][]byte{
		"a bomb": bombs, "forms": formed, "overlapping streams": overlapping,
		"glyphs":  one(t, "BT /F 10 Tf "+strings.Repeat("("+strings.Repeat("x", 1000)+")Tj ", 5000)+"ET"),
		"rows":    one(t, "BT /F 1 Tf "+strings.Repeat("1 3.7 Td (x) Tj ", 200_000)+"ET"),
		"numbers": one(t, strings.Repeat("1 ", 5<<20)), "an array": one(t, "["+strings.Repeat("1 ", 5<<20)),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		begin := time.Now()
		_, err := read(data, outline.Options{}, syntax.NewBudget(2*time.Second))
		took := time.Since(begin)
		runtime.ReadMemStats(&after)
		if err != nil && !errors.Is(err, outline.ErrUnparsable) && !errors.Is(err, outline.ErrNoText) {
			t.Errorf("%s: %v", name, err)
		}
		t.Logf("%s: %d bytes, %v, %d MB allocated in all, %v", name, len(data), took.Round(time.Millisecond), (after.TotalAlloc-before.TotalAlloc)>>20, err)
		if held := int64(after.HeapSys) - int64(before.HeapSys); held > 700<<20 {
			t.Errorf("%s: the heap grew by %d MB", name, held>>20)
		}
	}
}

func TestReadEncrypted(t *testing.T) {
	// Proves that files that are encrypted but open without a password are read, for each method.
	t.Parallel()
	files, err := filepath.Glob("testdata/encrypted-*.pdf")
	if err != nil || len(files) < 3 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		doc, err := Read(data, outline.Options{})
		if err != nil || !strings.Contains(dump(doc.Sections, ""), "Nobody may print this.") || doc.Metadata["title"] != "Secrets" {
			t.Errorf("%s: %v %v", file, doc, err)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	data := book(b, 100, false)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := Read(data, outline.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

func FuzzContent(f *testing.F) {
	// Proves that no content stream makes the reader panic or give page marks outside its text.
	f.Add([]byte("BT /F 10 Tf 50 700 Td [(W) 80 (ord)] TJ 1 2 (c) \" T* ET"))
	f.Add([]byte("q 1 0 0 1 0 0 cm /Span <</ActualText (fi)>> BDC BT /F 1 Tf (a) ' ET EMC Q BI ID x EI"))
	f.Add([]byte("q 0 0 200 90 re S 100 0 m 100 90 l S .5 g 0 90 200 20 re B* BT /F 9 Tf 9 50 Td (a  b) Tj 100 0 Td (c) Tj 0 -12 Td (d) Tj ET"))
	f.Add([]byte("BT /F 1e9 Tf -1 -1 Td (x) Tj 0 0 0 0 0 0 Tm (y) Tj ET"))
	f.Fuzz(func(t *testing.T, content []byte) {
		doc, err := readOpen(one(t, string(content)))
		if err != nil {
			if !errors.Is(err, outline.ErrUnparsable) && !errors.Is(err, outline.ErrNoText) {
				t.Fatalf("bad content is not unparsable: %v", err)
			}
			return
		}
		checkMarks(t, doc.Sections)
	})
}

func FuzzFile(f *testing.F) {
	// Proves that no file makes the reader panic.
	f.Add(one(f, "BT /F 10 Tf (x) Tj ET"))
	f.Add(book(f, 1, true))
	f.Fuzz(func(t *testing.T, data []byte) {
		doc, err := readOpen(data)
		if err == nil {
			checkMarks(t, doc.Sections)
		}
	})
}

// readOpen is Read without recovering from panics.
func readOpen(data []byte) (*outline.Document, error) {
	return parse(data, outline.Options{Tables: true}, syntax.NewBudget(time.Second))
}

func checkMarks(t *testing.T, all []outline.Section) {
	t.Helper()
	for _, s := range all {
		last := outline.Mark{At: -1}
		for _, m := range s.Pages {
			if m.At < last.At || m.At > len(s.Text) || m.Page <= last.Page {
				t.Fatalf("page marks %v in a text of %d bytes", s.Pages, len(s.Text))
			}
			last = m
		}
		checkMarks(t, s.Sections)
	}
}
