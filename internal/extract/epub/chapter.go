package epub

import (
	"bytes"
	"fmt"
	"path"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"

	"quarry/internal/extract/archive"
	"quarry/internal/extract/charset"
	"quarry/internal/extract/html"
	"quarry/internal/extract/outline"
)

// maxChapter bounds one chapter, whose page is in memory as a whole.
const maxChapter = 10 << 20

// book is a book that is being read.
type book struct {
	*archive.Archive
	*pkg
	contents
	out outline.Builder

	options  outline.Options
	pictures int // bytes of them that may still be read

	deeper int // how much deeper headings stand in the tree than in their chapter
}

// read reads the chapters, each once.
func (b *book) read() error {
	seen := map[string]bool{}
	for _, id := range b.spine {
		i, ok := b.pkg.chapter(id)
		if !ok || i.name == "" || b.printed[i.name] || seen[i.name] {
			continue
		}
		seen[i.name] = true
		data, err := b.Read(i.name)
		switch {
		case err != nil:
			return err
		case data == nil:
			return fmt.Errorf("%w: the archive lacks the chapter %s", outline.ErrUnparsable, i.name)
		case len(data) > maxChapter:
			return fmt.Errorf("%w: the chapter %s has more than %d MB", outline.ErrUnparsable, i.name, maxChapter>>20)
		}
		page, err := html.ReadWith(decode(data), b.options, func(source string) []byte { return b.picture(path.Dir(i.name), source) })
		if err != nil {
			return err
		}
		b.add(i.name, page)
	}
	return nil
}

// picture returns the picture that a page of a folder shows, nil for none.
func (b *book) picture(folder, source string) []byte {
	name := within(folder, source)
	if name == "" {
		return nil
	}
	data := b.File(name, b.pictures)
	b.pictures -= len(data)
	return data
}

// add adds the page of a chapter.
func (b *book) add(name string, page *outline.Document) {
	all := page.Sections
	if len(all) == 0 {
		return
	}
	e, listed := b.contents[name]
	title, _ := page.Metadata["title"].(string)
	if title == b.metadata["title"] {
		title = ""
	}
	top := 7 // the highest level of its headings
	for _, s := range all {
		if s.Level > 0 {
			top = min(top, s.Level)
		}
	}
	bare := top == 7
	if bare {
		top = 1
	}
	if listed {
		b.deeper = e.depth - top
	}
	if e.above != "" {
		b.out.Heading(e.depth-1, e.above)
	}
	switch first := &all[0]; {
	case first.Level > 0: // a heading
	case listed && (e.whole || bare):
		first.Title, first.Level = e.label, top
		if len(all) > 1 && all[1].Title == e.label { // which stands below a motto or a picture
			all[1].Title, all[1].Level = "", 0
		}
	case listed:
		first.Level = top
	case len(b.contents) == 0:
		first.Title, first.Level = title, 1
	} // else it goes on with what the last page began
	b.out.Append(all, b.deeper)
}

// decode returns the text of a page in UTF-8, which nearly all are in.
func decode(data []byte) string {
	var enc encoding.Encoding
	switch {
	case bytes.HasPrefix(data, []byte("\xFF\xFE")), bytes.HasPrefix(data, []byte("\xFE\xFF")):
		enc = unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	case !utf8.Valid(data):
		enc = charset.Detect(data)
	}
	if enc != nil {
		if out, err := enc.NewDecoder().Bytes(data); err == nil {
			data = out
		}
	}
	return strings.ToValidUTF8(strings.TrimPrefix(string(data), "\uFEFF"), "\uFFFD")
}
