// Package aws signs requests with static credentials (Signature Version 4) and reads the binary framing of event streams, as
// Amazon's services require. It makes no calls of its own and knows no service; provider/anthropic calls Claude on Bedrock
// with it.
package aws

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Credentials are those of a user of IAM, and the region that its requests go to.
type Credentials struct {
	KeyID, Secret, Region string
}

const (
	algorithm = "AWS4-HMAC-SHA256"
	stamp     = "20060102T150405Z"
)

// Sign sets X-Amz-Date and Authorization of a request to a service, such as "bedrock". The signature covers method, path, query,
// body, host, Content-Type and every X-Amz-* header; other headers may be set afterwards. The path is encoded once more than
// on the wire, as every service but S3 requires.
func (c Credentials) Sign(r *http.Request, body []byte, service string, now time.Time) {
	now = now.UTC()
	r.Header.Set("X-Amz-Date", now.Format(stamp))
	scope := now.Format("20060102") + "/" + c.Region + "/" + service + "/aws4_request"
	names, canonical := canonicalHeaders(r)
	request := strings.Join([]string{
		r.Method, canonicalPath(r.URL), canonicalQuery(r.URL), canonical, names, digest(body),
	}, "\n")
	text := strings.Join([]string{algorithm, now.Format(stamp), scope, digest([]byte(request))}, "\n")

	key := []byte("AWS4" + c.Secret)
	for _, part := range strings.Split(scope, "/") {
		key = mac(key, part)
	}
	r.Header.Set("Authorization", algorithm+" Credential="+c.KeyID+"/"+scope+", SignedHeaders="+names+", Signature="+hex.EncodeToString(mac(key, text)))
}

func canonicalHeaders(r *http.Request) (names, lines string) {
	values := map[string]string{"host": cmp.Or(r.Host, r.URL.Host)}
	for name, v := range r.Header {
		name = strings.ToLower(name)
		if name != "content-type" && !strings.HasPrefix(name, "x-amz-") {
			continue
		}
		trimmed := make([]string, len(v))
		for i, one := range v {
			trimmed[i] = strings.Join(strings.Fields(one), " ")
		}
		values[name] = strings.Join(trimmed, ",")
	}
	sorted := slices.Sorted(maps.Keys(values))
	for _, name := range sorted {
		lines += name + ":" + values[name] + "\n"
	}
	return strings.Join(sorted, ";"), lines
}

func canonicalPath(u *url.URL) string {
	path := u.EscapedPath()
	if path == "" {
		return "/"
	}
	parts := strings.Split(path, "/")
	for i, p := range parts {
		parts[i] = Escape(p)
	}
	return strings.Join(parts, "/")
}

func canonicalQuery(u *url.URL) string {
	var out []string
	for key, values := range u.Query() {
		for _, v := range values {
			out = append(out, Escape(key)+"="+Escape(v))
		}
	}
	slices.Sort(out)
	return strings.Join(out, "&")
}

// Escape encodes everything but the unreserved characters of RFC 3986, as the signature expects of segments of a path.
func Escape(s string) string {
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~", c) >= 0 {
			b.WriteByte(c)
			continue
		}
		fmt.Fprintf(&b, "%%%02X", c)
	}
	return b.String()
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}
