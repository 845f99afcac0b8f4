// Package ppt reads PowerPoint presentations of before 2007 (PowerPoint 97 to 2003, MS-PPT) into a document tree.
//
// Each slide is a section with its title and its number as page; the slides come as they are shown, hidden ones left out. The texts of a slide
// stand in the order of the file, the title first. Tables, pictures where they are wanted and else what is said of them, notes and
// comments are read; footers, dates and slide numbers are not, nor charts and other objects inside. All functions are safe for concurrent use.
package ppt

import (
	"fmt"
	"strings"

	"quarry/internal/extract/officeart"
	"quarry/internal/extract/ole"
	"quarry/internal/extract/outline"
)

const mainStream = "PowerPoint Document"

// Is reports whether data is a presentation, judging by its content.
func Is(data []byte) bool { return ole.Is(data, mainStream, "PP40") }

// Read parses a presentation. Its errors wrap outline.ErrUnparsable or outline.ErrProtected.
func Read(data []byte, o outline.Options) (*outline.Document, error) {
	root, err := ole.Open(data)
	if err != nil {
		return nil, err
	}
	stream, err := root.Read(mainStream)
	if err != nil {
		return nil, err
	}
	user, err := root.Read("Current User")
	if err != nil {
		return nil, err
	}
	switch {
	case stream == nil && root.Has("PP40"):
		return nil, bad("it is a presentation of before PowerPoint 97; save it as .pptx")
	case stream == nil:
		return nil, bad("the file holds no presentation")
	case root.Has("EncryptedSummary"):
		return nil, outline.ErrProtected
	}
	s := &show{data: stream, out: &outline.Builder{Options: o}, places: map[uint32]uint32{}, notes: map[uint32]uint32{}, numbers: map[textOf][][]byte{}}
	if o.Pictures {
		if s.delayed, err = root.Read("Pictures"); err != nil {
			return nil, err
		}
	}
	if err := s.read(user); err != nil {
		return nil, err
	}
	metadata := root.Properties()
	if metadata["title"] == "PowerPoint Presentation" { // what the program writes by itself
		delete(metadata, "title")
	}
	return s.out.Document(metadata), nil
}

// show is an open presentation.
type show struct {
	data    []byte
	out     *outline.Builder
	places  map[uint32]uint32 // of the objects that are saved, by their numbers
	slides  []slide
	notes   map[uint32]uint32   // the numbers of objects by the ids of notes
	numbers map[textOf][][]byte // the formats of numbered lists, for the texts of a slide that are of one kind
	written int                 // bytes of tables

	pictures officeart.Store
	delayed  []byte // the stream that has them
}

// slide is a slide as the list of them has it.
type slide struct {
	id     uint32
	object uint32
	texts  []*text // of its title and body, where the slide itself does not have them
}

// textOf is a kind of texts on a slide.
type textOf struct{ slide, kind uint32 }

// read adds the slides.
func (s *show) read(user []byte) error {
	object, err := s.readEdits(user)
	if err != nil {
		return err
	}
	document, err := s.object(object, recDocument)
	if err != nil {
		return err
	}
	const slides, notes = 0, 2
	officeart.Each(document, func(r officeart.Record) {
		switch {
		case r.Kind == recSlideList && r.Instance == slides:
			s.readList(r.Body)
		case r.Kind == recSlideList && r.Instance == notes:
			officeart.Each(r.Body, func(r officeart.Record) {
				if r.Kind == recSlidePersist {
					s.notes[u32(r.Body, 12)] = u32(r.Body, 0)
				}
			})
		case r.Kind == recDrawingGroup:
			s.pictures = officeart.ReadStore(r.Body, s.delayed)
		case r.Kind == recDocInfo:
			officeart.Each(r.Body, func(r officeart.Record) {
				if r.Kind == recTags {
					tagged(r, "___PPT9", s.readNumbers)
				}
			})
		}
	})
	for i := range s.slides {
		if err := s.slide(&s.slides[i], i+1); err != nil {
			return err
		}
	}
	return nil
}

// readEdits reads where the objects of the file are, which each saving adds to, from the last one on. It returns the number of the document.
func (s *show) readEdits(user []byte) (document uint32, err error) {
	const encrypted = 0xF3D1C4DF
	if u32(user, 12) == encrypted {
		return 0, outline.ErrProtected
	}
	at, seen := u32(user, 16), map[uint32]bool{}
	if r, _, ok := s.at(at); !ok || r.Kind != recUserEdit { // the last one in the file
		at = 0
		for place := 0; ; {
			r, rest, ok := officeart.First(s.data[place:])
			if !ok {
				break
			}
			if r.Kind == recUserEdit {
				at = uint32(place)
			}
			place = len(s.data) - len(rest)
		}
	}
	for n := 0; n == 0 || at != 0; n++ {
		r, _, ok := s.at(at)
		if !ok || r.Kind != recUserEdit || len(r.Body) < 24 || seen[at] {
			return 0, bad("the list of its objects is damaged")
		}
		seen[at] = true
		const encryption = 28
		if n == 0 {
			document = u32(r.Body, 16)
		}
		if u32(r.Body, encryption) != 0 {
			return 0, outline.ErrProtected
		}
		directory, _, ok := s.at(u32(r.Body, 12))
		if !ok || directory.Kind != recPersistDirectory {
			return 0, bad("the list of its objects is damaged")
		}
		s.readPlaces(directory.Body)
		at = u32(r.Body, 8)
	}
	return document, nil
}

// readPlaces reads the places of objects. Those of later savings are known already, and stay.
func (s *show) readPlaces(b []byte) {
	for len(b) >= 4 {
		head := u32(b, 0)
		number, count := head&0xFFFFF, head>>20
		b = b[4:]
		for ; count > 0 && len(b) >= 4; count-- {
			if _, known := s.places[number]; !known {
				s.places[number] = u32(b, 0)
			}
			number++
			b = b[4:]
		}
	}
}

func (s *show) at(place uint32) (officeart.Record, []byte, bool) {
	if uint64(place) > uint64(len(s.data)) {
		return officeart.Record{}, nil, false
	}
	return officeart.First(s.data[place:])
}

// object returns the content of an object, which has to be of a kind.
func (s *show) object(number uint32, kind int) ([]byte, error) {
	place, known := s.places[number]
	r, _, ok := s.at(place)
	switch {
	case known && ok && r.Kind == recEncryption:
		return nil, outline.ErrProtected
	case !known || !ok || r.Kind != kind:
		return nil, bad("a part of it is missing or damaged")
	}
	return r.Body, nil
}

// readList reads the list of slides with their titles and bodies.
func (s *show) readList(b []byte) {
	reading := &texts{}
	officeart.Each(b, func(r officeart.Record) {
		if r.Kind == recSlidePersist {
			s.slides = append(s.slides, slide{id: u32(r.Body, 12), object: u32(r.Body, 0)})
			reading = &texts{}
			return
		}
		reading.record(r)
		if n := len(s.slides); n > 0 {
			s.slides[n-1].texts = reading.all
		}
	})
}

// readNumbers reads the formats of numbered lists in titles and bodies.
func (s *show) readNumbers(r officeart.Record) {
	if r.Kind != recOutlineText9 {
		return
	}
	var of textOf
	officeart.Each(r.Body, func(r officeart.Record) {
		switch r.Kind {
		case recTextRef9:
			of = textOf{u32(r.Body, 0), u32(r.Body, 4)}
		case recTextStyle9:
			s.numbers[of] = append(s.numbers[of], r.Body)
		}
	})
}

// slide adds one slide with its notes and comments, unless it is hidden.
func (s *show) slide(in *slide, number int) error {
	const hidden = 4
	b, err := s.object(in.object, recSlide)
	if err != nil {
		return err
	}
	shown, notes := true, uint32(0)
	var shapes []shape
	var comments []string
	officeart.Each(b, func(r officeart.Record) {
		switch r.Kind {
		case recSlideAtom:
			notes = u32(r.Body, 16)
		case recShowInfo:
			shown = u16(r.Body, 10)&hidden == 0
		case recDrawing:
			shapes = s.shapes(r.Body, in)
		case recTags:
			tagged(r, "___PPT10", func(r officeart.Record) {
				if r.Kind == recComment {
					comments = append(comments, comment(r.Body))
				}
			})
		}
	})
	if !shown {
		return nil
	}
	s.out.Page(number)
	title := ""
	for i := range shapes {
		if shapes[i].title {
			title, shapes[i].paragraphs = outline.OneLine(shapes[i].plain()), nil
			break
		}
	}
	s.out.Heading(1, title)
	for i := range shapes {
		s.write(&shapes[i])
	}
	if object, has := s.notes[notes]; has && notes != 0 {
		if err := s.writeNotes(object); err != nil {
			return err
		}
	}
	for _, c := range comments {
		s.out.Paragraph(c)
	}
	return nil
}

// writeNotes adds what the speaker has noted below a slide.
func (s *show) writeNotes(object uint32) error {
	b, err := s.object(object, recNotes)
	if err != nil {
		return err
	}
	officeart.Each(b, func(r officeart.Record) {
		if r.Kind != recDrawing {
			return
		}
		for _, in := range s.shapes(r.Body, &slide{}) {
			if in.notes {
				for _, p := range in.paragraphs {
					s.out.Paragraph(p.text)
				}
			}
		}
	})
	return nil
}

// write adds a shape.
func (s *show) write(in *shape) {
	s.out.Break()
	for _, p := range in.paragraphs {
		if p.bullet == "" {
			s.out.Paragraph(p.text)
		} else if p.text != "" {
			s.out.Line(strings.Repeat("  ", min(p.level, 8)) + p.bullet + " " + strings.ReplaceAll(p.text, "\n", " "))
		}
	}
	s.out.Break()
	if !s.out.Picture(outline.Picture{Description: in.Description, Data: s.pictures.Picture(in.Picture)}) {
		s.out.Paragraph(in.Description)
	}
	if len(in.table.Rows) > 0 {
		s.out.Table(in.table)
	}
}

// comment returns a comment with its author and its day.
func comment(b []byte) string {
	const author, said = 0, 1
	var c outline.Comment
	officeart.Each(b, func(r officeart.Record) {
		switch {
		case r.Kind == recString && r.Instance == author:
			c.Author = outline.OneLine(ole.UTF16(r.Body))
		case r.Kind == recString && r.Instance == said:
			c.Text = ole.UTF16(r.Body)
		case r.Kind == recCommentAt && u16(r.Body, 4) > 0:
			c.Time = fmt.Sprintf("%04d-%02d-%02d", u16(r.Body, 4), u16(r.Body, 6), u16(r.Body, 10))
		}
	})
	return c.String()
}
