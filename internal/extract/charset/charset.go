// Package charset finds the encoding of texts that don't declare one.
//
// UTF-16 and UTF-32 without a mark are found by what no other reading of the bytes gives: characters of one script. Of the encodings that
// extend ASCII the one wins whose characters fit each other and a language best: letters of the alphabet in words of one script, capitals at
// their beginnings, syllables and signs that are common. All functions are pure and safe for concurrent use.
package charset

import (
	"bytes"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
)

// longestSample is how many bytes are looked at.
const longestSample = 32 << 10

// Detect returns the encoding of a text without NULs that is not valid UTF-8 or has the escapes of ISO-2022-JP. It is nil for UTF-8, perhaps with damage.
// A text that shows nothing is Windows-1252, of which the printable characters of Latin-1 are a subset.
func Detect(data []byte) encoding.Encoding {
	if Escaped(data) {
		return japanese.ISO2022JP
	}
	data = sample(data)
	if mostlyUTF8(data) {
		return nil
	}
	best, score := encoding.Encoding(charmap.Windows1252), -1000.0
	for _, c := range single {
		if s := c.score(data); s > score {
			best, score = c.enc, s
		}
	}
	for _, c := range double {
		if s := c.score(data); s > score {
			best, score = c.enc, s
		}
	}
	if score < least {
		return charmap.Windows1252
	}
	return best
}

// least is the score below which a text shows nothing.
const least = 0.5

// Escaped reports whether a text has the escapes of ISO-2022-JP.
func Escaped(data []byte) bool {
	return bytes.Contains(data, []byte("\x1B$B")) || bytes.Contains(data, []byte("\x1B$@"))
}

// sample returns the part of a text that is looked at: it begins at a line or word shortly before the first byte that is not ASCII.
func sample(data []byte) []byte {
	at := bytes.IndexFunc(data, func(r rune) bool { return r >= utf8.RuneSelf })
	if at < 0 {
		return nil
	}
	for from := at; from > 0 && at-from < 1000; from-- {
		if data[from-1] == '\n' || data[from-1] == ' ' {
			at = from
			break
		}
	}
	if at < longestSample/2 {
		at = 0
	}
	return data[at:min(len(data), at+longestSample)]
}

// mostlyUTF8 reports whether a text is UTF-8 that was damaged, such as cut inside a character: twenty characters for each byte that is none.
func mostlyUTF8(data []byte) bool {
	good, bad := 0, 0
	for len(data) > 0 {
		r, size := utf8.DecodeRune(data)
		switch {
		case size > 1:
			good++
		case r == utf8.RuneError:
			bad++
		}
		data = data[size:]
	}
	return good >= 20*bad
}
