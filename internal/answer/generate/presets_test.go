package generate_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/answer/generate"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/llm"
	"quarry/internal/page"
)

// rows is a PresetStore in memory.
type rows struct {
	mu  sync.Mutex
	all []generate.Preset // guarded by mu; newest first
}

func (r *rows) put(p generate.Preset) {
	for i := range r.all {
		r.all[i].Default = r.all[i].Default && !p.Default
	}
	r.all = append(r.all, p)
	slices.SortFunc(r.all, func(a, b generate.Preset) int {
		if c := b.Created.Compare(a.Created); c != 0 {
			return c
		}
		return strings.Compare(string(b.ID), string(a.ID))
	})
}

func (r *rows) Create(_ context.Context, p generate.Preset) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if slices.ContainsFunc(r.all, func(o generate.Preset) bool { return o.Name == p.Name }) {
		return generate.ErrPresetTaken
	}
	r.put(p)
	return nil
}

func (r *rows) Get(_ context.Context, preset id.Preset) (generate.Preset, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.all {
		if p.ID == preset {
			return p, nil
		}
	}
	return generate.Preset{}, generate.ErrNoPreset
}

func (r *rows) Named(_ context.Context, names ...string) (out []generate.Preset, _ error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.all {
		if p.Default || slices.Contains(names, p.Name) {
			out = append(out, p)
		}
	}
	return out, nil
}

func (r *rows) List(_ context.Context, after *page.Position, limit int) (out []generate.Preset, _ error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.all {
		if len(out) < limit && after.Precedes(p.Position()) {
			out = append(out, p)
		}
	}
	return out, nil
}

func (r *rows) Replace(_ context.Context, p generate.Preset) (generate.Preset, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.all, func(o generate.Preset) bool { return o.ID == p.ID })
	if i < 0 {
		return p, generate.ErrNoPreset
	}
	if slices.ContainsFunc(r.all, func(o generate.Preset) bool { return o.Name == p.Name && o.ID != p.ID }) {
		return p, generate.ErrPresetTaken
	}
	p.Created = r.all[i].Created
	r.all = slices.Delete(r.all, i, i+1)
	r.put(p)
	return p, nil
}

func (r *rows) Delete(_ context.Context, preset id.Preset) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.all, func(o generate.Preset) bool { return o.ID == preset })
	if i < 0 {
		return generate.ErrNoPreset
	}
	r.all = slices.Delete(r.all, i, i+1)
	return nil
}

// models are language models of these names; "" is answered by the first.
type models []string

func (m models) Model(_ context.Context, name string) (*llm.Model, error) {
	if name == "" && len(m) > 0 {
		name = m[0]
	}
	if !slices.Contains(m, name) {
		f := fault.Invalid()
		f.Text = fmt.Sprintf("there is no language model %q", name)
		return nil, f
	}
	return &llm.Model{Name: name}, nil
}

func presets(names ...string) *generate.Presets {
	return generate.NewPresets(&rows{}, models(names))
}

func draft(name string) generate.Preset {
	return generate.Preset{Name: name, LLM: "local", Template: "Answer: $query", Enabled: true}
}

func mustCreate(t *testing.T, s *generate.Presets, p generate.Preset) generate.Preset {
	t.Helper()
	out, err := s.Create(t.Context(), p)
	if err != nil {
		t.Fatalf("create %s: %v", p.Name, err)
	}
	return out
}

// list returns all presets by name, read in pages of three.
func list(t *testing.T, s *generate.Presets, l generate.PresetList) (out []generate.Preset) {
	t.Helper()
	l.Limit = 3
	for {
		page, next, err := s.List(t.Context(), l)
		if err != nil || len(page) > 3 || next != nil && len(page) < 3 {
			t.Fatalf("%d presets, %v, %v", len(page), next, err)
		}
		out = append(out, page...)
		if l.After = next; next == nil {
			return out
		}
	}
}

func names(all []generate.Preset) (out []string) {
	for _, p := range all {
		out = append(out, p.Name)
	}
	return out
}

func defaults(all []generate.Preset) (out []string) {
	for _, p := range all {
		if p.Default {
			out = append(out, string(p.ID))
		}
	}
	return out
}

// Every name of the contract is a preset that answers, with a template that renders to a system and a user message.
func TestPlatformPresets(t *testing.T) {
	t.Parallel()
	s := presets("local")
	for _, name := range []string{
		"mockingbird-2.0", "rag-default", "vectara-summary-ext-24-05-med-omni", "summary-omni", "vectara-summary-ext-24-05-large", "summary-large",
		"vectara-summary-ext-24-05-med", "summary-medium", "vectara-summary-ext-24-05-sml", "summary-small",
		"vectara-summary-table-query-ext-dec-2024-gpt-4o", "summary-tables", "vectara-summary-ext-v1.2.0", "vectara-summary-ext-v1.3.0", "mockingbird-1.0-2024-07-16",
		"service-summary-ext-24-05-med-omni", "service-summary-ext-24-05-large", "service-summary-ext-24-05-sml", "service-summary-table-query-ext-dec-2024-gpt-4o",
	} {
		p, err := s.Find(t.Context(), name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		prompt, err := generate.CompilePrompt(p.Template)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got, err := prompt.Render(input())
		if err != nil || len(got.Messages) != 2 || got.Messages[0].Role != llm.System || got.Messages[1].Role != llm.User {
			t.Fatalf("%s: %+v, %v", name, got, err)
		}
		if !json.Valid([]byte(got.Text)) {
			t.Errorf("%s gives no JSON: %s", name, got.Text)
		}
		system, user := got.Messages[0].Plain(), got.Messages[1].Plain()
		for _, want := range []string{"German", "300 characters", "[n]"} {
			if want == "[n]" && strings.Contains(system, "[1]") {
				continue
			}
			if !strings.Contains(system, want) {
				t.Errorf("%s does not say %q: %s", name, want, system)
			}
		}
		for _, want := range []string{"[1] A talk\nShe said \"no\".\nThen she left.\n", "[2]\n#set ($x = 1) $vectaraQuery ${r.getText()}", `Question: Who said "no"?`} {
			if !strings.Contains(user, want) {
				t.Errorf("%s does not hold %q: %s", name, want, user)
			}
		}
		if tables := strings.Contains(user, "| 2023 |"); tables != strings.Contains(name, "table") {
			t.Errorf("%s gives tables: %v", name, tables)
		}
	}
	all := list(t, s, generate.PresetList{})
	if len(all) != 15 || all[0].Name != "mockingbird-2.0" || !slices.Equal(defaults(all), []string{"gnp_mockingbird-2.0"}) {
		t.Errorf("listed are %v, default %v", names(all), defaults(all))
	}
	for _, p := range all {
		if p.LLM != "local" || !p.Enabled || !p.Platform || p.MaxResults == 0 || p.Description == "" {
			t.Errorf("%+v", p)
		}
	}
}

// Presets are enabled when their model answers now, and say which one that is.
func TestEnabled(t *testing.T) {
	t.Parallel()
	r := &rows{}
	s := generate.NewPresets(r, models{"first", "local"})
	off := draft("off")
	off.Enabled = false
	mustCreate(t, s, off)
	mustCreate(t, s, draft("on"))
	for _, p := range list(t, s, generate.PresetList{}) {
		if want := map[bool]string{true: "first", false: "local"}[p.Platform]; p.Enabled != (p.Name != "off") || p.LLM != want {
			t.Errorf("%s: enabled %v, answered by %s", p.Name, p.Enabled, p.LLM)
		}
	}
	for _, p := range list(t, generate.NewPresets(r, models{}), generate.PresetList{}) {
		if p.Enabled {
			t.Errorf("%s is enabled without a model", p.Name)
		}
	}
	for name, want := range map[string]string{"off": "disabled", "nothing": "no generation preset", "gnp_mockingbird-2.0": "no generation preset"} {
		_, err := s.Find(t.Context(), name)
		if f, ok := fault.As(err); !ok || f.Kind != fault.KindInvalid || len(f.Fields) > 0 || !strings.Contains(f.Text, want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Exactly one preset is the default, and it is the one that is found without a name: the last one made so, while it is
// enabled; else that of the platform.
func TestDefault(t *testing.T) {
	t.Parallel()
	s := presets("local")
	check := func(want string) {
		t.Helper()
		p, err := s.Find(t.Context(), "")
		if got := defaults(list(t, s, generate.PresetList{})); err != nil || !slices.Equal(got, []string{want}) || string(p.ID) != want || !p.Default {
			t.Fatalf("the default is %v, found %s, %v; want %s", got, p.ID, err, want)
		}
	}
	check("gnp_mockingbird-2.0")
	one, two := draft("one"), draft("two")
	one.Default, two.Default = true, true
	one = mustCreate(t, s, one)
	check(string(one.ID))
	two = mustCreate(t, s, two)
	check(string(two.ID))
	two.Enabled = false
	if _, err := s.Replace(t.Context(), two); err != nil {
		t.Fatal(err)
	}
	check("gnp_mockingbird-2.0")
	two.Enabled, two.Default = true, false
	if out, err := s.Replace(t.Context(), two); err != nil || out.Default {
		t.Fatal(out, err)
	}
	check("gnp_mockingbird-2.0")
	same := mustCreate(t, s, draft("mockingbird-2.0")) // takes the name, and with it the place
	check(string(same.ID))
	same.Enabled = false
	if _, err := s.Replace(t.Context(), same); err != nil {
		t.Fatal(err)
	}
	check("gnp_mockingbird-2.0")
	one.Default = true
	if _, err := s.Replace(t.Context(), one); err != nil {
		t.Fatal(err)
	}
	check(string(one.ID))
	if err := s.Delete(t.Context(), one.ID); err != nil {
		t.Fatal(err)
	}
	check("gnp_mockingbird-2.0")
}

// A preset of the customer takes a platform's name over until it is deleted; those of the platform can't be changed.
func TestOverride(t *testing.T) {
	t.Parallel()
	s := presets("local")
	own := mustCreate(t, s, draft("summary-omni"))
	if p, err := s.Find(t.Context(), "summary-omni"); err != nil || p.ID != own.ID {
		t.Errorf("found %s, %v", p.ID, err)
	}
	if got := names(list(t, s, generate.PresetList{})); got[0] != "summary-omni" || slices.Contains(got[1:], "summary-omni") {
		t.Errorf("listed are %v", got)
	}
	if _, err := s.Create(t.Context(), draft("summary-omni")); fieldOf(err) != "name" {
		t.Errorf("a name twice: %v", err)
	}
	other := mustCreate(t, s, draft("other"))
	other.Name = "summary-omni"
	if _, err := s.Replace(t.Context(), other); fieldOf(err) != "name" {
		t.Errorf("a name twice: %v", err)
	}
	if err := s.Delete(t.Context(), own.ID); err != nil {
		t.Fatal(err)
	}
	if p, err := s.Find(t.Context(), "summary-omni"); err != nil || !p.Platform {
		t.Errorf("found %s, %v", p.ID, err)
	}
	p := draft("x")
	for preset, want := range map[id.Preset]fault.Kind{"gnp_summary-omni": fault.KindForbidden, "gnp_none": fault.KindNotFound, "summary-omni": fault.KindNotFound} {
		p.ID = preset
		_, err := s.Replace(t.Context(), p)
		for what, err := range map[string]error{"replace": err, "delete": s.Delete(t.Context(), preset)} {
			if f, ok := fault.As(err); !ok || f.Kind != want {
				t.Errorf("%s of %s: %v", what, preset, err)
			}
		}
	}
}

func fieldOf(err error) string {
	f, ok := fault.As(err)
	if !ok || f.Kind != fault.KindInvalid || len(f.Fields) == 0 {
		return ""
	}
	return strings.Join(f.Paths(), " ")
}

// Everything that is wrong with a preset is told at once, by field.
func TestCheck(t *testing.T) {
	t.Parallel()
	s := presets("local")
	number := func(f float64) *float64 { return &f }
	for _, c := range []struct {
		change func(*generate.Preset)
		want   string
	}{
		{func(p *generate.Preset) { p.Name = " " }, "name"},
		{func(p *generate.Preset) { p.Name = strings.Repeat("x", 256) }, "name"},
		{func(p *generate.Preset) { p.Description = strings.Repeat("x", 10_001) }, "description"},
		{func(p *generate.Preset) { p.LLM, p.Template = "none", "#if" }, "llm_name prompt_template"},
		{func(p *generate.Preset) { p.LLM, p.Template = "", "" }, "llm_name prompt_template"},
		{func(p *generate.Preset) {
			p.Temperature, p.PresencePenalty, p.FrequencyPenalty = number(2.1), number(-0.1), number(1.1)
		},
			"frequency_penalty presence_penalty temperature"},
	} {
		p := draft("x")
		c.change(&p)
		_, err := s.Create(t.Context(), p)
		if got := fieldOf(err); got != c.want {
			t.Errorf("%v, want faults of %s", err, c.want)
		}
	}
}

// A replacement leaves nothing of what was, but id and age.
func TestReplace(t *testing.T) {
	t.Parallel()
	s := presets("local", "other")
	p := draft("one")
	p.Description, p.MaxResults, p.Default = "first", 3, true
	p = mustCreate(t, s, p)
	want := generate.Preset{ID: p.ID, Name: "two", LLM: "other", Template: "x", Enabled: true, Created: p.Created}
	got, err := s.Replace(t.Context(), generate.Preset{ID: p.ID, Name: "two", LLM: "other", Template: "x", Enabled: true, Created: time.Now().Add(time.Hour)})
	if got.Updated.Before(p.Updated) {
		t.Errorf("updated %v", got.Updated)
	}
	got.Updated = time.Time{}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got): %s", err, diff)
	}
}

// Lists are filtered by model and expression.
func TestListFilters(t *testing.T) {
	t.Parallel()
	s := presets("first", "local")
	for i := range 7 {
		p := draft(fmt.Sprintf("own %d", i))
		p.Description = "Number " + p.Name[4:]
		mustCreate(t, s, p)
	}
	for _, c := range []struct {
		list generate.PresetList
		want int
	}{
		{generate.PresetList{LLM: "local"}, 7}, {generate.PresetList{LLM: "first"}, 15}, {generate.PresetList{LLM: "firs"}, 0},
		{generate.PresetList{Match: regexp.MustCompile("^own [0-3]")}, 4}, {generate.PresetList{Match: regexp.MustCompile("Number [56]")}, 2},
		{generate.PresetList{LLM: "local", Match: regexp.MustCompile("mockingbird")}, 0}, {generate.PresetList{}, 22},
	} {
		if got := list(t, s, c.list); len(got) != c.want {
			t.Errorf("%+v lists %v, want %d", c.list, names(got), c.want)
		}
	}
}

// A failure of the store is passed on, and is no fault of the request.
func TestStoreFails(t *testing.T) {
	t.Parallel()
	broken := errors.New("disk full")
	s := generate.NewPresets(failing{err: broken}, models{"local"})
	_, found := s.Find(t.Context(), "")
	_, created := s.Create(t.Context(), draft("x"))
	_, _, listed := s.List(t.Context(), generate.PresetList{Limit: 1})
	for _, err := range []error{found, created, listed, s.Delete(t.Context(), "gnp_x")} {
		if _, ok := fault.As(err); ok || !errors.Is(err, broken) {
			t.Error(err)
		}
	}
}

type failing struct {
	generate.PresetStore
	err error
}

func (f failing) Named(context.Context, ...string) ([]generate.Preset, error) { return nil, f.err }
func (f failing) Create(context.Context, generate.Preset) error               { return f.err }
func (f failing) Get(context.Context, id.Preset) (generate.Preset, error) {
	return generate.Preset{}, f.err
}
