// Package msg reads mail that Outlook has saved (MS-OXMSG) into the document tree that package mail builds.
//
// Such a file is a compound file: a storage for the message, inside it one for each recipient and each attachment, and for a message that is attached one like
// the outermost. All functions are safe for concurrent use.
package msg

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"quarry/internal/extract/mail"
	"quarry/internal/extract/ole"
	"quarry/internal/extract/outline"
)

// Properties of messages, recipients and attachments (MS-OXPROPS), by their ids.
const (
	messageClass        = 0x001A
	subject             = 0x0037
	clientSubmitTime    = 0x0039
	representingName    = 0x0042
	representingAddress = 0x0065
	recipientType       = 0x0C15
	senderName          = 0x0C1A
	senderAddress       = 0x0C1F
	displayCc           = 0x0E03
	displayTo           = 0x0E04
	deliveryTime        = 0x0E06
	bodyPlain           = 0x1000
	bodyRTF             = 0x1009
	bodyHTML            = 0x1013
	displayName         = 0x3001
	address             = 0x3003
	attachData          = 0x3701
	attachName          = 0x3704
	attachMethod        = 0x3705
	attachLongName      = 0x3707
	attachMIME          = 0x370E
	attachContentID     = 0x3712
	attachFlags         = 0x3714
	smtpAddress         = 0x39FE
	internetCodepage    = 0x3FDE
	messageCodepage     = 0x3FFD
	senderSMTP          = 0x5D01
	representingSMTP    = 0x5D02
	attachHidden        = 0x7FFE
)

// The sizes of what stands before the properties of each (MS-OXMSG, 2.4.1).
const (
	messageHeader  = 32
	attachedHeader = 24
	otherHeader    = 8
)

// The kinds of recipients.
const (
	to = 1
	cc = 2
)

// maxDepth is how deep messages in messages are looked at: those deeper are named, by mail.Tree.
const maxDepth = 4

// Is reports whether data is a mail of Outlook, judging by its content.
func Is(data []byte) bool { return ole.Is(data, propertyStream) }

// Read parses a mail, and with files what is attached to it. Its errors wrap outline.ErrUnparsable or outline.ErrProtected.
func Read(data []byte, files mail.Files) (*outline.Document, error) {
	root, err := ole.Open(data)
	if err != nil {
		return nil, err
	}
	m, err := message(root, messageHeader, 0)
	if err != nil {
		return nil, err
	}
	return mail.Tree(m, files)
}

// message reads the message in a storage.
func message(s *ole.Storage, header, depth int) (*mail.Message, error) {
	p, err := open(s, header)
	if err != nil {
		return nil, err
	}
	p.page = ole.Codepage(cmp.Or(p.number(messageCodepage), p.number(internetCodepage)))
	m := &mail.Message{
		Subject: p.text(subject), Date: p.time(clientSubmitTime),
		From: person(cmp.Or(p.text(representingName), p.text(senderName)), p.text(representingSMTP), p.text(representingAddress), p.text(senderSMTP), p.text(senderAddress)),
	}
	if m.Date.IsZero() {
		m.Date = p.time(deliveryTime)
	}
	if err := recipients(&p, m); err != nil {
		return nil, err
	}
	body, err := p.body()
	if err != nil {
		return nil, err
	}
	m.Bodies = []mail.Body{body}
	for _, in := range numbered(s, "__attach_version1.0_") {
		a, err := attachment(in, &p, depth)
		if err != nil {
			return nil, err
		}
		m.Attachments = append(m.Attachments, *a)
	}
	return m, nil
}

// numbered returns the storages whose names begin so, in the order of the numbers that follow.
func numbered(s *ole.Storage, prefix string) []*ole.Storage {
	var all []*ole.Storage
	for _, in := range s.Storages {
		if strings.HasPrefix(strings.ToLower(in.Name), prefix) {
			all = append(all, in)
		}
	}
	slices.SortStableFunc(all, func(a, b *ole.Storage) int { return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)) })
	return all
}

// recipients reads to whom the message went.
func recipients(p *properties, m *mail.Message) error {
	people := map[int][]string{}
	for _, in := range numbered(p.storage, "__recip_version1.0_") {
		r, err := open(in, otherHeader)
		if err != nil {
			return err
		}
		r.page = p.page
		if one := person(r.text(displayName), r.text(smtpAddress), r.text(address)); one != "" {
			people[r.number(recipientType)] = append(people[r.number(recipientType)], one)
		}
		if r.err != nil {
			return r.err
		}
	}
	m.To, m.Cc = strings.Join(people[to], ", "), strings.Join(people[cc], ", ")
	if len(people) == 0 {
		m.To, m.Cc = p.text(displayTo), p.text(displayCc)
	}
	return p.err
}

// person returns a name with the first of the addresses that is one of mail: Exchange has others.
func person(name string, addresses ...string) string {
	at := slices.IndexFunc(addresses, func(a string) bool { return strings.Contains(a, "@") })
	name = strings.Trim(strings.TrimSpace(name), "'")
	switch {
	case at < 0:
		return name
	case name == "" || strings.EqualFold(name, addresses[at]):
		return addresses[at]
	}
	return fmt.Sprintf("%s <%s>", name, addresses[at])
}

// bad returns an error that wraps outline.ErrUnparsable.
func bad(format string, args ...any) error {
	return fmt.Errorf("%w: %w", outline.ErrUnparsable, fmt.Errorf(format, args...))
}
