// Package redact takes what has the form of a secret of ours out of a text: API keys, client secrets, one-time codes,
// secret keys, access tokens, passwords in addresses. It is the second line of defence for logs, errors and the audit,
// which are to be written without secrets in the first place, and knows nothing of secrets that have no form of their
// own, such as passwords. The command line puts its Writer around the log, httpapi and audit its Text around texts.
package redact

import (
	"bytes"
	"io"
	"regexp"
)

var (
	// secret matches keys and client secrets (zut_…, zqt_…, zwt_…, zcs_…), one-time codes (zoc_…), secret keys (qsk_…) and tokens (three parts of
	// base64url, of which the first is the JSON of a header).
	secret = regexp.MustCompile(`(zut|zqt|zwt|zcs|zoc|qsk)_[A-Za-z0-9_-]{24,}|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]*)?`)
	// password matches the password of an address; what follows it must be a host.
	password = regexp.MustCompile(`(://[^/\s:@"'<>?#]*:)[^/\s@"'<>]+@`)
	// setting matches a password that stands as a parameter.
	setting = regexp.MustCompile(`(?i)\b((?:ssl)?password=)('[^']*'|[^\s&"'\\]+)`)
)

// Text returns s with every secret as ****, the prefix of a key left to tell what it was.
func Text(s string) string { return string(Bytes([]byte(s))) }

// Bytes is Text for bytes; it gives b itself when there is nothing to take out.
func Bytes(b []byte) []byte {
	if bytes.IndexByte(b, '_') >= 0 || bytes.Contains(b, []byte("eyJ")) {
		b = secret.ReplaceAllFunc(b, func(found []byte) []byte {
			if found[3] == '_' {
				return []byte(string(found[:4]) + "****")
			}
			return []byte("****")
		})
	}
	if bytes.Contains(b, []byte("://")) {
		b = password.ReplaceAll(b, []byte("${1}****@"))
	}
	if bytes.IndexByte(b, '=') >= 0 {
		b = setting.ReplaceAll(b, []byte("${1}****"))
	}
	return b
}

// Writer returns a writer that passes on to w what is written, without secrets. Each write is to be a whole record, as the
// handlers of log/slog write them.
func Writer(w io.Writer) io.Writer { return writer{w} }

type writer struct{ to io.Writer }

func (w writer) Write(p []byte) (int, error) {
	if _, err := w.to.Write(Bytes(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}
