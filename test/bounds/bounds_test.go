package bounds

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	contract "quarry/api"
	"quarry/internal/app/apptest"
	"quarry/internal/config"
	"quarry/internal/provider/scripted"
	"quarry/test/toolserver"
)

// service is the product in process.
type service struct {
	handler http.Handler
	built   []string
	key     string
	models  string       // address of a provider of language models
	tools   string       // address of a tool server
	last    atomic.Int64 // number of the last thing made
	chats   sync.Map     // from keys of corpora to ids of chats over them
	agents  sync.Map     // keys of agents, which are those of corpora
}

func start(t *testing.T) *service {
	t.Helper()
	a, key := apptest.Start(t, func(c *config.Config) { c.OutboundAllow = "127.0.0.1" }) // where tool servers are played
	return &service{handler: a.Handler(), built: a.Built(), key: key, models: scripted.Start(t).URL, tools: toolserver.Start(t).URL + "/none"}
}

// place is where the contract lets a field at fault stand.
var place = regexp.MustCompile(`^(body|query|path|header)([.\[]|$)`)

// ask returns the status and the answer, decoded if it is JSON.
func (s *service) ask(t *testing.T, req *http.Request) (int, answer, string) {
	t.Helper()
	req = req.WithContext(t.Context())
	req.Header.Set("x-api-key", s.key)
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, req)
	var out answer
	raw := w.Body.Bytes()
	_ = json.Unmarshal(raw, &out) // an answer that is no JSON names no field
	for field := range out.FieldErrors {
		if !place.MatchString(field) {
			t.Errorf("%s %s answers %d naming %q, which is no place of a request", req.Method, req.URL.Path, w.Code, field)
		}
	}
	return w.Code, out, string(raw[:min(len(raw), 300)])
}

type answer struct {
	ID          string            `json:"id"`
	FieldErrors map[string]string `json:"field_errors"`
	ChatID      string            `json:"chat_id"`
	Events      []struct {
		ID    string `json:"id"`
		Files []struct {
			ID string `json:"artifact_id"`
		} `json:"artifacts"`
	} `json:"events"`
}

// corpus creates a corpus with one document and returns its key.
func (s *service) corpus(t *testing.T) string {
	t.Helper()
	key := fmt.Sprintf("corpus-%d", s.last.Add(1))
	s.must(t, "/v2/corpora", `{"key":"`+key+`","filter_attributes":[{"name":"year","level":"document","type":"integer"}]}`)
	s.must(t, "/v2/corpora/"+key+"/documents", `{"type":"core","id":"one","document_parts":[{"text":"words"}]}`)
	return key
}

// chat returns the id of a chat over a corpus.
func (s *service) chat(t *testing.T, key string) string {
	t.Helper()
	found, ok := s.chats.Load(key)
	if !ok {
		made := s.must(t, "/v2/chats", `{"query":"words","search":{"corpora":[{"corpus_key":"`+key+`"}]}}`)
		found, _ = s.chats.LoadOrStore(key, made.ChatID)
	}
	return found.(string)
}

// agent makes an agent with the key of a corpus, unless there is one.
func (s *service) agent(t *testing.T, key string) {
	t.Helper()
	made, _ := s.agents.LoadOrStore(key, new(sync.Once))
	made.(*sync.Once).Do(func() {
		s.must(t, "/v2/agents", `{"key":"`+key+`","name":"a","model":{"name":"extractive-1.0"},"skills":{"a":{"description":"words","content":"words"}}}`)
	})
}

// session makes a session with that agent and returns its key.
func (s *service) session(t *testing.T, agent string) string {
	t.Helper()
	key := fmt.Sprintf("session-%d", s.last.Add(1))
	s.must(t, "/v2/agents/"+agent+"/sessions", `{"key":"`+key+`"}`)
	return key
}

// event sends an input to a session and returns the id of its event.
func (s *service) event(t *testing.T, agent, session string) string {
	t.Helper()
	made := s.must(t, "/v2/agents/"+agent+"/sessions/"+session+"/events", `{"messages":[{"type":"text","content":"words"}]}`)
	return made.Events[0].ID
}

// artifact sends a file to a session and returns its id.
func (s *service) artifact(t *testing.T, agent, session string) string {
	t.Helper()
	const form = "--x\r\nContent-Disposition: form-data; name=\"files\"; filename=\"a.txt\"\r\n\r\nwords\r\n--x--\r\n"
	made := s.post(t, "/v2/agents/"+agent+"/sessions/"+session+"/events", "multipart/form-data; boundary=x", form)
	return made.Events[0].Files[0].ID
}

func (s *service) must(t *testing.T, path, body string) answer {
	t.Helper()
	return s.post(t, path, "application/json", body)
}

func (s *service) post(t *testing.T, path, kind, body string) answer {
	t.Helper()
	req := httptest.NewRequest(http.MethodPost, path, bytes.NewReader([]byte(body)))
	req.Header.Set("Content-Type", kind)
	status, out, raw := s.ask(t, req)
	if status >= 300 {
		t.Fatalf("POST %s answers %d: %s", path, status, raw)
	}
	return out
}

// verify sends a request and fails the test if the answer is wrong.
func (s *service) verify(t *testing.T, c check) {
	t.Helper()
	values := []string{"${corpus}", c.corpus, "${n}", fmt.Sprint(s.last.Add(1)), "${provider}", s.models}
	if c.request.Path["chat_id"] != "" {
		chat := s.chat(t, c.corpus)
		values = append(values, "${chat}", chat, "${turn}", "trn_"+strings.TrimPrefix(chat, "cht_"))
	}
	if c.request.Path["agent_key"] != "" {
		s.agent(t, c.corpus)
		values = append(values, "${agent}", c.corpus)
	}
	if c.request.Path["tool_id"] != "" {
		values = append(values, "${tool}", s.must(t, "/v2/tools", `{"type":"client","name":"made-`+fmt.Sprint(s.last.Add(1))+`","description":"words"}`).ID)
	}
	if c.request.Path["tool_configuration_key"] != "" {
		key := fmt.Sprintf("made-%d", s.last.Add(1))
		s.must(t, "/v2/tool_configurations", `{"type":"artifact_read","key":"`+key+`","name":"a"}`)
		values = append(values, "${stored}", key)
	}
	if c.request.Path["tool_server_id"] != "" {
		values = append(values, "${server}", s.must(t, "/v2/tool_servers", `{"type":"mcp","name":"made-`+fmt.Sprint(s.last.Add(1))+`","uri":"`+s.tools+`","transport":"streamable-http","enabled":false}`).ID)
	}
	if c.request.Path["glossary_key"] != "" {
		key := fmt.Sprintf("made-%d", s.last.Add(1))
		s.must(t, "/v2/glossaries", `{"key":"`+key+`","name":"a"}`)
		values = append(values, "${glossary}", key)
	}
	if c.request.Path["instruction_id"] != "" {
		values = append(values, "${instruction}", s.must(t, "/v2/instructions", `{"name":"a","template":"words"}`).ID)
	}
	if c.request.Path["session_key"] != "" {
		key := s.session(t, c.corpus)
		values = append(values, "${session}", key)
		if c.request.Path["event_id"] != "" {
			values = append(values, "${event}", s.event(t, c.corpus, key))
		}
		if c.request.Path["artifact_id"] != "" {
			values = append(values, "${artifact}", s.artifact(t, c.corpus, key))
		}
	}
	req, err := c.request.HTTP(c.operation, strings.NewReplacer(values...))
	if err != nil {
		t.Fatal(err)
	}
	status, got, raw := s.ask(t, req)
	named := false
	for field := range got.FieldErrors {
		named = named || field == c.field || strings.HasPrefix(field, c.field+".") || strings.HasPrefix(field, c.field+"[")
	}
	switch {
	case c.inside && status >= 300 && !soft[status]:
		t.Errorf("%s answers %d, want it taken: %s", c.what, status, raw)
	case c.inside, status == c.refusal && (named || status != http.StatusBadRequest):
	case strings.HasPrefix(c.field, "path.") && status == http.StatusNotFound: // nothing has such a name
	default:
		t.Errorf("%s answers %d, want %d naming %s: %s", c.what, status, c.refusal, c.field, raw)
	}
}

// soft are refusals that do not reject a value: nothing has this name, or another case has taken it; what the
// value belongs to is not built yet; a time limit of 1 ms has passed; it is a password, and a wrong one, or one too many.
var soft = map[int]bool{
	http.StatusNotFound: true, http.StatusConflict: true, http.StatusNotImplemented: true, http.StatusGatewayTimeout: true,
	http.StatusUnauthorized: true, http.StatusTooManyRequests: true,
}

type check struct {
	operation, corpus, field, what string
	request                        Request
	inside                         bool
	refusal                        int // status of what is outside
}

func read(t *testing.T) (*Contract, *Requests) {
	t.Helper()
	c, err := NewContract(contract.YAML)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile("testdata/requests.yaml")
	if err != nil {
		t.Fatal(err)
	}
	r, err := ReadRequests(raw)
	if err != nil {
		t.Fatal(err)
	}
	return c, r
}

// TestSchemas proves that each operation that is built takes values on the right side of every bound of the contract,
// and refuses those on the wrong side with a 400 that names the place.
func TestSchemas(t *testing.T) {
	t.Parallel()
	c, requests := read(t)
	s := start(t)
	shared := s.corpus(t)
	for _, operation := range s.built {
		t.Run(operation, func(t *testing.T) {
			t.Parallel()
			all, err := c.Bounds(operation)
			if err != nil {
				t.Fatal(err)
			}
			for _, b := range all {
				if requests.Alone(operation, b.Place) {
					s.bound(t, requests, operation, shared, b)
				}
			}
		})
	}
}

func (s *service) bound(t *testing.T, requests *Requests, operation, shared string, b Bound) {
	t.Helper()
	for _, place := range []string{b.Place, last(b.Place)} {
		if n, ok := requests.Narrower[operation+" "+place+" "+b.Keyword]; ok {
			b.Value = n
		}
	}
	cases, err := b.Cases(requests.filler(b), requests.item(b.Place))
	if err != nil {
		t.Error(err)
		return
	}
	for _, c := range cases {
		if c.Inside && requests.OutsideOnly[operation+" "+b.Place] != "" {
			continue
		}
		req, err := requests.Put(operation, b.Place, c.Value)
		if err != nil {
			t.Error(err)
			return
		}
		key := shared
		if req.Fresh {
			key = s.corpus(t)
		}
		s.verify(t, check{
			operation: operation, corpus: key, field: Field(b.Place), request: req, inside: c.Inside, refusal: http.StatusBadRequest,
			what: fmt.Sprintf("%s, %s %s %v: %s", operation, b.Place, b.Keyword, b.Value, c.Name),
		})
	}
}

// TestFurther proves the bounds that the schemas lack.
func TestFurther(t *testing.T) {
	t.Parallel()
	_, requests := read(t)
	s := start(t)
	shared := s.corpus(t)
	for _, f := range requests.Further {
		t.Run(f.Call+" "+f.Place, func(t *testing.T) {
			t.Parallel()
			if !slices.Contains(s.built, f.Call) {
				t.Fatalf("%s is not built", f.Call)
			}
			for i, v := range append(slices.Clone(f.Inside), f.Outside...) {
				s.further(t, requests, f, shared, i, v)
			}
		})
	}
}

func (s *service) further(t *testing.T, requests *Requests, f Further, shared string, i int, v Value) {
	t.Helper()
	req, err := requests.Put(f.Call, f.Place, v.make(requests.item(f.Place)))
	if err != nil {
		t.Error(err)
		return
	}
	c := check{operation: f.Call, corpus: shared, field: f.Field, request: req, inside: i < len(f.Inside), refusal: f.Status}
	if req.Fresh {
		c.corpus = s.corpus(t)
	}
	if c.field == "" {
		c.field = Field(f.Place)
	}
	if c.refusal == 0 {
		c.refusal = http.StatusBadRequest
	}
	c.what = fmt.Sprintf("%s, %s value %d", f.Call, f.Place, i)
	s.verify(t, c)
}
