package scenario_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"quarry/internal/cli"
	"quarry/internal/store"
	"quarry/internal/store/storetest"
	"quarry/test/scenario"
)

// tap listens to everything that scenarios send and get, and to the log, to look afterwards for secrets in it.
type tap struct {
	mu      sync.Mutex
	log     bytes.Buffer    // guarded by mu
	answers []answer        // guarded by mu
	sent    map[string]bool // secrets that requests held; guarded by mu
	made    map[string]bool // secrets that answers handed out; guarded by mu
	written bytes.Buffer    // what requests wrote into corpora; guarded by mu
}

// answer is one response, with its headers.
type answer struct{ from, text string }

func newTap() *tap { return &tap{sent: map[string]bool{}, made: map[string]bool{}} }

// Write takes the log.
func (p *tap) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.Write(b)
}

// corpora is where people write texts of their own, which come back as they are even if there is a secret in them.
const corpora = "/v2/corpora"

// shortest is how long a text must be to be looked for: scenarios also send passwords such as "x".
const shortest = 10

// secretMembers are those whose values are secrets, wherever they stand.
var secretMembers = map[string]bool{
	"secret_key": true, "client_secret": true, "access_token": true, "one_time_code": true, "password": true, "new_password": true,
	"token": true, "api_key": true, "key_json": true, "aws_secret_access_key": true, // of language models
	"auth.token": true, "auth.value": true, "auth.client_secret": true, // of tools
}

// RoundTrip implements http.RoundTripper.
func (p *tap) RoundTrip(r *http.Request) (*http.Response, error) {
	sent := map[string]bool{}
	var written []byte
	if r.GetBody != nil {
		if body, err := r.GetBody(); err == nil {
			raw, _ := io.ReadAll(body) // in memory
			collect(raw, sent)
			if strings.HasPrefix(r.URL.Path, corpora) && len(raw) < 1<<16 {
				written = raw
			}
		}
	}
	collect([]byte(r.URL.RawQuery), sent)
	keep(sent, r.Header.Get("x-api-key"))
	if kind, credential, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok {
		if plain, err := base64.StdEncoding.DecodeString(credential); err == nil && kind == "Basic" {
			_, credential, _ = strings.Cut(string(plain), ":")
		}
		keep(sent, credential)
	}
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(res.Body)
	if err := res.Body.Close(); err != nil {
		return nil, err
	}
	res.Body = io.NopCloser(bytes.NewReader(raw))
	p.mu.Lock()
	defer p.mu.Unlock()
	for s := range sent {
		p.sent[s] = true
	}
	p.written.Write(written)
	if contractPaths[strings.TrimSuffix(r.URL.Path, "/")] {
		return res, err
	}
	collect(raw, p.made)
	var text strings.Builder
	_ = res.Header.Write(&text) // into memory
	text.Write(raw)
	p.answers = append(p.answers, answer{r.Method + " " + r.URL.Path, text.String()})
	return res, err
}

// contractPaths answer with the contract, the same to everyone. Its examples may have secrets of scenarios, such as a
// password that is no secret.
var contractPaths = map[string]bool{"/openapi.yaml": true, "/openapi.json": true, "/docs": true}

func keep(all map[string]bool, secret string) {
	if len(secret) >= shortest && !strings.Contains(secret, "****") {
		all[secret] = true
	}
}

// collect finds secret members in JSON and in forms.
func collect(raw []byte, all map[string]bool) {
	var v any
	if json.Unmarshal(raw, &v) == nil {
		walk(v, all)
		return
	}
	if form, err := url.ParseQuery(string(raw)); err == nil && len(raw) < 1<<16 {
		for name := range form {
			if secretMembers[name] || name == "code" {
				keep(all, form.Get(name))
			}
		}
	}
}

func walk(v any, all map[string]bool) {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			walk(x, all)
		}
	case map[string]any:
		for name, x := range v {
			secret := secretMembers[name] || name == "value" && v["type"] == "header"
			if text, ok := x.(string); ok && (secret || strings.HasPrefix(text, "zsi_")) { // "code" is also that of a refusal
				keep(all, text)
			}
			walk(x, all)
		}
	}
}

// check looks for every secret that was made or sent: nothing but the answer that handed one out may hold it, not the
// log at its most talkative, no refusal, no audit event, no explanation, nothing that the command line prints, and not
// the files or rows of the database.
func (p *tap) check(t *testing.T, target scenario.Target, data, database string) {
	t.Helper()
	for path := "/v2/audit_events?limit=100"; path != ""; {
		path = p.audit(t, target, path)
	}
	printed := commands(t, target)
	p.mu.Lock()
	defer p.mu.Unlock()
	all := map[string]bool{}
	for _, some := range []map[string]bool{p.sent, p.made} {
		for s := range some {
			all[s] = true
		}
	}
	for _, key := range target.Keys {
		all[key] = true
	}
	t.Logf("%d secrets (%d handed out), %d answers, %d bytes of log", len(all), len(p.made), len(p.answers), p.log.Len())
	if len(p.made) < 20 || p.log.Len() < 10_000 {
		t.Errorf("too little was seen to say anything: %d secrets, %d bytes of log", len(p.made), p.log.Len())
	}
	files := databaseFiles(t, data)
	if database != "" {
		maps.Copy(files, databaseRows(t, database))
	}
	for secret := range all {
		public := bytes.Contains(p.written.Bytes(), []byte(secret))
		p.find(t, secret, public)
		for from, text := range printed {
			if strings.Contains(text, secret) {
				t.Errorf("%s prints the secret %s", from, name(secret))
			}
		}
		for from, raw := range files {
			if !public && (bytes.Contains(raw, []byte(secret)) || database != "" && bytes.Contains(raw, hex.AppendEncode(nil, []byte(secret)))) {
				t.Errorf("%s holds the secret %s in plain", from, name(secret))
			}
		}
	}
}

// name is enough of a secret to find it in a scenario.
func name(secret string) string { return fmt.Sprintf("%.9s… (%d)", secret, len(secret)) }

// find looks for a secret in log and answers; one that is public was written into a corpus, too. p.mu is held.
func (p *tap) find(t *testing.T, secret string, public bool) {
	t.Helper()
	if at := bytes.Index(p.log.Bytes(), []byte(secret)); at >= 0 {
		t.Errorf("the log holds the secret %s: %.300s", name(secret), p.log.Bytes()[max(0, at-100):])
	}
	handed := 0
	for _, a := range p.answers {
		if !strings.Contains(a.text, secret) || public && strings.Contains(a.from, corpora) {
			continue
		}
		if strings.HasSuffix(a.from, " /set_password") && strings.HasPrefix(secret, "zoc_") {
			continue // the page gives a code back to whoever sent it: its form has no other memory
		}
		if handed++; handed > 1 || !p.made[secret] {
			t.Errorf("%s answers with the secret %s: %.600s", a.from, name(secret), a.text)
		}
	}
}

// audit reads a page of the audit through the tap and returns the path of the next.
func (p *tap) audit(t *testing.T, target scenario.Target, path string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, target.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("x-api-key", target.Keys["owner"])
	res, err := target.Client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var body struct {
		Events   []json.RawMessage `json:"audit_events"`
		Metadata struct {
			PageKey string `json:"page_key"`
		} `json:"metadata"`
	}
	if err := json.NewDecoder(res.Body).Decode(&body); err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("the audit record answers %d: %v", res.StatusCode, err)
	}
	if body.Metadata.PageKey == "" {
		return ""
	}
	return "/v2/audit_events?limit=100&page_key=" + url.QueryEscape(body.Metadata.PageKey)
}

// commands returns the output of every command that reads.
func commands(t *testing.T, target scenario.Target) map[string]string {
	t.Helper()
	printed := map[string]string{}
	for _, args := range []string{
		"user list", "user list --json", "user get owner", "user get owner --json", "key list", "key list --json",
		"client list", "client list --json", "audit list", "audit list --json", "audit export --jsonl", "secret rotate", "secret rotate --json", "job list --json",
		"llm list", "llm list --json",
	} {
		var out bytes.Buffer
		all := append(strings.Fields(args), "--url", target.URL, "--key", target.Keys["owner"])
		if code := cli.Run(context.WithoutCancel(t.Context()), all, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &out}); code != 0 {
			t.Errorf("quarry %s exits with %d: %s", args, code, out.String())
		}
		printed["quarry "+args] = out.String()
	}
	return printed
}

// databaseFiles returns the contents of a data folder without the two key files.
func databaseFiles(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "owner.key" || d.Name() == "secret.key" {
			return err
		}
		out[d.Name()], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// databaseRows returns the rows of each table of a database on PostgreSQL as text; in it, bytes are hexadecimal digits.
func databaseRows(t *testing.T, database string) map[string][]byte {
	t.Helper()
	db := storetest.Open(t, store.Config{URL: database}).Reader(t.Context())
	tables, err := store.Select(db, "list tables", store.One[string], `SELECT quote_ident(table_name) FROM information_schema.tables WHERE table_schema = current_schema()`)
	if err != nil || len(tables) < 20 {
		t.Fatalf("%d tables, %v", len(tables), err)
	}
	out := map[string][]byte{}
	for _, table := range tables {
		rows, err := store.Select(db, "read "+table, store.One[string], `SELECT one::text FROM `+table+` one`)
		if err != nil {
			t.Fatal(err)
		}
		out[table] = []byte(strings.Join(rows, "\n"))
	}
	return out
}
