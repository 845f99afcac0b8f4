package draft

import "quarry/internal/corpus/document"

// takeImage adds an image to the document; its id must be new.
func (b *builder) takeImage(path string, m document.Image) {
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

// image adds an image of a section and a part by which its title, caption and description can be searched. The part is
// added even when they are empty, so that the image has a place among the parts.
func (s *structure) image(at place, path string, m document.Image) {
	if m.Page > 0 {
		at.page, m.Page = m.Page, 0
	}
	s.takeImage(path, m)
	meta := at.user.Over(at.serviceKeys()).Without("is_title")
	s.add(path, unfinished{document.Part{
		Text: m.Words(), Heading: document.JoinTitles(s.title, at.inForce), Dimensions: s.dims, ImageID: m.ID, Gap: " ",
	}, meta})
}
