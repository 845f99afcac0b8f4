package folder

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const folders = 30

// tree is a folder on the disk with the model of it.
type tree struct {
	dir   string
	r     *rand.Rand
	texts map[string]string          // of the files, by id
	ever  map[string]map[string]bool // every text that a file of this id has had
	fresh int                        // makes names and texts unique
	least int                        // files that stay
	new   []string                   // ids that were written or moved to since the last change, some of them gone again
}

func newTree(t *testing.T, r *rand.Rand, size int) *tree {
	m := &tree{dir: filepath.Join(t.TempDir(), "tree"), r: r, texts: map[string]string{}, ever: map[string]map[string]bool{}, least: size * 9 / 10}
	for range size {
		m.add(t)
	}
	return m
}

// word is a term that only one text has; all texts have the same length.
func word(n int) string { return fmt.Sprintf("zeta%06dq", n) }

func (m *tree) text() string {
	m.fresh++
	return "Valve " + word(m.fresh) + " opens at three bar.\n"
}

// name returns a path where nothing stands.
func (m *tree) name() string {
	m.fresh++
	folder := fmt.Sprintf("f%d", m.r.IntN(folders))
	if m.r.IntN(3) == 0 {
		folder += fmt.Sprintf("/g %d", m.r.IntN(3))
	}
	odd := pick(m.r, "", "", "", " copy", "ü", "%20", "'s", "&x=1", "ก", "#2", "+", "[1]", "..", "?")
	return fmt.Sprintf("%s/n%d%s%s", folder, m.fresh, odd, pick(m.r, ".md", ".txt", ".rst", ".py", ".yaml"))
}

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

// any returns one of the files, half of the times one that was changed last, which a killed run may have had in hand.
func (m *tree) any() string {
	if len(m.new) > 0 && m.r.IntN(2) == 0 {
		if id := pick(m.r, m.new...); m.texts[id] != "" {
			return id
		}
	}
	return pick(m.r, slices.Sorted(maps.Keys(m.texts))...)
}

func (m *tree) path(id string) string { return filepath.Join(m.dir, filepath.FromSlash(id)) }

// holds notes that a file has a text.
func (m *tree) holds(id, text string) {
	m.texts[id] = text
	m.new = append(m.new, id)
	if m.ever[id] == nil {
		m.ever[id] = map[string]bool{}
	}
	m.ever[id][text] = true
}

func (m *tree) write(t *testing.T, id, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(m.path(id)), 0o700))
	must(t, os.WriteFile(m.path(id), []byte(text), 0o600))
	m.holds(id, text)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (m *tree) add(t *testing.T) { m.write(t, m.name(), m.text()) }

// move renames a file or folder to where nothing stands, and with it all that is below.
func (m *tree) move(t *testing.T, from, to string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(m.path(to)), 0o700))
	must(t, os.Rename(m.path(from), m.path(to)))
	for _, id := range slices.Collect(maps.Keys(m.texts)) {
		if rest, inside := strings.CutPrefix(id, from); inside && (rest == "" || rest[0] == '/') {
			m.holds(to+rest, m.texts[id])
			delete(m.texts, id)
		}
	}
}

// remove deletes a file or folder.
func (m *tree) remove(t *testing.T, at string) {
	t.Helper()
	must(t, os.RemoveAll(m.path(at)))
	for id := range m.texts {
		if id == at || strings.HasPrefix(id, at+"/") {
			delete(m.texts, id)
		}
	}
}

// change makes n random changes.
func (m *tree) change(t *testing.T, n int) {
	t.Helper()
	before := len(m.new)
	for range n {
		m.one(t)
	}
	m.new = m.new[before:]
	for len(m.texts) < m.least {
		m.add(t)
	}
}

func (m *tree) one(t *testing.T) {
	t.Helper()
	id := m.any()
	switch m.r.IntN(12) {
	case 0, 1:
		m.write(t, id, m.text())
	case 2: // in secret: size and time stay
		info, err := os.Stat(m.path(id))
		must(t, err)
		m.write(t, id, m.text())
		must(t, os.Chtimes(m.path(id), info.ModTime(), info.ModTime()))
	case 3, 4:
		m.add(t)
	case 5, 6:
		m.move(t, id, m.name())
	case 7:
		if other := m.any(); other != id {
			m.move(t, id, "between")
			m.move(t, other, id)
			m.move(t, "between", other)
		}
	case 8:
		m.remove(t, id)
	case 9:
		at := time.Now().Add(-time.Duration(m.r.IntN(1e6)) * time.Second)
		must(t, os.Chtimes(m.path(id), at, at))
	case 10: // a folder elsewhere
		m.fresh++
		m.move(t, path.Dir(id), fmt.Sprintf("moved%d", m.fresh))
	case 11: // a file becomes a folder
		m.remove(t, id)
		m.write(t, id+"/inside.md", m.text())
	}
}
