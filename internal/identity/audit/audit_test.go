package audit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/identity/audit"
)

// memory keeps events in memory and fails when told to.
type memory struct {
	events []audit.Event
	fail   error
}

func (s *memory) Add(_ context.Context, e audit.Event) error {
	if s.fail == nil {
		s.events = append(s.events, e)
	}
	return s.fail
}

func (s *memory) SetOutcome(ctx context.Context, event id.Audit, status int, _ map[string]string) error {
	if err := errors.Join(s.fail, ctx.Err()); err != nil {
		return err
	}
	for i := range s.events {
		if s.events[i].ID == event {
			s.events[i].Status = status
		}
	}
	return nil
}

func (s *memory) List(context.Context, audit.List) ([]audit.Event, bool, error) {
	return s.events, false, s.fail
}

// TestIntend proves that a change is recorded before it is made with an outcome not known, that the outcome is
// recorded although the caller has left, and that what can't be recorded is refused as not available.
func TestIntend(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	store := &memory{}
	s := audit.New(store, slog.New(slog.NewTextHandler(&log, nil)))
	ctx, leave := context.WithCancel(t.Context())
	event, err := s.Intend(ctx, audit.Event{Action: "createUser"})
	if err != nil || len(store.events) != 1 || store.events[0].Status != 0 || store.events[0].ID != event {
		t.Fatalf("intend: %v, %+v", err, store.events)
	}
	if at, err := event.At(); err != nil || time.Since(at) > time.Hour || !at.Equal(store.events[0].At.Truncate(time.Microsecond)) {
		t.Errorf("the id %s gives the moment %v, %v; want %v", event, at, err, store.events[0].At)
	}
	leave()
	s.SetOutcome(ctx, event, 201, nil)
	if store.events[0].Status != 201 {
		t.Error("no outcome after the caller left")
	}
	store.fail = errors.New("the disk is on fire")
	_, err = s.Intend(t.Context(), audit.Event{})
	if f, ok := fault.As(err); !ok || f.Kind != fault.KindUnavailable || f.Code != "audit_unavailable" || strings.Contains(f.Text, "fire") || !errors.Is(err, store.fail) {
		t.Errorf("unknown failure: %v", err)
	}
	store.fail = fault.Unavailable("storage_unavailable", "the disk is full").After(5 * time.Second)
	_, err = s.Intend(t.Context(), audit.Event{})
	if f, ok := fault.As(err); !ok || f.Code != "audit_unavailable" || f.RetryAfter != 5*time.Second || !strings.Contains(f.Text, "the disk is full") {
		t.Errorf("full disk: %v", err)
	}
	s.SetOutcome(t.Context(), event, 201, nil)
	s.Note(t.Context(), audit.Event{Action: "signIn", Status: 401})
	if n := strings.Count(log.String(), "was not recorded"); n != 2 {
		t.Errorf("the log tells %d of 2 losses: %s", n, log.String())
	}
}

// TestRefusalsAreBounded proves that refusals of one address and of all together are kept at a bounded rate, that the
// next one kept tells how many were not, that quiet restores the allowance, and that what succeeds is always kept.
func TestRefusalsAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &memory{}
		s := audit.New(store, slog.New(slog.DiscardHandler))
		refuse := func(n int, address func(i int) string) int {
			before := len(store.events)
			for i := range n {
				s.Note(t.Context(), audit.Event{Action: "signIn", Address: address(i), Status: 401})
			}
			return len(store.events) - before
		}
		one := func(int) string { return "192.0.2.1" }
		if got := refuse(1000, one); got != 20 {
			t.Errorf("%d refusals of one address kept, want 20", got)
		}
		time.Sleep(20 * time.Second)
		if got := refuse(1000, one); got != 2 {
			t.Errorf("%d refusals kept 20 s later, want 2", got)
		}
		if got := store.events[20].Target["left_out"]; got != "980" {
			t.Errorf("left out %q, want 980", got)
		}
		if got := refuse(20_000, func(i int) string { return fmt.Sprint("10.0.0.", i) }); got < 190 || got > 200 {
			t.Errorf("%d refusals of 20,000 addresses kept, want about 200", got)
		}
		known := len(store.events)
		for range 1000 {
			s.Note(t.Context(), audit.Event{Action: "deleteCorpus", Actor: audit.Actor{Credential: "aky_1"}, Address: "192.0.2.1", Status: 403})
		}
		if got := len(store.events) - known; got != 20 {
			t.Errorf("%d refusals of a known caller kept beside those of strangers, want 20", got)
		}
		time.Sleep(time.Hour)
		if got := refuse(1000, one); got != 20 {
			t.Errorf("%d refusals kept after an hour, want 20", got)
		}
		before := len(store.events)
		for range 500 {
			s.Note(t.Context(), audit.Event{Action: "signIn", Address: "192.0.2.1", Status: 200})
		}
		if got := len(store.events) - before; got != 500 {
			t.Errorf("%d of 500 successes kept", got)
		}
	})
}

// contract knows the members of a map, each with what it leads to.
type contract map[string]contract

func (c contract) Member(name string) (audit.Known, bool) {
	next, ok := c[name]
	if c["*"] != nil {
		next, ok = c["*"], true
	}
	if next == nil {
		return nil, ok
	}
	return next, ok
}

func (c contract) Item() audit.Known { return c }
func (c contract) Secret() bool      { return false }

// TestMask proves which values of a body are hidden: those of secret members, of members that the contract doesn't
// know, and whatever has the form of a secret of ours.
func TestMask(t *testing.T) {
	t.Parallel()
	known := contract{
		"username": {}, "password": {}, "list": {"name": {}, "auth": {"type": {}, "token": {}}}, "free": nil, "api_key_role": {}, "max_tokens": {},
		"secrets": nil, "headers": nil, "enabled": {}, "note": {}, "private_key": nil,
	}
	for _, c := range []struct{ body, want string }{
		{`{"username":"ann","password":"hunter2"}`, `{"password":"****","username":"ann"}`},
		{`{"pasword":"hunter2","enabled":true,"x":{"y":["deep"]}}`, `{"enabled":true,"pasword":"****","x":{"y":["****"]}}`},
		{`{"list":[{"name":"n","auth":{"type":"bearer","token":"t"}},{"nmae":"s"}]}`, `{"list":[{"auth":{"token":"****","type":"****"},"name":"n"},{"nmae":"****"}]}`},
		{`{"free":{"any":1.50,"Api-Key":"k","pw":"p","text":"kept"}}`, `{"free":{"Api-Key":"****","any":1.50,"pw":"****","text":"kept"}}`},
		{`{"api_key_role":"serving","max_tokens":12}`, `{"api_key_role":"serving","max_tokens":12}`},
		{`{"secrets":{"a":"1","b":2,"c":null,"d":false}}`, `{"secrets":{"a":"****","b":"****","c":null,"d":false}}`},
		{`{"headers":{"X":"1"},"private_key":{"pem":"p"}}`, `{"headers":{"X":"****"},"private_key":{"pem":"****"}}`},
		{`{"note":"my key zut_0123456789abcdefghijABCDEFGHIJ_-345678 it is"}`, `{"note":"my key zut_**** it is"}`},
		{`{"note":"Bearer eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhIn0.c2ln"}`, `{"note":"Bearer ****"}`},
		{`{"free":{"zqt_0123456789abcdefghijABCDEFGHIJ":1}}`, `{"free":{"zqt_****":1}}`},
		{`[1]`, ``}, {`null`, ``}, {`"text"`, ``}, {``, ``}, {`{"a":`, ``},
	} {
		if got := string(audit.Mask([]byte(c.body), known)); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.body, got, c.want)
		}
	}
}

// TestMaskCuts proves that what is kept of a large body is a JSON object of at most 8 KiB, in valid UTF-8, with the
// small members whole.
func TestMaskCuts(t *testing.T) {
	t.Parallel()
	list := func(item string, n int) string { return "[" + strings.Repeat(item+",", n) + item + "]" }
	members := func(value string, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,"m%05d":%s`, i, value)
		}
		return b.String()
	}
	long := `"` + strings.Repeat("é😀", 5000) + `"`
	for _, c := range []struct{ name, body string }{
		{"long text", `{"username":"ann","x":` + long + `}`},
		{"long list", `{"username":"ann","x":` + list(`{"role":"viewer","corpus_key":"manuals"}`, 5000) + `}`},
		{"list of long texts", `{"username":"ann","x":` + list(long, 100) + `}`},
		{"many members", `{"username":"ann"` + members(`"a value"`, 20_000) + `}`},
		{"many long members", `{"username":"ann"` + members(long, 100) + `}`},
		{"nested", `{"username":"ann","x":{"y":` + list(`{"z":`+list(`"0123456789"`, 60)+`}`, 60) + `}}`},
		{"long name", `{"username":"ann","` + strings.Repeat("n", 100_000) + `":1}`},
		{"signs that grow", `{"username":"ann","x":"` + strings.Repeat("<", 9000) + `"}`},
	} {
		got := audit.Mask([]byte(c.body), nil)
		var v map[string]any
		if err := json.Unmarshal(got, &v); err != nil || len(got) > 8<<10 || len(got) < 20 {
			t.Errorf("%s: %d bytes, %v", c.name, len(got), err)
		}
		if v["username"] != "ann" {
			t.Errorf("%s: the small member is lost: %.200s", c.name, got)
		}
		if bytes.ContainsRune(got, '\uFFFD') {
			t.Errorf("%s: a sign was cut in half", c.name)
		}
	}
}

// FuzzMask proves that no body makes Mask fail, exceed its bound or keep what stands in a secret member.
func FuzzMask(f *testing.F) {
	for _, s := range []string{`{}`, `{"a":[1,{"b":"c"}],"password":"HUSH-HUSH"}`, `{"x":"` + strings.Repeat("y", 9000) + `"}`, `[`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		got := audit.Mask([]byte(body), nil)
		if got != nil && (!json.Valid(got) || len(got) > 8<<10) {
			t.Errorf("%d bytes: %.200s", len(got), got)
		}
		wrapped, _ := json.Marshal(map[string]any{"secret": map[string]any{"x": []any{body}}})
		if out := audit.Mask(wrapped, nil); len(body) > 6 && bytes.Contains(out, []byte(body)) {
			t.Errorf("a secret is kept: %.200s", out)
		}
	})
}
