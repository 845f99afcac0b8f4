package instructions_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/agent/instruction"
	"quarry/internal/clock"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/store"
	"quarry/internal/store/instructions"
	"quarry/internal/store/storetest"
)

// stores are those of one database.
type stores struct {
	*instructions.Store
	db *store.DB
}

// TestStore proves that the store keeps the promises of instruction.Store on both databases.
func TestStore(t *testing.T) {
	t.Parallel()
	open := func(_ *testing.T, db *store.DB) stores { return stores{instructions.New(db), db} }
	storetest.Each(t, open, map[string]func(*testing.T, stores){
		"versions": testVersions, "list": testList, "at once": testAtOnce, "delete version": testDeleteVersion, "delete": testDelete, "refer": testRefer,
	})
}

func (s stores) make(t *testing.T, name string) instruction.Instruction {
	t.Helper()
	now := clock.Now()
	made, err := s.Create(t.Context(), instruction.Instruction{ID: id.NewInstruction(), Created: now, Updated: now, Text: instruction.Text{
		Name: name, Description: "Ünï", Template: "$x", Plain: true, Metadata: json.RawMessage(`{"n":9007199254740993}`), Enabled: true,
	}})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func (s stores) add(t *testing.T, in instruction.Instruction, name string) instruction.Instruction {
	t.Helper()
	in.Name, in.Updated = name, in.Updated.Add(time.Second)
	next, err := s.Add(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return next
}

func code(err error) string {
	if f, ok := fault.As(err); ok {
		return f.Code
	}
	return fmt.Sprint(err)
}

// testVersions proves that versions come back as they were written, and how those that are not there are refused.
func testVersions(t *testing.T, s stores) {
	one := s.make(t, "a")
	two := s.add(t, one, "b")
	if two.Version != 2 || two.Latest != 2 || two.Created != one.Created {
		t.Errorf("the second version: %+v", two)
	}
	one.Latest = 2
	for version, want := range map[int64]instruction.Instruction{0: two, 1: one, 2: two} {
		got, err := s.Get(t.Context(), one.ID, version)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("version %d: %v (-want +got): %s", version, err, diff)
		}
	}
	if _, err := s.Get(t.Context(), one.ID, 3); code(err) != "instruction_version_not_found" {
		t.Error(err)
	}
	if _, err := s.Get(t.Context(), "ins_none", 1); code(err) != "instruction_not_found" {
		t.Error(err)
	}
	if _, err := s.Add(t.Context(), one); !errors.Is(err, instruction.ErrChanged) {
		t.Errorf("added to what is not the latest: %v", err)
	}
}

// testList proves the order of a list, its pages, and that latest versions alone count.
func testList(t *testing.T, s stores) {
	var want []string
	for i := range 5 {
		in := s.make(t, "old")
		in.Enabled = i%2 == 0
		want = append([]string{string(s.add(t, in, fmt.Sprint(i)).ID)}, want...)
	}
	l := instruction.List{Limit: 2}
	var got []string
	for more := true; more; {
		var found []instruction.Instruction
		var err error
		if found, more, err = s.List(t.Context(), l); err != nil {
			t.Fatal(err)
		}
		for _, in := range found {
			got = append(got, string(in.ID))
		}
		l.After = found[len(found)-1].Position()
	}
	if !slices.Equal(got, want) {
		t.Errorf("listed %v, want %v", got, want)
	}
	yes := true
	found, more, err := s.List(t.Context(), instruction.List{Limit: 5, Enabled: &yes, Match: func(in *instruction.Instruction) bool { return in.Name != "2" && in.Name != "old" }})
	if err != nil || more || len(found) != 2 || found[0].Name != "4" || found[1].Name != "0" {
		t.Errorf("filtered: %+v, %v, %v", found, more, err)
	}
}

// testAtOnce proves that of many versions written at once on the same one, one is.
func testAtOnce(t *testing.T, s stores) {
	in := s.make(t, "a")
	var wg sync.WaitGroup
	var mu sync.Mutex
	written := 0
	for range 8 {
		wg.Go(func() {
			_, err := s.Add(t.Context(), in)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				written++
			} else if !errors.Is(err, instruction.ErrChanged) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got, err := s.Get(t.Context(), in.ID, 0); written != 1 || err != nil || got.Version != 2 {
		t.Errorf("%d were written, the latest is %d (%v)", written, got.Version, err)
	}
}

// testDeleteVersion proves what becomes the latest version, that numbers are not used again, that the only version stays, also
// when both of two are deleted at once, and that a version stays that an agent pins which is not deleted.
func testDeleteVersion(t *testing.T, s stores) {
	in := s.make(t, "a")
	three := s.add(t, s.add(t, in, "b"), "c")
	if err := s.DeleteVersion(t.Context(), in, 3); err != nil {
		t.Fatal(err)
	}
	got, err := s.Get(t.Context(), in.ID, 0)
	if err != nil || got.Version != 2 || got.Name != "b" {
		t.Errorf("the latest of two: %+v, %v", got, err)
	}
	if _, err := s.Add(t.Context(), three); !errors.Is(err, instruction.ErrChanged) {
		t.Errorf("added to a version that is gone: %v", err)
	}
	if next := s.add(t, got, "d"); next.Version != 4 {
		t.Errorf("the next version is %d, want 4", next.Version)
	}
	err = s.db.Write(t.Context(), func(tx *store.Tx) error {
		var pins, gone int64
		for _, a := range []struct {
			key     any
			deleted int64
			no      *int64
		}{{"pins", 0, &pins}, {nil, 1, &gone}} {
			err := tx.QueryRow(`INSERT INTO agents (key, revision, enabled, created, updated, deleted) VALUES ($1, 1, TRUE, 0, 0, $2) RETURNING no`, a.key, a.deleted).Scan(a.no)
			if err != nil {
				return err
			}
		}
		return tx.Exec(`INSERT INTO instruction_pins (agent_no, instruction, version) VALUES ($1, $3, 2), ($2, $3, 4), ($2, $3, 1)`, pins, gone, string(in.ID))
	})
	if err != nil {
		t.Fatal(err)
	}
	err = s.DeleteVersion(t.Context(), in, 2)
	if pinned, ok := errors.AsType[*instruction.PinnedError](err); !ok || !slices.Equal(pinned.Agents, []string{"pins"}) {
		t.Errorf("a version that is pinned: %v", err)
	}
	if err := s.DeleteVersion(t.Context(), in, 3); code(err) != "instruction_version_not_found" {
		t.Error(err)
	}
	if err := s.DeleteVersion(t.Context(), in, 4); err != nil {
		t.Fatal(err)
	}
	if err := s.db.Write(t.Context(), func(tx *store.Tx) error { return tx.Exec(`DELETE FROM instruction_pins`) }); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	errs := make([]error, 2)
	for i := range errs {
		wg.Go(func() { errs[i] = s.DeleteVersion(t.Context(), in, int64(i)+1) })
	}
	wg.Wait()
	if (errs[0] == nil) == (errs[1] == nil) || !errors.Is(errors.Join(errs...), instruction.ErrOnly) {
		t.Errorf("both of two versions at once: %v", errs)
	}
}

// testDelete proves that an instruction goes with its versions, and nothing is left for a second deletion.
func testDelete(t *testing.T, s stores) {
	in, other := s.make(t, "a"), s.make(t, "b")
	s.add(t, in, "c")
	if err := s.Delete(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{
		"delete": s.Delete(t.Context(), in), "delete version": s.DeleteVersion(t.Context(), in, 1),
		"get": func() error { _, err := s.Get(t.Context(), in.ID, 0); return err }(),
	} {
		if code(err) != "instruction_not_found" {
			t.Errorf("%s: %v", what, err)
		}
	}
	var n int
	if err := s.db.Reader(t.Context()).QueryRow(`SELECT COUNT(*) FROM instruction_versions`).Scan(&n); err != nil || n != 1 {
		t.Errorf("%d versions are left, want that of %s (%v)", n, other.ID, err)
	}
}

// testRefer proves what references name: by id the latest or one version, by name the instructions whose latest has it, also
// where there are more references than one statement takes.
func testRefer(t *testing.T, s stores) {
	one, twin := s.make(t, "a"), s.make(t, "b")
	two := s.add(t, one, "b")
	one.Latest = 2
	refs := []instruction.Reference{{ID: one.ID}, {ID: one.ID, Version: 1}, {ID: one.ID, Version: 7}, {ID: "ins_none"}, {Name: "a"}, {Name: "b"}}
	for i := range 1200 {
		refs = append(refs, instruction.Reference{ID: id.Instruction(fmt.Sprint("ins_", i)), Version: int64(i)})
	}
	slices.Reverse(refs)
	found, err := s.Refer(t.Context(), refs)
	if err != nil {
		t.Fatal(err)
	}
	for r, want := range map[instruction.Reference]*instruction.Instruction{{ID: one.ID}: &two, {ID: one.ID, Version: 1}: &one, {ID: one.ID, Version: 7}: nil, {ID: "ins_none"}: nil} {
		got, ok := found.Of(r)
		if ok != (want != nil) || ok && !cmp.Equal(got, *want) {
			t.Errorf("%+v names %+v, want %+v", r, got, want)
		}
	}
	if got := found.Named("a"); len(got) > 0 {
		t.Errorf("an earlier name names %v", got)
	}
	got := found.Named("b")
	slices.Sort(got)
	want := []id.Instruction{one.ID, twin.ID}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("two of a name: %v, want %v", got, want)
	}
}
