package file

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"quarry/internal/agent/artifact"
	"quarry/internal/agent/permit"
	"quarry/internal/agent/tool"
	"quarry/internal/agent/tool/schema"
	"quarry/internal/expr/jsonpath"
	"quarry/internal/fault"
	"quarry/internal/opt"
)

const textDescription = "Writes the whole text of a document of a corpus to a file of this session, and its metadata to another, and returns their artifact_ids. " +
	"Use it when the passages of a search are not enough; read the files with the tools for artifacts."

// Documents reads the documents of corpora.
type Documents interface {
	// Text returns the text of a document and its metadata, an object. What does not exist is fault.KindNotFound.
	Text(ctx context.Context, corpus, id string) (text string, metadata json.RawMessage, err error)
}

// texts is one configuration of get_document_text.
type texts struct {
	documents Documents
	pinned    string // the corpus that the configuration names; "" for none
	metadata  bool
	exclude   []*jsonpath.Path
}

// maxPaths is the most paths of a configuration.
const maxPaths = 100

// newText returns the type get_document_text.
func newText(s *schema.Schema, d Documents) tool.Type {
	return func(configuration json.RawMessage) (*tool.Tool, error) {
		t := &texts{documents: d}
		if err := t.read(configuration); err != nil {
			return nil, err
		}
		made := &tool.Tool{Name: DocumentText, Description: textDescription, Schema: s, Repeat: tool.Reads, Run: t.run}
		if t.pinned != "" {
			made.Needs = []permit.Need{{Corpus: t.pinned}}
		}
		return made, nil
	}
}

// read reads a configuration.
func (t *texts) read(configuration json.RawMessage) error {
	var c struct {
		Metadata struct {
			Include *bool    `json:"include"`
			Exclude []string `json:"exclude_paths"`
		} `json:"metadata"`
	}
	if err := settings(configuration, &c); err != nil {
		return err
	}
	const field = settingsField + ".metadata.exclude_paths"
	f := fault.Invalid()
	if n := len(c.Metadata.Exclude); n > maxPaths {
		f.Field(field, "has %d paths, more than the %d that are allowed", n, maxPaths)
		return f.Err()
	}
	for i, text := range c.Metadata.Exclude {
		p, err := jsonpath.Parse(text)
		if err != nil {
			f.Field(fmt.Sprintf("%s[%d]", field, i), "%s", err)
			continue
		}
		t.exclude = append(t.exclude, p)
	}
	t.metadata = opt.Deref(c.Metadata.Include, true)
	var pins struct {
		Override struct {
			Corpus json.RawMessage `json:"corpus_key"`
		} `json:"argument_override"`
	}
	_ = json.Unmarshal(configuration, &pins)            // package tool checks overrides
	_ = json.Unmarshal(pins.Override.Corpus, &t.pinned) // a reference is no text
	return f.Err()
}

// run is Tool.Run.
func (t *texts) run(ctx context.Context, c tool.Call, _ tool.Activity) (json.RawMessage, error) {
	var args struct {
		ID     string `json:"document_id"`
		Corpus string `json:"corpus_key"`
	}
	if err := arguments(&c, &args); err != nil {
		return nil, err
	}
	if err := c.Permit(permit.Need{Corpus: args.Corpus}); err != nil {
		return nil, err
	}
	body, metadata, err := t.documents.Text(ctx, args.Corpus, args.ID)
	if err != nil {
		return nil, err
	}
	var out struct {
		Document string     `json:"document_id"`
		Corpus   string     `json:"corpus_key"`
		Text     Reference  `json:"text"`
		Metadata *Reference `json:"metadata,omitempty"`
	}
	out.Document, out.Corpus = c.Mask.Text(args.ID), c.Mask.Text(args.Corpus)
	stem := strings.TrimSuffix(path.Base(out.Document), path.Ext(out.Document))
	made, err := c.Files.Create(ctx, artifact.New{
		Filename: stem + ".txt", MIME: "text/plain; charset=utf-8", Description: "The text of the document " + out.Document, Metadata: source(out.Corpus, out.Document),
	}, strings.NewReader(c.Mask.Text(body)))
	if err != nil {
		return nil, err
	}
	if out.Text = reference(&made); t.metadata {
		shown, err := t.without(metadata)
		if err != nil {
			return nil, err
		}
		made, err := c.Files.Create(ctx, artifact.New{
			Filename: stem + ".metadata.json", MIME: "application/json", Description: "The metadata of the document " + out.Document, Metadata: source(out.Corpus, out.Document),
		}, bytes.NewReader(c.Mask.JSON(shown)))
		if err != nil {
			return nil, err
		}
		ref := reference(&made)
		out.Metadata = &ref
	}
	return encode(out)
}

// source is the metadata of files made of a document.
func source(corpus, id string) json.RawMessage {
	raw, _ := json.Marshal(map[string]string{"corpus_key": corpus, "document_id": id}) // texts always encode
	return raw
}

// without returns metadata without what the configuration excludes, with each value on a line of its own.
func (t *texts) without(metadata json.RawMessage) (json.RawMessage, error) {
	d := json.NewDecoder(bytes.NewReader(metadata))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("read the metadata of a document: %w", err)
	}
	for _, p := range t.exclude {
		v = p.Remove(v)
	}
	raw, err := encode(v)
	if err != nil {
		return nil, err
	}
	return lines(raw)
}

// lines returns JSON with each value on a line of its own.
func lines(raw json.RawMessage) (json.RawMessage, error) {
	var out bytes.Buffer
	err := json.Indent(&out, raw, "", "  ")
	return out.Bytes(), err
}
