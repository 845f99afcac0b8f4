package state_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"quarry/internal/folder/state"
)

var key = state.Key{Service: "http://127.0.0.1:8080", Corpus: "docs", Root: "/home/a/docs", CorpusID: "crp_1"}

func open(t testing.TB, dir string, k state.Key) *state.Journal {
	t.Helper()
	j, err := state.Open(dir, k)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	return j
}

// all returns the entries of a journal by id.
func all(j *state.Journal) map[string]state.Entry {
	out := map[string]state.Entry{}
	for e := range j.All() {
		out[e.ID] = e
	}
	return out
}

func entry(i int) state.Entry {
	return state.Entry{
		ID: fmt.Sprintf("dir/file %d.md", i), Outcome: state.Done, Mine: true, Size: int64(i), Modified: 1e18 + int64(i),
		Identity: "7.9", Sum: state.Sum{byte(i), 1}, Options: "chars=900",
	}
}

// TestModel proves that a journal holds what was put last for each id and not forgotten since, before and after it is
// opened again, whether it was closed or its process killed.
func TestModel(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		dir := filepath.Join(root, fmt.Sprint(n))
		model := map[string]state.Entry{}
		j, err := state.Open(dir, key)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = j.Close() }()
		check := func() {
			if d := cmp.Diff(model, all(j)); d != "" || j.Note() != "" {
				t.Fatalf("%s %s", j.Note(), d)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"": func(*rapid.T) { check() },
			"put": func(t *rapid.T) {
				e := state.Entry{
					ID: rapid.StringN(1, 20, -1).Draw(t, "id"), Outcome: rapid.SampledFrom([]state.Outcome{state.Sending, state.Done, state.Failed}).Draw(t, "is"),
					Mine: rapid.Bool().Draw(t, "mine"), Size: rapid.Int64Min(0).Draw(t, "size"), Recent: rapid.Bool().Draw(t, "recent"),
				}
				j.Put(e)
				model[e.ID] = e
			},
			"forget": func(t *rapid.T) {
				id := rapid.StringN(1, 2, -1).Draw(t, "id")
				j.Forget(id)
				delete(model, id)
			},
			"open again": func(t *rapid.T) {
				if err := j.Close(); err != nil {
					t.Fatal(err)
				}
				if j, err = state.Open(dir, key); err != nil {
					t.Fatal(err)
				}
			},
		})
	})
}

// file returns the path of the only journal in dir.
func file(t *testing.T, dir string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "*.journal"))
	if err != nil || len(found) != 1 {
		t.Fatalf("%v %v", found, err)
	}
	return found[0]
}

// filled returns the bytes of a journal with n entries, and the entries.
func filled(t *testing.T, n int) ([]byte, map[string]state.Entry) {
	t.Helper()
	dir := t.TempDir()
	j := open(t, dir, key)
	for i := range n {
		j.Put(entry(i))
	}
	want := all(j)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(file(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	return raw, want
}

// damagedBy opens the journal after its bytes were replaced and checks that it says so, and that the second time it is whole.
func damagedBy(t *testing.T, dir string, raw []byte, want map[string]state.Entry) {
	t.Helper()
	if err := os.WriteFile(file(t, dir), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	j := open(t, dir, key)
	got := all(j)
	for id, e := range got {
		if e != want[id] {
			t.Fatalf("holds %+v, which was never written", e)
		}
	}
	if !strings.Contains(j.Note(), "damaged") {
		t.Fatalf("says %q", j.Note())
	}
	j.Put(entry(99))
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	j = open(t, dir, key)
	got[entry(99).ID] = entry(99)
	if d := cmp.Diff(got, all(j)); d != "" || j.Note() != "" {
		t.Fatalf("after the repair: %q %s", j.Note(), d)
	}
}

// TestDamage proves that of a journal that is cut off, or has garbage, at any byte what can still be trusted is taken:
// never an entry that was not written, and the entries of all lines that are whole.
func TestDamage(t *testing.T) {
	t.Parallel()
	raw, want := filled(t, 4)
	header := bytes.IndexByte(raw, '\n') + 1
	check := func(at int, raw []byte, least int) {
		t.Helper()
		got, damaged := state.Read(raw)
		for id, e := range got {
			if e != want[id] {
				t.Fatalf("at %d: holds %+v, which was never written", at, e)
			}
		}
		if at >= header && len(got) < least {
			t.Fatalf("at %d of %d: %d entries, want %d", at, len(raw), len(got), least)
		}
		if len(got) < len(want) && !damaged && raw[len(raw)-1] != '\n' {
			t.Fatalf("at %d: %d of %d entries, and no damage is seen", at, len(got), len(want))
		}
	}
	for at := 1; at < len(raw); at++ {
		check(at, raw[:at], bytes.Count(raw[:at], []byte("\n"))-1)
		lost := 1
		if raw[at] == '\n' { // it parts two lines
			lost = 2
		}
		for _, b := range []byte{raw[at] ^ 1, '\n', 0} {
			garbled := bytes.Clone(raw)
			garbled[at] = b
			check(at, garbled, len(want)-lost)
		}
	}
}

// TestRepair proves that a damaged journal is opened and said to be damaged, and that it is whole the next time.
func TestRepair(t *testing.T) {
	t.Parallel()
	raw, want := filled(t, 4)
	for name, damaged := range map[string][]byte{
		"empty": nil, "cut": raw[:len(raw)-5], "no header": raw[10:], "one line": bytes.Repeat([]byte{'x'}, 3<<20),
		"garbage behind": append(bytes.Clone(raw), bytes.Repeat([]byte{'x'}, 3<<20)...),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			_ = open(t, dir, key).Close()
			damagedBy(t, dir, damaged, want)
		})
	}
}

// TestOtherCorpus proves that the state of a corpus that had the key before counts for nothing, and that the user learns it.
func TestOtherCorpus(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := open(t, dir, key)
	j.Put(entry(1))
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	anew := key
	anew.CorpusID = "crp_2"
	j = open(t, dir, anew)
	if len(all(j)) != 0 || !strings.Contains(j.Note(), "made anew") {
		t.Errorf("%v %q", all(j), j.Note())
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if j = open(t, dir, anew); j.Note() != "" {
		t.Errorf("says it again: %q", j.Note())
	}
}

// TestHeld proves that a journal is open once at a time, and that the second learns who has it.
func TestHeld(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := open(t, dir, key)
	var held *state.HeldError
	if _, err := state.Open(dir, key); !errors.As(err, &held) || held.PID != os.Getpid() {
		t.Fatalf("%v", err)
	}
	other := key
	other.Root = "/home/a/other"
	_ = open(t, dir, other)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	_ = open(t, dir, key)
}

// TestCompaction proves that a journal does not grow with the number of runs.
func TestCompaction(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for range 10 {
		j := open(t, dir, key)
		for i := range 1500 {
			j.Put(entry(i % 3))
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
	_ = open(t, dir, key).Close()
	info, err := os.Stat(file(t, dir))
	if err != nil || info.Size() > 2000 {
		t.Errorf("%d bytes for 3 entries (%v)", info.Size(), err)
	}
}

// TestUnwritable proves that a folder that can't be written is an error, after which a journal in memory serves.
func TestUnwritable(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := state.Open(name, key); err == nil {
		t.Error("a file as a folder is no error")
	}
	j := state.Memory()
	j.Put(entry(1))
	if got := maps.Collect(maps.All(all(j))); len(got) != 1 || j.Close() != nil {
		t.Errorf("%v", got)
	}
}
