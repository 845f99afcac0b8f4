package toolconfigurations_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/agent"
	"quarry/internal/agent/tool/catalog"
	"quarry/internal/agent/tool/configuration"
	"quarry/internal/clock"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/page"
	"quarry/internal/secret/seal"
	"quarry/internal/secret/vault"
	"quarry/internal/store"
	"quarry/internal/store/agents"
	"quarry/internal/store/secrets"
	"quarry/internal/store/storetest"
	"quarry/internal/store/toolconfigurations"
	"quarry/internal/store/tools"
)

// stores are those of one database.
type stores struct {
	*toolconfigurations.Store
	agents *agents.Store
	tools  *tools.Store
	db     *store.DB
}

// TestStore proves that the store keeps the promises of configuration.Store on both databases.
func TestStore(t *testing.T) {
	t.Parallel()
	open := func(_ *testing.T, db *store.DB) stores {
		return stores{toolconfigurations.New(db), agents.New(db), tools.New(db), db}
	}
	storetest.Each(t, open, map[string]func(*testing.T, stores){
		"read": testRead, "list": testList, "at once": testAtOnce, "use": testUse, "use at once": testUseAtOnce, "tools": testTools,
		"tools at once": testToolsAtOnce, "server": testServer, "sealed": testSealed, "rotated": testRotated,
	})
}

func fresh(key, entry string) configuration.Configuration {
	now := clock.Now()
	return configuration.Configuration{Key: key, Version: 1, Created: now, Updated: now, Definition: configuration.Definition{
		Name: "Ünï", Description: "d", Enabled: true, Metadata: json.RawMessage(`{"n":9007199254740993}`), Entry: json.RawMessage(entry),
	}}
}

func (s stores) make(t *testing.T, key, entry string) configuration.Configuration {
	t.Helper()
	made, err := s.Create(t.Context(), fresh(key, entry))
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// testRead proves that a configuration is read as it was written, that a key is taken once and free again, and that missing ones are
// told so.
func testRead(t *testing.T, s stores) {
	one := s.make(t, "read", `{"type":"x"}`)
	got, err := s.Get(t.Context(), "read")
	if diff := cmp.Diff(one, got); err != nil || diff != "" {
		t.Errorf("%v, %s", err, diff)
	}
	found, err := s.Find(t.Context(), []string{"none", "read"})
	if err != nil || len(found) != 1 || found[0].Key != "read" {
		t.Errorf("%v, %v", found, err)
	}
	if _, err := s.Create(t.Context(), fresh("read", `{}`)); !fault.Is(err, fault.KindConflict) {
		t.Errorf("a second one of the key: %v", err)
	}
	if err := s.Delete(t.Context(), one); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(t.Context(), "read"); !fault.Is(err, fault.KindNotFound) {
		t.Errorf("read after the deletion: %v", err)
	}
	if err := s.Delete(t.Context(), one); !fault.Is(err, fault.KindNotFound) {
		t.Errorf("deleted twice: %v", err)
	}
	if again := s.make(t, "read", `{}`); again.No == one.No {
		t.Errorf("a later one has the number %d, too", again.No)
	}
}

// testList proves that pages have every configuration that matches once, newest first.
func testList(t *testing.T, s stores) {
	var want []string
	for _, key := range []string{"list-a", "list-b", "list-c"} {
		want = append(want, s.make(t, key, `{}`).Key)
	}
	slices.Reverse(want)
	var got []string
	var after *page.Position
	for more := true; more; {
		var found []configuration.Configuration
		var err error
		found, more, err = s.List(t.Context(), after, 2, func(c *configuration.Configuration) bool { return slices.Contains(want, c.Key) })
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range found {
			got, after = append(got, c.Key), c.Position()
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// testAtOnce proves that of changes at once of one version one is written.
func testAtOnce(t *testing.T, s stores) {
	one := s.make(t, "at-once", `{}`)
	var group sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		group.Go(func() {
			next := one
			next.Updated = one.Updated.Add(time.Second)
			_, errs[i] = s.Replace(t.Context(), next)
		})
	}
	group.Wait()
	written := 0
	for _, err := range errs {
		switch {
		case err == nil:
			written++
		case !errors.Is(err, configuration.ErrChanged):
			t.Error(err)
		}
	}
	if got, err := s.Get(t.Context(), one.Key); err != nil || written != 1 || got.Version != 2 {
		t.Errorf("%v, %d written, version %d", err, written, got.Version)
	}
}

// with returns an agent that refers to configurations.
func with(key string, stored ...string) agent.Agent {
	now := clock.Now()
	a := agent.Agent{Key: key, Created: now, Updated: now, Definition: agent.Definition{Name: key, Tools: map[string]json.RawMessage{}}}
	for i, one := range stored {
		a.Tools[fmt.Sprint("t", i)] = json.RawMessage(`{"type":"reference","tool_configuration_key":"` + one + `"}`)
	}
	return a
}

// testUse proves that a configuration stays as long as the current one of an agent refers to it, and that the refusal names the agents.
func testUse(t *testing.T, s stores) {
	one, other := s.make(t, "use-one", `{}`), s.make(t, "use-other", `{}`)
	a, err := s.agents.Create(t.Context(), with("use-a", "use-one", "use-other", "use-one"))
	if err != nil {
		t.Fatal(err)
	}
	var used *configuration.InUseError
	if err := s.Delete(t.Context(), one); !errors.As(err, &used) || !slices.Equal(used.Agents, []string{"use-a"}) {
		t.Errorf("deleted in use: %v", err)
	}
	for i := range 6 {
		if _, err := s.agents.Create(t.Context(), with(fmt.Sprint("use-more-", i), "use-one")); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Delete(t.Context(), one); !errors.As(err, &used) || len(used.Agents) != 5 {
		t.Errorf("of seven agents %v are named", used)
	}
	a.Definition = with("use-a", "use-one").Definition
	if a, err = s.agents.Replace(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(t.Context(), other); err != nil {
		t.Errorf("not deleted although nobody refers to it: %v", err)
	}
	if _, err := s.agents.Create(t.Context(), with("use-b", "use-other")); !fault.Is(err, fault.KindConflict) {
		t.Errorf("an agent refers to what was deleted: %v", err)
	}
	if err := s.agents.Delete(t.Context(), a.No, clock.Now()); err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(t.Context(), one); !errors.As(err, &used) || slices.Contains(used.Agents, "use-a") {
		t.Errorf("the refusal names an agent that was deleted: %v", err)
	}
}

// testUseAtOnce proves that a configuration which is deleted while an agent takes it is either there and used, or gone and refused.
func testUseAtOnce(t *testing.T, s stores) {
	for i := range 20 {
		key := fmt.Sprint("race-", i)
		one := s.make(t, key, `{}`)
		var group sync.WaitGroup
		var taken, removed, changed error
		group.Go(func() { _, taken = s.agents.Create(t.Context(), with(key, key)) })
		group.Go(func() { removed = s.Delete(t.Context(), one) })
		group.Go(func() { _, changed = s.Replace(t.Context(), one) })
		group.Wait()
		if (taken == nil) == (removed == nil) {
			t.Errorf("taken: %v, removed: %v", taken, removed)
		}
		if changed != nil && !errors.Is(changed, configuration.ErrChanged) {
			t.Errorf("changed: %v", changed)
		}
	}
}

func (s stores) tool(t *testing.T, name string) catalog.Tool {
	t.Helper()
	now := clock.Now()
	made, err := s.tools.Create(t.Context(), catalog.Tool{ID: id.NewTool(), Version: 1, Created: now, Updated: now, Definition: catalog.Definition{
		Type: catalog.Client, Name: name, Description: "d", Enabled: true, Input: json.RawMessage(`{}`),
	}})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// naming is an entry that names a tool by its id, as those of any such type do.
func naming(which id.Tool) string { return `{"type":"client","tool_id":"` + string(which) + `"}` }

// testTools proves that a tool which a configuration names stays, with a refusal that says so, until the configuration is changed or
// deleted, and that a configuration can't begin to name one that is gone.
func testTools(t *testing.T, s stores) {
	one, other := s.tool(t, "tools_one"), s.tool(t, "tools_other")
	stored := s.make(t, "tools", naming(one.ID))
	var used *catalog.InUseError
	if err := s.tools.Delete(t.Context(), one); !errors.As(err, &used) || !slices.Equal(used.Configurations, []string{"tools"}) || len(used.Agents) > 0 {
		t.Errorf("deleted in use: %v", err)
	}
	stored.Entry = json.RawMessage(naming(other.ID))
	stored, err := s.Replace(t.Context(), stored)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.tools.Delete(t.Context(), one); err != nil {
		t.Errorf("not deleted although nothing names it: %v", err)
	}
	back := stored
	back.Entry = json.RawMessage(naming(one.ID))
	if _, err := s.Replace(t.Context(), back); !fault.Is(err, fault.KindConflict) {
		t.Errorf("it names a tool that is gone: %v", err)
	}
	if _, err := s.Create(t.Context(), fresh("tools-late", naming(one.ID))); !fault.Is(err, fault.KindConflict) {
		t.Errorf("a new one names a tool that is gone: %v", err)
	}
	if _, err := s.Get(t.Context(), "tools-late"); !fault.Is(err, fault.KindNotFound) {
		t.Errorf("what was refused is there: %v", err)
	}
	if err := s.Delete(t.Context(), stored); err != nil {
		t.Fatal(err)
	}
	if err := s.tools.Delete(t.Context(), other); err != nil {
		t.Errorf("not deleted although its configuration is: %v", err)
	}
}

// testToolsAtOnce proves that a tool which is deleted while a configuration takes it is either there and named, or gone and refused.
func testToolsAtOnce(t *testing.T, s stores) {
	for i := range 10 {
		one := s.tool(t, fmt.Sprint("tools_race_", i))
		var group sync.WaitGroup
		var taken, removed error
		group.Go(func() { _, taken = s.Create(t.Context(), fresh(fmt.Sprint("tools-race-", i), naming(one.ID))) })
		group.Go(func() { removed = s.tools.Delete(t.Context(), one) })
		group.Wait()
		if (taken == nil) == (removed == nil) {
			t.Errorf("taken: %v, removed: %v", taken, removed)
		}
	}
}

// testServer proves that the tools of a tool server stay, all of them, while a configuration names one.
func testServer(t *testing.T, s stores) {
	one, _ := s.tool(t, "server_one"), s.tool(t, "server_other")
	stored := s.make(t, "server", naming(one.ID))
	drop := func() error {
		return s.db.Write(t.Context(), func(tx *store.Tx) error { return tools.Drop(tx, "tsr_x") })
	}
	err := s.db.Write(t.Context(), func(tx *store.Tx) error {
		return tx.Exec(`UPDATE tools SET server = 'tsr_x' WHERE name IN ('server_one', 'server_other')`)
	})
	if err != nil {
		t.Fatal(err)
	}
	var used *catalog.InUseError
	if err := drop(); !errors.As(err, &used) || !slices.Equal(used.Configurations, []string{"server"}) {
		t.Errorf("dropped in use: %v", err)
	}
	if _, err := s.agents.Create(t.Context(), with("server-agent", "server")); err != nil {
		t.Fatal(err)
	}
	if err := drop(); !errors.As(err, &used) || len(used.Agents) > 0 {
		t.Errorf("an agent that has it by the configuration alone is named: %v", err)
	}
	stored.Entry = json.RawMessage(`{}`)
	if _, err := s.Replace(t.Context(), stored); err != nil {
		t.Fatal(err)
	}
	if err := drop(); err != nil {
		t.Errorf("not dropped although nothing names one: %v", err)
	}
	if found, err := s.tools.Find(t.Context(), []id.Tool{one.ID}); err != nil || len(found) > 0 {
		t.Errorf("%v, %d tools are left", err, len(found))
	}
}

// testSealed proves that credentials of an entry are in no row in clear, are there in each way of reading, also after a change, and go
// with the configuration.
func testSealed(t *testing.T, s stores) {
	rows := s.Sealing(storetest.Secrets(t, s.db))
	entry := func(token string) string {
		return `{"argument_override":{"auth":{"token":"` + token + `","type":"bearer"}},"type":"web_get"}`
	}
	count := func(query string) (n int) {
		t.Helper()
		if err := s.db.Reader(t.Context()).QueryRow(query).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if _, err := s.Create(t.Context(), fresh("sealed", entry("hidden"))); err == nil {
		t.Error("a store without a place for credentials has taken some")
	}
	one, err := rows.Create(t.Context(), fresh("sealed", entry("hidden-0")))
	for i := 0; err == nil && i < 3; i++ {
		want := entry(fmt.Sprint("hidden-", i))
		got, lost := rows.Get(t.Context(), "sealed")
		found, lostToo := rows.Find(t.Context(), []string{"sealed"})
		listed, _, lostAsWell := rows.List(t.Context(), nil, 10, func(c *configuration.Configuration) bool { return c.Key == "sealed" })
		if err := errors.Join(lost, lostToo, lostAsWell); err != nil || len(found) != 1 || len(listed) != 1 {
			t.Fatal(err)
		}
		for _, c := range []configuration.Configuration{one, got, found[0], listed[0]} {
			if string(c.Entry) != want {
				t.Errorf("read as %s, want %s", c.Entry, want)
			}
		}
		one.Entry = json.RawMessage(entry(fmt.Sprint("hidden-", i+1)))
		one, err = rows.Replace(t.Context(), one)
	}
	if err != nil {
		t.Fatal(err)
	}
	if n := count(`SELECT COUNT(*) FROM tool_configurations WHERE definition LIKE '%hidden%'`); n > 0 {
		t.Error("a row has a credential in clear")
	}
	if n := count(`SELECT COUNT(*) FROM secrets WHERE name LIKE 'tool_configuration/%'`); n != 2 {
		t.Errorf("%d rows of credentials, want those of the last two versions", n)
	}
	if err := rows.Delete(t.Context(), one); err != nil {
		t.Fatal(err)
	}
	if n := count(`SELECT COUNT(*) FROM secrets WHERE name LIKE 'tool_configuration/%'`); n > 0 {
		t.Errorf("%d rows of credentials are left", n)
	}
}

// testRotated proves that a rotation of the secret keys includes the credentials of entries.
func testRotated(t *testing.T, s stores) {
	file := seal.NewFile(filepath.Join(t.TempDir(), "secret.key"))
	unlock := func() (*vault.Vault, *toolconfigurations.Store) {
		t.Helper()
		v, err := vault.Open(t.Context(), vault.Config{Rows: secrets.NewRows(s.db), File: file})
		if err != nil {
			t.Fatal(err)
		}
		return v, s.Sealing(secrets.New(s.db, v.Keyring()))
	}
	v, rows := unlock()
	want := `{"argument_override":{"auth":{"token":"hidden","type":"bearer"}},"type":"web_get"}`
	made, err := rows.Create(t.Context(), fresh("rotated", want))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := rows.Replace(t.Context(), made); err != nil {
		t.Fatal(err)
	}
	if p, err := v.Rotate(t.Context()); err != nil || !p.Done || p.Resealed != 2 {
		t.Fatalf("%+v, %v, want two versions sealed again", p, err)
	}
	_, later := unlock()
	for name, from := range map[string]*toolconfigurations.Store{"in the same process": rows, "after a start": later} {
		if got, err := from.Get(t.Context(), "rotated"); err != nil || string(got.Entry) != want {
			t.Errorf("%s: %s, %v", name, got.Entry, err)
		}
	}
}
