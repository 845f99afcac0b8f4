// Package redact removes from texts whatever has the form of one of our secrets: API keys, client secrets, one-time codes,
// secret keys, access tokens, and passwords in URLs. It is the second line of defence for logs, errors and the audit, which
// should contain no secrets in the first place. It cannot recognise secrets without a form of their own, such as passwords.
// The command line wraps the log in its Writer; httpapi and audit pass texts through Text.
package redact

import (
	"bytes"
	"io"
	"regexp"
)

var (
	// secret matches keys and client secrets (zut_…, zqt_…, zwt_…, zcs_…), one-time codes (zoc_…, zsi_…), secret keys (qsk_…) and
	// tokens (three parts of base64url, of which the first is the JSON of a header).
	secret = regexp.MustCompile(`(zut|zqt|zwt|zcs|zoc|zsi|qsk)_[A-Za-z0-9_-]{24,}|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]*)?`)
	// password matches the password in a URL; a host must follow it.
	password = regexp.MustCompile(`(://[^/\s:@"'<>?#]*:)[^/\s@"'<>]+@`)
	// setting matches a password that is a parameter of a URL or connection string.
	setting = regexp.MustCompile(`(?i)\b((?:ssl)?password=)('[^']*'|[^\s&"'\\]+)`)
)

// Text returns s with every secret replaced by ****; the prefix of a key is kept to show what it was.
func Text(s string) string { return string(Bytes([]byte(s))) }

// Bytes is Text for bytes; it returns b itself when it contains no secret.
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

// Writer returns a writer that passes what is written on to w without secrets. Each write must be a whole record, as the
// handlers of log/slog write it.
func Writer(w io.Writer) io.Writer { return writer{w} }

type writer struct{ to io.Writer }

func (w writer) Write(p []byte) (int, error) {
	if _, err := w.to.Write(Bytes(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}
