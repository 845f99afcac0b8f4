package document

import (
	"context"
	"strings"

	"quarry/internal/fault"
)

// Image reads an image of a document with its bytes.
func (s *Service) Image(ctx context.Context, corpusKey, id, imageID string) (Image, error) {
	c, err := CorpusOf(ctx, s.corpora, corpusKey)
	if err != nil {
		return Image{}, err
	}
	if !possible(id) {
		return Image{}, notFound(c, id)
	}
	if !possible(imageID) {
		imageID = strings.ToValidUTF8(imageID, "\uFFFD")
		return Image{}, fault.NotFound("image_not_found", imageID, "document %s has no image %s", id, imageID)
	}
	return s.store.Image(ctx, c.No, id, imageID)
}

// takeImage keeps an image of the document; its id must be new.
func (b *builder) takeImage(path string, m Image) {
	switch {
	case m.ID == "":
		b.bad(path+".id", "must not be empty")
	case b.images[m.ID]:
		b.bad(path+".id", "the image id %q is used twice", m.ID)
	case m.MimeType == "":
		b.bad(path+".image_data.mime_type", "must not be empty")
	case len(m.Data) == 0:
		b.bad(path+".image_data.data", "must not be empty")
	}
	b.images[m.ID] = true
	b.doc.Images = append(b.doc.Images, m)
}

// image adds an image of a section with the part that makes it searchable by its words; the part is there even
// when the image has none, so that the image has its place among the parts.
func (s *structure) image(at place, path string, m Image) {
	s.takeImage(path, m)
	meta := at.user.over(at.generated()).without("is_title")
	s.add(path, draft{Part{
		Text: m.Words(), Heading: joinTitles(s.title, at.inForce), Dimensions: s.dims, ImageID: m.ID, Gap: " ",
	}, meta})
}

// Words gives what a text search can know of an image (contract: Images).
func (m *Image) Words() string { return joinTitles(m.Title, m.Caption, m.Description) }
