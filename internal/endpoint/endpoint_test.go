package endpoint_test

import (
	"slices"
	"strings"
	"testing"

	"quarry/internal/endpoint"
	"quarry/internal/fault"
)

// TestCheckURI proves which addresses are refused.
func TestCheckURI(t *testing.T) {
	t.Parallel()
	for uri, ok := range map[string]bool{
		"https://a.test/x?y=z": true, "http://127.0.0.1:11434": true, "HTTPS://a.test": true, "http://[::1]:80/": true,
		"": false, "/v1": false, "a.test/x": false, "//a.test/x": false, "file:///etc/passwd": false, "file:x": false, "ftp://a.test": false, "mailto:a@b.test": false,
		"https://user:pw@a.test/": false, "https://a.test/#x": false, "https://a.test:0/": false, "https://a.test:99999/": false, "https:///x": false,
		"https://a.test/ x": false, "https://a.test/\n": false, `https://a.test\@b.test`: false, "https://a.test/" + strings.Repeat("x", 2_048): false,
	} {
		bad := fault.Invalid()
		if endpoint.CheckURI(uri, "uri", "https://a.test", bad); (bad.Err() == nil) != ok || !ok && bad.Fields["uri"] == "" {
			t.Errorf("%q: %v", uri, bad.Err())
		}
	}
}

// TestCheckHeaders proves which headers are refused, each under its name.
func TestCheckHeaders(t *testing.T) {
	t.Parallel()
	bad := fault.Invalid()
	endpoint.CheckHeaders(map[string]string{
		"X-Fine": "ü\tx", "Authorization": "is left to the caller", "a b": "", "Host": "x", "X-Twice": "1", "x-twice": "2", "X-Break": "a\r\nb", "X-Long": strings.Repeat("x", 8_000),
	}, "headers", bad)
	if want := []string{"headers", "headers.Host", "headers.X-Break", "headers.X-Long", "headers.x-twice"}; !slices.Equal(bad.Paths(), want) {
		t.Errorf("refused %v, want %v", bad.Paths(), want)
	}
}

// TestCarries proves which names of headers carry credentials.
func TestCarries(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"Authorization": true, "x-api-key": true, "Cookie": true, "X-Client-Secret": true, "My_Access-Token": true, "X-ApiKey": true,
		"X-Title": false, "X-Secretary": false, "OpenAI-Organization": false,
	} {
		if endpoint.Carries(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}
