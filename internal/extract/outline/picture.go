package outline

import (
	"crypto/sha256"
	"strings"

	"quarry/internal/extract/bitmap"
)

// Bounds of the pictures of a document. Smaller ones are icons and rules.
const (
	MaxPictures     = 200
	MaxPictureBytes = 20 << 20 // of all
	MinSide         = 64       // pixels
)

// Picture is an embedded picture: PNG, JPEG, GIF or WebP.
type Picture struct {
	Page                        int // on which it stands, 0 for files without pages
	Title, Caption, Description string
	MIME                        string
	Data                        []byte
}

// Words returns what is said of a picture.
func (p *Picture) Words() string {
	var out []string
	for _, text := range []string{p.Title, p.Caption, p.Description} {
		if text != "" && (len(out) == 0 || out[len(out)-1] != text) {
			out = append(out, text)
		}
	}
	return strings.Join(out, ". ")
}

// pictures are those that a Builder has taken.
type pictures struct {
	seen  map[[sha256.Size]byte]string // what is said of each
	bytes int
	last  *node // whose last picture was added last, so that a caption may follow
}

// Picture adds a picture to the open section and reports whether it is kept: pictures are wanted, it is one, large enough, and there is
// room. One that the document has already, with the same words or none, counts as kept. What is said of one that is not kept is for the
// caller to add as text.
func (b *Builder) Picture(p Picture) bool {
	if !b.Options.Pictures || len(p.Data) == 0 || len(p.Data) > MaxPictureBytes-b.pictures.bytes {
		return false
	}
	sum := sha256.Sum256(p.Data)
	if words, ok := b.pictures.seen[sum]; ok {
		return p.Words() == "" || p.Words() == words
	}
	if len(b.pictures.seen) == MaxPictures || !p.Identify() {
		return false
	}
	if b.pictures.seen == nil {
		b.pictures.seen = map[[sha256.Size]byte]string{}
	}
	b.pictures.seen[sum] = p.Words()
	b.pictures.bytes += len(p.Data)
	n := b.open()
	if p.Page == 0 {
		p.Page = b.page
	}
	n.section.Pictures = append(n.section.Pictures, p)
	b.pictures.last = n
	return true
}

// Identify sets what kind of picture the bytes are, and reports whether they are one that is large enough to be kept.
func (p *Picture) Identify() bool {
	info, err := bitmap.Look(p.Data)
	p.MIME = info.MIME
	return err == nil && info.Width >= MinSide && info.Height >= MinSide
}

// Caption sets the caption of the picture that was added last, and reports whether there is one that nothing followed.
func (b *Builder) Caption(text string) bool {
	n := b.pictures.last
	if n == nil || text == "" {
		return false
	}
	n.section.Pictures[len(n.section.Pictures)-1].Caption = text
	b.pictures.last = nil
	return true
}
