// Package doc reads Word documents of before 2007 (Word 97 to 2003, MS-DOC) into a document tree.
//
// It keeps what a reader of the final text would see: paragraphs, headings by their style, lists with their bullets and numbers, tables,
// notes after the paragraph that refers to them, text boxes after the paragraph they are anchored to, pictures where they are wanted and
// else what is said of them, and the results of fields. Text that is deleted or hidden, comments, headers, footers and tables of contents
// are left out. All functions are safe for concurrent use.
package doc

import (
	"encoding/binary"
	"fmt"

	"quarry/internal/extract/ole"
	"quarry/internal/extract/outline"
)

// mainStream is the name of the stream that begins with the file information block.
const mainStream = "WordDocument"

// Is reports whether data is a Word document, judging by its content.
func Is(data []byte) bool { return ole.Is(data, mainStream) }

// Read parses a Word document. Its errors wrap outline.ErrUnparsable or outline.ErrProtected.
func Read(data []byte, o outline.Options) (*outline.Document, error) {
	root, err := ole.Open(data)
	if err != nil {
		return nil, err
	}
	f, err := open(root)
	if err != nil {
		return nil, err
	}
	r := &reader{file: f, out: &outline.Builder{Options: o}, counters: map[int]*counter{}}
	if err := r.read(); err != nil {
		return nil, err
	}
	return r.out.Document(root.Properties()), nil
}

// Parts of the table stream by their numbers in the file information block (MS-DOC, 2.5.5 and 2.5.6).
const (
	partStyles                      = 1
	partFootnoteRefs, partFootnotes = 2, 3
	partCharacters, partParagraphs  = 12, 13
	partPieces                      = 33
	partAnchors                     = 40
	partEndnoteRefs, partEndnotes   = 46, 47
	partDrawings                    = 50
	partBoxes                       = 56
	partLists, partOverrides        = 73, 74
)

// file is an open document.
type file struct {
	main, table, data []byte // its streams
	parts             int    // where the list of parts begins in main
	count             int    // of them
	lengths           [8]int // of the texts, in characters: see the constants below
	pieces            []piece
	total             int // characters of all pieces
	characters        runs
	paragraphs        runs
	styles            []style
	lists             map[uint32][]level
	overrides         []override
}

// The texts of a document follow each other in this order.
const (
	body = iota
	footnotes
	headers
	macros
	comments
	endnotes
	boxes
	headerBoxes
)

// open reads the file information block and everything that the text is read with.
func open(root *ole.Storage) (*file, error) {
	const word97, encrypted, secondTable = 0xC1, 0x100, 0x200
	main, err := root.Read(mainStream)
	if err != nil {
		return nil, err
	}
	f := &file{main: main}
	if len(main) < 68 {
		return nil, bad("the file holds no Word document")
	}
	if magic := u16(main, 0); magic != 0xA5EC || u16(main, 2) < word97 {
		return nil, bad("it is a document of before Word 97; save it as .docx")
	}
	flags := u16(main, 10)
	if flags&encrypted != 0 {
		return nil, outline.ErrProtected
	}
	name := "0Table"
	if flags&secondTable != 0 {
		name = "1Table"
	}
	if f.table, err = root.Read(name); err != nil {
		return nil, err
	}
	if f.data, err = root.Read("Data"); err != nil {
		return nil, err
	}
	numbers := 34 + 2*u16(main, 32) + 2
	f.parts = numbers + 4*u16(main, numbers-2) + 2
	f.count = u16(main, f.parts-2)
	for i := range f.lengths {
		f.lengths[i] = int(u32(main, numbers+12+4*i))
	}
	if err := f.readPieces(); err != nil {
		return nil, err
	}
	f.characters, f.paragraphs = f.readRuns(partCharacters), f.readRuns(partParagraphs)
	f.readStyles()
	f.readLists()
	return f, nil
}

// part returns a part of the table stream, nil where the file has none.
func (f *file) part(i int) []byte {
	if i >= f.count {
		return nil
	}
	return slice(f.table, u32(f.main, f.parts+8*i), u32(f.main, f.parts+8*i+4))
}

// start returns where one of the texts begins, and where it ends.
func (f *file) start(text int) (from, to int) {
	for _, n := range f.lengths[:text] {
		from += n
	}
	return min(from, f.total), min(from+f.lengths[text], f.total)
}

// ranges returns the places that divide a text, as a part begins with them, in characters from the beginning of the document.
func (f *file) ranges(part, size, text int) []int {
	from, to := f.start(text)
	places := places(f.part(part), size)
	for i := range places {
		places[i] = min(from+places[i], to)
	}
	return places
}

// places reads the beginning of a part that is a list of n+1 ascending places, and then of n records of this size.
func places(b []byte, size int) []int {
	if len(b) < 4 {
		return nil
	}
	out := make([]int, (len(b)-4)/(4+size)+1)
	last := 0
	for i := range out {
		last = max(last, int(u32(b, 4*i))) // what does not ascend is empty
		out[i] = last
	}
	return out
}

// slice returns a part of b, nil where it is not there as a whole.
func slice(b []byte, from, length uint32) []byte {
	if uint64(from)+uint64(length) > uint64(len(b)) {
		return nil
	}
	return b[from : uint64(from)+uint64(length)]
}

// u16 and u32 read a number, 0 where there is none.
func u16(b []byte, at int) int {
	if at < 0 || at+2 > len(b) {
		return 0
	}
	return int(binary.LittleEndian.Uint16(b[at:]))
}

func u32(b []byte, at int) uint32 {
	if at < 0 || at+4 > len(b) {
		return 0
	}
	return binary.LittleEndian.Uint32(b[at:])
}

// bad returns an error that wraps outline.ErrUnparsable.
func bad(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{outline.ErrUnparsable}, args...)...)
}
