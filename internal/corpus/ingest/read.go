package ingest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"quarry/internal/corpus/document"
	"quarry/internal/corpus/draft"
	"quarry/internal/extract"
	"quarry/internal/fault"
	"quarry/internal/text/sentence"
)

// readable lists the supported formats in refusals.
var readable = "files that can be read are " + strings.Join(extract.Formats(), ", ") + ", and JSON that holds a structured or core document"

// anew is the advice for files that can't be parsed; the other errors say what to do themselves.
const anew = "; open it in the program that made it and save it anew, or as PDF"

// Supported returns fault.KindMediaType if the declared type and the name show that a file can't be read.
func Supported(name, contentType string) error {
	_, err := extract.Read(extract.Input{Name: name, ContentType: contentType})
	if errors.Is(err, extract.ErrUnsupported) {
		return fault.MediaType("%s; %s", err, readable)
	}
	return nil
}

// read parses a file as a structured document whose sections are those below its headings.
func (s *Service) read(ctx context.Context, u *Upload) (d draft.Structured, err error) {
	tree, err := s.tree(ctx, extract.Input{Name: u.Name, ContentType: u.ContentType, Data: u.Data, Options: u.Reading})
	switch {
	case errors.Is(err, extract.ErrUnsupported):
		return d, fault.MediaType("%s; %s", err, readable)
	case errors.Is(err, extract.ErrEmpty):
		return d, fault.InvalidField("file", "must not be empty")
	case errors.Is(err, extract.ErrUnparsable), errors.Is(err, extract.ErrProtected), errors.Is(err, extract.ErrNoText),
		errors.Is(err, extract.ErrStopped):
		text := err.Error()
		if errors.Is(err, extract.ErrUnparsable) {
			text += anew
		}
		f := fault.InvalidField("file", "%s", text)
		f.Text = text
		return d, f
	case err != nil:
		return d, fmt.Errorf("read file: %w", err)
	}
	u.found, _ = tree.Metadata["Content-Type"].(string)
	u.searched = tree.Searched
	found, err := json.Marshal(tree.Metadata)
	if err != nil {
		return d, fmt.Errorf("encode extracted metadata: %w", err)
	}
	all, err := sections(tree.Sections, &images{})
	if err != nil {
		return d, err
	}
	if len(all) == 0 {
		return d, fault.InvalidField("file", "holds no text")
	}
	return draft.Structured{
		ID: u.ID, Title: tree.Title, TitleInText: len(tree.Sections) > 0 && tree.Sections[0].Title == tree.Title,
		Metadata: u.Metadata, Extracted: found, Sections: all, Chunking: u.Chunking,
	}, nil
}

// tree returns the tree of a file, with what is recognised on its pages that are pictures.
func (s *Service) tree(ctx context.Context, in extract.Input) (*extract.Document, error) {
	tree, err := s.parse(ctx, in)
	if err != nil || len(tree.Scans) == 0 {
		return tree, err
	}
	return s.recognise(ctx, in, tree)
}

// parse parses a file as soon as fewer than the maximum are being parsed.
func (s *Service) parse(ctx context.Context, in extract.Input) (*extract.Document, error) {
	select {
	case s.readers <- struct{}{}:
		defer func() { <-s.readers }()
		return s.cfg.Reader.Read(ctx, in)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// sections maps a tree without its empty sections.
func sections(all []extract.Section, pictures *images) ([]draft.Section, error) {
	var out []draft.Section
	for i := range all {
		in := &all[i]
		s := draft.Section{Title: in.Title, Page: in.Page}
		var rest string
		s.Images, rest = pictures.take(in)
		s.Text = in.Text + rest
		var err error
		if s.Sections, err = sections(in.Sections, pictures); err != nil {
			return nil, err
		}
		for _, m := range in.Pages {
			s.Pages = append(s.Pages, draft.PageMark(m))
		}
		for _, c := range in.Code {
			s.Code = append(s.Code, sentence.Span(c))
		}
		for _, t := range in.Tables {
			data, err := tableData(t)
			if err != nil {
				return nil, err
			}
			s.Tables = append(s.Tables, document.Table{Title: t.Title, Data: data, Page: t.Page})
		}
		if strings.TrimSpace(s.Title+s.Text) != "" || len(s.Tables)+len(s.Images)+len(s.Sections) > 0 {
			out = append(out, s)
		}
	}
	return out, nil
}

// tableData writes a table in the form that clients send (contract: Tables).
func tableData(t extract.Table) (json.RawMessage, error) {
	type cell struct {
		Text string `json:"text_value"`
	}
	grid := func(rows [][]string) [][]cell {
		out := make([][]cell, len(rows))
		for i, row := range rows {
			out[i] = make([]cell, len(row))
			for j, text := range row {
				out[i][j] = cell{text}
			}
		}
		return out
	}
	data, err := json.Marshal(map[string]any{"headers": grid(t.Headers), "rows": grid(t.Rows)})
	if err != nil {
		return nil, fmt.Errorf("encode table: %w", err)
	}
	return data, nil
}

// place renames the fields of a refused document to those of the upload. A fault inside the file is a fault of the file.
func (u *Upload) place(err error) error {
	f, ok := fault.As(err)
	if !ok || f.Kind != fault.KindInvalid {
		return err
	}
	moved := *f
	moved.Fields = nil
	for path, reason := range f.Fields {
		member, _, _ := strings.Cut(path, ".")
		switch {
		case u.Draft != nil && (member != "metadata" || len(u.Metadata) == 0):
			path = fault.Join("file", path)
		case path == "id":
			path = "filename"
		case member != "metadata" && member != "chunking_strategy":
			path = "file"
		}
		moved.Field(path, "%s", reason)
	}
	return &moved
}
