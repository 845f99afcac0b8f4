package ocr

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"quarry/internal/extract"
)

// What one page may answer with: a text as long as a book, and a picture of the size that is read at all.
const (
	mostText    = 4 << 20
	mostPicture = 128 << 20
)

// Recognise returns the text of a picture, line by line, with an empty line between paragraphs. Errors that wrap one of extract's
// are about the picture.
func (p *Program) Recognise(ctx context.Context, r *extract.Raster) (string, error) {
	picture := func() io.Reader { return pgm(r) }
	if r.PDF != nil {
		drawn, err := p.draw(ctx, r)
		if err != nil {
			return "", err
		}
		picture = func() io.Reader { return bytes.NewReader(drawn) }
	}
	args := []string{"stdin", "stdout", "-l", strings.Join(p.languages, "+")}
	if r.DPI > 0 {
		args = append(args, "--dpi", strconv.Itoa(r.DPI))
	}
	out, err := p.run(ctx, p.tesseract, picture, mostText, args...)
	if err != nil {
		return "", err
	}
	text := strings.ToValidUTF8(string(out), "\uFFFD")
	return strings.NewReplacer("\f", "\n\n", "\x00", "").Replace(text), nil
}

// pgm returns a picture in the format PGM, the plainest that there is.
func pgm(r *extract.Raster) io.Reader {
	head := fmt.Sprintf("P5\n%d %d\n255\n", r.Width, r.Height)
	return io.MultiReader(strings.NewReader(head), bytes.NewReader(r.Grey))
}

// Bounds of the longer side of a page that is drawn, in pixels: that of A4 at 300 dots per inch, and what is finer than any fax.
const (
	leastSide = 3508
	mostSide  = 8000
)

// draw returns a page of a PDF file as a picture.
func (p *Program) draw(ctx context.Context, r *extract.Raster) ([]byte, error) {
	if p.poppler == "" {
		return nil, fmt.Errorf("%w: they are stored as JBIG2, JPEG 2000 or in another format that pdftoppm decodes, and that was not found; "+
			"install it (Debian and Ubuntu: apt-get install poppler-utils; macOS: brew install poppler) and start the service again", extract.ErrNoText)
	}
	page, side := strconv.Itoa(r.Page), min(max(r.Width, r.Height, leastSide), mostSide)
	out, err := p.run(ctx, p.poppler, func() io.Reader { return bytes.NewReader(r.PDF) }, mostPicture,
		"-gray", "-f", page, "-l", page, "-scale-to", strconv.Itoa(side), "-")
	if err == nil && len(out) == 0 {
		err = fmt.Errorf("%w: pdftoppm draws nothing of the page", extract.ErrUnparsable)
	}
	return out, err
}
