package llms_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"quarry/internal/id"
	"quarry/internal/llm/registry"
	"quarry/internal/store"
	"quarry/internal/store/llms"
	"quarry/internal/store/storetest"
	"quarry/internal/usage"
)

// TestStore proves that the store of language models keeps the promises of registry.Store on both databases.
func TestStore(t *testing.T) {
	t.Parallel()
	storetest.Each(t, open, map[string]func(*testing.T, fixture){
		"create and get": testCreate, "taken name": testTaken, "taken at once": testTakenAtOnce,
		"named": testNamed, "default": testDefault, "defaults at once": testDefaultsAtOnce, "list": testList,
		"update": testUpdate, "update at once": testUpdateAtOnce, "delete": testDelete,
		"credentials": testAuth, "nothing in plain": testNothingPlain, "broken rows": testBroken,
	})
}

type fixture struct {
	*llms.Store
	db *store.DB
}

func open(t *testing.T, db *store.DB) fixture {
	t.Helper()
	return fixture{llms.New(db, storetest.Secrets(t, db)), db}
}

// model returns a model to create, with every member set; n sets its age.
func model(name string, n int) registry.LLM {
	yes, no, context := true, false, 32_000
	at := time.UnixMicro(1_900_000_000_000_000 + int64(n)).UTC()
	return registry.LLM{
		ID: id.NewLLM(), Name: name, Description: "all about " + name, Enabled: true, Type: registry.Anthropic, Model: "m/ü", URI: "https://a.test/v1?x=1",
		Shown: &registry.Auth{Type: registry.Bearer, Token: registry.Mask}, Headers: map[string]string{"X-A": "b\"c"}, Idle: 90 * time.Second,
		TestParameters: map[string]json.RawMessage{"seed": json.RawMessage("12345678901234567890")},
		Capabilities:   registry.Capabilities{ImageSupport: &yes, ContextLimit: &context, ToolCalling: &no, StructuredOutputs: &yes, RequiresRoleAlternation: &no},
		Budget:         usage.Budget{RequestsPerSecond: 7, Quota: usage.Quota{InputPerMinute: 1, InputPerDay: 2, InputPerMonth: 3, OutputPerMinute: 4, OutputPerDay: 5, OutputPerMonth: 1 << 60}},
		Revision:       1, Created: at, Updated: at,
	}
}

func add(t *testing.T, s fixture, l registry.LLM, auth *registry.Auth) registry.LLM {
	t.Helper()
	if err := s.Create(t.Context(), l, auth); err != nil {
		t.Fatalf("create %q: %v", l.Name, err)
	}
	return l
}

func same(t *testing.T, what string, want, got registry.LLM, err error) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" || err != nil {
		t.Errorf("%s: %v (-want +got): %s", what, err, diff)
	}
}

// testCreate proves that a model comes back as written, with everything stated and with nothing.
func testCreate(t *testing.T, s fixture) {
	full := add(t, s, model(strings.Repeat("名", 254)+"/", 1), &registry.Auth{Type: registry.Bearer, Token: "t"})
	got, err := s.Get(t.Context(), full.ID)
	same(t, "full", full, got, err)
	bare := add(t, s, registry.LLM{ID: id.NewLLM(), Name: "bare", Type: registry.OpenAI, Revision: 1, Created: full.Created, Updated: full.Updated}, nil)
	got, err = s.Get(t.Context(), bare.ID)
	same(t, "bare", bare, got, err)
	if _, err := s.Get(t.Context(), "llm_none"); !errors.Is(err, registry.ErrNone) {
		t.Errorf("a model that does not exist: %v", err)
	}
}

// testTaken proves that a name is taken once, and that what was refused leaves nothing behind.
func testTaken(t *testing.T, s fixture) {
	first := add(t, s, model("a", 1), nil)
	second := model("a", 2)
	second.Default = true
	if err := s.Create(t.Context(), second, &registry.Auth{Type: registry.Bearer, Token: "t"}); !errors.Is(err, registry.ErrTaken) {
		t.Fatalf("a name taken: %v", err)
	}
	add(t, s, model("A", 3), nil)
	got, err := s.Named(t.Context(), "a")
	if err != nil || len(got) != 1 || got[0].ID != first.ID || got[0].Default {
		t.Errorf("a is %+v, %v", got, err)
	}
	if _, err := s.Auth(t.Context(), second.ID); !errors.Is(err, registry.ErrNone) {
		t.Errorf("credentials of the refused one: %v", err)
	}
}

// testTakenAtOnce proves that of several creations of one name at once one succeeds.
func testTakenAtOnce(t *testing.T, s fixture) {
	var made, refused atomic.Int64
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			switch err := s.Create(t.Context(), model("one", i), &registry.Auth{Type: registry.Bearer, Token: fmt.Sprint(i)}); {
			case err == nil:
				made.Add(1)
			case errors.Is(err, registry.ErrTaken):
				refused.Add(1)
			default:
				t.Errorf("create: %v", err)
			}
		})
	}
	group.Wait()
	if made.Load() != 1 || refused.Load() != 7 {
		t.Errorf("%d were made, %d refused", made.Load(), refused.Load())
	}
}

func names(all []registry.LLM) string {
	var out []string
	for _, l := range all {
		out = append(out, l.Name)
	}
	return strings.Join(out, " ")
}

// testNamed proves that names are found as they are spelled, and the default one with them, each once.
func testNamed(t *testing.T, s fixture) {
	for i, name := range []string{"a", "b", "c"} {
		l := model(name, i)
		l.Default = name == "b"
		add(t, s, l, nil)
	}
	for _, c := range []struct{ asked, want string }{{"a", "a b"}, {"b", "b"}, {"a b x", "a b"}, {"A", "b"}} {
		got, err := s.Named(t.Context(), strings.Fields(c.asked)...)
		slices.SortFunc(got, func(a, b registry.LLM) int { return strings.Compare(a.Name, b.Name) })
		if err != nil || names(got) != c.want {
			t.Errorf("named %q: %q, %v; want %q", c.asked, names(got), err, c.want)
		}
		for _, l := range got {
			if l.Default != (l.Name == "b") {
				t.Errorf("named %q: %s is the default one: %v", c.asked, l.Name, l.Default)
			}
		}
	}
}

func wantDefault(t *testing.T, s fixture, what, want string) {
	t.Helper()
	all, _, err := s.List(t.Context(), registry.List{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	all = slices.DeleteFunc(all, func(l registry.LLM) bool { return !l.Default })
	if names(all) != want {
		t.Errorf("%s: the default is %q, want %q", what, names(all), want)
	}
}

// testDefault proves that one model at the most is the default one, and none when it is deleted or gives it up.
func testDefault(t *testing.T, s fixture) {
	a, b := model("a", 1), model("b", 2)
	a.Default, b.Default = true, true
	add(t, s, a, nil)
	wantDefault(t, s, "the first", "a")
	add(t, s, b, nil)
	wantDefault(t, s, "the second", "b")
	a, err := s.Update(t.Context(), a, true, nil)
	if err != nil {
		t.Fatal(err)
	}
	wantDefault(t, s, "by update", "a")
	b.Default = false
	if _, err := s.Update(t.Context(), b, true, nil); err != nil {
		t.Fatal(err)
	}
	wantDefault(t, s, "another gives it up", "a")
	a.Default = false
	if a, err = s.Update(t.Context(), a, true, nil); err != nil {
		t.Fatal(err)
	}
	wantDefault(t, s, "given up", "")
	a.Default = true
	if _, err = s.Update(t.Context(), a, true, nil); err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(t.Context(), a.ID); err != nil {
		t.Fatal(err)
	}
	wantDefault(t, s, "deleted", "")
}

// testDefaultsAtOnce proves that of several defaults made at once, beside deletions of the one before, one is left.
func testDefaultsAtOnce(t *testing.T, s fixture) {
	old := model("old", 0)
	old.Default = true
	add(t, s, old, nil)
	var group sync.WaitGroup
	for i := range 6 {
		l := model(fmt.Sprint("m", i), i)
		l.Default = true
		group.Go(func() {
			if err := s.Create(t.Context(), l, nil); err != nil {
				t.Errorf("create: %v", err)
			}
		})
	}
	group.Go(func() {
		if err := s.Delete(t.Context(), old.ID); err != nil {
			t.Errorf("delete: %v", err)
		}
	})
	group.Wait()
	got, err := s.Named(t.Context(), "nobody")
	if err != nil || len(got) != 1 || !got[0].Default || got[0].Name == "old" {
		t.Errorf("the default is %q, %v", names(got), err)
	}
}

// testList proves the order, the pages and the expression of lists.
func testList(t *testing.T, s fixture) {
	for i := range 5 {
		l := model(fmt.Sprint("m", i), i)
		l.Description = fmt.Sprint("even ", i%2 == 0)
		add(t, s, l, nil)
	}
	twin := model("twin", 4)
	twin.ID = "llm_0"
	add(t, s, twin, nil)
	for _, c := range []struct {
		match, want string
		limit       int
	}{
		{"", "m4 twin m3 m2 m1 m0", 2}, {"", "m4 twin m3 m2 m1 m0", 6}, {"", "m4 twin m3 m2 m1 m0", 7},
		{"even true", "m4 m2 m0", 2}, {"^m[13]$", "m3 m1", 1}, {"nothing", "", 3},
	} {
		q := registry.List{Limit: c.limit}
		if c.match != "" {
			q.Match = regexp.MustCompile(c.match)
		}
		var all []registry.LLM
		for more := true; more; {
			page, again, err := s.List(t.Context(), q)
			if err != nil || len(page) > c.limit || again && len(page) < c.limit {
				t.Fatalf("%+v: %d models, more %v: %v", c, len(page), again, err)
			}
			all, more = append(all, page...), again
			if again {
				q.After = page[len(page)-1].Position()
			}
		}
		if names(all) != c.want {
			t.Errorf("%+v: %q", c, names(all))
		}
	}
}

// testUpdate proves that an update writes every member but changes nothing of another revision.
func testUpdate(t *testing.T, s fixture) {
	was := add(t, s, model("a", 1), &registry.Auth{Type: registry.Bearer, Token: "first"})
	next := registry.LLM{ID: was.ID, Name: "a", Type: registry.Responses, Model: "n", URI: "http://b.test", Default: true, Revision: was.Revision, Created: was.Created, Updated: was.Updated.Add(time.Second)}
	got, err := s.Update(t.Context(), next, true, nil)
	next.Revision = 2
	same(t, "answer", next, got, err)
	got, err = s.Get(t.Context(), was.ID)
	same(t, "row", next, got, err)
	if _, err := s.Update(t.Context(), was, false, nil); !errors.Is(err, registry.ErrChanged) {
		t.Errorf("a change of what is no more: %v", err)
	}
	got, err = s.Get(t.Context(), was.ID)
	same(t, "row after a refusal", next, got, err)
	if auth, err := s.Auth(t.Context(), was.ID); err != nil || auth.Token != "first" {
		t.Errorf("credentials that were to be kept: %+v, %v", auth, err)
	}
	if _, err := s.Update(t.Context(), model("b", 1), true, nil); !errors.Is(err, registry.ErrNone) {
		t.Errorf("a change of what never was: %v", err)
	}
}

// testUpdateAtOnce proves that of several changes of one revision at once one succeeds, with its own credentials.
func testUpdateAtOnce(t *testing.T, s fixture) {
	l := add(t, s, model("a", 1), nil)
	var won sync.Map
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			mine := l
			mine.Description = fmt.Sprint(i)
			switch _, err := s.Update(t.Context(), mine, false, &registry.Auth{Type: registry.Bearer, Token: fmt.Sprint(i)}); {
			case err == nil:
				won.Store(mine.Description, true)
			case !errors.Is(err, registry.ErrChanged):
				t.Errorf("update: %v", err)
			}
		})
	}
	group.Wait()
	got, err := s.Get(t.Context(), l.ID)
	if err != nil || got.Revision != 2 {
		t.Fatalf("%+v, %v", got, err)
	}
	auth, err := s.Auth(t.Context(), l.ID)
	if _, ok := won.Load(got.Description); err != nil || !ok || auth.Token != got.Description {
		t.Errorf("the row is of %q, the credentials of %+v: %v", got.Description, auth, err)
	}
}

// testDelete proves that a model goes with its credentials and frees its name.
func testDelete(t *testing.T, s fixture) {
	l := add(t, s, model("a", 1), &registry.Auth{Type: registry.Bearer, Token: "t"})
	if err := s.Delete(t.Context(), l.ID); err != nil {
		t.Fatal(err)
	}
	var left int
	if err := s.db.Reader(t.Context()).QueryRow(`SELECT COUNT(*) FROM secrets`).Scan(&left); err != nil || left != 0 {
		t.Errorf("%d secrets are left, %v", left, err)
	}
	for what, err := range map[string]error{"get": second(s.Get(t.Context(), l.ID)), "auth": second(s.Auth(t.Context(), l.ID)), "delete": s.Delete(t.Context(), l.ID)} {
		if !errors.Is(err, registry.ErrNone) {
			t.Errorf("%s after the deletion: %v", what, err)
		}
	}
	add(t, s, model("a", 2), nil)
}

func second[T any](_ T, err error) error { return err }

// testAuth proves that credentials come back whole, are kept, replaced and taken away.
func testAuth(t *testing.T, s fixture) {
	full := &registry.Auth{
		Type: registry.ClientCredentials, ClientID: "c", ClientSecret: "s\n\"", TokenEndpoint: "https://t.test", Scopes: []string{"a", "b"},
		ClientAuthMethod: "client_secret_post", Audience: "x", KeyJSON: `{"a":1}`,
	}
	l := add(t, s, model("a", 1), full)
	check := func(what string, want *registry.Auth) {
		t.Helper()
		got, err := s.Auth(t.Context(), l.ID)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got): %s", what, err, diff)
		}
	}
	check("created", full)
	change := func(keep bool, auth *registry.Auth) {
		t.Helper()
		var err error
		if l, err = s.Update(t.Context(), l, keep, auth); err != nil {
			t.Fatal(err)
		}
	}
	change(true, nil)
	check("kept", full)
	other := &registry.Auth{Type: registry.Bearer, Token: "t"}
	change(false, other)
	check("replaced", other)
	change(false, nil)
	check("taken away", nil)
}

// testNothingPlain proves that no table holds the secret as it is.
func testNothingPlain(t *testing.T, s fixture) {
	add(t, s, model("a", 1), &registry.Auth{Type: registry.Bearer, Token: "credential-in-plain"})
	for table, column := range map[string]string{"llms": "auth", "secrets": "sealed"} {
		var raw []byte
		if err := s.db.Reader(t.Context()).QueryRow(`SELECT ` + column + ` FROM ` + table).Scan(&raw); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(raw), "plain") || len(raw) == 0 {
			t.Errorf("%s holds %q", table, raw)
		}
	}
}

// testBroken proves that a row that can't be mapped is marked, and that those beside it are read.
func testBroken(t *testing.T, s fixture) {
	for i, change := range []string{"type = 'carrier-pigeon'", "headers = '{'", "capabilities = '{\"context_limit\":\"x\"}'", "auth = '[]'", "description = description"} {
		l := add(t, s, model(fmt.Sprint("m", i), i), nil)
		if err := s.db.Write(t.Context(), func(tx *store.Tx) error { return tx.Exec(`UPDATE llms SET `+change+` WHERE id = $1`, string(l.ID)) }); err != nil {
			t.Fatal(err)
		}
	}
	all, _, err := s.List(t.Context(), registry.List{Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for _, l := range all {
		got[l.Name] = l.Broken != ""
	}
	if want := map[string]bool{"m0": true, "m1": true, "m2": true, "m3": true, "m4": false}; !maps.Equal(got, want) {
		t.Errorf("broken are %v", got)
	}
}
