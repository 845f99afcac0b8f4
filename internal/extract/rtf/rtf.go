// Package rtf reads Rich Text Format (RTF 1.9.1) into a document tree.
//
// It keeps what a reader of the final text would see: paragraphs, headings by their style, lists with their bullets and numbers, tables, notes
// after the paragraph that refers to them, text boxes after the paragraph they are anchored to, pictures where they are wanted and else
// what is said of them, what fields show. It drops text that is deleted, moved elsewhere or hidden, the codes of fields, comments, headers, footers and tables of contents. A document
// that is a page of HTML, as mail of Outlook is, is read as the page. All functions are safe for concurrent use.
package rtf

import (
	"bytes"
	"fmt"
	"strings"

	"golang.org/x/text/encoding"

	"quarry/internal/extract/outline"
)

// maxDepth bounds how deep groups may be nested; programs nest some ten.
const maxDepth = 1_000

// signature is what files begin with.
var signature = []byte(`{\rtf`)

// Is reports whether data is RTF, judging by its content.
func Is(data []byte) bool { return bytes.HasPrefix(data, signature) }

// Read parses a document. Its error wraps outline.ErrUnparsable.
func Read(data []byte, o outline.Options) (*outline.Document, error) {
	out := &outline.Builder{Options: o}
	metadata, err := read(out, data)
	if err != nil {
		return nil, err
	}
	return out.Document(metadata), nil
}

// Append parses a document and adds its content to b. Its error wraps outline.ErrUnparsable.
func Append(b *outline.Builder, data []byte) error {
	_, err := read(b, data)
	return err
}

// read adds the content of a document to out and returns its metadata.
func read(out *outline.Builder, data []byte) (map[string]any, error) {
	if !Is(data) {
		return nil, bad("it does not begin as RTF does")
	}
	r := &reader{
		lexer: lexer{data: data}, out: out, fonts: map[int]font{}, styles: map[int]style{}, page: pages[1252],
		metadata: map[string]any{}, state: state{skip: 1, outline: -1},
	}
	r.flow = &flow{put: r.put}
	if encapsulates(data) {
		return r.metadata, r.readPage()
	}
	if err := r.read(); err != nil {
		return nil, err
	}
	r.flow.end()
	r.flushCaption()
	return r.metadata, nil
}

// reader reads a file.
type reader struct {
	lexer
	out      *outline.Builder
	flow     *flow
	metadata map[string]any
	styles   map[int]style
	fonts    map[int]font
	standard int               // the font where none is named
	page     encoding.Encoding // of bytes where the font has none

	state state
	stack []state // of the groups around

	waiting   []byte // of a text, not decoded yet
	waitingIn int    // their font
	high      rune   // the first half of a pair that \u gives, 0 for none
	skip      int    // how many characters are still to be skipped after \u

	titled  bool   // there was a paragraph of style Title, below which headings are nested
	caption string // the last paragraph if it is a caption, perhaps of a table that follows
	markup  bool   // the document is a page of HTML, written as RTF
	shape   string // the name of the property of a shape that was read last
}

// font is what is known of a font.
type font struct {
	page    int // its code page, 0 for that of the file
	symbols bool
}

// place is where the text of a group belongs.
type place int

// The places.
const (
	body    place = iota
	quiet         // nowhere, but groups inside it may belong somewhere
	nowhere       // nor do they
	fontTable
	styleTable
	capture // a text beside the body: state.text
)

// state is what holds for a group, until it says otherwise, and for the groups inside it.
type state struct {
	place   place
	text    *strings.Builder // of capture
	outer   *state           // around a group that is there in two forms
	closes  func()           // what is to be done at the end of this group alone
	mark    *strings.Builder // the bullet or number that text belongs to
	field   *strings.Builder // the code of the field around
	info    bool             // inside the properties of the document
	starred bool             // the group begins with \*
	digits  bool             // its text is the bytes of a picture
	picture *picture         // around, where pictures are kept
	font    int
	skip    int // how many characters follow a \u for old programs
	hidden  bool
	deleted bool
	aside   bool // of the page that the document is, this is not a part

	style, outline int
	list, level    int // list is 0 outside of lists
	inTable        bool
	depth          int     // of the tables around, 0 or 1 for one of the flow itself
	nested         bool    // inside what says how rows of an inner table are laid out
	number         int     // of the font or style that is declared
	declared       *style  // the style that is declared
	when           *[5]int // the date that is read: year, month, day, hour, minute
}

// read reads all tokens.
func (r *reader) read() error {
	for {
		t := r.next()
		switch t.kind {
		case end:
			return bad("it ends in the middle")
		case open:
			r.decode()
			r.skip = 0
			if len(r.stack) == maxDepth {
				return bad("groups are nested more than %d deep", maxDepth)
			}
			r.stack = append(r.stack, r.state)
			r.state.closes, r.state.starred, r.state.digits = nil, false, false
			r.begin()
		case closed:
			r.decode()
			r.skip, r.high = 0, 0
			if r.close(); len(r.stack) == 0 {
				return nil
			}
		case char:
			r.bytes([]byte{byte(t.value)})
		case chars:
			if r.state.digits {
				r.state.picture.hex(t.text)
				continue
			}
			r.bytes(t.text)
		case binary:
			r.skip = max(0, r.skip-1)
			if r.state.digits {
				r.state.picture.Data = append(r.state.picture.Data, t.text...)
			}
		case word:
			if r.skip > 0 && signs[t.name] != "" {
				r.skip--
				continue
			}
			r.skip = 0
			r.control(&t)
		}
	}
}

// close ends a group.
func (r *reader) close() {
	if r.state.closes != nil {
		r.state.closes()
	}
	last := len(r.stack) - 1
	if last == 0 && r.state.place == body {
		r.paragraph()
	}
	r.state, r.stack = r.stack[last], r.stack[:last]
}

// write adds decoded text to where it belongs.
func (r *reader) write(text string) {
	s := &r.state
	switch {
	case s.hidden || s.deleted || s.aside:
	case s.place == capture:
		s.text.WriteString(text)
	case s.place == body:
		r.flow.text().WriteString(text)
	case s.place == styleTable && s.declared != nil:
		s.declared.name += text
	}
}

// bad returns an error that wraps outline.ErrUnparsable.
func bad(format string, args ...any) error {
	return fmt.Errorf("%w: %w", outline.ErrUnparsable, fmt.Errorf(format, args...))
}
