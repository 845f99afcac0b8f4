package agents_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"quarry/internal/agent"
	"quarry/internal/agent/identity"
	"quarry/internal/agent/permit"
	"quarry/internal/agent/tool/configuration"
	"quarry/internal/clock"
	"quarry/internal/corpus"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/identity/authz"
	"quarry/internal/store/agents"
	"quarry/internal/store/corpora"
	"quarry/internal/store/toolconfigurations"
)

// named is a toolconfigurations.Namer for entries that list what they name: {"read": [keys], "edit": [keys], "use": [keys]}.
func named(all map[string]json.RawMessage) (out []permit.Need) {
	for _, raw := range all {
		var e struct{ Read, Edit, Use []string }
		_ = json.Unmarshal(raw, &e) // entries of other tests name nothing
		for _, key := range e.Read {
			out = append(out, permit.Need{Corpus: key})
		}
		for _, key := range e.Edit {
			out = append(out, permit.Need{Corpus: key, Level: permit.Edit})
		}
		for _, key := range e.Use {
			out = append(out, permit.Need{Agent: key, Level: permit.Use})
		}
	}
	return permit.Sorted(out)
}

// house is the stores of identities, with what they refer to.
type house struct {
	stores
	corpora *corpora.Store
	shared  *toolconfigurations.Store
}

func (s stores) identities() house {
	return house{stores{s.Naming(named), s.db}, corpora.New(s.db), toolconfigurations.New(s.db).Naming(named)}
}

func (h house) corpus(t *testing.T, keys ...string) {
	t.Helper()
	for _, key := range keys {
		if _, err := h.corpora.Create(t.Context(), corpus.Corpus{ID: id.NewCorpus(), Key: key, Name: key, Enabled: true, Created: clock.Now()}); err != nil {
			t.Fatal(err)
		}
	}
}

func (h house) entry(t *testing.T, key, entry string) configuration.Configuration {
	t.Helper()
	now := clock.Now()
	made, err := h.shared.Create(t.Context(), configuration.Configuration{Key: key, Version: 1, Created: now, Updated: now, Definition: configuration.Definition{
		Name: key, Enabled: true, Metadata: json.RawMessage(`{}`), Entry: json.RawMessage(entry),
	}})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// tools returns an agent with entries.
func tools(key string, entries ...string) agent.Agent {
	a := full(key)
	a.Tools = map[string]json.RawMessage{}
	for i, e := range entries {
		a.Tools[fmt.Sprint("t", i)] = json.RawMessage(e)
	}
	return a
}

// shown is an identity in one line: mode, API roles, roles on corpora, roles on agents.
func (h house) shown(t *testing.T, no int64) string {
	t.Helper()
	is, err := h.Identity(t.Context(), no)
	if err != nil {
		t.Fatal(err)
	}
	return line(is)
}

func line(is identity.Identity) string {
	out := []string{"auto"}
	if is.Manual {
		out[0] = "manual"
	}
	out = append(out, is.Roles.API...)
	for _, g := range slices.Concat(is.Roles.Corpora, is.Roles.Agents) {
		out = append(out, g.Key+":"+g.Role)
	}
	return strings.Join(out, " ")
}

func (h house) is(t *testing.T, when string, no int64, want string) {
	t.Helper()
	if got := h.shown(t, no); got != want {
		t.Errorf("%s: %q, want %q", when, got, want)
	}
}

func (h house) change(t *testing.T, no int64, f func(is *identity.Identity)) (identity.Identity, error) {
	t.Helper()
	return h.ChangeIdentity(t.Context(), no, func(was identity.Identity, auto authz.Rights) (identity.Identity, error) {
		if f(&was); !was.Manual {
			was.Roles = auto
		}
		return was, nil
	})
}

// testDerived proves that the roles of an identity in mode auto are what the agent's own entries and those it refers to name, as they
// are after each write of either, without what does not exist.
func testDerived(t *testing.T, s stores) {
	h := s.identities()
	h.corpus(t, "a", "b", "c")
	shared := h.entry(t, "shared", `{"edit":["b"],"use":["helper"]}`)
	a := h.make(t, tools("worker", `{"read":["a","gone"]}`, `{"read":["a"],"use":["nobody"]}`, `{"type":"reference","tool_configuration_key":"shared"}`))
	h.is(t, "made", a.No, "auto a:viewer b:editor")
	h.make(t, full("helper"))
	h.is(t, "an agent that it calls is made", a.No, "auto a:viewer b:editor helper:agent_user")
	first, err := h.Identity(t.Context(), a.No)
	if err != nil || !strings.HasPrefix(first.ClientID, "agc_") {
		t.Errorf("%+v, %v", first, err)
	}

	shared.Entry = json.RawMessage(`{"edit":["c"],"read":["c"]}`)
	if shared, err = h.shared.Replace(t.Context(), shared); err != nil {
		t.Fatal(err)
	}
	h.is(t, "a configuration that it refers to has changed", a.No, "auto a:viewer c:viewer c:editor")
	a.Tools = map[string]json.RawMessage{"one": json.RawMessage(`{"read":["b"]}`), "two": a.Tools["t2"]}
	if a, err = h.Replace(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	h.is(t, "the agent has changed", a.No, "auto b:viewer c:viewer c:editor")
	if err := h.corpora.Delete(t.Context(), "b"); err != nil {
		t.Fatal(err)
	}
	h.is(t, "a corpus is deleted", a.No, "auto c:viewer c:editor")
	h.corpus(t, "b")
	h.is(t, "another corpus has its key", a.No, "auto b:viewer c:viewer c:editor")
	a.Tools = nil
	if a, err = h.Replace(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	h.is(t, "without tools", a.No, "auto")
	if last, err := h.Identity(t.Context(), a.No); err != nil || last.ClientID != first.ClientID {
		t.Errorf("the client id was %s and is %s, %v", first.ClientID, last.ClientID, err)
	}
}

// testManual proves that an identity is frozen as it is, that lists are kept, that what is deleted is left out for good, and that
// mode auto has what follows from the tools again.
func testManual(t *testing.T, s stores) {
	h := s.identities()
	h.corpus(t, "a", "b")
	h.make(t, full("helper"))
	a := h.make(t, tools("worker", `{"read":["a"],"edit":["b"],"use":["helper"]}`))
	if _, err := h.change(t, a.No, func(is *identity.Identity) { is.Manual = true }); err != nil {
		t.Fatal(err)
	}
	h.is(t, "frozen", a.No, "manual a:viewer b:editor helper:agent_user")
	a.Tools = nil
	a, err := h.Replace(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	h.is(t, "the tools are gone", a.No, "manual a:viewer b:editor helper:agent_user")
	got, err := h.change(t, a.No, func(is *identity.Identity) {
		is.Roles.API, is.Roles.Corpora = []string{"viewer", "agent_user"}, []authz.Grant{{Key: "b", Role: "viewer"}, {Key: "a", Role: "owner"}}
	})
	const want = "manual viewer agent_user b:viewer a:owner helper:agent_user"
	if err != nil || line(got) != want {
		t.Errorf("changed: %q, %v", line(got), err)
	}
	h.is(t, "changed", a.No, want)

	for field, change := range map[string]func(*identity.Identity){
		"corpus_roles[1].corpus_key": func(is *identity.Identity) {
			is.Roles.API, is.Roles.Corpora = nil, []authz.Grant{{Key: "a", Role: "viewer"}, {Key: "none", Role: "viewer"}}
		},
		"agent_roles[0].agent_key": func(is *identity.Identity) {
			is.Roles.API, is.Roles.Agents = nil, []authz.Grant{{Key: "none", Role: "agent_user"}}
		},
	} {
		_, err := h.change(t, a.No, change)
		if f, ok := fault.As(err); !ok || !slices.Equal(f.Paths(), []string{field}) {
			t.Errorf("%s: %v", field, err)
		}
	}
	h.is(t, "refused", a.No, want)
	if err := h.corpora.Delete(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	helper, err := h.Get(t.Context(), "helper")
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Delete(t.Context(), helper.No, clock.Now()); err != nil {
		t.Fatal(err)
	}
	h.corpus(t, "a")
	h.make(t, full("helper"))
	h.is(t, "others have the keys", a.No, "manual viewer agent_user b:viewer")
	if _, err := h.change(t, a.No, func(is *identity.Identity) { is.Manual = false }); err != nil {
		t.Fatal(err)
	}
	h.is(t, "auto again", a.No, "auto")
	if n := h.count(t, `SELECT count(*) FROM grants`) + h.count(t, `SELECT count(*) FROM agent_grants`); n != 0 {
		t.Errorf("%d grants stay", n)
	}
}

// testIdentityGone proves that an identity goes with its agent and what it was granted, and that a later agent of the key has another.
func testIdentityGone(t *testing.T, s stores) {
	h := s.identities()
	h.corpus(t, "a")
	a := h.make(t, tools("worker", `{"read":["a"]}`))
	was, err := h.change(t, a.No, func(is *identity.Identity) { is.Manual = true })
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Delete(t.Context(), a.No, clock.Now()); err != nil {
		t.Fatal(err)
	}
	_, err = h.Identity(t.Context(), a.No)
	missing(t, "the identity of an agent that is deleted", err)
	_, err = h.change(t, a.No, func(*identity.Identity) {})
	missing(t, "a change of it", err)
	if n := h.count(t, `SELECT count(*) FROM grants`) + h.count(t, `SELECT count(*) FROM agent_identities`); n != 0 {
		t.Errorf("%d rows stay", n)
	}
	next := h.make(t, tools("worker"))
	is, err := h.Identity(t.Context(), next.No)
	if diff := cmp.Diff(identity.Identity{}, is, cmpopts.IgnoreFields(identity.Identity{}, "ClientID"), cmpopts.EquateEmpty()); err != nil || diff != "" || is.ClientID == was.ClientID {
		t.Errorf("%v, %s, client id %s", err, diff, is.ClientID)
	}
}

// testEarlier proves that what an earlier program has written gets its roles when they are first asked for, and again when that program,
// which may still run beside this one, writes.
func testEarlier(t *testing.T, s stores) {
	h, earlier := s.identities(), house{stores{agents.New(s.db), s.db}, corpora.New(s.db), toolconfigurations.New(s.db)}
	h.corpus(t, "a", "b", "c")
	shared := earlier.entry(t, "shared", `{"edit":["b"]}`)
	a := earlier.make(t, tools("worker", `{"read":["a"]}`, `{"type":"reference","tool_configuration_key":"shared"}`))
	h.is(t, "first asked for", a.No, "auto a:viewer b:editor")
	a.Tools["t0"] = json.RawMessage(`{"read":["c"]}`)
	if _, err := earlier.Replace(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	h.is(t, "written by it again", a.No, "auto b:editor c:viewer")
	shared.Entry = json.RawMessage(`{"edit":["c"]}`)
	if _, err := earlier.shared.Replace(t.Context(), shared); err != nil {
		t.Fatal(err)
	}
	h.is(t, "the configuration is", a.No, "auto c:viewer c:editor")
	s.exec(t, `DELETE FROM agent_identities`)
	h.is(t, "it knows no identities", a.No, "auto c:viewer c:editor")
}
