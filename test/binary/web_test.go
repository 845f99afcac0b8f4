package binary

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"quarry/internal/provider/scripted"
	"quarry/internal/store/storetest"
	"quarry/internal/testkit"
	"quarry/test/site"
)

// TestToolsOfTheWeb proves that a request that a kill has cut off is made again if it only reads, and else fails; and that of all
// that is stored, logged and answered, of requests with credentials of every kind, nothing has a secret, though the site repeats
// what it is sent.
func TestToolsOfTheWeb(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		toolsOfTheWeb(t, &secretive{hush: newHush(), dir: t.TempDir()})
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		at := storetest.Empty(t)
		toolsOfTheWeb(t, &secretive{hush: newHush(), dir: t.TempDir(), database: at, args: []string{"--database", at}})
	})
}

func toolsOfTheWeb(t *testing.T, s *secretive) {
	web := site.Start(t, false)
	for _, secret := range []string{site.Secret, site.Key, "granted-", "refresh-9", "written-into"} {
		s.needles = append(s.needles, []byte(secret))
	}
	start := func() {
		t.Helper()
		env := []string{"QUARRY_OUTBOUND_ALLOW=127.0.0.1", "QUARRY_WEB_SEARCH_URL=" + web.URL, "QUARRY_WEB_SEARCH_KEY=" + site.Key}
		s.p = testkit.StartWith(t, s.dir, env, append(append(on(s.dir), "--log", "debug"), s.args...)...)
	}
	start()
	s.furnishWeb(t, web)

	if s.database == "" { // over PostgreSQL the lease of a run outlives its process by half a minute
		s.cutOff(t, web, start)
	}
	for _, name := range []string{"literal", "octets", "client", "client", "refresh", "find"} {
		said := s.send(t, told(name))
		s.quiet(t, name, []byte(said))
		if strings.Contains(said, `"error":true`) || strings.Contains(said, `"status_code":4`) {
			t.Errorf("%s: %s", name, said)
		}
	}
	if n := len(web.Seen("/token")); n != 2 {
		t.Errorf("%d tokens were fetched for three calls of two clients", n)
	}
	s.reads(t, `"X-Key":"****"`)
	s.quiet(t, "the log", []byte(s.p.Log()))
	s.p.Kill()
	for _, r := range s.model.Requests() {
		s.quiet(t, "a request to the model", r.Body)
	}
	each(t, s.dir, func(name string, _ fs.FileInfo) { s.quiet(t, "the file "+name, read(t, name)) })
	var rows []byte
	if s.database != "" {
		rows = dump(t, "pgx", s.database, `SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'`)
	} else {
		rows = dump(t, "sqlite", "file:"+filepath.Join(copyFolder(t, s.dir), "quarry.db"), `SELECT name FROM sqlite_master WHERE type = 'table'`)
	}
	s.quiet(t, "a row", rows)
	if !bytes.Contains(rows, []byte("/echo/octets")) || !bytes.Contains(rows, []byte("****")) {
		t.Errorf("%d bytes of rows without the calls", len(rows))
	}
}

// cutOff kills the program within a request that only reads, and within one that doesn't, and lets both turns go on.
func (s *secretive) cutOff(t *testing.T, web *site.Site, start func()) {
	t.Helper()
	for _, cut := range []struct{ tool, path, says string }{{"read", "/once/read", "****"}, {"write", "/once/write", "interrupted by restart"}} {
		s.sendAside(t, cut.tool)
		await(t, func() bool { return len(web.Seen(cut.path)) == 1 })
		s.p.Kill()
		start()
		var events string
		await(t, func() bool {
			events = s.get(t, secretSession+"/events?limit=100")
			return strings.Contains(events, `:"It is after `+cut.tool+`"`)
		})
		if !strings.Contains(events, cut.says) {
			t.Errorf("%s: %s", cut.tool, events)
		}
	}
	if n, m := len(web.Seen("/once/read")), len(web.Seen("/once/write")); n != 2 || m != 1 {
		t.Errorf("the site was read %d times, and written to %d times", n, m)
	}
}

// told is an input by which the scripted model calls a tool, and then says so.
func told(tool string) map[string]any {
	arguments := map[string]any{}
	if tool == "find" {
		arguments["query"] = "stones"
	}
	list, _ := json.Marshal([]any{ // texts alone
		map[string]any{"calls": []any{map[string]any{"name": tool, "arguments": arguments}}}, map[string]any{"text": "It is after " + tool},
	})
	return map[string]any{"messages": []any{map[string]any{"type": "text", "content": string(list)}}}
}

// sendAside sends an input whose answer never comes.
func (s *secretive) sendAside(t *testing.T, tool string) {
	t.Helper()
	body, err := json.Marshal(told(tool))
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), "POST", s.p.URL+secretSession+"/events", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("x-api-key", s.p.Key)
	req.Header.Set("Content-Type", "application/json")
	go func() {
		if res, err := http.DefaultClient.Do(req); err == nil {
			_ = res.Body.Close()
		}
	}()
}

// await waits until something has come about by itself.
func await(t *testing.T, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(60 * time.Second); !ok(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it doesn't come about")
		}
	}
}

// furnishWeb makes a model, an agent with tools for a site, and a session with secrets.
func (s *secretive) furnishWeb(t *testing.T, web *site.Site) {
	t.Helper()
	c := s.p.Client()
	s.model = scripted.Start(t)
	c.Must(t, http.StatusCreated, "POST", "/v2/llms", map[string]any{"type": "openai-compatible", "name": "told", "model": "told", "uri": s.model.URL + "/v1/chat/completions"})
	ref := func(name string) any { return map[string]any{"$ref": "session.secrets." + name} }
	get := func(override map[string]any) any {
		return map[string]any{"type": "web_get", "argument_override": override}
	}
	c.Must(t, http.StatusCreated, "POST", "/v2/agents", map[string]any{"key": "a", "name": "A", "model": map[string]any{"name": "told"}, "tool_configurations": map[string]any{
		"read":    get(map[string]any{"url": web.URL + "/once/read", "auth": map[string]any{"type": "bearer", "token": ref("pin")}, "headers": map[string]any{"X-Question": ref("question")}}),
		"write":   get(map[string]any{"url": web.URL + "/once/write", "method": "POST", "body": ref("question"), "headers.X-Pin": ref("pin")}),
		"octets":  get(map[string]any{"url": web.URL + "/echo/octets?as=application/octet-stream", "auth": map[string]any{"type": "header", "header": "X-Key", "value": ref("pin")}}),
		"literal": get(map[string]any{"url": web.URL + "/echo/literal", "auth": map[string]any{"type": "bearer", "token": "written-into-the-agent"}}),
		"client": get(map[string]any{"url": web.URL + "/private", "auth": map[string]any{
			"type": "oauth_client_credentials", "client_id": site.Client, "client_secret": ref("client"), "token_endpoint": web.URL + "/token",
		}}),
		"refresh": get(map[string]any{"url": web.URL + "/private", "auth": map[string]any{
			"type": "oauth_refresh_token", "client_id": site.Client, "client_secret": ref("client"), "refresh_token": ref("refresh"), "token_endpoint": web.URL + "/token",
		}}),
		"find": map[string]any{"type": "web_search"},
	}})
	c.Must(t, http.StatusCreated, "POST", "/v2/agents/a/sessions", map[string]any{"key": "s", "secrets": map[string]any{
		"pin": s.pin, "question": s.question, "client": site.Secret, "refresh": "refresh-9001",
	}})
}
