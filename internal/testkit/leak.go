package testkit

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Spellings returns a secret as a tool may repeat it, by the names of the spellings.
func Spellings(secret string) map[string]string {
	quoted, _ := json.Marshal(secret) // texts always encode
	inside := string(quoted[1 : len(quoted)-1])
	var percent strings.Builder
	for _, c := range []byte(secret) {
		fmt.Fprintf(&percent, "%%%02x", c)
	}
	behind := func(n int) string { // what stands for the secret alone
		return base64.RawStdEncoding.EncodeToString([]byte("xx"[:n] + secret))[(8*n+5)/6 : 8*(n+len(secret))/6]
	}
	return map[string]string{
		"plain": secret, "in JSON": inside, "in an address": url.QueryEscape(secret), "each byte percent-encoded": percent.String(), "in hex": hex.EncodeToString([]byte(secret)),
		"in base64": base64.RawStdEncoding.EncodeToString([]byte(secret)), "in base64 of an address": base64.RawURLEncoding.EncodeToString([]byte(secret)),
		"behind one byte, in base64": behind(1), "behind two bytes, in base64": behind(2),
	}
}

// Leaks fails where a secret stands, in whatever spelling: in a file under a folder, or in one of the texts, which have names.
func Leaks(t testing.TB, secrets []string, folder string, texts map[string]string) {
	t.Helper()
	look := func(where string, data []byte) {
		for _, secret := range secrets {
			for name, spelling := range Spellings(secret) {
				if at := bytes.Index(data, []byte(spelling)); at >= 0 {
					t.Errorf("%s has %q %s: …%q…", where, secret, name, data[max(0, at-60):min(len(data), at+60)])
				}
			}
		}
	}
	for name, text := range texts {
		look(name, []byte(text))
	}
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		look(path, data)
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
