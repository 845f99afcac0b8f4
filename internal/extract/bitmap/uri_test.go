package bitmap_test

import (
	"testing"

	"quarry/internal/extract/bitmap"
)

// TestFromURI proves which addresses are images by themselves.
func TestFromURI(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"data:image/png;base64,aGVsbG8=":          "hello",
		"DATA:image/png;charset=x;BASE64,aGVsbG8": "hello",
		"data:image/png;base64,aGVs bG8%3D":       "hello",
		"data:image/png;base64,aGV*":              "",
		"data:image/png,hello":                    "",
		"data:text/html;base64,aGVsbG8=":          "",
		"http://192.0.2.1/x.png":                  "",
		"":                                        "",
	} {
		if got := string(bitmap.FromURI(address)); got != want {
			t.Errorf("%s: %q, want %q", address, got, want)
		}
	}
}
