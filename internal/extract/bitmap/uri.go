package bitmap

import (
	"encoding/base64"
	"net/url"
	"strings"
)

// FromURI returns the bytes in a data: URI (RFC 2397) of an image, nil for every other address.
func FromURI(address string) []byte {
	head, body, found := strings.Cut(address, ",")
	head = strings.ToLower(head)
	if !found || !strings.HasPrefix(head, "data:image/") || !strings.HasSuffix(head, ";base64") {
		return nil
	}
	if strings.ContainsRune(body, '%') {
		plain, err := url.PathUnescape(body)
		if err != nil {
			return nil
		}
		body = plain
	}
	data, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(strings.Join(strings.Fields(body), ""), "="))
	if err != nil {
		return nil
	}
	return data
}
