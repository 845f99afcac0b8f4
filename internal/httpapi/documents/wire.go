package documents

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"

	"quarry/internal/corpus"
	"quarry/internal/corpus/document"
	"quarry/internal/corpus/draft"
	"quarry/internal/corpus/ingest"
	"quarry/internal/fault"
	"quarry/internal/opt"
)

// The wire forms of requests. Metadata stays raw: it is stored as it was sent. They are not the generated models,
// which read metadata into maps and lose the text of numbers.
type (
	wireDocument struct {
		Type        string           `json:"type"`
		ID          string           `json:"id"`
		Title       string           `json:"title"`
		Description string           `json:"description"`
		Metadata    json.RawMessage  `json:"metadata"`
		Dimensions  dimensions       `json:"custom_dimensions"`
		Sections    []wireSection    `json:"sections"`
		Chunking    *wireChunking    `json:"chunking_strategy"`
		Tables      []document.Table `json:"tables"`
		Images      []wireImage      `json:"images"`
		Parts       []wireCorePart   `json:"document_parts"`
	}
	wireSection struct {
		ID       *int32           `json:"id"`
		Title    string           `json:"title"`
		Text     string           `json:"text"`
		Metadata json.RawMessage  `json:"metadata"`
		Tables   []document.Table `json:"tables"`
		Images   []wireImage      `json:"images"`
		Sections []wireSection    `json:"sections"`
	}
	wireCorePart struct {
		Text       string          `json:"text"`
		Context    string          `json:"context"`
		Metadata   json.RawMessage `json:"metadata"`
		Dimensions dimensions      `json:"custom_dimensions"`
		TableID    string          `json:"table_id"`
		ImageID    string          `json:"image_id"`
		ImageMode  string          `json:"image_part_mode"`
	}
	wireImage struct {
		ID          string `json:"id"`
		Title       string `json:"title"`
		Caption     string `json:"caption"`
		Description string `json:"description"`
		Data        struct {
			Data     string `json:"data"`
			MimeType string `json:"mime_type"`
		} `json:"image_data"`
	}
	wireChunking struct {
		Type     string `json:"type"`
		MaxChars *int   `json:"max_chars_per_chunk"`
	}
)

// dimensions are custom dimensions without nulls, which mean the corpus's default, as absent names do.
type dimensions map[string]float64

// UnmarshalJSON leaves nulls out.
func (d *dimensions) UnmarshalJSON(raw []byte) error {
	var given map[string]*float64
	if err := json.Unmarshal(raw, &given); err != nil {
		return err
	}
	for name, v := range given {
		if v == nil {
			continue
		}
		if *d == nil {
			*d = dimensions{}
		}
		(*d)[name] = *v
	}
	return nil
}

// decodeDraft reads the body of createCorpusDocument, which the caller has checked against the contract's schema.
func decodeDraft(body json.RawMessage) (document.Draft, error) {
	var w wireDocument
	if err := unmarshal("body", body, &w); err != nil {
		return nil, err
	}
	d, err := w.draft()
	return d, fault.Under(err, "body")
}

// draft returns the command; its faults name members of the document.
func (w *wireDocument) draft() (document.Draft, error) {
	f := fault.Invalid()
	var d document.Draft
	switch w.Type {
	case "structured":
		d = draft.Structured{
			ID: w.ID, Title: w.Title, Description: w.Description, Metadata: w.Metadata, Dimensions: w.Dimensions,
			Sections: sections(f, "sections", w.Sections), Chunking: w.Chunking.strategy(f, "chunking_strategy"),
		}
	case "core":
		core := draft.Core{
			ID: w.ID, Metadata: w.Metadata, Tables: w.Tables, Images: images(f, "images", w.Images),
			Parts: make([]draft.CorePart, len(w.Parts)),
		}
		for i, p := range w.Parts {
			core.Parts[i] = draft.CorePart{
				Text: p.Text, Context: p.Context, Metadata: p.Metadata, Dimensions: p.Dimensions,
				TableID: p.TableID, ImageID: p.ImageID, ImageMode: p.ImageMode,
			}
		}
		d = core
	case "":
		f.Field("type", "is required: structured or core")
	default:
		f.Field("type", "must be structured or core, not %q", w.Type)
	}
	if len(f.Fields) > 0 {
		return nil, f
	}
	return d, nil
}

func sections(f *fault.Fault, path string, all []wireSection) []draft.Section {
	if len(all) == 0 {
		return nil
	}
	out := make([]draft.Section, len(all))
	for i := range all {
		s, at := &all[i], fmt.Sprintf("%s[%d]", path, i)
		out[i] = draft.Section{
			Title: s.Title, Text: s.Text, Metadata: s.Metadata, Tables: s.Tables,
			Images: images(f, at+".images", s.Images), Sections: sections(f, at+".sections", s.Sections),
		}
		if s.ID != nil {
			out[i].ID = opt.Some(*s.ID)
		}
	}
	return out
}

func images(f *fault.Fault, path string, all []wireImage) []document.Image {
	var out []document.Image
	for i, m := range all {
		data, err := base64.StdEncoding.DecodeString(m.Data.Data)
		if err != nil {
			f.Field(fmt.Sprintf("%s[%d].image_data.data", path, i), "must be base64: %s", err)
		}
		out = append(out, document.Image{
			ID: m.ID, Title: m.Title, Caption: m.Caption, Description: m.Description, MimeType: m.Data.MimeType, Data: data,
		})
	}
	return out
}

// strategy maps a chunking strategy; without a type, its members identify it.
func (w *wireChunking) strategy(f *fault.Fault, path string) draft.Chunking {
	if w == nil {
		return draft.Chunking{}
	}
	switch w.Type {
	case "sentence_chunking_strategy":
		return draft.Chunking{}
	case "":
		if w.MaxChars == nil {
			return draft.Chunking{}
		}
	case "max_chars_chunking_strategy":
	default:
		f.Field(path+".type", "must be sentence_chunking_strategy or max_chars_chunking_strategy, not %q", w.Type)
		return draft.Chunking{}
	}
	switch {
	case w.MaxChars == nil:
		f.Field(path+".max_chars_per_chunk", "is required")
		return draft.Chunking{}
	case *w.MaxChars < draft.MinChunkChars:
		f.Field(path+".max_chars_per_chunk", "must be at least %d, not %d", draft.MinChunkChars, *w.MaxChars)
		return draft.Chunking{}
	}
	return draft.Chunking{MaxChars: *w.MaxChars}
}

// unmarshal reads JSON into v; a value of the wrong type is a fault of its member below path.
func unmarshal(path string, raw []byte, v any) error {
	err := json.Unmarshal(raw, v)
	var wrong *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &wrong) && wrong.Field != "":
		return fault.InvalidField(fault.Join(path, wrong.Field), "must not be a %s", wrong.Value)
	case errors.As(err, &wrong):
		return fault.InvalidField(path, "must not be a %s", wrong.Value)
	}
	return fault.InvalidField(path, "is not valid JSON: %s", err)
}

// The wire forms of answers.
type (
	documentOut struct {
		ID         string           `json:"id"`
		Metadata   json.RawMessage  `json:"metadata"`
		Tables     []document.Table `json:"tables,omitempty"`
		Images     []imageOut       `json:"images,omitempty"`
		Parts      []partOut        `json:"parts,omitempty"`
		Storage    *storageOut      `json:"storage_usage,omitempty"`
		Extraction *extractionOut   `json:"extraction_usage,omitempty"`
	}
	partOut struct {
		Text       string             `json:"text"`
		Metadata   json.RawMessage    `json:"metadata"`
		TableID    string             `json:"table_id,omitempty"`
		ImageID    string             `json:"image_id,omitempty"`
		Context    string             `json:"context,omitempty"`
		Dimensions map[string]float64 `json:"custom_dimensions,omitempty"`
	}
	imageOut struct {
		ID          string `json:"id"`
		Title       string `json:"title,omitempty"`
		Caption     string `json:"caption,omitempty"`
		Description string `json:"description,omitempty"`
		MimeType    string `json:"mime_type"`
	}
	storageOut struct {
		Bytes    int64 `json:"bytes_used"`
		Metadata int64 `json:"metadata_bytes_used"`
	}
	extractionOut struct {
		Tables int `json:"table_extraction_used"` // pages
	}
	listOut struct {
		Documents []documentOut `json:"documents"`
		Metadata  pageOut       `json:"metadata"`
	}
	pageOut struct {
		PageKey string `json:"page_key,omitempty"`
	}
)

// head returns the members of a document that every answer has.
func head(d *document.Document) documentOut {
	out := documentOut{ID: d.ID, Metadata: d.Metadata, Tables: d.Tables}
	for _, m := range d.Images {
		out.Images = append(out.Images, imageOut{m.ID, m.Title, m.Caption, m.Description, m.MimeType})
	}
	return out
}

// created returns the answer to a create or an upload, with the storage used and without parts.
func created(a *ingest.Added) documentOut {
	out := head(a.Document)
	out.Storage = &storageOut{a.Usage.Bytes, a.Usage.MetadataBytes}
	out.Extraction = &extractionOut{a.Searched}
	return out
}

// whole returns the answer to a read, with the parts in order and without the storage used.
func whole(c *corpus.Corpus, d *document.Document) documentOut {
	out := head(d)
	out.Parts = make([]partOut, len(d.Parts))
	for i := range d.Parts {
		p := &d.Parts[i]
		out.Parts[i] = partOut{Text: p.Text, Metadata: p.Metadata, TableID: p.TableID, ImageID: p.ImageID, Context: p.Context}
		if len(p.Dimensions) == len(c.Dimensions) && len(p.Dimensions) > 0 {
			out.Parts[i].Dimensions = make(map[string]float64, len(p.Dimensions))
			for j, v := range p.Dimensions {
				out.Parts[i].Dimensions[c.Dimensions[j].Name] = v
			}
		}
	}
	return out
}
