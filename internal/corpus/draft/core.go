package draft

import (
	"fmt"
	"slices"
	"strings"

	"quarry/internal/corpus"
	"quarry/internal/corpus/document"
	"quarry/internal/corpus/metadata"
	"quarry/internal/expr/filter"
)

// imageModes are the values of image_part_mode. No encoder of ours reads images yet, so each embeds the text.
var imageModes = []string{"", "text", "image", "image_and_text"}

// Build implements document.Draft.
func (cmd Core) Build(c corpus.Corpus) (*document.Document, error) {
	b, err := newBuilder(&c, cmd.ID)
	if err != nil {
		return nil, err
	}
	meta := b.metadata("metadata", filter.Document, cmd.Metadata)
	b.doc.Metadata = meta.Encode()
	title := ownTitle(meta)
	for i, t := range cmd.Tables {
		b.takeTable(fmt.Sprintf("tables[%d]", i), t)
	}
	described := map[string]string{}
	for i, m := range cmd.Images {
		b.takeImage(fmt.Sprintf("images[%d]", i), m)
		described[m.ID] = m.Words()
	}
	if len(cmd.Parts) == 0 {
		b.bad("document_parts", "must have at least one part")
	}
	for i := range cmd.Parts {
		if b.stopped() {
			break
		}
		b.corePart(fmt.Sprintf("document_parts[%d]", i), &cmd.Parts[i], title, described)
	}
	b.doc.Digest = cmd.digest()
	return b.finish()
}

// corePart adds one part of the client. A part without text stands for its image: the image's own words are
// searched in its place, as the heading is.
func (b *builder) corePart(path string, p *CorePart, title string, described map[string]string) {
	meta := b.metadata(path+".metadata", filter.Part, p.Metadata)
	dims := b.dimensions(path+".custom_dimensions", p.Dimensions)
	if p.TableID != "" && !b.tables[p.TableID] {
		b.bad(path+".table_id", "no table of the document has the id %q", p.TableID)
	}
	if p.ImageID != "" && !b.images[p.ImageID] {
		b.bad(path+".image_id", "no image of the document has the id %q", p.ImageID)
	}
	if blank(p.Text) && p.ImageID == "" {
		b.bad(path+".text", "must not be empty in a part without an image")
	}
	b.checkImageMode(path+".image_part_mode", p)
	heading := title
	if own := ownTitle(meta); own != "" {
		heading = own
	}
	if blank(p.Text) {
		heading = document.JoinTitles(heading, described[p.ImageID])
	}
	isTitle, _ := meta.Get("is_title")
	b.add(path, unfinished{document.Part{
		Text: p.Text, Heading: heading, Context: p.Context, IsTitle: string(isTitle) == "true", Dimensions: dims,
		TableID: p.TableID, ImageID: p.ImageID, Gap: " ",
	}, meta})
}

func (b *builder) checkImageMode(path string, p *CorePart) {
	switch {
	case !slices.Contains(imageModes, p.ImageMode):
		b.bad(path, "must be %s, not %q", strings.Join(imageModes[1:], ", "), p.ImageMode)
	case strings.HasPrefix(p.ImageMode, "image") && p.ImageID == "":
		b.bad(path, "%s needs an image_id", p.ImageMode)
	}
}

// ownTitle returns the string under "title", "" when there is none.
func ownTitle(o metadata.Object) string {
	raw, _ := o.Get("title")
	s, _ := metadata.Text(raw)
	return strings.TrimSpace(s)
}
