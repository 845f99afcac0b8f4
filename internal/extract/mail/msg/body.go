package msg

import (
	"unicode/utf8"

	"golang.org/x/net/html/charset"

	"quarry/internal/extract/mail"
	"quarry/internal/extract/ole"
)

// body returns the text in the forms that the message has it in.
func (p *properties) body() (b mail.Body, err error) {
	b = mail.Body{Plain: p.text(bodyPlain), HTML: p.page8()}
	if b.HTML == "" {
		b.HTML = p.text(bodyHTML)
	}
	if packed := p.stream(bodyRTF, typeBytes); packed != nil && p.err == nil {
		b.RTF, err = decompress(packed)
	}
	if p.err != nil {
		err = p.err
	}
	return b, err
}

// page8 returns the page that stands in bytes, in UTF-8.
func (p *properties) page8() string {
	data := p.stream(bodyHTML, typeBytes)
	if n := p.number(internetCodepage); n != 0 {
		return ole.Decode(data, ole.Codepage(n))
	}
	if utf8.Valid(data) {
		return string(data)
	}
	enc, _, _ := charset.DetermineEncoding(data[:min(len(data), 1024)], "text/html")
	return ole.Decode(data, enc)
}
