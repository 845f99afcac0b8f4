package file

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"strings"

	"quarry/internal/agent/artifact"
	"quarry/internal/agent/tool"
	"quarry/internal/agent/tool/file/convert"
	"quarry/internal/agent/tool/schema"
	"quarry/internal/corpus/draft"
	"quarry/internal/corpus/ingest"
	"quarry/internal/extract"
	"quarry/internal/fault"
)

const conversionDescription = "Reads a document of this session (a file such as a PDF or a Word document) and writes it to a new file: as Markdown, which the other tools " +
	"for artifacts read, or as a structured document in JSON, which can be indexed in a corpus. Returns the artifact_id of the new file."

// Reader reads documents from files; ingest.Service is one.
type Reader interface {
	Parse(ctx context.Context, u *ingest.Upload) (draft.Structured, error)
}

// The formats of conversions.
const (
	markdown   = "markdown"
	structured = "structured_document"
)

// conversion is the tool document_conversion.
type conversion struct {
	reader Reader
	most   int64
}

// newConversion returns the type document_conversion.
func newConversion(s *schema.Schema, r Reader, most int64) tool.Type {
	return func(configuration json.RawMessage) (*tool.Tool, error) {
		if err := unconfigured(configuration); err != nil {
			return nil, err
		}
		c := &conversion{r, most}
		return &tool.Tool{Name: Conversion, Description: conversionDescription, Schema: s, Repeat: tool.Reads, Run: c.run}, nil
	}
}

// origin is the metadata of a file that was converted.
type origin struct {
	Format   string `json:"output_format"`
	Original string `json:"original_format"`
	ID       string `json:"original_artifact_id"`
}

// converted is the output of document_conversion.
type converted struct {
	Reference
	origin
}

// run is Tool.Run.
func (t *conversion) run(ctx context.Context, c tool.Call, _ tool.Activity) (json.RawMessage, error) {
	args := struct {
		ID          string `json:"artifact_id"`
		Format      string `json:"output_format"`
		Description string `json:"description"`
	}{Format: markdown}
	if err := arguments(&c, &args); err != nil {
		return nil, err
	}
	a, doc, err := t.read(ctx, &c, args.ID)
	if err != nil {
		return nil, err
	}
	from := origin{args.Format, format(&a, &doc), a.ID}
	n := artifact.New{Description: c.Mask.Text(cmp.Or(args.Description, "Converted from "+a.Filename))}
	stem := strings.TrimSuffix(a.Filename, path.Ext(a.Filename))
	var content []byte
	if args.Format == structured {
		n.Filename, n.MIME = stem+".json", "application/json"
		raw, err := convert.Structured(&doc)
		if err != nil {
			return nil, fmt.Errorf("write a structured document: %w", err)
		}
		if content, err = lines(c.Mask.JSON(raw)); err != nil {
			return nil, err
		}
	} else {
		n.Filename, n.MIME = stem+".md", "text/markdown; charset=utf-8"
		content = []byte(c.Mask.Text(convert.Markdown(&doc)))
	}
	if n.Metadata, err = json.Marshal(from); err != nil {
		return nil, fmt.Errorf("describe a converted file: %w", err)
	}
	made, err := c.Files.Create(ctx, n, bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	return encode(converted{reference(&made), from})
}

// read reads the document in a file.
func (t *conversion) read(ctx context.Context, c *tool.Call, id string) (artifact.Artifact, draft.Structured, error) {
	a, err := c.Files.Get(ctx, id)
	if err != nil {
		return a, draft.Structured{}, err
	}
	if a.Size > t.most {
		return a, draft.Structured{}, invalid("%s (%s) has %d bytes, more than the %d of files that are read as documents, the setting max_upload of this service", a.ID, a.Filename, a.Size, t.most)
	}
	_, data, err := c.Files.Open(ctx, id)
	if err != nil {
		return a, draft.Structured{}, err
	}
	defer func() { _ = data.Close() }()
	all, err := io.ReadAll(data)
	if err != nil {
		return a, draft.Structured{}, err
	}
	u := &ingest.Upload{ID: a.Filename, Name: a.Filename, ContentType: a.MIME, Data: all}
	doc, err := t.reader.Parse(ctx, u)
	if fault.Is(err, fault.KindMediaType) && extract.ReadsName(a.Filename) { // such as text/csv, which follows from its ending
		u.ContentType = ""
		doc, err = t.reader.Parse(ctx, u)
	}
	switch f, ok := fault.As(err); {
	case ok && f.Kind == fault.KindMediaType:
		err = invalid("%s (%s) can't be converted: it is %s, and files that can be read are %s", a.ID, a.Filename, a.MIME, strings.Join(extract.Formats(), ", "))
	case ok && f.Kind == fault.KindInvalid:
		err = invalid("%s (%s) can't be converted: %s", a.ID, a.Filename, cmp.Or(f.Text, f.Fields["file"]))
	}
	return a, doc, err
}

// format returns what a file was read as: its ending, or that of the format where it has none.
func format(a *artifact.Artifact, d *draft.Structured) string {
	if ending := strings.ToLower(strings.TrimPrefix(path.Ext(a.Filename), ".")); ending != "" {
		return ending
	}
	var found struct {
		Type string `json:"Content-Type"`
	}
	_ = json.Unmarshal(d.Extracted, &found) // without a type, it is text
	return strings.TrimPrefix(extract.Ending(found.Type), ".")
}
