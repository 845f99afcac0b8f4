package binary

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"quarry/internal/testkit"
)

// TestHostile proves that bodies, paths and bytes that no client should send are refused with a clear 4xx, that none of
// them leaves anything behind, and that the server serves on.
func TestHostile(t *testing.T) {
	t.Parallel()
	p := testkit.StartBinary(t, t.TempDir())
	c := p.Client()
	createCorpus(t, c, "h")
	t.Run("bodies", func(t *testing.T) { hostileBodies(t, p) })
	t.Run("paths", func(t *testing.T) { hostilePaths(t, p) })
	t.Run("uploads", func(t *testing.T) { hostileUploads(t, p) })
	t.Run("bytes", func(t *testing.T) { hostileBytes(t, p) })
	t.Run("clients that leave", func(t *testing.T) { leavingClients(t, p) })
	t.Run("nothing is stored", func(t *testing.T) {
		if all := listed(t, c, "h"); len(all) != 0 {
			t.Errorf("documents %v, want none", all)
		}
		corpora := c.Must(t, http.StatusOK, "GET", "/v2/corpora", nil)["corpora"].([]any)
		if len(corpora) != 1 {
			t.Errorf("%d corpora, want one: %v", len(corpora), corpora)
		}
	})
	t.Run("strange and legal", func(t *testing.T) { legal(t, c) })
	mustStop(t, p)
	for _, bad := range []string{"panic", "level=ERROR", "status=500"} {
		if log := p.Log(); strings.Contains(log, bad) {
			t.Errorf("the log says %s:\n%s", bad, log)
		}
	}
}

// raw sends a body as it is; header overrides what a client sends.
func raw(t *testing.T, p *testkit.Process, method, path string, body []byte, header map[string]string) (status int, answer string) {
	t.Helper()
	req, err := http.NewRequest(method, p.URL+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("x-api-key", p.Key)
	req.Header.Set("Content-Type", "application/json")
	for k, v := range header {
		req.Header.Set(k, v)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatalf("%s %.60s: no answer: %v", method, path, err)
	}
	defer res.Body.Close()
	var b bytes.Buffer
	if _, err := b.ReadFrom(res.Body); err != nil {
		t.Fatalf("%s %.60s: half an answer: %v", method, path, err)
	}
	return res.StatusCode, b.String()
}

// clear checks that an answer is the refusal wanted, and that it is short and names the reason.
func clear(t *testing.T, status int, answer string, want int, word string) {
	t.Helper()
	var e struct {
		Messages    []string          `json:"messages"`
		RequestID   string            `json:"request_id"`
		FieldErrors map[string]string `json:"field_errors"`
	}
	if err := json.Unmarshal([]byte(answer), &e); err != nil || len(e.Messages) == 0 || e.RequestID == "" {
		t.Errorf("answer %d %.300q is not the contract's error: %v", status, answer, err)
	}
	if status != want {
		t.Errorf("it answers %d, want %d: %.300s", status, want, answer)
	}
	if want == http.StatusBadRequest && len(e.FieldErrors) == 0 {
		t.Errorf("400 names no field: %.300s", answer)
	}
	if !strings.Contains(answer, word) {
		t.Errorf("answer %.300q does not say %q", answer, word)
	}
	if len(answer) > 32<<10 { // what was sent may be named, twice
		t.Errorf("the refusal has %d bytes", len(answer))
	}
}

func hostileBodies(t *testing.T, p *testkit.Process) {
	const documents, query, corpora = "/v2/corpora/h/documents", "/v2/corpora/h/query", "/v2/corpora"
	text := func(s string) string { return `{"type":"core","id":"x","document_parts":[{"text":"` + s + `"}]}` }
	gzip := map[string]string{"Content-Encoding": "gzip"}
	for _, tc := range []struct {
		name, path, body string
		header           map[string]string
		status           int
		word             string
	}{
		{"16 MB and a byte", documents, text(strings.Repeat("a", 16<<20)), nil, 413, "max_json"},
		{"nested 10,000 deep", documents, `{"x":` + strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000) + `}`, nil, 400, "nested"},
		{"nested 1,000,000 deep, never closed", query, strings.Repeat(`{"a":`, 1_000_000), nil, 400, "nested"},
		{"member twice", documents, `{"type":"core","id":"a","id":"b","document_parts":[{"text":"x"}]}`, nil, 400, "body.id"},
		{"member twice, spelled apart", documents, `{"type":"core","id":"a","\u0069d":"b","document_parts":[{"text":"x"}]}`, nil, 400, "body.id"},
		{"member twice inside", documents, `{"type":"core","id":"a","metadata":{"k":1,"k":2},"document_parts":[{"text":"x"}]}`, nil, 400, "body.metadata.k"},
		{"not UTF-8", documents, text("caf\xe9"), nil, 400, "UTF-8"},
		{"overlong UTF-8", documents, text("\xc0\xaf"), nil, 400, "UTF-8"},
		{"surrogate in UTF-8", documents, text("\xed\xa0\x80"), nil, 400, "UTF-8"},
		{"UTF-16", documents, "\xff\xfe{\x00}\x00", nil, 400, "UTF-8"},
		{"NUL", documents, text(`a\u0000b`), nil, 400, "NUL"},
		{"raw control character", documents, text("a\x01b"), nil, 400, "body"},
		{"NUL in a name", documents, `{"type":"core","id":"a","metadata":{"a\u0000":1},"document_parts":[{"text":"x"}]}`, nil, 400, "NUL"},
		{"NUL in an id", documents, `{"type":"core","id":"a\u0000","document_parts":[{"text":"x"}]}`, nil, 400, "NUL"},
		{"two values", documents, text("x") + text("y"), nil, 400, "more data"},
		{"a text", documents, `"x"`, nil, 400, "object"},
		{"null", documents, `null`, nil, 400, "object"},
		{"cut", documents, text("x")[:40], nil, 400, "ends"},
		{"nothing", documents, "", nil, 400, "required"},
		{"spaces", documents, strings.Repeat(" ", 1000), nil, 400, "required"},
		{"a number for a text", documents, `{"type":"core","id":5,"document_parts":[{"text":"x"}]}`, nil, 400, "body.id"},
		{"a huge number", documents, `{"type":"core","id":"a","metadata":{"n":1e999},"document_parts":[{"text":"x"}]}`, nil, 400, "body.metadata.n"},
		{"a number with a million digits", query, `{"query":"x","search":{"limit":` + strings.Repeat("9", 1_000_000) + `}}`, nil, 400, "body.search.limit"},
		{"id of 10 kB", documents, `{"type":"core","id":"` + strings.Repeat("i", 10<<10) + `","document_parts":[{"text":"x"}]}`, nil, 400, "body.id"},
		{"empty id", documents, `{"type":"core","id":"","document_parts":[{"text":"x"}]}`, nil, 400, "body.id"},
		{"key with a path", corpora, `{"key":"../../etc"}`, nil, 400, "body.key"},
		{"key of 10 kB", corpora, `{"key":"` + strings.Repeat("k", 10<<10) + `"}`, nil, 400, "body.key"},
		{"a member name of 1 MB", documents, `{"` + strings.Repeat("n", 1<<20) + `":1}`, nil, 400, "body"},
		{"100,000 wrong members", query, `{"query":"x","search":{"corpora":[` + strings.Repeat(`{"lexical_interpolation":"x"},`, 100_000) + `{}]}}`, nil, 400, "body.search.corpora"},
		{"a filter nested 100,000 deep", query, `{"query":"x","search":{"metadata_filter":"` + strings.Repeat("(", 100_000) + `"}}`, nil, 400, "body.search.metadata_filter"},
		{"a filter of 10,000 NOTs", query, `{"query":"x","search":{"metadata_filter":"` + strings.Repeat("NOT ", 10_000) + `doc.slot = 1"}}`, nil, 400, "body.search.metadata_filter"},
		{"no JSON", documents, "type=core&id=x", map[string]string{"Content-Type": "application/x-www-form-urlencoded"}, 415, "application/json"},
		{"XML", documents, "<doc/>", map[string]string{"Content-Type": "text/xml"}, 415, "application/json"},
		{"another character set", documents, text("x"), map[string]string{"Content-Type": "application/json; charset=latin1"}, 415, "UTF-8"},
		{"content type that is none", documents, text("x"), map[string]string{"Content-Type": ";;;"}, 415, "application/json"},
		{"compressed", documents, text("x"), gzip, 415, "gzip"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			status, answer := raw(t, p, "POST", tc.path, []byte(tc.body), tc.header)
			clear(t, status, answer, tc.status, tc.word)
		})
	}
}

func hostilePaths(t *testing.T, p *testkit.Process) {
	long := strings.Repeat("i", 10<<10)
	for _, tc := range []struct {
		method, path string
		status       int
	}{
		{"GET", "/v2/corpora/h/documents/" + long, 404},
		{"DELETE", "/v2/corpora/h/documents/" + long, 404},
		{"GET", "/v2/corpora/" + long, 404},
		{"GET", "/v2/corpora/h/documents/..", 404},
		{"GET", "/v2/corpora/h/documents/../../h", 404},
		{"GET", "/v2/corpora/h/documents/%2e%2e%2f%2e%2e%2fowner.key", 404},
		{"GET", "/v2/corpora/../../etc/passwd", 404},
		{"DELETE", "/v2/corpora/h/documents/../../h", 404},
		{"DELETE", "/v2/corpora/h/documents/..", 404},
		{"GET", "/v2/corpora/h/documents/a%00b", 404},
		{"GET", "/v2/corpora/%00", 404},
		{"GET", "/v2/corpora/h/documents/%ff%fe", 404},
		{"GET", "/v2/corpora/h/documents/%c0%ae%c0%ae", 404},
		{"GET", "//v2//corpora", 404},
		{"GET", "/v2/corpora/h/documents/%252e%252e", 404},
		{"GET", "/v2/corpora/h;a=b", 404},
		{"GET", "/v2/corpora?limit=1;limit=2", 400},
		{"GET", "/v2/corpora?limit=%zz", 400},
		{"GET", "/v2/corpora?limit=%ff", 400},
		{"GET", "/v2/corpora?limit=1%00", 400},
		{"GET", "/v2/corpora?limit=1&limit=2", 400},
		{"GET", "/v2/corpora?filter=" + strings.Repeat("%28", 10_000), 400},
		{"GET", "/v2/corpora?page_key=" + long, 400},
		{"GET", "/v2/corpora/h/query?query=" + strings.Repeat("x", 10<<10), 400},
		{"GET", "/v2/corpora/h/documents?metadata_filter=" + url.QueryEscape("doc.slot = 1; DROP TABLE documents"), 400},
		{"GET", "/v2/corpora/h/documents?metadata_filter=" + url.QueryEscape("doc.slot = 1 OR '"), 400},
		{"PUT", "/v2/corpora", 405},
		{"BREW", "/v2/corpora", 405},
	} {
		t.Run(tc.method+" "+tc.path[:min(len(tc.path), 60)], func(t *testing.T) {
			w := dial(t, p)
			w.send(t, fmt.Appendf(nil, "%s %s HTTP/1.1\r\nHost: q\r\nx-api-key: %s\r\n\r\n", tc.method, tc.path, p.Key))
			status, answer := w.answer(t)
			clear(t, status, answer, tc.status, "")
		})
	}
}

func hostileUploads(t *testing.T, p *testkit.Process) {
	const path = "/v2/corpora/h/upload_file"
	part := func(head, body string) string { return "--b\r\n" + head + "\r\n\r\n" + body + "\r\n" }
	file := part("Content-Disposition: form-data; name=\"file\"; filename=\"a.txt\"", "some words")
	const end = "--b--\r\n"
	for _, tc := range []struct {
		name, kind, body string
		status           int
	}{
		{"JSON", "application/json", "{}", 415},
		{"no boundary", "multipart/form-data", file + end, 400},
		{"another boundary", "multipart/form-data; boundary=c", file + end, 400},
		{"no end", "multipart/form-data; boundary=b", file, 400},
		{"nothing", "multipart/form-data; boundary=b", "", 400},
		{"end alone", "multipart/form-data; boundary=b", end, 400},
		{"two files", "multipart/form-data; boundary=b", file + file + end, 400},
		{"10 MB and more", "multipart/form-data; boundary=b", part("Content-Disposition: form-data; name=\"file\"; filename=\"a.txt\"", strings.Repeat("word ", 2_200_000)) + end, 413},
		{"header of 1 MB", "multipart/form-data; boundary=b", part("Content-Disposition: form-data; name=\"file\"; filename=\""+strings.Repeat("n", 1<<20)+"\"", "x") + end, 400},
		{"10,000 parts", "multipart/form-data; boundary=b", strings.Repeat(part("Content-Disposition: form-data; name=\"x\"", "y"), 10_000) + file + end, 400},
		{"name of 10 kB", "multipart/form-data; boundary=b", part("Content-Disposition: form-data; name=\"file\"; filename=\""+strings.Repeat("n", 10<<10)+".txt\"", "x") + end, 400},
		{"name with NUL", "multipart/form-data; boundary=b", part("Content-Disposition: form-data; name=\"file\"; filename=\"a%00.txt\"", "x") + end, 400},
		{"empty file", "multipart/form-data; boundary=b", part("Content-Disposition: form-data; name=\"file\"; filename=\"a.txt\"", "") + end, 400},
		{"program that says text", "multipart/form-data; boundary=b", part("Content-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\nContent-Type: text/plain", "\x7fELF\x02\x01\x01\x00\x00\x00\x00") + end, 400},
		{"metadata twice", "multipart/form-data; boundary=b", part("Content-Disposition: form-data; name=\"metadata\"", `{"a":1,"a":2}`) + file + end, 400},
		{"metadata not UTF-8", "multipart/form-data; boundary=b", part("Content-Disposition: form-data; name=\"metadata\"", "{\"a\":\"\xff\"}") + file + end, 400},
	} {
		t.Run(tc.name, func(t *testing.T) {
			status, answer := raw(t, p, "POST", path, []byte(tc.body), map[string]string{"Content-Type": tc.kind})
			clear(t, status, answer, tc.status, "")
		})
	}
}

// hostileBytes writes on the connection what HTTP clients never do: each is refused, or cut off without an answer.
func hostileBytes(t *testing.T, p *testkit.Process) {
	key := "x-api-key: " + p.Key + "\r\n"
	inner := "POST /v2/corpora HTTP/1.1\r\nHost: q\r\n" + key + "Content-Type: application/json\r\nContent-Length: 17\r\n\r\n{\"key\":\"smuggled\"}"
	for _, tc := range []struct{ name, text string }{
		{"noise", "\x00\x01\x02\xff\xfe\r\n\r\n"},
		{"TLS", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n"},
		{"HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"},
		{"no version", "GET /v2/corpora\r\n\r\n"},
		{"no host", "GET /v2/corpora HTTP/1.1\r\n" + key + "\r\n"},
		{"two hosts", "GET /v2/corpora HTTP/1.1\r\nHost: a\r\nHost: b\r\n" + key + "\r\n"},
		{"two lengths", "POST /v2/corpora HTTP/1.1\r\nHost: q\r\n" + key + "Content-Length: 0\r\nContent-Length: 5\r\n\r\n" + inner},
		{"negative length", "POST /v2/corpora HTTP/1.1\r\nHost: q\r\n" + key + "Content-Length: -1\r\n\r\n" + inner},
		{"encoding unknown", "POST /v2/corpora HTTP/1.1\r\nHost: q\r\n" + key + "Transfer-Encoding: chunked, x\r\n\r\n" + inner},
		{"encoding with a tab", "POST /v2/corpora HTTP/1.1\r\nHost: q\r\n" + key + "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n" + inner},
		{"bad chunk size", "POST /v2/corpora HTTP/1.1\r\nHost: q\r\n" + key + "Transfer-Encoding: chunked\r\n\r\nzz\r\n" + inner},
		{"space in a header name", "GET /v2/corpora HTTP/1.1\r\nHost: q\r\nx api key: " + p.Key + "\r\n\r\n"},
		{"folded header", "GET /v2/corpora HTTP/1.1\r\nHost: q\r\nx-api-key:\r\n " + p.Key[:4] + "\r\n\r\n"},
		{"NUL in a header", "GET /v2/corpora HTTP/1.1\r\nHost: q\r\nx-api-key: a\x00b\r\n\r\n"},
		{"2 MB of headers", "GET /v2/corpora HTTP/1.1\r\nHost: q\r\nx-filler: " + strings.Repeat("a", 2<<20) + "\r\n\r\n"},
		{"space in the path", "GET /v2/corp ora HTTP/1.1\r\nHost: q\r\n" + key + "\r\n"},
		{"CONNECT", "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n" + key + "\r\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := dial(t, p)
			_, _ = w.Write([]byte(tc.text))        // the server may have had enough before the end
			_ = w.Conn.(*net.TCPConn).CloseWrite() // which cancels what is under way: even that must not pass for a 200
			for answered := false; ; answered = true {
				res, err := http.ReadResponse(w.in, nil)
				if err != nil {
					return
				}
				if _, err := new(bytes.Buffer).ReadFrom(res.Body); err != nil {
					return
				}
				unknownEncoding := res.StatusCode == http.StatusNotImplemented && strings.Contains(tc.text, "chunked, x")
				if (res.StatusCode < 400 || res.StatusCode >= 500) && !unknownEncoding {
					t.Errorf("it answers %d (answered before: %t), want 4xx", res.StatusCode, answered)
				}
			}
		})
	}
	if status, _ := raw(t, p, "GET", "/v2/corpora/smuggled", nil, nil); status != http.StatusNotFound {
		t.Errorf("a request inside another was run: %d", status)
	}
}

// leavingClients begin requests and go away.
func leavingClients(t *testing.T, p *testkit.Process) {
	body := []byte(`{"type":"core","id":"left","document_parts":[{"text":"words"}]}`)
	for n := range 8 {
		w := dial(t, p)
		w.begin(t, "POST", "/v2/corpora/h/documents", "application/json", len(body))
		w.send(t, body[:len(body)*n/8])
		_ = w.Close() // leaving is the point
	}
	for n := range 4 {
		head, kind := form(t, "left.txt", strings.Repeat("words ", 10_000))
		w := dial(t, p)
		w.begin(t, "POST", "/v2/corpora/h/upload_file", kind, len(head))
		w.send(t, head[:len(head)*n/4])
		_ = w.Close()
	}
	// A body byte by byte is slow and right.
	w := dial(t, p)
	w.begin(t, "POST", "/v2/corpora/h/query", "application/json", 28)
	for _, b := range []byte(`{"query":"slow","search":{}}`) {
		w.send(t, []byte{b})
	}
	if status, answer := w.answer(t); status != http.StatusOK {
		t.Errorf("a query byte by byte answers %d, want 200: %s", status, answer)
	}
}

// legal proves that what is only strange is taken and found.
func legal(t *testing.T, c *testkit.Client) {
	const documents = "/v2/corpora/h/documents"
	emoji := strings.Repeat("😀🎉👩‍👩‍👧‍👦🏳️‍🌈", 100<<10/58+1)
	word := strings.Repeat("pneumono", 625)
	c.Must(t, http.StatusCreated, "POST", documents, core("emoji", 1, emoji))
	c.Must(t, http.StatusCreated, "POST", documents, core("word", 2, word))
	c.Must(t, http.StatusCreated, "POST", documents, core("letter", 3, "x"))
	c.Must(t, http.StatusCreated, "POST", documents, core("spaces", 4, "a\t\n\u2028 \u200b\ufeffb"))
	ids := []string{"../../up", "a/b/c", "a b", "ü?#%", "日本語", "%2e%2e", "-", "x;y=z&q"}
	for i, id := range ids {
		c.Must(t, http.StatusCreated, "POST", documents, core(id, 100+i, fmt.Sprintf("The oscar%dq page.", i)))
		got := c.Must(t, http.StatusOK, "GET", documents+"/"+url.PathEscape(id), nil)
		if got["id"] != id {
			t.Errorf("document %q comes back as %q", id, got["id"])
		}
		if found := foundIDs(ask(t, c, "h", fmt.Sprintf("oscar%dq", i), byTerm, "")); len(found) != 1 || found[0] != id {
			t.Errorf("document %q is found as %q", id, found)
		}
	}
	whole := c.Must(t, http.StatusOK, "GET", documents+"/emoji", nil)
	if text := whole["parts"].([]any)[0].(map[string]any)["text"]; text != emoji {
		t.Error("the emoji are not what was written")
	}
	for _, q := range []struct {
		query  string
		lambda float64
		want   string
	}{
		{word, byTerm, "word"}, {"x", byTerm, "letter"}, {"😀", byMeaning, ""}, {emoji[:58*4], byMeaning, ""}, {"?", 0.5, ""}, {"\u200b", 0.5, ""}, {`"`, 0.5, ""}, {"-", 0.5, ""}, {"*", 0.5, ""},
	} {
		found := foundIDs(ask(t, c, "h", q.query, q.lambda, ""))
		if q.want != "" && (len(found) == 0 || found[0] != q.want) {
			t.Errorf("query %.20q finds %q, want %s first", q.query, found, q.want)
		}
	}
	for _, id := range ids {
		c.Must(t, http.StatusNoContent, "DELETE", documents+"/"+url.PathEscape(id), nil)
	}
}
