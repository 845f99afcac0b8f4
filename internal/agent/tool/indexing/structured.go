package indexing

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"quarry/internal/agent/tool"
	"quarry/internal/corpus/document"
	"quarry/internal/corpus/ingest"
	"quarry/internal/corpus/metadata"
	"quarry/internal/fault"
)

const structuredDescription = "Adds a document with sections to a corpus, so that searches find it; the service cuts the texts into parts and keeps titles, " +
	"metadata, tables and images of the sections with them. The document is given by its sections, or by the artifact_id of a structured document as JSON, such as " +
	"document_conversion makes; then other arguments take the place of its members. A document that is in the corpus already, with the same content, is left as it " +
	"is; one with other content fails unless reindex is true."

// members are the arguments that are members of the document.
var members = []string{"title", "description", "metadata", "custom_dimensions", "sections", "chunking_strategy"}

// structured is Tool.Run of structured_document_index.
func (s *service) structured(ctx context.Context, c tool.Call, _ tool.Activity) (json.RawMessage, error) {
	var args struct {
		Corpus   string `json:"corpus_key"`
		ID       string `json:"document_id"`
		Artifact string `json:"artifact_id"`
		Reindex  bool   `json:"reindex"`
	}
	if err := begin(&c, &args, &args.Corpus); err != nil {
		return nil, err
	}
	whole, err := s.compose(ctx, &c, args.Artifact)
	if err != nil {
		return nil, err
	}
	// without any id, that of the call: made again, it adds no second document
	docID := c.Mask.Text(cmp.Or(args.ID, peek(whole).id, args.Artifact, "doc_"+strings.TrimPrefix(string(c.Event), "aev_")))
	all, err := s.create(ctx, &c, args.Corpus, func(int) string { return docID }, ingest.Batch{
		Size: 1, Replace: args.Reindex,
		Draft: func(context.Context, int) (document.Draft, error) { return s.fromJSON(whole, docID, structuredKind) },
	})
	if err != nil {
		return nil, err
	}
	r := &all[0]
	if f, ok := fault.As(r.Err); ok && f.Kind != fault.KindInternal {
		return nil, &tool.Failure{Class: classOf(r.Err), Text: s.reason(&c, docID, fault.Under(r.Err, "", fault.Names{"id": "document_id"}))}
	}
	if r.Err != nil {
		return nil, r.Err // which package tool tells, also where the time was up
	}
	return encode(indexed{ID: docID, Status: statuses[outcome(&c, r)]})
}

// compose returns the document of a call as clients send it: the arguments over what is in the file, if one is named.
func (s *service) compose(ctx context.Context, c *tool.Call, artifactID string) (json.RawMessage, error) {
	given, whole := map[string]json.RawMessage{}, map[string]json.RawMessage{}
	if err := json.Unmarshal(c.Mask.JSON(c.Arguments), &given); err != nil {
		return nil, invalid("the arguments can't be read: %s", err)
	}
	if artifactID != "" {
		data, _, err := s.load(ctx, c, artifactID)
		if err != nil {
			return nil, at("artifact_id", fault.Under(err, "artifact_id"))
		}
		if d := peek(data); !d.structured() {
			return nil, invalid("artifact_id: %s is no structured document as JSON; document_conversion makes one, and %s takes any text", artifactID, Core)
		}
		if err := json.Unmarshal(data, &whole); err != nil {
			return nil, invalid("artifact_id: %s can't be read: %s", artifactID, err)
		}
	}
	for _, name := range members {
		raw, ok := given[name]
		if !ok || string(raw) == "null" {
			continue
		}
		if inside := whole[name]; name == "metadata" && inside != nil {
			merged, err := metadata.Merge(raw, inside)
			if err != nil {
				return nil, invalid("metadata: %s", err)
			}
			raw = merged
		}
		if name == "sections" {
			var err error
			if raw, err = s.fillImages(ctx, c, raw); err != nil {
				return nil, err
			}
		}
		whole[name] = raw
	}
	if whole["sections"] == nil {
		return nil, invalid("give sections, or the artifact_id of a structured document")
	}
	return encode(whole)
}

// fillImages returns sections whose images have the bytes of the files that they name.
func (s *service) fillImages(ctx context.Context, c *tool.Call, sections json.RawMessage) (json.RawMessage, error) {
	f := filler{service: s, call: c}
	out, err := f.sections(ctx, sections, "sections")
	if err != nil || !f.filled {
		return sections, err
	}
	return out, nil
}

// filler puts images into sections.
type filler struct {
	*service
	call   *tool.Call
	filled bool
	size   int64 // bytes of the images so far
}

func (f *filler) sections(ctx context.Context, raw json.RawMessage, place string) (json.RawMessage, error) {
	return each(raw, place, func(section map[string]json.RawMessage, at string) (err error) {
		if images := section["images"]; images != nil {
			section["images"], err = each(images, at+".images", func(image map[string]json.RawMessage, at string) error { return f.image(ctx, image, at) })
		}
		if inner := section["sections"]; inner != nil && err == nil {
			section["sections"], err = f.sections(ctx, inner, at+".sections")
		}
		return err
	})
}

// image puts the bytes of the file that an image names into it.
func (f *filler) image(ctx context.Context, image map[string]json.RawMessage, place string) error {
	var artifactID string
	if json.Unmarshal(image["artifact_id"], &artifactID) != nil || artifactID == "" {
		return nil
	}
	place += ".artifact_id"
	if f.call.Files == nil {
		return invalid("%s: a session can't have files while it is made", place)
	}
	a, err := f.call.Files.Get(ctx, artifactID)
	if err != nil {
		return at(place, err)
	}
	if f.size += a.Size * 4 / 3; f.size > f.JSON {
		return invalid("%s: the images of the document have more than the %d bytes of the setting max_json together", place, f.JSON)
	}
	if !strings.HasPrefix(a.MIME, "image/") {
		return invalid("%s: %s is no image but %s", place, artifactID, a.MIME)
	}
	data, _, err := f.load(ctx, f.call, artifactID)
	if err != nil {
		return err
	}
	bytes, err := json.Marshal(map[string]any{"data": data, "mime_type": a.MIME})
	if err != nil {
		return fmt.Errorf("write image %s: %w", artifactID, err)
	}
	if image["id"] == nil {
		image["id"] = text(artifactID)
	}
	delete(image, "artifact_id")
	image["image_data"], f.filled = bytes, true
	return nil
}

// each returns a list of objects after change has seen each of them. What is no such list stays as it is, for the reader of
// documents to refuse.
func each(raw json.RawMessage, place string, change func(object map[string]json.RawMessage, at string) error) (json.RawMessage, error) {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return raw, nil
	}
	for i, item := range list {
		var object map[string]json.RawMessage
		if json.Unmarshal(item, &object) != nil || object == nil {
			continue
		}
		before := maps.Clone(object)
		if err := change(object, fmt.Sprintf("%s[%d]", place, i)); err != nil {
			return nil, err
		}
		if maps.EqualFunc(before, object, slices.Equal) {
			continue
		}
		var err error
		if list[i], err = encode(object); err != nil {
			return nil, err
		}
	}
	return encode(list)
}
