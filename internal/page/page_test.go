package page_test

import (
	"encoding/base64"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/fault"
	"quarry/internal/page"
)

var cursors = page.NewCursors([]byte("0123456789abcdef"))

// TestRoundTrip proves that a page key returns its position, and the filters that the request leaves out.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	s := page.Scope{Operation: "listCorpora", Filters: map[string]string{"filter": "a.*"}}
	token := cursors.Encode(s, "17", "ü/\x00")
	for _, filters := range []map[string]string{nil, {"filter": "a.*"}} {
		again := page.Scope{Operation: "listCorpora", Filters: filters}
		got, err := cursors.Decode(&again, token)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff([]string{"17", "ü/\x00"}, got); d != "" {
			t.Error(d)
		}
		if again.Filters["filter"] != "a.*" {
			t.Errorf("filters are %v", again.Filters)
		}
	}
}

// TestFirstPage proves that the empty page key is the first page.
func TestFirstPage(t *testing.T) {
	t.Parallel()
	if got, err := cursors.Decode(&page.Scope{Operation: "x"}, ""); err != nil || got != nil {
		t.Errorf("got %v, %v", got, err)
	}
}

// TestRefused proves that a page key that is damaged, forged, of another list or combined with other filters is
// refused.
func TestRefused(t *testing.T) {
	t.Parallel()
	s := page.Scope{Operation: "listCorpora", Filters: map[string]string{"filter": "a"}}
	token := cursors.Encode(s, "17")
	raw, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		t.Fatal(err)
	}
	for i := range raw {
		bad := append([]byte(nil), raw...)
		bad[i] ^= 1
		refuse(t, cursors, page.Scope{Operation: "listCorpora"}, base64.RawURLEncoding.EncodeToString(bad))
	}
	refuse(t, cursors, page.Scope{Operation: "listCorpora"}, "not base64!")
	refuse(t, cursors, page.Scope{Operation: "listCorpora"}, "AAAA")
	refuse(t, cursors, page.Scope{Operation: "listDocuments"}, token)
	refuse(t, cursors, page.Scope{Operation: "listCorpora", Caller: "user usr_1"}, token)
	refuse(t, cursors, page.Scope{Operation: "listCorpora", Filters: map[string]string{"filter": "b"}}, token)
	refuse(t, page.NewCursors([]byte("another secret 16")), s, token)
}

func refuse(t *testing.T, c *page.Cursors, s page.Scope, token string) {
	t.Helper()
	_, err := c.Decode(&s, token)
	f, ok := fault.As(err)
	if !ok || f.Kind != fault.KindInvalid || f.Fields["page_key"] == "" {
		t.Errorf("%s %q: got %v, want a fault of page_key", s.Operation, token, err)
	}
}
