package mail_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"image"
	"image/png"
	"strings"
	"testing"

	"quarry/internal/extract"
	"quarry/internal/extract/extracttest"
	"quarry/internal/extract/mail"
	"quarry/internal/extract/outline"
)

// read reads a mail with the readers of every format.
func read(data []byte) (*outline.Document, error) {
	if len(data) == 0 { // which is refused before a reader is chosen
		return mail.Read(data, mail.Files{})
	}
	return extract.Read(extract.Input{Name: "a.eml", Data: data})
}

// text returns a mail or a part in which lines end as in mail.
func text(lines ...string) string { return strings.Join(lines, "\r\n") + "\r\n" }

// multi returns the header of a multipart and its parts, which are divided by its name.
func multi(kind, boundary string, parts ...string) string {
	return text("Content-Type: multipart/"+kind+`; boundary="`+boundary+`"`, "", "for old programs", "--"+boundary) +
		strings.Join(parts, text("", "--"+boundary)) + text("", "--"+boundary+"--", "the rest")
}

// attached returns a part that is a file.
func attached(name, kind string, data []byte) string {
	return text("Content-Type: "+kind, "Content-Disposition: attachment; filename=\""+name+"\"", "Content-Transfer-Encoding: base64", "", base64.StdEncoding.EncodeToString(data))
}

const head = "From: =?utf-8?Q?J=C3=BCrgen?= <j@example.com>\r\nTo: Bob <bob@example.com>, ann@example.com\r\nCc: list: a@b.example, c@d.example;\r\n" +
	"Subject: =?koi8-r?B?7sHTz9M=?=\r\n  and valve\r\nDate: Tue, 5 Mar 2024 10:11:12 +0100 (CET)\r\nMIME-Version: 1.0\r\n"

const page = `<html><head><title>no title</title><style>p{}</style></head><body><h1>Offer</h1><p>Pump <b>42</b><img src="cid:a" alt="logo"></p><div style="display:none">preview</div></body></html>`

// mails has everything that the reader knows.
var mails = map[string]string{
	"plain": "From bob@example.com Tue Mar  5 10:11:12 2024\r\n" + head + text("Content-Type: text/plain; charset=iso-8859-1; format=flowed", "Content-Transfer-Encoding: quoted-printable", "",
		"Gr=FC=DFe, the pump=", " works ", "again.", "> quoted ", "> text", "> ", ">> deeper", "", "-- ", "J=FCrgen"),
	"html": head + text("Content-Type: text/html", "", page),
	"alternative": head + multi("mixed", "M", multi("alternative", "A", text("Content-Type: text/plain", "", "Plain."), multi("related", "R", text("Content-Type: text/html", "", page), attached("logo.png", "image/png", []byte("x")))),
		text("", "The list's footer."), text("Content-Type: application/pgp-signature", "", "x")),
	"alternatives": head + multi("alternative", "A", text("Content-Type: text/plain", "", "  "), multi("mixed", "M", text("Content-Type: text/html; charset=windows-1251", "", "<p>\xcf\xf0\xe8\xe2\xe5\xf2"), attached("price.csv", "application/vnd.ms-excel", []byte("item,price\npump,2\n")))),
	"attachments": head + multi("mixed", "M", text("", "See below."), attached("=?utf-8?Q?gr=C3=B6=C3=9Fe.md?=", "application/x-unknown; name=x", []byte("lead\n# Sizes\nM6\n")),
		text("Content-Type: text/plain; name*=utf-8''n%C3%A4me.txt", "", "named"), attached("a.zip", "application/zip", []byte("PK\x03\x04")), attached("empty.txt", "text/plain", nil),
		text("Content-Type: text/plain; name=bad.txt", "Content-Transfer-Encoding: base64", "", "!!!!"), text("Content-Type: text/plain; name=odd.txt", "Content-Transfer-Encoding: x-rot13", "", "x"),
		attached("broken.pdf", "application/pdf", []byte("%PDF-1.7")), multi("digest", "D", text("", "Subject: in a digest", "", "first"))),
	"report": head + multi("report; report-type=delivery-status", "R", text("", "It was not delivered."), text("Content-Type: message/delivery-status", "", "Action: failed")),
	"loose":  head + "Content-Type: multipart/mixed; boundary=----=_Part_0; charset=x y\r\n\r\n------=_Part_0\nContent-Type: text/plain; name=my pump.txt\n\nloose\n------=_Part_0--",
	"bytes":  "From: J\xfcrgen\r\nTo: undisclosed recipients\r\nSubject: Gr\xfc\xdfe\r\nDate: yesterday\r\n\r\nna\xefve",
	"blank":  head + "\r\n",
	"nested": nested(4),
}

// nested returns a mail with a mail attached, and so on, n deep.
func nested(n int) string {
	if n == 0 {
		return text("Subject: the last", "", "end")
	}
	return text(fmt.Sprintf("Subject: level %d", n)) + multi("mixed", fmt.Sprintf("N%d", n), text("", fmt.Sprintf("text of level %d", n)), text("Content-Type: message/rfc822", "")+nested(n-1))
}

// TestRead proves what becomes of mails of each kind: see testdata.
func TestRead(t *testing.T) {
	t.Parallel()
	for name, m := range mails {
		doc, err := read([]byte(m))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		extracttest.Golden(t, "testdata/"+name+".golden", doc)
		extracttest.Damage(t, read, []byte(m))
		if name != "nested" && !mail.Is([]byte(m)) {
			t.Errorf("%s is not taken for a mail", name)
		}
	}
	for _, other := range []string{"", "From: a\nTo: b\n\nshort", "Subject: x", "a: b\nc: d\ne: f\n\n", "%PDF-1.7", "\n\n\n"} {
		if mail.Is([]byte(other)) {
			t.Errorf("%q is taken for a mail", other)
		}
	}
}

// TestReadCut proves that a mail of parts that ends in the middle is refused, wherever that is.
func TestReadCut(t *testing.T) {
	t.Parallel()
	whole := mails["alternative"]
	end := strings.Index(whole, "--M--")
	for at := strings.Index(whole, "--M"); at < end; at += 7 {
		if _, err := read([]byte(whole[:at])); !errors.Is(err, outline.ErrUnparsable) {
			t.Fatalf("cut at %d: %v", at, err)
		}
	}
}

// TestReadRefusals proves that what is no mail, encrypted, too deep or of too many parts is refused with the reason.
func TestReadRefusals(t *testing.T) {
	t.Parallel()
	deep := text("", "end")
	for i := range 50 {
		deep = multi("mixed", fmt.Sprintf("B%dB", i), deep)
	}
	for name, tt := range map[string]struct {
		data string
		err  error
		want string
	}{
		"no header":      {"\r\n\r\n", outline.ErrUnparsable, "no header"},
		"no mail":        {"just text\n\nmore", outline.ErrUnparsable, "header"},
		"no boundary":    {head + text("Content-Type: multipart/mixed", "", "x"), outline.ErrUnparsable, "boundary"},
		"50 deep":        {head + deep, outline.ErrUnparsable, "nested more than 20 deep"},
		"many parts":     {head + multi("mixed", "M", strings.Repeat(text("", "", "--M"), 10_001)), outline.ErrUnparsable, "10000 parts"},
		"encrypted":      {head + multi("encrypted; protocol=x", "M", text("", "x")), outline.ErrProtected, "password"},
		"S/MIME":         {head + text("Content-Type: application/pkcs7-mime; smime-type=enveloped-data", "", "x"), outline.ErrProtected, "password"},
		"without an end": {head + strings.TrimSuffix(multi("mixed", "M", text("", "x")), text("", "--M--", "the rest")), outline.ErrUnparsable, "ends in the middle"},
	} {
		if _, err := read([]byte(tt.data)); !errors.Is(err, tt.err) || !strings.Contains(fmt.Sprint(err), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

// TestReadDeep proves that mail attached to mail fifty times is read, and what lies too deep is named.
func TestReadDeep(t *testing.T) {
	t.Parallel()
	doc, err := read([]byte(nested(50)))
	if err != nil {
		t.Fatal(err)
	}
	got := extracttest.Dump(t, doc)
	for _, want := range []string{"text of level 50", "text of level 47", "attachments are read 3 files deep"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "text of level 46") {
		t.Errorf("read too deep:\n%s", got)
	}
}

func FuzzRead(f *testing.F) {
	for _, m := range mails {
		f.Add([]byte(m))
	}
	f.Add([]byte(head + multi("related", "R", text("Content-Type: text/html", "", page), "Content-ID: <a>\r\n"+attached("a.png", "image/png", bitmap(f, 64)))))
	f.Fuzz(func(t *testing.T, data []byte) {
		mail.Is(data)
		doc, err := extract.Read(extract.Input{Name: "a.eml", Data: data, Options: extract.Options{Pictures: true}})
		if err != nil {
			if !errors.Is(err, outline.ErrUnparsable) && !errors.Is(err, outline.ErrProtected) && !errors.Is(err, extract.ErrEmpty) {
				t.Fatal(err)
			}
			return
		}
		extracttest.Dump(t, doc)
	})
}

// TestTree proves which form of a text is read, for formats that hand in mail of their own, and that mail in parts is read as deep.
func TestTree(t *testing.T) {
	t.Parallel()
	const plain, page, rich = "plain", "<p>page", `{\rtf1 rich\par}`
	for want, b := range map[string]mail.Body{
		"plain": {Plain: plain, HTML: page, RTF: []byte(rich)}, "page": {Plain: " \r\n", HTML: page, RTF: []byte(rich)}, "rich": {HTML: " ", RTF: []byte(rich)},
	} {
		m := &mail.Message{Bodies: []mail.Body{b}}
		for range 4 {
			m = &mail.Message{Subject: want, Attachments: []mail.Attachment{{Message: m}}}
		}
		doc, err := mail.Tree(m.Attachments[0].Message, mail.Files{})
		if err != nil || !strings.Contains(extracttest.Dump(t, doc), "      "+want+"\n") {
			t.Errorf("%s: %+v, %v", want, doc, err)
		}
		doc, err = mail.Tree(m, mail.Files{})
		if err != nil || !strings.Contains(extracttest.Dump(t, doc), "attachments are read 3 files deep") {
			t.Errorf("%s too deep: %+v, %v", want, doc, err)
		}
	}
	if _, err := mail.Tree(&mail.Message{Bodies: []mail.Body{{RTF: []byte("{\\rtf1")}}}, mail.Files{}); !errors.Is(err, outline.ErrUnparsable) {
		t.Errorf("damaged RTF: %v", err)
	}
}

// bitmap returns a PNG whose sides have so many pixels.
func bitmap(t testing.TB, side int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, side, side))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestPictures proves where the pictures of a mail stand where they are wanted, and what is said of each: see testdata. Without it there are none.
func TestPictures(t *testing.T) {
	t.Parallel()
	photo, icon := bitmap(t, 80), bitmap(t, 20)
	plain := text("", "See the valve.")
	shows := text("Content-Type: text/html", "", `<h1>Offer</h1><p>See <img src="CID:a%40b" alt="a red valve"> now <img src="cid:icon" alt="a dot"> and <img src="cid:none" alt="nothing">.</p><p>Yours</p>`)
	one := attached("one.png", "image/png", photo)
	unnamed := text("Content-Type: image/png", "Content-Transfer-Encoding: base64", "", base64.StdEncoding.EncodeToString(photo))
	const id, iconID = "Content-ID: <a@b>\r\n", "Content-Id: icon\r\n"
	for name, tt := range map[string]struct {
		mail string
		read []outline.Recognised
	}{
		"shown":          {mail: multi("related", "R", shows, id+one, iconID+attached("dot.png", "image/png", icon))},
		"beside-plain":   {mail: multi("alternative", "A", plain, multi("related", "R", shows, id+one))},
		"not-shown":      {mail: multi("related", "R", text("Content-Type: text/html", "", "<p>See below.</p>"), id+one, attached("again.png", "image/png", photo), iconID+attached("dot.png", "image/png", icon))},
		"without-page":   {mail: multi("related", "R", plain, unnamed)},
		"in-page":        {mail: text("Content-Type: text/html", "", `<img alt="a valve" src="data:image/png;base64,`+base64.StdEncoding.EncodeToString(photo)+`">`)},
		"attached":       {mail: multi("mixed", "M", plain, one, unnamed, attached("dot.png", "image/png", icon), attached("a.txt", "text/plain", []byte("words")))},
		"attached-read":  {mail: multi("mixed", "M", plain, one), read: []outline.Recognised{{Scan: outline.Scan{File: "1", Page: 1}, Text: "Valve 7"}}},
		"attached-blank": {mail: multi("mixed", "M", plain, one), read: []outline.Recognised{{Scan: outline.Scan{File: "1", Page: 1}}}},
		"attached-shown": {mail: multi("mixed", "M", shows, id+one)},
		"damaged":        {mail: multi("related", "R", shows, id+text("Content-Type: image/png", "Content-Transfer-Encoding: base64", "", "!!!!"))},
		"in-mail":        {mail: multi("mixed", "M", plain, text("Content-Type: message/rfc822", "", "Subject: inner")+multi("related", "R", shows, id+one))},
	} {
		extracttest.Pictures(t, "testdata/pictures-"+name+".golden", func(wanted bool) (*outline.Document, error) {
			return extract.Read(extract.Input{Name: "a.eml", Data: []byte(head + tt.mail), Options: extract.Options{Pictures: wanted, Recognised: tt.read}})
		})
	}
}
