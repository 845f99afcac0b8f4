package indexing

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"quarry/internal/agent/artifact"
	"quarry/internal/agent/tool"
	"quarry/internal/corpus/document"
	"quarry/internal/corpus/ingest"
	"quarry/internal/fault"
)

// shape is what tells a document in a JSON text from other JSON.
type shape struct {
	kind, id        string // "" for what is no text
	parts, sections bool   // there are
}

// peek returns the shape of a text; the zero shape if it is no JSON object.
func peek(data []byte) (d shape) {
	var in struct {
		Type     any             `json:"type"`
		ID       any             `json:"id"`
		Parts    json.RawMessage `json:"document_parts"`
		Sections json.RawMessage `json:"sections"`
	}
	if !bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte("{")) || json.Unmarshal(data, &in) != nil {
		return shape{}
	}
	d.kind, _ = in.Type.(string)
	d.id, _ = in.ID.(string)
	d.parts, d.sections = in.Parts != nil, in.Sections != nil
	return d
}

// core reports whether a text is a core document.
func (d *shape) core() bool { return d.kind == coreKind || d.kind == "" && d.parts }

// structured reports whether a text is a structured document where one is expected.
func (d *shape) structured() bool { return d.kind == structuredKind || d.kind == "" && d.sections }

// The types of documents.
const (
	coreKind       = "core"
	structuredKind = "structured"
)

// fromFile returns the document in a file of the session.
func (s *service) fromFile(ctx context.Context, c *tool.Call, e *entry) (document.Draft, error) {
	data, a, err := s.load(ctx, c, e.Artifact)
	if err != nil {
		return nil, at(e.place, err)
	}
	d := peek(data)
	switch {
	case !d.core() && d.kind != structuredKind:
		return s.read(ctx, e.ID, &a, data)
	case a.Size > s.JSON:
		return nil, fault.InvalidField("", "the file has %d bytes, more than the %d of the setting max_json", a.Size, s.JSON)
	case d.core():
		return s.fromJSON(data, e.ID, coreKind)
	default:
		return s.fromJSON(data, e.ID, structuredKind)
	}
}

// load reads a file of the session. Secrets in it are masked as in documents that the model writes.
func (s *service) load(ctx context.Context, c *tool.Call, artifactID string) ([]byte, artifact.Artifact, error) {
	if c.Files == nil {
		return nil, artifact.Artifact{}, fault.NotFound("artifact_not_found", artifactID, "a session can't have files while it is made")
	}
	a, err := c.Files.Get(ctx, artifactID)
	if err != nil {
		return nil, a, err
	}
	if most := max(s.File, s.JSON); a.Size > most {
		return nil, a, fault.InvalidField("", "the file has %d bytes, more than the %d of a document", a.Size, most)
	}
	_, content, err := c.Files.Open(ctx, artifactID)
	if err != nil {
		return nil, a, err
	}
	defer func() { _ = content.Close() }() // it was only read
	data, err := io.ReadAll(content)
	if err != nil {
		return nil, a, fmt.Errorf("read file %s: %w", artifactID, err)
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if c.Mask != nil && utf8.Valid(data) {
		data = []byte(c.Mask.Text(string(data)))
	}
	return data, a, nil
}

// read returns the document in a file that is no document as JSON. What no reader of files knows is text if it looks like it.
func (s *service) read(ctx context.Context, docID string, a *artifact.Artifact, data []byte) (document.Draft, error) {
	if a.Size > s.File {
		return nil, fault.InvalidField("", "the file has %d bytes, more than the %d of the setting max_upload", a.Size, s.File)
	}
	d, err := s.Ingest.Read(ctx, &ingest.Upload{ID: docID, Name: a.Filename, ContentType: a.MIME, Data: data})
	if fault.Is(err, fault.KindMediaType) && utf8.Valid(data) && !bytes.ContainsRune(data, 0) {
		d, err = s.Ingest.Read(ctx, &ingest.Upload{ID: docID, Name: "file.txt", ContentType: "text/plain", Data: data})
	}
	if f, ok := fault.As(err); ok && (f.Kind == fault.KindInvalid || f.Kind == fault.KindMediaType) {
		why := f.Text
		if why == "" {
			why = "the file " + strings.TrimPrefix(f.Error(), "(file: ")
			why = strings.TrimSuffix(why, ")")
		}
		return nil, fault.InvalidField("", "%s", why)
	}
	return d, err
}
