package extract

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"quarry/internal/extract/mail"
	"quarry/internal/extract/outline"
)

// readMail reads a mail that lies depth files deep in others. Its scans are those of the files in it.
func readMail(in Input, f *format, depth int) (*Document, error) {
	var scans []Scan
	n := 0
	doc, err := f.readMail(in.Data, mail.Files{Depth: depth, Pictures: in.Pictures, Read: func(a *mail.Attachment, depth int) (*Document, error) {
		n++
		place := strconv.Itoa(n)
		o := in.Options
		o.Recognised = inside(o.Recognised, place)
		doc, err := read(attached(a, o), depth)
		if err != nil {
			return nil, err
		}
		for _, s := range doc.Scans {
			s.File = strings.TrimSuffix(place+"/"+s.File, "/")
			scans = append(scans, s)
		}
		if len(doc.Scans) > 0 && len(doc.Sections) == 0 {
			return nil, ErrNoText
		}
		return doc, nil
	}})
	if err != nil {
		return nil, err
	}
	doc.Scans = scans
	return doc, nil
}

// inside returns what was recognised in the file at a place, with the places of files inside that one.
func inside(all []Recognised, place string) (out []Recognised) {
	for _, r := range all {
		if first, rest, _ := strings.Cut(r.File, "/"); first == place {
			r.File = rest
			out = append(out, r)
		}
	}
	return out
}

// attached returns a file in a mail. Mail programs write types that say nothing of many files, so that name and content decide
// where no parser reads the type.
func attached(a *mail.Attachment, o Options) Input {
	in := Input{Name: a.Name, ContentType: a.ContentType, Data: a.Data, Options: o}
	if _, err := choose(in); errors.Is(err, ErrUnsupported) {
		if _, err := choose(Input{Name: in.Name, Data: in.Data}); err == nil {
			in.ContentType = ""
		}
	}
	return in
}

// Scanned returns the picture of a page that Read has found to be one. Errors are those of Read.
func Scanned(in Input, s Scan) (*Raster, error) {
	c, err := Choose(in)
	if err != nil {
		return nil, err
	}
	return c.Scanned(s)
}

// Scanned is the function Scanned for a format that was chosen.
func (c Choice) Scanned(s Scan) (*Raster, error) {
	place, rest, _ := strings.Cut(s.File, "/")
	switch {
	case place != "" && c.format.readMail != nil:
		in, err := c.attachment(place)
		if err != nil {
			return nil, err
		}
		return Scanned(in, Scan{File: rest, Page: s.Page})
	case place != "" || c.format.raster == nil:
		return nil, fmt.Errorf("%s: %w: no picture is at %q", c.Stage(), ErrUnparsable, place)
	}
	r, err := c.format.raster(c.in.Data, s.Page)
	if err != nil {
		return nil, fmt.Errorf("%s, page %d: %w", c.Stage(), s.Page, err)
	}
	return r, nil
}

// errPassed is what becomes of the other attachments while one is looked for.
var errPassed = errors.New("passed over")

// attachment returns the file that is number n in a mail.
func (c Choice) attachment(n string) (found Input, err error) {
	seen := 0
	_, err = c.format.readMail(c.in.Data, mail.Files{Read: func(a *mail.Attachment, _ int) (*outline.Document, error) {
		if seen++; strconv.Itoa(seen) == n {
			found = attached(a, Options{})
		}
		return nil, errPassed
	}})
	if err == nil && found.Data == nil {
		err = fmt.Errorf("%w: it has no attachment %s", ErrUnparsable, n)
	}
	if err != nil {
		return found, fmt.Errorf("%s: %w", c.Stage(), err)
	}
	return found, nil
}
