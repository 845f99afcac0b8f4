package webget_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/url"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"quarry/internal/agent/artifact"
	"quarry/internal/agent/tool"
	"quarry/internal/agent/tool/reference"
	"quarry/internal/agent/tool/web"
	blobfile "quarry/internal/blobstore/file"
	"quarry/internal/fault"
	"quarry/internal/llm"
	"quarry/internal/outbound"
	"quarry/internal/store"
	"quarry/internal/store/blobs"
	"quarry/internal/store/sessions"
	"quarry/internal/store/storetest"
	"quarry/internal/webget"
	"quarry/test/site"
)

// grants is tokens that are the grant itself; those that were refused count.
type grants struct{}

func (grants) Token(_ context.Context, g web.Grant, refused string) (string, error) {
	if refused == "" && g.Refresh == "stale" {
		return "stale-token-1", nil
	}
	return "granted-" + g.ClientID + g.Refresh + strings.Join(g.Scopes, ""), nil
}

// bench makes calls of web_get in a session that has files.
type bench struct {
	types   map[string]tool.Type
	files   *artifact.Service
	secrets map[string]string
}

func newBench(t *testing.T) *bench {
	t.Helper()
	open := outbound.Config{AllowPrivate: true}
	loose := open
	loose.Insecure = true
	checked, unchecked := outbound.New(open), outbound.New(loose)
	t.Cleanup(checked.CloseIdleConnections)
	t.Cleanup(unchecked.CloseIdleConnections)
	made, err := web.NewGet(webget.New(checked, unchecked), grants{})
	if err != nil {
		t.Fatal(err)
	}
	return &bench{types: map[string]tool.Type{web.Get: made}}
}

// withFiles lets sessions have files.
func (b *bench) withFiles(t *testing.T) *bench {
	t.Helper()
	db := storetest.Open(t, store.Config{Dir: t.TempDir()})
	kept, err := blobfile.Open(t.Context(), t.TempDir(), blobs.NewRows(db))
	if err != nil {
		t.Fatal(err)
	}
	b.files = artifact.NewService(artifact.Config{Store: sessions.New(db, storetest.Secrets(t, db)), Blobs: kept, Most: 50 << 20, Log: slog.New(slog.DiscardHandler)})
	return b
}

// TestMain proves that no call leaves anything behind, however it has ended.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// called is what came of a call.
type called struct {
	tool.Output
	text string // of the output
	v    struct {
		Status    int    `json:"status_code"`
		URL       string `json:"url"`
		Content   string `json:"content"`
		Truncated bool   `json:"truncated"`
		Error     string `json:"error"`
		Artifact  *struct {
			Filename string `json:"filename"`
			MIME     string `json:"mime_type"`
			Size     int64  `json:"size_bytes"`
		} `json:"artifact"`
	}
	work *artifact.Workspace
}

func quote(v any) string {
	raw, _ := json.Marshal(v)
	return string(raw)
}

// call calls web_get with a configuration, "" for none, and arguments.
func (b *bench) call(t *testing.T, overrides, arguments string) called {
	t.Helper()
	configuration := `{"type":"web_get"` + overrides + `}`
	set, err := tool.Compile(map[string]json.RawMessage{"t": json.RawMessage(configuration)}, tool.Kit{Types: b.types, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	out := called{}
	scene := tool.Scene{Most: tool.MaxRaw, Scene: reference.Scene{Secrets: b.secrets, Session: reference.Subject{Key: "s", Metadata: json.RawMessage(`{"n":2,"no":false,"map":{"X-A":"1"}}`)}}}
	if b.files != nil {
		out.work = b.files.Workspace(1, t.Name()+arguments)
		t.Cleanup(func() { out.work.Release(context.Background()) })
		scene.Files = out.work
	}
	bound, _, err := set.Bind(scene, "")
	if err != nil {
		t.Fatal(err)
	}
	planned := bound.Plan([]llm.ToolCall{{ID: "c", Name: "t", Arguments: json.RawMessage(arguments)}}, nil, scene)
	planned[0].Again = strings.Contains(overrides, `"again"`)
	out.Output = bound.Run(t.Context(), planned[0], scene)
	out.text = string(out.Output.Output)
	if err := json.Unmarshal(out.Output.Output, &out.v); err != nil {
		t.Fatal(err)
	}
	return out
}

// get calls an address with further arguments, as members of JSON.
func (b *bench) get(t *testing.T, address, more string) called {
	t.Helper()
	return b.call(t, "", `{"url":`+quote(address)+more+`}`)
}

// TestTexts proves how content of each charset is read, and what of it is kept.
func TestTexts(t *testing.T) {
	t.Parallel()
	s, b := site.Start(t, false), newBench(t)
	for _, c := range []struct {
		path, more, content string
		status              int
		truncated           bool
	}{
		{"/text", "", "The stone\nis dressed\nevery month.\n", 200, false},
		{"/latin", "", "Grüße", 200, false},
		{"/koi", "", "<meta charset=koi8-r><p>Да", 200, false},
		{"/xml", "", "<?xml version=\"1.0\" encoding=\"iso-8859-5\"?><a>Да</a>", 200, false},
		{"/utf16", "", "Hi", 200, false},
		{"/late", `,"tail_lines":1`, strings.Repeat(" ", 2000) + "Grüße", 200, false},
		{"/json", "", `{"n":12345678901234567890}`, 200, false},
		{"/robots", "", "User-agent: *\n", 200, false},
		{"/empty", "", "", 200, false},
		{"/status/418", "", "I'm a teapot", 418, false},
		{"/status/500", "", "Internal Server Error", 500, false},
		{"/text", `,"head_lines":1`, "The stone\n", 200, true},
		{"/text", `,"tail_lines":1`, "every month.\n", 200, true},
		{"/text", `,"head_lines":1,"tail_lines":1`, "The stone\nevery month.\n", 200, true},
		{"/text", `,"head_lines":2,"tail_lines":2`, "The stone\nis dressed\nevery month.\n", 200, false},
		{"/text", `,"head_lines":0,"tail_lines":0`, "The stone\nis dressed\nevery month.\n", 200, false},
		{"/text", `,"max_content_bytes":12`, "The stone\nis", 200, true},
		{"/text", `,"max_content_bytes":12,"tail_lines":1`, "is", 200, true},
		{"/text", `,"max_content_bytes":34`, "The stone\nis dressed\nevery month.\n", 200, false},
		{"/late", `,"max_content_bytes":2003`, strings.Repeat(" ", 2000) + "Gr", 200, true},
		{"/latin", `,"max_content_bytes":3`, "Gr", 200, true}, // three bytes, of which the third becomes two
		{"/text", `,"method":"HEAD"`, "", 200, false},
	} {
		if got := b.get(t, s.URL+c.path, c.more); got.Failed || got.v.Content != c.content || got.v.Status != c.status || got.v.Truncated != c.truncated || got.v.URL != s.URL+c.path {
			t.Errorf("%s%s: %s", c.path, c.more, got.text)
		}
	}
}

// TestOthers proves that content that is no text becomes a file under its name, and never a part of one.
func TestOthers(t *testing.T) {
	t.Parallel()
	s, b := site.Start(t, false), newBench(t).withFiles(t)
	for _, c := range []struct{ path, filename, mime, content string }{
		{"/image.png", "image.png", "image/png", site.PNG},
		{"/nul", "nul", "text/plain", "a\x00b"},
		{"/download?n=2&name=../../report.bin", "report.bin", "application/octet-stream", "\x00\x01\x00\x01"},
	} {
		got := b.get(t, s.URL+c.path, "")
		if got.Failed || got.v.Artifact == nil || got.v.Artifact.Filename != c.filename || got.v.Artifact.MIME != c.mime || got.v.Truncated || len(got.Artifacts) != 1 {
			t.Errorf("%s: %s", c.path, got.text)
			continue
		}
		_, content, err := got.work.Open(t.Context(), got.v.Content)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := io.ReadAll(content)
		_ = content.Close()
		if err != nil || string(raw) != c.content {
			t.Errorf("%s is kept as %q (%v)", c.path, raw, err)
		}
	}
	if got := b.get(t, s.URL+"/download?n=600000&name=x", ""); !got.Failed || !strings.Contains(got.v.Error, "max_content_bytes") || len(got.Artifacts) > 0 {
		t.Errorf("a file that is too large: %s", got.text)
	}
	if got := newBench(t).get(t, s.URL+"/image.png", ""); !got.Failed || !strings.Contains(got.v.Error, "can't have files") {
		t.Errorf("a session without files: %s", got.text)
	}
}

// TestRequests proves what arrives of a request: method, headers under their names, body, credentials, each from the model or pinned.
func TestRequests(t *testing.T) {
	t.Parallel()
	s, b := site.Start(t, false), newBench(t)
	b.secrets = map[string]string{"token": "session-token-1"}
	last := func(overrides, arguments string) site.Seen {
		t.Helper()
		before := len(s.Seen("/echo/"))
		if got := b.call(t, overrides, arguments); got.Failed {
			t.Fatalf("%s: %s", arguments, got.text)
		}
		return s.Seen("/echo/")[before]
	}
	at := s.URL + "/echo/{id}?q={x}"
	r := last(`,"argument_override":{"url":`+quote(at)+`}`, `{"method":"PUT","body":"hello","headers":{"Content-Type":"text/x","X-A":"1","Accept-Encoding":"br","user-agent":"me"}}`)
	if r.Method != "PUT" || r.Body != "hello" || r.Path != "/echo/{id}" || r.Query != "q={x}" || r.Header.Get("Content-Type") != "text/x" || r.Header.Get("X-A") != "1" ||
		r.Header.Get("Accept-Encoding") != "gzip" || len(r.Header["User-Agent"]) != 1 || r.Header.Get("User-Agent") != "me" {
		t.Errorf("%+v", r)
	}
	plain := `{"url":` + quote(s.URL+"/echo/x") + `}`
	for _, c := range []struct{ overrides, header, want string }{
		{``, "Authorization", ""},
		{`,"argument_override":{"auth":{"type":"none"}}`, "Authorization", ""},
		{`,"argument_override":{"auth":{"type":"bearer","token":{"$ref":"session.secrets.token"}}}`, "Authorization", "Bearer session-token-1"},
		{`,"argument_override":{"auth":{"type":"header","header":"X-Key","value":"v"}}`, "X-Key", "v"},
		{`,"argument_override":{"auth":{"type":"header","header":"X-Key","value":"v"},"headers":{"X-Key":"w"}}`, "X-Key", "w"},
		{`,"argument_override":{"auth":{"type":"bearer","token":"abc123"},"headers.Authorization":"Basic eHl6"}`, "Authorization", "Basic eHl6"},
		{`,"argument_override":{"auth":{"type":"oauth_client_credentials","client_id":"me","client_secret":"s","token_endpoint":"https://x.test/","scopes":["a"]}}`, "Authorization", "Bearer granted-mea"},
		{`,"argument_override":{"auth":{"type":"oauth_refresh_token","client_id":"me","client_secret":"s","refresh_token":"r","token_endpoint":"https://x.test/"}}`, "Authorization", "Bearer granted-mer"},
		{`,"argument_override":{"headers":{"$ref":"session.metadata.map"}}`, "X-A", "1"},
		{`,"argument_override":{"headers":{"X-A":{"$ref":"session.key"}}}`, "X-A", "s"},
	} {
		if r := last(c.overrides, plain); r.Header.Get(c.header) != c.want || r.Method != "GET" || r.Body != "" {
			t.Errorf("%s: %+v", c.overrides, r)
		}
	}
	// the name counts letter by letter
	if r := last(`,"argument_override":{"auth":{"type":"header","header":"x-key","value":"v"},"headers":{"X-KEY":"w"}}`, plain); len(r.Header["X-Key"]) != 2 {
		t.Errorf("%+v", r.Header)
	}
	if got := b.call(t, `,"argument_override":{"head_lines":{"$ref":"session.metadata.n"},"follow_redirects":{"$ref":"session.metadata.no"}}`, `{"url":`+quote(s.URL+"/hops/1")+`}`); got.v.Status != 302 {
		t.Errorf("references to numbers and truths: %s", got.text)
	}
	if got := b.call(t, `,"argument_override":{"auth":{"type":"oauth_refresh_token","client_id":"me","client_secret":"s","refresh_token":"stale","token_endpoint":"https://x.test/"}}`, `{"url":`+quote(s.URL+"/private")+`}`); got.v.Status != 200 || !strings.HasPrefix(got.v.Content, "for you") {
		t.Errorf("a token that is refused once: %s", got.text)
	}
}

// TestSecrets proves that no credential is in an output, however the server repeats it, and at no place where a text is cut.
func TestSecrets(t *testing.T) {
	t.Parallel()
	s, b := site.Start(t, false), newBench(t).withFiles(t)
	b.secrets = map[string]string{"token": "session-token-1", "body": "session-body-2"}
	secrets := []string{"session-token-1", "session-body-2", "literal-token-3", "granted-me", "zecret-client-4", "c2Vzc2lvbg-basic-5"}
	for _, overrides := range []string{
		`"auth":{"type":"bearer","token":{"$ref":"session.secrets.token"}},"body":{"$ref":"session.secrets.body"},"method":"POST"`,
		`"auth":{"type":"bearer","token":"literal-token-3"}`,
		`"auth":{"type":"oauth_client_credentials","client_id":"me","client_secret":"zecret-client-4","token_endpoint":"https://x.test/"}`,
		`"headers":{"Authorization":"Basic c2Vzc2lvbg-basic-5"}`,
	} {
		for _, address := range []string{"/echo/a", "/echo/a?as=application/octet-stream", "/echo/session-token-1"} {
			full := b.call(t, `,"argument_override":{`+overrides+`}`, `{"url":`+quote(s.URL+address)+`}`)
			if full.Failed || full.v.Artifact == nil && !strings.Contains(full.text, "****") {
				t.Errorf("%s %s: %s", overrides, address, full.text)
			}
			for most := 100; most < len(full.v.Content)+60; most++ {
				got := full
				if full.v.Artifact == nil {
					got = b.call(t, `,"argument_override":{`+overrides+`}`, `{"url":`+quote(s.URL+address)+`,"max_content_bytes":`+quote(most)+`}`)
				}
				text := got.text + string(got.Overrides)
				for _, a := range got.Artifacts {
					_, content, err := got.work.Open(t.Context(), a.ID)
					if err != nil {
						t.Fatal(err)
					}
					raw, _ := io.ReadAll(content)
					_ = content.Close()
					text += string(raw)
				}
				for _, secret := range secrets {
					if strings.Contains(text, secret[:6]) {
						t.Fatalf("%s %s, %d bytes: %s in %s", overrides, address, most, secret, text)
					}
				}
				if full.v.Artifact != nil {
					break
				}
			}
		}
	}
}

// TestRedirects proves that ten redirects are followed and no more, and that another origin gets neither credentials nor headers.
func TestRedirects(t *testing.T) {
	t.Parallel()
	s, other, b := site.Start(t, false), site.Start(t, false), newBench(t)
	if got := b.get(t, s.URL+"/hops/10", ""); got.v.Content != "arrived" || got.v.URL != s.URL+"/hops/0" {
		t.Errorf("ten: %s", got.text)
	}
	if got := b.get(t, s.URL+"/hops/11", ""); !got.Failed || got.Class != tool.ExecutionError {
		t.Errorf("eleven: %s", got.text)
	}
	if got := b.get(t, s.URL+"/hops/1", `,"follow_redirects":false`); got.v.Status != 302 || got.v.URL != s.URL+"/hops/1" {
		t.Errorf("not followed: %s", got.text)
	}
	away := func(code, to string) string {
		return `{"url":` + quote(s.URL+"/away/"+code+"?to="+url.QueryEscape(to)) + `}`
	}
	const pins = `,"argument_override":{"auth":{"type":"bearer","token":"hush-hush"},"headers":{"X-Pinned":"pinned-value","User-Agent":"agent-pinned"},"headers.Cookie":"a=b"}`
	for code, method := range map[string]string{"302": "GET", "307": "GET"} {
		if got := b.call(t, pins, away(code, s.URL+"/echo/home"+code)); got.Failed {
			t.Fatal(got.text)
		}
		home := s.Seen("/echo/home" + code)[0]
		if home.Method != method || home.Header.Get("Authorization") != "Bearer hush-hush" || home.Header.Get("X-Pinned") != "pinned-value" {
			t.Errorf("%s, the same origin: %+v", code, home)
		}
		if got := b.call(t, pins, away(code, other.URL+"/echo/other"+code)); got.Failed {
			t.Fatal(got.text)
		}
		away := other.Seen("/echo/other" + code)[0]
		if away.Header.Get("Authorization")+away.Header.Get("X-Pinned")+away.Header.Get("Cookie")+away.Header.Get("Referer") != "" || strings.Contains(away.Header.Get("User-Agent"), "pinned") {
			t.Errorf("%s, another origin: %+v", code, away)
		}
	}
	// there and back again: who led back chose where to
	back := other.URL + "/away/302?to=" + url.QueryEscape(s.URL+"/echo/back")
	if got := b.call(t, pins, away("302", back)); got.Failed {
		t.Fatal(got.text)
	}
	if r := s.Seen("/echo/back")[0]; r.Header.Get("Authorization")+r.Header.Get("X-Pinned") != "" {
		t.Errorf("back again: %+v", r)
	}
	const posts, pinned = `,"argument_override":{"method":"POST"}`, `,"argument_override":{"method":"POST","body":"a secret"}`
	for overrides, passes := range map[string]bool{posts: true, pinned: false, posts + `,"input_transform":".args"`: false} {
		got := b.call(t, overrides, `{"body":"hello",`+away("307", other.URL+"/echo/body")[1:])
		if got.Failed == passes || passes && other.Seen("/echo/body")[0].Body != "hello" {
			t.Errorf("%s, a body: %s", overrides, got.text)
		}
	}
	if got := b.call(t, pinned, away("303", other.URL+"/echo/lost")); got.Failed || other.Seen("/echo/lost")[0].Method != "GET" || other.Seen("/echo/lost")[0].Body != "" {
		t.Errorf("a POST that becomes a GET: %s", got.text)
	}
	if got := b.get(t, s.URL+"/away/302?to="+url.QueryEscape("http://169.254.169.254/latest"), ""); !got.Failed || !strings.Contains(got.v.Error, "metadata") {
		t.Errorf("to a metadata service: %s", got.text)
	}
	if got := b.get(t, s.URL+"/away/302?to="+url.QueryEscape("file:///etc/passwd"), ""); !got.Failed {
		t.Errorf("to a file: %s", got.text)
	}
}

// TestFailures proves that what can't be had is an error of the call, in words, without what the address holds.
func TestFailures(t *testing.T) {
	t.Parallel()
	s, safe, b := site.Start(t, false), site.Start(t, true), newBench(t)
	closed := site.Start(t, false)
	closed.Server.Close()
	for _, c := range []struct {
		address, more, says string
		class               tool.Class
	}{
		{closed.URL + "/?key=hidden", "", "no connection: connection refused", tool.ExecutionError},
		{"http://nobody.invalid/?key=hidden", "", "nobody.invalid", tool.ExecutionError},
		{safe.URL + "/text", "", "certificate", tool.ExecutionError},
		{safe.URL + "/text", `,"ssl_verify":false`, "certificate", tool.ExecutionError},
		{strings.Replace(s.URL, "http:", "https:", 1) + "/text", "", "speak TLS", tool.ExecutionError},
		{"ftp://example.com/", "", "http://", tool.InvalidInput},
		{"/relative", "", "http://", tool.InvalidInput},
		{"http://me:pw@example.com/", "", "user name", tool.InvalidInput},
		{"http://[::1", "", "no address", tool.InvalidInput},
		{"http://169.254.169.254/latest/meta-data/", "", "metadata", tool.ExecutionError},
		{s.URL + "/packed", "", "not asked for", tool.ExecutionError},
		{s.URL + "/cut", "", "connection broke", tool.ExecutionError},
		{s.URL + "/never", `,"timeout_seconds":1`, "longer than 1s", tool.Timeout},
		{s.URL + "/slow", `,"timeout_seconds":1`, "longer than 1s", tool.Timeout},
		{s.URL + "/text", `,"timeout_seconds":301`, "timeout_seconds", tool.InvalidInput},
		{s.URL + "/text", `,"max_content_bytes":10485761`, "max_content_bytes", tool.InvalidInput},
		{s.URL + "/text", `,"headers":{"Transfer-Encoding":"chunked"}`, "itself sets", tool.InvalidInput},
		{s.URL + "/text", `,"headers":{"content-length":"3"}`, "itself sets", tool.InvalidInput},
		{s.URL + "/text", `,"headers":{"a b":"c"}`, "no name", tool.InvalidInput},
		{s.URL + "/text", `,"headers":{"A":"b\r\nc: d"}`, "one line", tool.InvalidInput},
		{s.URL + "/text", `,"method":"TRACE"`, "method", tool.InvalidInput},
		{s.URL + "/text", `,"auth":{"type":"bearer"}`, "auth.token", tool.InvalidInput},
		{s.URL + "/text", `,"auth":{"type":"oauth_client_credentials","client_id":"a","client_secret":"b","token_endpoint":"file:///x"}`, "http://", tool.InvalidInput},
	} {
		t.Run(c.says, func(t *testing.T) {
			t.Parallel()
			if got := b.get(t, c.address, c.more); !got.Failed || got.Class != c.class || !strings.Contains(got.v.Error, c.says) || strings.Contains(got.text, "hidden") {
				t.Errorf("%s%s: %s %s", c.address, c.more, got.Class, got.text)
			}
		})
	}
}

// TestUnverified proves that certificates are left unchecked only where the configuration says so.
func TestUnverified(t *testing.T) {
	t.Parallel()
	safe, b := site.Start(t, true), newBench(t)
	for overrides, open := range map[string]bool{
		``: false, `,"argument_override":{"ssl_verify":true}`: false, `,"argument_override":{"ssl_verify":false}`: true,
		`,"argument_override":{"ssl_verify":{"$ref":"session.metadata.no"}}`: true, `,"input_transform":".args + {ssl_verify: false}"`: false,
	} {
		if got := b.call(t, overrides, `{"url":`+quote(safe.URL+"/text")+`,"ssl_verify":false}`); got.Failed == open {
			t.Errorf("%s: %s", overrides, got.text)
		}
	}
}

// TestHost proves that the host that is asked for is the one of the address, unless the configuration names another one: behind an
// address that may be called there can be sites that may not.
func TestHost(t *testing.T) {
	t.Parallel()
	s, b := site.Start(t, false), newBench(t)
	for _, c := range []struct {
		overrides, headers string
		made               bool
	}{
		{``, `{"Host":"inner.test"}`, false}, {``, `{"host":"inner.test"}`, false}, {``, `{"Accept":"text/plain"}`, true},
		{`,"argument_override":{"headers.Host":"outer.test"}`, `{}`, true}, {`,"argument_override":{"headers.Host":"outer.test"}`, `{"hOST":"inner.test"}`, false},
		{`,"argument_override":{"headers":{"Host":"outer.test"}}`, `{"Host":"inner.test"}`, true},
	} {
		got := b.call(t, c.overrides, `{"url":`+quote(s.URL+"/text")+`,"headers":`+c.headers+`}`)
		if got.Failed == c.made || got.Failed && !strings.Contains(got.v.Error, "only the configuration") {
			t.Errorf("%s, %s: %s", c.overrides, c.headers, got.text)
		}
	}
}

// TestAgain proves that a call that a kill has cut off is made again where it only reads.
func TestAgain(t *testing.T) {
	t.Parallel()
	s, b := site.Start(t, false), newBench(t)
	for method, made := range map[string]bool{"GET": true, "HEAD": true, "POST": false, "PUT": false, "PATCH": false, "DELETE": false} {
		got := b.call(t, `,"description_template":"again"`, `{"url":`+quote(s.URL+"/echo/"+method)+`,"method":`+quote(method)+`}`)
		if got.Failed == made || (len(s.Seen("/echo/"+method)) == 1) != made || !made && !strings.Contains(got.v.Error, "interrupted by restart") {
			t.Errorf("%s: %s", method, got.text)
		}
	}
}

// TestTime proves that the time that the configuration names takes the place of the request's own.
func TestTime(t *testing.T) {
	t.Parallel()
	s, b := site.Start(t, false), newBench(t)
	if got := b.call(t, `,"max_execution_time_seconds":1`, `{"url":`+quote(s.URL+"/never")+`}`); got.Class != tool.Timeout {
		t.Errorf("shorter: %s", got.text)
	}
	started := time.Now()
	if got := b.call(t, `,"max_execution_time_seconds":2`, `{"url":`+quote(s.URL+"/never")+`,"timeout_seconds":1}`); got.Class != tool.Timeout || time.Since(started) < 2*time.Second {
		t.Errorf("longer: %s", got.text)
	}
}

// TestLarge proves that pages are cut, and that what is too large to be a page, packed or not, is refused in bounded memory.
func TestLarge(t *testing.T) {
	s, b := site.Start(t, false), newBench(t)
	if got := b.get(t, s.URL+"/large?mib=12&type=text/plain", ""); got.Failed || len(got.v.Content) != 1<<20 || !got.v.Truncated {
		t.Errorf("12 MiB: %.200s", got.text)
	}
	if got := b.get(t, s.URL+"/large?mib=12&type=text/plain", `,"max_content_bytes":10485760`); got.Failed || len(got.v.Content) != 10<<20 || !got.v.Truncated {
		t.Errorf("10 of 12 MiB: %.200s", got.text)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, path := range []string{"/large?mib=1024&type=text/plain", "/large?mib=1024&type=video/mp4", "/declared", "/bomb"} {
		if got := b.get(t, s.URL+path, ""); !got.Failed || !strings.Contains(got.v.Error, "32 MiB") {
			t.Errorf("%s: %.200s", path, got.text)
		}
	}
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapSys) - int64(before.HeapSys); grown > 100<<20 {
		t.Errorf("the heap has grown by %d MiB", grown>>20)
	}
}

// TestWritten proves what is refused when a configuration is written, with its field.
func TestWritten(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const at = "tool_configurations.t.argument_override."
	for pins, field := range map[string]string{
		`"url":"file:///etc/passwd"`:                          at + "url",
		`"url":"/relative"`:                                   at + "url",
		`"url":"example.com"`:                                 at + "url",
		`"url":"http://a:b@example.com"`:                      at + "url",
		`"query":"x"`:                                         at + "query",
		`"method":"TRACE"`:                                    at + "method",
		`"timeout_seconds":301`:                               at + "timeout_seconds",
		`"max_content_bytes":0`:                               at + "max_content_bytes",
		`"headers":{"a b":"c"}`:                               at + "headers.a b",
		`"headers.Content-Length":"1"`:                        at + "headers.Content-Length",
		`"auth.token":{"$sealed":0}`:                          at + "auth.token",
		`"auth.value":"****"`:                                 at + "auth.value",
		`"auth":{"type":"basic"}`:                             at + "auth.type",
		`"auth":{"type":"bearer"}`:                            at + "auth.token",
		`"auth":{"type":"header","header":"a b","value":"v"}`: at + "auth.header",
		`"auth":{"type":"oauth_client_credentials","client_id":"a","client_secret":"b","token_endpoint":{"$ref":"session.metadata.at"}}`: at + "auth.token_endpoint",
		`"auth":{"type":"oauth_client_credentials","client_id":"a","client_secret":"b","token_endpoint":"file:///x"}`:                    at + "auth.token_endpoint",
		`"auth":{"type":"oauth_client_credentials","client_id":"a","client_secret":"b","token_endpoint":"/token"}`:                       at + "auth.token_endpoint",
		`"auth.token_endpoint":{"$ref":"session.metadata.at"}`:                                                                           at + "auth.token_endpoint",
		`"auth":{"type":"oauth_refresh_token","client_id":"a","client_secret":"b","token_endpoint":"https://a.test"}`:                    at + "auth.refresh_token",
	} {
		_, err := tool.Compile(map[string]json.RawMessage{"t": json.RawMessage(`{"type":"web_get","argument_override":{` + pins + `}}`)}, tool.Kit{Types: b.types})
		if f, ok := fault.As(err); !ok || f.Kind != fault.KindInvalid || f.Fields[field] == "" {
			t.Errorf("%s: %v", pins, err)
		}
	}
}
