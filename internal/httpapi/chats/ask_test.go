package chats_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"quarry/internal/app/apptest"
	"quarry/internal/config"
	"quarry/internal/provider/scripted"
)

// house is a whole service with the corpus "pump" and the model "writer", whose replies a test scripts.
type house struct {
	*httptest.Server
	provider *scripted.Server
	key      string
}

func openHouse(t *testing.T, model string) *house {
	t.Helper()
	a, key := apptest.Start(t, nil)
	h := &house{httptest.NewServer(a.Handler()), scripted.Start(t), key}
	t.Cleanup(h.Close)
	h.must(t, 201, "POST", "/v2/corpora", `{"key":"pump"}`)
	h.must(t, 201, "POST", "/v2/corpora/pump/documents", `{"type":"core","id":"d1","document_parts":[{"text":"The filter of the pump is replaced every 500 hours."}]}`)
	h.must(t, 201, "POST", "/v2/llms", `{"type":"openai-compatible","name":"writer","model":"scripted","default":true,"uri":"`+h.provider.URL+`/v1/chat/completions",
		"auth":{"type":"bearer","token":"sk-secret-of-the-house"}`+model+`}`)
	return h
}

func (h *house) request(ctx context.Context, t *testing.T, method, path, body string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, h.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Api-Key", h.key)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	return r
}

// send sends a request and returns status, body, and what the body holds if it is JSON.
func (h *house) send(t *testing.T, method, path, body string) (int, string, map[string]any) {
	t.Helper()
	res, err := h.Client().Do(h.request(t.Context(), t, method, path, body))
	if err != nil {
		t.Error(err)
		return 0, "", nil
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Error(err)
	}
	var out map[string]any
	_ = json.Unmarshal(raw, &out) // a stream is no JSON
	return res.StatusCode, string(raw), out
}

func (h *house) must(t *testing.T, want int, method, path, body string) map[string]any {
	t.Helper()
	status, raw, out := h.send(t, method, path, body)
	if status != want {
		t.Fatalf("%s %s answers %d, want %d: %s", method, path, status, want, raw)
	}
	return out
}

// question returns the body of a question; more are further members.
func question(text, more string) string {
	q, _ := json.Marshal(text)
	return `{"query":` + string(q) + `,"search":{"corpora":[{"corpus_key":"pump"}]}` + more + `}`
}

// begin opens a chat and returns the path of its turns.
func (h *house) begin(t *testing.T, text string) (turns string, answer map[string]any) {
	t.Helper()
	answer = h.must(t, 200, "POST", "/v2/chats", question(text, ""))
	return fmt.Sprintf("/v2/chats/%s/turns", answer["chat_id"]), answer
}

// answers returns the answers of the turns of a chat.
func (h *house) answers(t *testing.T, turns string) string {
	t.Helper()
	var all []string
	for _, turn := range h.must(t, 200, "GET", turns, "")["turns"].([]any) {
		all = append(all, fmt.Sprint(turn.(map[string]any)["answer"]))
	}
	return strings.Join(all, "|")
}

// records returns the records of the history, the newest first, those of a chat or all.
func (h *house) records(t *testing.T, chat string) []any {
	t.Helper()
	return h.must(t, 200, "GET", "/v2/queries?limit=100&chat_id="+chat, "")["queries"].([]any)
}

// prompts returns the messages of the calls of the model since the n-th.
func (h *house) prompts(n int) []string {
	var out []string
	for _, r := range h.provider.Requests()[n:] {
		out = append(out, string(r.Body))
	}
	return out
}

// TestFollowUpOfAModel proves that the model rephrases a follow-up, that what it wrote is what is searched and shown, and that
// its prompt holds the earlier turns and the question as it was asked.
func TestFollowUpOfAModel(t *testing.T) {
	t.Parallel()
	h := openHouse(t, "")
	n := len(h.provider.Requests())
	h.provider.Then(scripted.Reply{Text: "Every 500 hours [1]."}, scripted.Reply{Text: "How often is the filter replaced in winter?"}, scripted.Reply{Text: "The same [1]."})
	turns, first := h.begin(t, "How often is the filter replaced?")
	if first["answer"] != "Every 500 hours [1]." || first["rephrased_query"] != nil {
		t.Errorf("the first answer: %v", first)
	}
	next := h.must(t, 200, "POST", turns, question("And in winter?", `,"generation":{"prompt_template":"Asked: $vectaraQuery"}`))
	if next["answer"] != "The same [1]." || next["rephrased_query"] != "How often is the filter replaced in winter?" || next["chat_id"] != first["chat_id"] ||
		next["rendered_prompt"] != `[{"role":"user","content":"How often is the filter replaced?"},{"role":"assistant","content":"Every 500 hours [1]."},{"role":"user","content":"Asked: And in winter?"}]` {
		t.Errorf("the second answer: %v", next)
	}
	asked := h.prompts(n)
	if len(asked) != 3 || !strings.Contains(asked[1], "Every 500 hours [1].") || !strings.Contains(asked[1], "And in winter?") ||
		!strings.Contains(asked[2], "Asked: And in winter?") || strings.Contains(asked[2], "replaced in winter") {
		t.Errorf("the model was asked %q", asked)
	}
	if got := h.answers(t, turns); got != "Every 500 hours [1].|The same [1]." {
		t.Errorf("the turns: %s", got)
	}
}

// TestRephrasingFails proves that whatever the model does when it rephrases, the question is answered and searched as it was
// asked, without a warning.
func TestRephrasingFails(t *testing.T) {
	t.Parallel()
	h := openHouse(t, "")
	h.provider.Then(scripted.Reply{Text: "Every 500 hours [1]."})
	turns, _ := h.begin(t, "How often is the filter replaced?")
	for _, r := range []scripted.Reply{
		{Fault: scripted.HTML}, {Fault: scripted.Nothing}, {Fault: scripted.Failed}, {Fault: scripted.Limited}, {Fault: scripted.Leak}, {Fault: scripted.Rejected},
		{Text: "How often is it", Fault: scripted.Cut}, {Text: "How often is it", Fault: scripted.Malformed}, {Text: " \n"}, {Text: strings.Repeat("long ", 1100)}, {Refusal: "No."},
	} {
		h.provider.Then(r, scripted.Reply{Text: "The same [1]."})
		got := h.must(t, 200, "POST", turns, question("And in winter?", `,"chat":{"store":false}`))
		if got["rephrased_query"] != "And in winter?" || got["answer"] != "The same [1]." || got["warnings"] != nil {
			t.Errorf("%+v: %v", r, got)
		}
	}
}

// TestLimitOfOneCall proves that a model which takes one call in a second answers follow-ups: the place goes to the answer, and
// the question is searched as it was asked.
func TestLimitOfOneCall(t *testing.T) {
	t.Parallel()
	h := openHouse(t, `,"requests_per_second":1`)
	h.provider.Model("scripted", scripted.Reply{Text: "Every 500 hours [1]."})
	turns, n := "", 0
	for turns == "" { // until the test of the connection counts no more
		if status, _, out := h.send(t, "POST", "/v2/chats", question("How often is the filter replaced?", "")); status == 200 {
			turns = fmt.Sprintf("/v2/chats/%s/turns", out["chat_id"])
		}
	}
	refused := 0
	for {
		n = len(h.provider.Requests())
		status, raw, out := h.send(t, "POST", turns, question("And in winter?", `,"stream_response":false`))
		if status == 429 {
			refused++
			if !strings.Contains(raw, "writer") || !strings.Contains(raw, "requests_per_second") || !strings.Contains(raw, "second") {
				t.Fatalf("the refusal: %s", raw)
			}
			continue
		}
		if status != 200 || out["rephrased_query"] != "And in winter?" || out["answer"] != "Every 500 hours [1]." || len(h.prompts(n)) != 1 {
			t.Errorf("%d %s after %d refusals, %d calls", status, raw, refused, len(h.prompts(n)))
		}
		break
	}
	if got := h.answers(t, turns); got != "Every 500 hours [1].|Every 500 hours [1]." {
		t.Errorf("the turns: %s", got)
	}
}

// TestAnswersFail proves that a model which fails leaves the chat as it was, with which status, with the results, without a
// secret of ours, and under no id that the stream may have named; and that its record names no chat.
func TestAnswersFail(t *testing.T) {
	t.Parallel()
	h := openHouse(t, "")
	h.provider.Then(scripted.Reply{Text: "Every 500 hours [1]."})
	turns, first := h.begin(t, "How often is the filter replaced?")
	chat := fmt.Sprint(first["chat_id"])
	for _, c := range []struct {
		reply  scripted.Reply
		status int
	}{
		{scripted.Reply{Fault: scripted.HTML}, 0}, {scripted.Reply{Fault: scripted.Nothing}, 502}, {scripted.Reply{Text: "Half of an answer", Fault: scripted.Cut}, 0},
		{scripted.Reply{Text: "Half of an answer", Fault: scripted.Malformed}, 502}, {scripted.Reply{Fault: scripted.Leak}, 400}, {scripted.Reply{Fault: scripted.Failed}, 502},
		{scripted.Reply{Fault: scripted.Limited}, 429}, {scripted.Reply{Fault: scripted.Late}, 504}, {scripted.Reply{Fault: scripted.Rejected}, 400},
	} {
		for _, path := range []string{"/v2/chats", turns} {
			for _, streamed := range []bool{false, true} {
				if path == turns {
					h.provider.Then(scripted.Reply{Text: "How often is the filter replaced in winter?"})
				}
				h.provider.Then(c.reply)
				status, raw, out := h.send(t, "POST", path, question("And in winter?", fmt.Sprintf(`,"stream_response":%v`, streamed)))
				what := fmt.Sprintf("%s %s, streamed %v: %d %s", c.reply.Fault, path, streamed, status, raw)
				switch {
				case strings.Contains(raw, "sk-secret"), strings.Contains(raw, "<h1>"):
					t.Errorf("leaked: %s", what)
				case streamed:
					_, after, _ := strings.Cut(raw, "event:error\n")
					if status != 200 || !strings.Contains(raw, "event:chat_info\n") || strings.Contains(raw, "generation_end") || !strings.HasSuffix(after, "event:end\ndata:{\"type\":\"end\"}\n\n") {
						t.Error(what)
					}
					h.unknown(t, raw)
				case status < 400, c.status > 0 && status != c.status, out["chat_id"] != nil, len(out["search_results"].([]any)) != 1:
					t.Error(what)
				}
			}
		}
	}
	if got := h.answers(t, turns); got != "Every 500 hours [1]." {
		t.Errorf("the turns: %s", got)
	}
	if got := h.must(t, 200, "GET", "/v2/chats", "")["chats"].([]any); len(got) != 1 {
		t.Errorf("the chats: %v", got)
	}
	if all, own := h.records(t, ""), h.records(t, chat); len(all) != 37 || len(own) != 1 {
		t.Errorf("%d records, %d of the chat", len(all), len(own))
	}
}

// unknown checks that the turn and the chat that a stream named are not there, but for a chat that was there before.
func (h *house) unknown(t *testing.T, raw string) {
	t.Helper()
	_, info, _ := strings.Cut(raw, "event:chat_info\ndata:")
	info, _, _ = strings.Cut(info, "\n")
	var named struct {
		Chat string `json:"chat_id"`
		Turn string `json:"turn_id"`
	}
	if err := json.Unmarshal([]byte(info), &named); err != nil {
		t.Fatalf("%v: %q", err, info)
	}
	h.must(t, 404, "GET", "/v2/chats/"+named.Chat+"/turns/"+named.Turn, "")
	if named.Chat[4:] == named.Turn[4:] {
		h.must(t, 404, "GET", "/v2/chats/"+named.Chat, "")
		h.must(t, 404, "POST", "/v2/chats/"+named.Chat+"/turns", "{")
	}
}

// TestDeadline proves that a turn whose deadline passes is 504 and not stored.
func TestDeadline(t *testing.T) {
	t.Parallel()
	h := openHouse(t, "")
	h.provider.Then(scripted.Reply{Text: "Every 500 hours [1]."}, scripted.Reply{Text: "How often?"}, scripted.Reply{Fault: scripted.Never}, scripted.Reply{Fault: scripted.Never})
	turns, _ := h.begin(t, "How often is the filter replaced?")
	for _, step := range []string{"answer", "rephrasing"} {
		r := h.request(t.Context(), t, "POST", turns, question("And in winter?", ""))
		r.Header.Set("Request-Timeout-Millis", "300")
		res, err := h.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != 504 {
			t.Errorf("the %s takes too long: %d", step, res.StatusCode)
		}
	}
	if got := h.answers(t, turns); got != "Every 500 hours [1]." {
		t.Errorf("the turns: %s", got)
	}
}

// TestClientOfATurnLeaves proves that the call of the model ends when its client leaves, and that the turn is not stored.
func TestClientOfATurnLeaves(t *testing.T) {
	t.Parallel()
	h := openHouse(t, "")
	gate := scripted.NewGate()
	h.provider.Then(scripted.Reply{Text: "Every 500 hours [1]."}, scripted.Reply{Text: "How often?"}, scripted.Reply{Text: "Half of an answer", Between: gate})
	turns, _ := h.begin(t, "How often is the filter replaced?")
	ctx, leave := context.WithCancel(t.Context())
	res, err := h.Client().Do(h.request(ctx, t, "POST", turns, question("And in winter?", `,"stream_response":true`)))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var seen bytes.Buffer
	for lines := bufio.NewReader(res.Body); !strings.Contains(seen.String(), "generation_chunk"); {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		seen.WriteString(line)
	}
	leave()
	<-h.provider.Last().Gone
	for len(h.records(t, "")) < 2 { // the record is written once the question has ended
		runtime.Gosched()
	}
	h.unknown(t, seen.String())
	if got := h.answers(t, turns); got != "Every 500 hours [1]." {
		t.Errorf("the turns: %s", got)
	}
}

// TestTurnsAtOnce proves that turns asked at the same time are answered, each from what was stored when it began, and stand in
// the order of storing.
func TestTurnsAtOnce(t *testing.T) {
	t.Parallel()
	h := openHouse(t, "")
	gate := scripted.NewGate()
	h.provider.Then(scripted.Reply{Text: "Every 500 hours [1]."}, scripted.Reply{Text: "How often in winter?"}, scripted.Reply{Text: "The slow answer.", Held: gate})
	turns, _ := h.begin(t, "How often is the filter replaced?")
	done := make(chan string)
	go func() {
		_, raw, _ := h.send(t, "POST", turns, question("And in winter?", ""))
		done <- raw
	}()
	<-gate.Reached()
	h.provider.Then(scripted.Reply{Text: "How often in summer?"}, scripted.Reply{Text: "The quick answer."})
	if got := h.must(t, 200, "POST", turns, question("And in summer?", "")); strings.Contains(fmt.Sprint(got["rendered_prompt"]), "in winter") {
		t.Errorf("the prompt of the quick turn: %v", got["rendered_prompt"])
	}
	gate.Open()
	if raw := <-done; !strings.Contains(raw, "The slow answer.") || strings.Contains(raw, "summer") {
		t.Errorf("the slow turn: %s", raw)
	}
	if got := h.answers(t, turns); got != "Every 500 hours [1].|The quick answer.|The slow answer." {
		t.Errorf("the turns: %s", got)
	}
}

// TestChatIsDeletedMeanwhile proves that a turn of a chat that is deleted while the model answers is 404, or an error at the end
// of its stream, and leaves nothing.
func TestChatIsDeletedMeanwhile(t *testing.T) {
	t.Parallel()
	for _, streamed := range []bool{false, true} {
		h := openHouse(t, "")
		gate := scripted.NewGate()
		h.provider.Then(scripted.Reply{Text: "Every 500 hours [1]."}, scripted.Reply{Text: "How often in winter?"}, scripted.Reply{Text: "The same.", Held: gate})
		turns, _ := h.begin(t, "How often is the filter replaced?")
		type reply struct {
			status int
			raw    string
		}
		done := make(chan reply)
		go func() {
			status, raw, _ := h.send(t, "POST", turns, question("And in winter?", fmt.Sprintf(`,"stream_response":%v`, streamed)))
			done <- reply{status, raw}
		}()
		<-gate.Reached()
		h.must(t, 204, "DELETE", strings.TrimSuffix(turns, "/turns"), "")
		gate.Open()
		got := <-done
		if !streamed && (got.status != 404 || !strings.Contains(got.raw, `"code":"chat_not_found"`)) {
			t.Errorf("%d %s", got.status, got.raw)
		}
		if _, after, failed := strings.Cut(got.raw, "event:error\n"); streamed && (!failed || !strings.HasSuffix(after, "event:end\ndata:{\"type\":\"end\"}\n\n") || strings.Contains(got.raw, "generation_end")) {
			t.Errorf("%d %s", got.status, got.raw)
		}
		h.must(t, 404, "GET", turns, "")
		if all := h.records(t, ""); len(all) != 1 {
			t.Errorf("%d records, want that of the first turn: %v", len(all), all)
		}
	}
}

// TestChatsAreApart proves that what is told in one chat stands in every prompt of its own later turns, and nowhere in what
// another chat sends to a model or answers, with many chats at once: whole and streamed, of a model outside, which rephrases
// as well, and of the embedded generator.
func TestChatsAreApart(t *testing.T) {
	t.Parallel()
	h := openHouse(t, "")
	h.provider.Model("scripted", scripted.Reply{Text: "Noted [1]."})
	const chats, rounds = 24, 4
	sentinel := regexp.MustCompile(`zebra-\d+`)
	var group sync.WaitGroup
	for i := range chats {
		own := fmt.Sprintf("zebra-%d", i)
		more := fmt.Sprintf(`,"stream_response":%v`, i%2 == 0)
		if i%3 == 0 {
			more += `,"generation":{"model_parameters":{"llm_name":"extractive-1.0"}}`
		}
		group.Go(func() {
			status, raw, first := h.send(t, "POST", "/v2/chats", question("My sentinel is "+own+". How often is the filter replaced?", ""))
			if status != 200 {
				t.Errorf("%d %s", status, raw)
				return
			}
			for round := range rounds {
				status, raw, _ := h.send(t, "POST", fmt.Sprintf("/v2/chats/%s/turns", first["chat_id"]), question(fmt.Sprintf("And in round %d of lion-%d?", round, i), more))
				all := sentinel.FindAllString(raw, -1)
				if slices.Sort(all); status != 200 || !slices.Equal(slices.Compact(all), []string{own}) {
					t.Errorf("round %d of chat %d is answered with %v: %d %s", round, i, all, status, raw)
				}
			}
		})
	}
	group.Wait()
	follows := regexp.MustCompile(`And in round \d of lion-(\d+)\?`)
	asked := 0
	for _, prompt := range h.prompts(0) {
		f := follows.FindStringSubmatch(prompt)
		if f == nil {
			continue
		}
		asked++
		for _, found := range sentinel.FindAllString(prompt, -1) {
			if found != "zebra-"+f[1] {
				t.Errorf("a prompt of chat %s holds %s: %s", f[1], found, prompt)
			}
		}
		if !strings.Contains(prompt, "zebra-"+f[1]) {
			t.Errorf("a prompt of chat %s holds nothing of it: %s", f[1], prompt)
		}
		for _, other := range follows.FindAllStringSubmatch(prompt, -1) {
			if other[1] != f[1] {
				t.Errorf("a prompt of chat %s holds a question of %s: %s", f[1], other[1], prompt)
			}
		}
	}
	if want := chats * 2 / 3 * rounds * 2; asked != want { // a rephrasing and an answer each
		t.Errorf("%d prompts of follow-ups, want %d", asked, want)
	}
}

// TestQuestionsAreAudited proves that the audit, where it records content, names the chat and the turn that were stored.
func TestQuestionsAreAudited(t *testing.T) {
	t.Parallel()
	a, key := apptest.Start(t, func(c *config.Config) { c.AuditContent = true })
	h := &house{httptest.NewServer(a.Handler()), nil, key}
	t.Cleanup(h.Close)
	h.must(t, 201, "POST", "/v2/corpora", `{"key":"pump"}`)
	turns, first := h.begin(t, "How often is the filter replaced?")
	next := h.must(t, 200, "POST", turns, question("And in winter?", ""))
	h.must(t, 200, "POST", turns, question("And in summer?", `,"chat":{"store":false}`))
	h.must(t, 400, "POST", turns, question(" ", ""))
	var got []string
	for _, e := range h.must(t, 200, "GET", "/v2/audit_events?limit=4", "")["audit_events"].([]any) {
		event := e.(map[string]any)
		target, _ := event["target"].(map[string]any)
		got = append(got, fmt.Sprintln(event["action"], event["status"], target["chat_id"], target["turn_id"]))
	}
	want := []string{
		fmt.Sprintln("createChatTurn", 400, first["chat_id"], nil), fmt.Sprintln("createChatTurn", 200, first["chat_id"], nil),
		fmt.Sprintln("createChatTurn", 200, first["chat_id"], next["turn_id"]), fmt.Sprintln("createChat", 200, first["chat_id"], first["turn_id"]),
	}
	if !slices.Equal(got, want) {
		t.Errorf("recorded %q, want %q", got, want)
	}
}
