package msg

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"strings"

	"quarry/internal/extract/mail"
	"quarry/internal/extract/ole"
	"quarry/internal/extract/outline"
)

// The ways in which files are attached (MS-OXCMSG, 2.2.2.9).
const (
	none     = 0
	byValue  = 1
	embedded = 5
	object   = 6 // others are links
)

// inBody is the flag of a picture that the HTML shows.
const inBody = 4

// The reasons for attachments that are not read.
var (
	errLink   = errors.New("the mail has only a link to it")
	errObject = errors.New("it is an object of another program")
)

// attachment reads what is attached in a storage. Damage of one is no error of the mail; that which encrypts the mail is.
func attachment(s *ole.Storage, of *properties, depth int) (*mail.Attachment, error) {
	p, err := open(s, otherHeader)
	if err != nil {
		return &mail.Attachment{Err: err}, nil
	}
	p.page = of.page
	a := &mail.Attachment{Name: cmp.Or(p.text(attachLongName), p.text(attachName), p.text(displayName)), ContentType: p.text(attachMIME), ID: strings.Trim(p.text(attachContentID), "<> ")}
	kind := strings.ToLower(a.ContentType)
	switch {
	case strings.HasPrefix(kind, "multipart/signed"): // a mail of its own, with a signature
		a.ContentType = "message/rfc822"
	case encrypts(of.text(messageClass), kind):
		return nil, fmt.Errorf("%w (the mail is encrypted, S/MIME)", outline.ErrProtected)
	}
	a.Inline = (p.number(attachHidden)&1 != 0 || p.number(attachFlags)&inBody != 0) && picture(a.Name, kind)
	inner := s.Storage(fmt.Sprintf("__substg1.0_%04X000D", attachData))
	switch p.number(attachMethod) {
	case none, byValue:
		a.Data = p.stream(attachData, typeBytes)
	case embedded:
		if a.Message = (&mail.Message{}); inner == nil {
			a.Err = bad("the message is missing")
		} else if depth < maxDepth {
			a.Message, a.Err = message(inner, attachedHeader, depth+1)
		}
	case object:
		a.Err = errObject
	default:
		a.Err = errLink
	}
	a.Err = cmp.Or(p.err, a.Err)
	return a, nil
}

// encrypts reports whether an attachment of this type is the whole mail, encrypted.
func encrypts(class, kind string) bool {
	return strings.EqualFold(class, "IPM.Note.SMIME") && !strings.Contains(kind, "signed")
}

func picture(name, kind string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".png", ".jpg", ".jpeg", ".gif", ".bmp", ".emz", ".wmz":
		return true
	}
	return strings.HasPrefix(kind, "image/")
}
