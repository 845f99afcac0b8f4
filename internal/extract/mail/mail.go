// Package mail reads mail (RFC 5322 with MIME, RFC 2045 to 2049) into a document tree: the subject is the title, the text follows,
// then a section for each attachment, which other readers read.
//
// Of several forms of one text, plain text is read before HTML. Signatures are left out; pictures are kept where they are asked for. Formats that
// keep mail in other ways share the tree: see Message. All functions are safe for concurrent use.
package mail

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/emersion/go-message"
	"github.com/emersion/go-message/textproto"

	"quarry/internal/extract/outline"
)

// Limits of one mail; an upload has 10 MB.
const (
	maxNested = 20     // multiparts inside each other
	maxParts  = 10_000 // in all multiparts
	maxHeader = 1 << 20
)

// Read parses a mail, and with files what is attached to it. Its errors wrap outline.ErrUnparsable or outline.ErrProtected.
func Read(data []byte, files Files) (*outline.Document, error) {
	in := bufio.NewReader(bytes.NewReader(envelope(data)))
	header, err := textproto.ReadHeader(in)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, bad("%w", err)
	}
	if header.Len() == 0 {
		return nil, bad("it has no header of a mail")
	}
	r := &reader{}
	body, err := r.part(&header, in, place{})
	if err != nil {
		return nil, err
	}
	m := &Message{
		Subject: decodeWords(header.Get("Subject")),
		From:    addresses(&header, "From"), To: addresses(&header, "To"), Cc: addresses(&header, "Cc"),
		Date:   date(header.Get("Date")),
		Bodies: body, Attachments: r.attachments,
	}
	return Tree(m, files)
}

// envelope returns a mail without what some programs put before its header: empty lines and the line "From " of a mailbox.
func envelope(data []byte) []byte {
	data = bytes.TrimLeft(bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF")), "\r\n")
	if bytes.HasPrefix(data, []byte("From ")) || bytes.HasPrefix(data, []byte(">From ")) {
		_, data, _ = bytes.Cut(data, []byte("\n"))
	}
	return data
}

// Is reports whether data begins with the header of a mail.
func Is(data []byte) bool {
	data = envelope(data)
	in := bufio.NewReader(bytes.NewReader(data[:min(len(data), maxHeader)]))
	header, err := textproto.ReadHeader(in)
	if err != nil && !errors.Is(err, io.EOF) {
		return false
	}
	known := 0
	for _, key := range []string{"From", "To", "Subject", "Date", "Message-Id", "Received", "Mime-Version", "Return-Path"} {
		if header.Has(key) {
			known++
		}
	}
	return known >= 3
}

// reader reads the parts of one mail.
type reader struct {
	attachments []Attachment
	parts       int
}

// place is where a part stands.
type place struct {
	depth   int
	related bool // beside the HTML that shows it
	digest  bool // where parts without a type are mail
}

// part reads a part with everything inside it, and returns its texts.
func (r *reader) part(header *textproto.Header, in io.Reader, at place) ([]Body, error) {
	t := contentType(header, at.digest)
	if strings.HasPrefix(t.name, "multipart/") {
		if at.depth == maxNested {
			return nil, bad("its parts are nested more than %d deep", maxNested)
		}
		return r.multipart(t, in, at)
	}
	switch {
	case t.name == "application/pkcs7-mime" || t.name == "application/x-pkcs7-mime":
		if !strings.HasPrefix(t.params["smime-type"], "signed") {
			return nil, fmt.Errorf("%w (the mail is encrypted, S/MIME)", outline.ErrProtected)
		}
	case signature[t.name]:
		return nil, drain(in)
	}
	data, err := r.decode(header, in)
	name := filename(header, t)
	inline := name == "" && !strings.HasPrefix(strings.ToLower(header.Get("Content-Disposition")), "attachment")
	switch {
	case inline && t.name == "text/html":
		return []Body{{HTML: decodeText(data, t)}}, cut(err)
	case inline && (t.name == "text/plain" || texts[t.name]):
		return []Body{{Plain: unflow(decodeText(data, t), t)}}, cut(err)
	case name == "" && at.depth > 0 && len(bytes.TrimSpace(data)) == 0 && err == nil:
		return nil, nil
	}
	r.attachments = append(r.attachments, Attachment{Name: name, ContentType: t.raw, ID: contentID(header), Data: data, Inline: at.related && strings.HasPrefix(t.name, "image/"), Err: err})
	return nil, cut(err)
}

// signature are the types of parts that say nothing.
var signature = map[string]bool{"application/pgp-signature": true, "application/pkcs7-signature": true, "application/x-pkcs7-signature": true, "application/pgp-keys": true}

// texts are the types, beside text/plain, of parts that are plain text: reports on what became of a mail.
var texts = map[string]bool{"message/delivery-status": true, "message/feedback-report": true, "text/rfc822-headers": true, "message/disposition-notification": true, "text/enriched": true}

// multipart reads the parts of a part.
func (r *reader) multipart(t mediaType, in io.Reader, at place) ([]Body, error) {
	if t.name == "multipart/encrypted" {
		return nil, fmt.Errorf("%w (the mail is encrypted)", outline.ErrProtected)
	}
	boundary := t.params["boundary"]
	if boundary == "" {
		return nil, bad("it is said to have parts, but not what divides them (boundary)")
	}
	inner := place{at.depth + 1, at.related || t.name == "multipart/related", t.name == "multipart/digest"}
	parts := textproto.NewMultipartReader(in, boundary)
	var all []Body
	for {
		p, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%w: its parts are damaged, or it ends in the middle: %w", outline.ErrUnparsable, err)
		}
		if r.parts++; r.parts > maxParts {
			return nil, bad("it has more than %d parts", maxParts)
		}
		bodies, err := r.part(&p.Header, p, inner)
		if err != nil {
			return nil, err
		}
		all = append(all, bodies...)
	}
	if t.name == "multipart/alternative" {
		return oneOf(all), nil
	}
	return all, nil
}

// oneOf returns the text that alternatives are, in each form the first.
func oneOf(all []Body) []Body {
	var one Body
	for _, b := range all {
		if strings.TrimSpace(one.Plain) == "" {
			one.Plain = b.Plain
		}
		if one.HTML == "" {
			one.HTML = b.HTML
		}
	}
	return []Body{one}
}

// decode returns the bytes of a part out of their transfer encoding.
func (r *reader) decode(header *textproto.Header, in io.Reader) ([]byte, error) {
	var plain message.Header // without its type, by which the library would convert the character set
	encoding := strings.ToLower(strings.TrimSpace(header.Get("Content-Transfer-Encoding")))
	plain.Set("Content-Transfer-Encoding", encoding)
	plain.Set("Content-Type", "application/octet-stream")
	e, err := message.New(plain, in)
	if err != nil {
		return nil, cmp.Or(drain(in), fmt.Errorf("its encoding %q is not known", encoding))
	}
	data, err := io.ReadAll(e.Body)
	if err != nil {
		err = cmp.Or(drain(in), fmt.Errorf("it is damaged: %w", err))
	}
	return data, err
}

// errCut is the error of a part that ends without a boundary.
var errCut = bad("it ends in the middle")

// drain reads the rest of a part.
func drain(in io.Reader) error {
	if _, err := io.Copy(io.Discard, in); err != nil {
		return errCut
	}
	return nil
}

// cut returns the error only of a mail that ends in the middle: others are damage of one part.
func cut(err error) error {
	if errors.Is(err, errCut) {
		return errCut
	}
	return nil
}

// bad returns an error that wraps outline.ErrUnparsable.
func bad(format string, args ...any) error {
	return fmt.Errorf("%w: %w", outline.ErrUnparsable, fmt.Errorf(format, args...))
}
