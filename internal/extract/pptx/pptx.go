// Package pptx reads PowerPoint presentations (PresentationML, ECMA-376 part 1, chapter 19) into a document tree.
//
// Each slide is a section with its title and its number as page; the slides come as they are shown, hidden ones left out. The texts of a
// slide stand in the order of the file, which is PowerPoint's reading order and the one that screen readers follow, the title first.
// Tables, the data of charts, the texts of SmartArt, alternative texts of pictures, notes and comments are read; footers and slide
// numbers are not. All functions are safe for concurrent use.
package pptx

import (
	"encoding/xml"
	"strings"

	"quarry/internal/extract/archive"
	"quarry/internal/extract/ooxml"
	"quarry/internal/extract/outline"
)

// Read parses a presentation. Its errors wrap outline.ErrUnparsable or outline.ErrProtected.
func Read(data []byte, o outline.Options) (*outline.Document, error) {
	p, err := ooxml.Open(data, ooxml.Presentation)
	if err != nil {
		return nil, err
	}
	metadata, err := p.Properties()
	if err != nil {
		return nil, err
	}
	if metadata["title"] == "PowerPoint Presentation" { // what the program writes by itself
		delete(metadata, "title")
	}
	s := &show{pack: p, out: &outline.Builder{Options: o}, authors: map[string]string{}}
	if err := s.read(); err != nil {
		return nil, err
	}
	return s.out.Document(metadata), nil
}

// Is reports whether data is a presentation, judging by its content.
func Is(data []byte) bool { return ooxml.Is(data, ooxml.Presentation) }

// show is an open presentation.
type show struct {
	pack    *ooxml.Package
	out     *outline.Builder
	authors map[string]string // of comments, by id
}

// read adds the slides in the order in which they are shown.
func (s *show) read() error {
	relations, err := s.pack.Relations(s.pack.Main)
	if err != nil {
		return err
	}
	targets := map[string]string{}
	for _, r := range relations {
		targets[r.ID] = r.Target
		if r.Type == "commentAuthors" || r.Type == "authors" {
			err = s.pack.Each(r.Target, func(_ *archive.XML, e xml.StartElement) {
				if e.Name.Local == "cmAuthor" || e.Name.Local == "author" {
					s.authors[archive.Attr(e, "id")] = archive.Attr(e, "name")
				}
			})
		}
		if err != nil {
			return err
		}
	}
	var slides []string
	err = s.pack.Each(s.pack.Main, func(_ *archive.XML, e xml.StartElement) {
		if e.Name.Local == "sldId" {
			slides = append(slides, targets[ooxml.RelationID(e)])
		}
	})
	for i, part := range slides {
		if err == nil {
			err = s.slide(part, i+1)
		}
	}
	return err
}

// slide adds one slide with its notes and comments.
func (s *show) slide(part string, number int) error {
	shapes, hidden, err := s.shapes(part)
	if err != nil || hidden {
		return err
	}
	s.out.Page(number)
	title := ""
	for i := range shapes {
		if shapes[i].title {
			title = outline.OneLine(shapes[i].text())
			shapes[i].paragraphs = nil
			break
		}
	}
	s.out.Heading(1, title)
	for i := range shapes {
		if err := s.write(&shapes[i]); err != nil {
			return err
		}
	}
	relations, err := s.pack.Relations(part)
	if err != nil {
		return err
	}
	for _, r := range relations {
		switch r.Type {
		case "notesSlide":
			err = s.notes(r.Target)
		case "comments":
			err = s.comments(r.Target)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// write adds a shape.
func (s *show) write(in *shape) error {
	s.out.Break()
	for _, p := range in.paragraphs {
		if p.bullet == "" {
			s.out.Paragraph(p.text)
		} else if p.text != "" {
			s.out.Line(strings.Repeat("  ", min(p.level, 8)) + p.bullet + " " + strings.ReplaceAll(p.text, "\n", " "))
		}
	}
	s.out.Break()
	if !s.picture(in) {
		s.out.Paragraph(in.description)
	}
	if len(in.table.Headers)+len(in.table.Rows) > 0 {
		s.out.Table(in.table)
	}
	if in.chart != "" {
		return s.pack.Chart(in.chart, s.out)
	}
	if in.diagram != "" {
		return s.pack.Each(in.diagram, func(x *archive.XML, e xml.StartElement) {
			if e.Name.Local == "p" {
				if text := outline.OneLine(ooxml.Paragraph(x)); text != "" {
					s.out.Line("- " + text)
				}
			}
		})
	}
	return nil
}

// picture adds the picture of a shape and reports whether it is kept.
func (s *show) picture(in *shape) bool {
	if in.picture == "" || !s.out.Options.Pictures {
		return false
	}
	return s.out.Picture(outline.Picture{Description: in.description, Data: s.pack.Picture(in.picture)})
}

// notes adds what the speaker has noted below a slide.
func (s *show) notes(part string) error {
	shapes, _, err := s.shapes(part)
	for i := range shapes {
		if shapes[i].kind == "body" {
			for _, p := range shapes[i].paragraphs {
				s.out.Paragraph(p.text)
			}
		}
	}
	return err
}

// comments adds the comments on a slide, in the form of before and after 2021, each with its author and its time, before the answers to it.
func (s *show) comments(part string) error {
	return s.pack.Each(part, func(x *archive.XML, e xml.StartElement) {
		if e.Name.Local == "cm" {
			for _, text := range s.comment(x, e) {
				s.out.Paragraph(text)
			}
		}
	})
}

// comment reads the comment e, or the answer to one, and the answers to it. archive.XML bounds the depth of the recursion.
func (s *show) comment(x *archive.XML, e xml.StartElement) []string {
	c := outline.Comment{Author: s.authors[archive.Attr(e, "authorId")], Time: archive.Attr(e, "dt") + archive.Attr(e, "created")}
	var answers []string
	x.Each(func(e xml.StartElement) {
		switch e.Name.Local {
		case "text", "p":
			c.Text += x.Text() + " "
		case "reply":
			answers = append(answers, s.comment(x, e)...)
		}
	})
	return append([]string{c.String()}, answers...)
}
