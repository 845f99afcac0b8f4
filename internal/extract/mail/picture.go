package mail

import (
	"net/url"
	"strings"

	"quarry/internal/extract/outline"
)

// gallery has what is attached to a mail and may be shown by its text.
type gallery struct {
	attachments []Attachment
	byID        map[string]*Attachment
	shown       map[*Attachment]bool // by the text
}

func newGallery(attachments []Attachment) *gallery {
	g := &gallery{attachments, map[string]*Attachment{}, map[*Attachment]bool{}}
	for i := range attachments {
		if a := &attachments[i]; a.ID != "" && g.byID[a.ID] == nil {
			g.byID[a.ID] = a
		}
	}
	return g
}

// file returns the picture at an address that is a Content-ID (RFC 2392), nil for every other address.
func (g *gallery) file(address string) []byte {
	scheme, id, _ := strings.Cut(strings.TrimSpace(address), ":")
	if !strings.EqualFold(scheme, "cid") {
		return nil
	}
	if plain, err := url.PathUnescape(id); err == nil {
		id = plain
	}
	a := g.byID[id]
	if a == nil {
		return nil
	}
	g.shown[a] = true
	return a.picture().Data
}

// addRest adds the pictures that belong to the text and that it has not shown.
func (g *gallery) addRest(out *outline.Builder) {
	for i := range g.attachments {
		if a := &g.attachments[i]; a.Inline && !g.shown[a] {
			out.Picture(a.picture())
		}
	}
}

// picture returns the picture that a file may be, without data if it is damaged. Its caption is the name, which mail programs show below it.
func (a *Attachment) picture() outline.Picture {
	p := outline.Picture{Caption: outline.OneLine(a.Name)}
	if a.Err == nil {
		p.Data = a.Data
	}
	return p
}

// addPictures adds the pictures of sections, without their texts.
func addPictures(out *outline.Builder, all []outline.Section) {
	for i := range all {
		for _, p := range all[i].Pictures {
			out.Picture(p)
		}
		addPictures(out, all[i].Sections)
	}
}
