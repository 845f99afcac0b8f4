package folder

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestArchivesInStep proves that archives and JSON lines are kept in step as folders are, several at once, through kills:
// documents come, change and go with the members and lines, and each place removes only its own.
func TestArchivesInStep(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	w := newWorld(t, r, 0)
	must(t, os.MkdirAll(w.tree.dir, 0o700))
	w.places = []string{w.tree.path("x.zip"), w.tree.path("x.tar.gz"), w.tree.path("x.jsonl")}
	for range *rounds {
		for range 40 {
			w.pack(t)
		}
		for range r.IntN(2) {
			w.disturbed(t, 1+r.IntN(30))
			w.whole(t)
			w.pack(t)
		}
		w.undisturbed(t)
		w.equal(t)
	}
}

// pack changes one document of the model and writes all places anew. Those of a place have its name in front.
func (w *world) pack(t *testing.T) {
	t.Helper()
	m := w.tree
	ids := slices.Sorted(maps.Keys(m.texts))
	switch {
	case len(ids) > 20 && w.r.IntN(3) == 0:
		delete(m.texts, pick(w.r, ids...))
	case len(ids) > 20 && w.r.IntN(3) == 0:
		m.holds(pick(w.r, ids...), m.text())
	default:
		m.holds(pick(w.r, "zip/", "tar/", "line/")+m.name(), m.text())
	}
	var zipped, tarred, lines bytes.Buffer
	z, packed := zip.NewWriter(&zipped), gzip.NewWriter(&tarred)
	a := tar.NewWriter(packed)
	for _, id := range slices.Sorted(maps.Keys(m.texts)) {
		text := []byte(m.texts[id])
		switch {
		case strings.HasPrefix(id, "zip/"):
			f, err := z.Create(id)
			must(t, err)
			_, err = f.Write(text)
			must(t, err)
		case strings.HasPrefix(id, "tar/"): // without times: only the content shows that a member changed
			must(t, a.WriteHeader(&tar.Header{Name: id, Mode: 0o600, Size: int64(len(text))}))
			_, err := a.Write(text)
			must(t, err)
		default:
			must(t, json.NewEncoder(&lines).Encode(map[string]any{
				"id": id, "type": "core", "document_parts": []any{map[string]any{"text": strings.TrimSpace(string(text))}},
			}))
		}
	}
	must(t, z.Close())
	must(t, a.Close())
	must(t, packed.Close())
	for i, data := range [][]byte{zipped.Bytes(), tarred.Bytes(), lines.Bytes()} {
		must(t, os.WriteFile(filepath.Clean(w.places[i]), data, 0o600))
	}
}
