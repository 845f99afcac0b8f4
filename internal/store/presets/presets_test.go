package presets_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/answer/generate"
	"quarry/internal/id"
	"quarry/internal/page"
	"quarry/internal/store"
	"quarry/internal/store/presets"
	"quarry/internal/store/storetest"
)

// TestStore proves that the store of presets keeps the promises of generate.PresetStore on both databases.
func TestStore(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(_ *testing.T, db *store.DB) *presets.Store { return presets.New(db) }, map[string]func(*testing.T, *presets.Store){
		"create and get": testCreate, "taken": testTaken, "taken at once": testTakenAtOnce, "named": testNamed,
		"default": testDefault, "defaults at once": testDefaultsAtOnce, "list": testList, "replace": testReplace, "delete": testDelete,
	})
}

// preset returns a preset to create, with every member set; n sets its age.
func preset(name string, n int) generate.Preset {
	tokens, half, zero, one := 7, 0.5, 0.0, 1.0
	at := time.UnixMicro(1_900_000_000_000_000 + int64(n)).UTC()
	return generate.Preset{
		ID: id.NewPreset(), Name: name, Description: "all about " + name, LLM: "a/ü", Template: "Answer:\n$query \"x\"", MaxResults: 12,
		MaxTokens: &tokens, Temperature: &half, FrequencyPenalty: &zero, PresencePenalty: &one,
		Extra: map[string]json.RawMessage{"seed": json.RawMessage("12345678901234567890")}, Enabled: true, Created: at, Updated: at,
	}
}

func add(t *testing.T, s *presets.Store, p generate.Preset) generate.Preset {
	t.Helper()
	if err := s.Create(t.Context(), p); err != nil {
		t.Fatalf("create %q: %v", p.Name, err)
	}
	return p
}

func same(t *testing.T, what string, want, got generate.Preset, err error) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%s: %v (-want +got): %s", what, err, diff)
	}
}

// testCreate proves that a preset comes back as written, with everything set and with nothing.
func testCreate(t *testing.T, s *presets.Store) {
	full := add(t, s, preset(strings.Repeat("名", 254)+"/", 1))
	got, err := s.Get(t.Context(), full.ID)
	same(t, "full", full, got, err)
	bare := add(t, s, generate.Preset{ID: id.NewPreset(), Name: "bare", Created: full.Created, Updated: full.Updated})
	got, err = s.Get(t.Context(), bare.ID)
	same(t, "bare", bare, got, err)
	if _, err := s.Get(t.Context(), "gnp_none"); !errors.Is(err, generate.ErrNoPreset) {
		t.Errorf("a preset that does not exist: %v", err)
	}
}

// testTaken proves that a name is taken once, by its letters as they are, and that what was refused changes nothing.
func testTaken(t *testing.T, s *presets.Store) {
	first := add(t, s, preset("a", 1))
	second := preset("a", 2)
	second.Default = true
	if err := s.Create(t.Context(), second); !errors.Is(err, generate.ErrPresetTaken) {
		t.Fatalf("a name taken: %v", err)
	}
	add(t, s, preset("A", 3))
	got, err := s.Named(t.Context(), "a")
	if err != nil || len(got) != 1 || got[0].ID != first.ID || got[0].Default {
		t.Errorf("a is %+v, %v", got, err)
	}
}

// testTakenAtOnce proves that of several creations of one name at once one succeeds.
func testTakenAtOnce(t *testing.T, s *presets.Store) {
	var made, refused atomic.Int64
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			switch err := s.Create(t.Context(), preset("one", i)); {
			case err == nil:
				made.Add(1)
			case errors.Is(err, generate.ErrPresetTaken):
				refused.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	group.Wait()
	if made.Load() != 1 || refused.Load() != 7 {
		t.Errorf("%d made, %d refused", made.Load(), refused.Load())
	}
}

func ids(all []generate.Preset) (out []id.Preset) {
	for _, p := range all {
		out = append(out, p.ID)
	}
	slices.Sort(out)
	return out
}

// testNamed proves that the presets of names come with the default one, each once, and no others.
func testNamed(t *testing.T, s *presets.Store) {
	a, b := add(t, s, preset("a", 1)), add(t, s, preset("b", 2))
	d := preset("d", 3)
	d.Default = true
	add(t, s, d)
	for _, c := range []struct{ names, want string }{
		{"a", string(a.ID + "," + d.ID)}, {"a,b,none", string(a.ID + "," + b.ID + "," + d.ID)}, {"d", string(d.ID)}, {"none", string(d.ID)},
	} {
		got, err := s.Named(t.Context(), strings.Split(c.names, ",")...)
		want := strings.Split(c.want, ",")
		slices.Sort(want)
		if fmt.Sprint(ids(got)) != fmt.Sprint(want) || err != nil {
			t.Errorf("%s: %v, %v, want %v", c.names, ids(got), err, want)
		}
	}
}

func theDefault(t *testing.T, s *presets.Store) (out []string) {
	t.Helper()
	found, err := s.List(t.Context(), nil, 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range found {
		if p.Default {
			out = append(out, p.Name)
		}
	}
	return out
}

// testDefault proves that the flag moves, is given up, and goes with its preset.
func testDefault(t *testing.T, s *presets.Store) {
	check := func(want ...string) {
		t.Helper()
		if got := theDefault(t, s); !slices.Equal(got, want) {
			t.Fatalf("the default is %v, want %v", got, want)
		}
	}
	a, b := preset("a", 1), add(t, s, preset("b", 2))
	a.Default = true
	add(t, s, a)
	check("a")
	b.Default = true
	if _, err := s.Replace(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	check("b")
	a.Default = false // it is not any more, and to say so takes it from nobody
	if _, err := s.Replace(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	check("b")
	b.Default = false
	if _, err := s.Replace(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	check()
	b.Default = true
	if _, err := s.Replace(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(t.Context(), b.ID); err != nil {
		t.Fatal(err)
	}
	check()
}

// testDefaultsAtOnce proves that of several defaults made at once one is left.
func testDefaultsAtOnce(t *testing.T, s *presets.Store) {
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			p := preset(fmt.Sprint(i), i)
			p.Default = true
			if err := s.Create(t.Context(), p); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if got := theDefault(t, s); len(got) != 1 {
		t.Errorf("the defaults are %v", got)
	}
}

// testList proves that lists are newest first and go on where the page before ended.
func testList(t *testing.T, s *presets.Store) {
	var want []string
	for i := range 7 {
		p := add(t, s, preset(fmt.Sprint(i), i/2)) // pairs of one age go by id
		want = append(want, fmt.Sprintf("%d %s", p.Created.UnixMicro(), p.ID))
	}
	slices.Sort(want)
	slices.Reverse(want)
	for _, limit := range []int{1, 3, 7, 100} {
		var got []string
		var after *page.Position
		for {
			found, err := s.List(t.Context(), after, limit)
			if err != nil || len(found) > limit {
				t.Fatalf("%d presets, %v", len(found), err)
			}
			for _, p := range found {
				got = append(got, fmt.Sprintf("%d %s", p.Created.UnixMicro(), p.ID))
				after = p.Position()
			}
			if len(found) < limit {
				break
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("by %d: %v, want %v", limit, got, want)
		}
	}
}

// testReplace proves that all but id and age is replaced, and nothing when the name is another's.
func testReplace(t *testing.T, s *presets.Store) {
	was, other := add(t, s, preset("a", 1)), add(t, s, preset("other", 2))
	want := generate.Preset{ID: was.ID, Name: "b", LLM: "y", Template: "z", Created: was.Created, Updated: was.Updated.Add(time.Hour)}
	change := want
	change.Created = time.Now()
	got, err := s.Replace(t.Context(), change)
	same(t, "given", want, got, err)
	got, err = s.Get(t.Context(), was.ID)
	same(t, "kept", want, got, err)
	change.Name, change.LLM, change.Default = other.Name, "lost", true
	if _, err := s.Replace(t.Context(), change); !errors.Is(err, generate.ErrPresetTaken) {
		t.Errorf("a name taken: %v", err)
	}
	got, err = s.Get(t.Context(), was.ID)
	same(t, "after the refusal", want, got, err)
	change.ID = "gnp_none"
	if _, err := s.Replace(t.Context(), change); !errors.Is(err, generate.ErrNoPreset) {
		t.Errorf("a preset that does not exist: %v", err)
	}
	if got := theDefault(t, s); len(got) > 0 {
		t.Errorf("the default is %v", got)
	}
}

// testDelete proves that a deleted preset is gone and its name free.
func testDelete(t *testing.T, s *presets.Store) {
	p := add(t, s, preset("a", 1))
	if err := s.Delete(t.Context(), p.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(t.Context(), p.ID); !errors.Is(err, generate.ErrNoPreset) {
		t.Errorf("read: %v", err)
	}
	if err := s.Delete(t.Context(), p.ID); !errors.Is(err, generate.ErrNoPreset) {
		t.Errorf("deleted twice: %v", err)
	}
	add(t, s, preset("a", 2))
}
