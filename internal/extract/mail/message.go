package mail

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"quarry/internal/extract/html"
	"quarry/internal/extract/outline"
	"quarry/internal/extract/rtf"
)

// Message is a mail as a format of mail files has it.
type Message struct {
	Subject string
	// From, To and Cc are addresses as people write them: Ann <ann@example.com>, Bob <bob@example.com>.
	From, To, Cc string
	// Date is when it was sent; the zero Time where that is unknown.
	Date time.Time
	// Bodies are its texts, in their order; mostly there is one.
	Bodies      []Body
	Attachments []Attachment
}

// Body is one text in the forms that the mail has it in, in UTF-8. The first that is not blank is read.
type Body struct {
	Plain, HTML string
	RTF         []byte
}

// Attachment is a file in a mail.
type Attachment struct {
	// Name may be empty, and ContentType as well.
	Name, ContentType string
	// ID is the Content-ID, by which the text may show it, without angle brackets; it may be empty.
	ID   string
	Data []byte
	// Inline is set for a picture that belongs to the text and has no section of its own.
	Inline bool
	// Message is a mail that the format keeps in parts, without a file of its own; Data is nil then.
	Message *Message
	// Err is why its bytes can't be had, or nil.
	Err error
}

// Files reads the files in a mail.
type Files struct {
	// Read reads one; what it has inside lies depth files deep.
	Read func(a *Attachment, depth int) (*outline.Document, error)
	// Depth is how many files the mail itself lies deep in others.
	Depth int
	// Pictures has the pictures of the mail kept: those of its text, and files that are one.
	Pictures bool
}

const (
	// maxDepth is how many files deep attachments are read: what is attached to an attachment of an attachment.
	maxDepth = 3
	// maxTexts bounds what is read of all attachments, in bytes; each reader bounds one.
	maxTexts = 64 << 20
)

// The reasons for attachments that are not read, beside those of the readers.
var (
	errDeep  = fmt.Errorf("attachments are read %d files deep", maxDepth)
	errTexts = fmt.Errorf("what was read before it has more than %d MB", maxTexts>>20)
	errEmpty = errors.New("it is empty")
)

// Tree returns the document that a mail is: its subject the title, then its text, then a section for each attachment. One that
// can't be read is a section that says why. Of the pictures that are kept, those that the text shows stand where it shows them, or behind it
// where it is plain, then the other ones that belong to it; a file that is one stands in its section, unless the text shows it.
func Tree(m *Message, files Files) (*outline.Document, error) {
	metadata := map[string]any{}
	for key, value := range map[string]string{"title": m.Subject, "from": m.From, "to": m.To, "cc": m.Cc} {
		if value = outline.OneLine(value); value != "" {
			metadata[key] = value
		}
	}
	if !m.Date.IsZero() {
		metadata["date"] = m.Date.Format(time.RFC3339)
	}
	beside := newGallery(m.Attachments)
	text := outline.Builder{Options: outline.Options{Pictures: files.Pictures}, File: beside.file}
	for i := range m.Bodies {
		if err := m.Bodies[i].add(&text); err != nil {
			return nil, err
		}
	}
	beside.addRest(&text)
	doc := text.Document(metadata)
	doc.Title, _ = metadata["title"].(string) // a heading in the text is not what the mail is about
	left, n := maxTexts, 0
	for i := range m.Attachments {
		a := &m.Attachments[i]
		if a.Inline {
			continue
		}
		n++
		s := a.section(n, files, left)
		if p := a.picture(); files.Pictures && left > 0 && !beside.shown[a] && p.Identify() {
			s.Pictures = append(s.Pictures, p)
		}
		left -= size(&s)
		doc.Sections = append(doc.Sections, s)
	}
	if len(doc.Sections) == 0 && doc.Title != "" { // all that it says
		doc.Sections = []outline.Section{{Text: doc.Title}}
	}
	return doc, nil
}

// add adds the text in the form that is read.
func (b *Body) add(out *outline.Builder) error {
	if strings.TrimSpace(b.Plain) == "" {
		return b.addFormatted(out)
	}
	out.Paragraph(strings.Trim(lineEnds.Replace(b.Plain), "\n"))
	if out.Options.Pictures {
		page := outline.Builder{Options: out.Options, File: out.File}
		_ = b.addFormatted(&page) // the text is read, and a form that can't be has no pictures
		addPictures(out, page.Sections())
	}
	return nil
}

// addFormatted adds the text in a form that has pictures and headings, if there is one.
func (b *Body) addFormatted(out *outline.Builder) error {
	switch {
	case strings.TrimSpace(b.HTML) != "":
		return html.AppendPage(out, b.HTML)
	case len(b.RTF) > 0:
		return rtf.Append(out, b.RTF)
	}
	return nil
}

var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// section returns the section of an attachment, the n-th one, if left bytes may still be read.
func (a *Attachment) section(n int, files Files, left int) outline.Section {
	doc, err := a.read(files, left)
	if err != nil {
		subject := ""
		if a.Message != nil {
			subject = outline.OneLine(a.Message.Subject)
		}
		return outline.Section{Title: cmp.Or(outline.OneLine(a.Name), subject, fmt.Sprintf("Attachment %d", n)), Level: 1, Text: "This attachment was not read: " + err.Error() + "."}
	}
	s := outline.Section{Title: cmp.Or(outline.OneLine(a.Name), outline.OneLine(doc.Title), fmt.Sprintf("Attachment %d", n)), Level: 1, Sections: doc.Sections}
	if len(doc.Sections) > 0 && doc.Sections[0].Title == "" { // the text before the first heading is that of the attachment itself
		first := doc.Sections[0]
		s.Page, s.Pages, s.Text, s.Code, s.Tables, s.Pictures = first.Page, first.Pages, first.Text, first.Code, first.Tables, first.Pictures
		s.Sections = append(first.Sections, doc.Sections[1:]...)
	}
	return s
}

func (a *Attachment) read(files Files, left int) (*outline.Document, error) {
	switch {
	case a.Err != nil:
		return nil, a.Err
	case files.Depth >= maxDepth:
		return nil, errDeep
	case left <= 0:
		return nil, errTexts
	case a.Message != nil:
		return Tree(a.Message, Files{files.Read, files.Depth + 1, files.Pictures})
	case len(a.Data) == 0:
		return nil, errEmpty
	}
	return files.Read(a, files.Depth+1)
}

// size returns about how many bytes a section takes.
func size(s *outline.Section) int {
	n := len(s.Title) + len(s.Text)
	for _, t := range s.Tables {
		for _, row := range slices.Concat(t.Headers, t.Rows) {
			for _, c := range row {
				n += len(c) + 16
			}
		}
	}
	for _, p := range s.Pictures {
		n += len(p.Data) + len(p.Words())
	}
	for i := range s.Sections {
		n += size(&s.Sections[i]) + 64
	}
	return n
}
