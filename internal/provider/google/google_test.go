package google_test

import (
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/fault"
	"quarry/internal/provider/google"
	"quarry/internal/provider/google/googletest"
)

// The assertion is what RFC 7523 and Google want, and the key's signature over it is good.
func TestAssertion(t *testing.T) {
	t.Parallel()
	key, err := google.Parse(googletest.KeyJSON("https://tokens.test/token"))
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1_900_000_000, 0)
	assertion, err := key.Assertion(now, google.Vertex)
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(assertion, ".")
	if len(parts) != 3 {
		t.Fatalf("%d parts", len(parts))
	}
	decode := func(part string) (out []byte) {
		out, err := base64.RawURLEncoding.DecodeString(part)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	for i, want := range []map[string]any{
		{"alg": "RS256", "typ": "JWT", "kid": "k1"},
		{"iss": "quarry@acme.iam.gserviceaccount.com", "scope": "https://www.googleapis.com/auth/cloud-platform", "aud": "https://tokens.test/token", "iat": 1_899_999_990.0, "exp": 1_900_003_540.0},
	} {
		var got map[string]any
		if err := json.Unmarshal(decode(parts[i]), &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("part %d (-want +got):\n%s", i, diff)
		}
	}
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if err := rsa.VerifyPKCS1v15(&googletest.Private().PublicKey, crypto.SHA256, sum[:], decode(parts[2])); err != nil {
		t.Errorf("signature: %v", err)
	}
}

// A file that is no key of a service account is refused without a word of it repeated.
func TestParseRefuses(t *testing.T) {
	t.Parallel()
	good := googletest.KeyJSON("")
	with := func(member string, value any) string {
		var file map[string]any
		if err := json.Unmarshal([]byte(good), &file); err != nil {
			t.Fatal(err)
		}
		file[member] = value
		out, err := json.Marshal(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	for name, text := range map[string]string{
		"empty": "", "no JSON": "SECRET", "a list": "[]", "another kind": with("type", "authorized_user"), "no address": with("client_email", ""), "no PEM": with("private_key", "SECRET"),
		"a broken key": with("private_key", "-----BEGIN PRIVATE KEY-----\nU0VDUkVU\n-----END PRIVATE KEY-----\n"), "a bad token_uri": with("token_uri", "file:///etc/SECRET"), "a user in token_uri": with("token_uri", "https://u:SECRET@x.test"),
		"too long": with("note", strings.Repeat("SECRET", 20000)), "a number": with("private_key", 7),
	} {
		_, err := google.Parse(text)
		var f *fault.Fault
		if !errors.As(err, &f) || f.Fields["auth.key_json"] == "" || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	key, err := google.Parse(good)
	if err != nil || key.TokenURI != "https://oauth2.googleapis.com/token" || key.Project != "acme" {
		t.Errorf("a good one: %+v, %v", key, err)
	}
}
