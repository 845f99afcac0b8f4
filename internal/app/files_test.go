package app_test

import (
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"quarry/internal/app/apptest"
	"quarry/internal/config"
	"quarry/internal/corpus"
	"quarry/internal/corpus/ingest"
)

// TestKeptFiles proves that the bytes of an uploaded file are kept where the setting says so and nowhere else, once however often they
// come, and that nothing is kept of a file that is refused.
func TestKeptFiles(t *testing.T) {
	t.Parallel()
	for _, keep := range []bool{true, false} {
		t.Run(fmt.Sprint(keep), func(t *testing.T) {
			t.Parallel()
			var folder string
			a, key := apptest.Start(t, func(c *config.Config) { c.KeepFiles, folder = keep, c.Data })
			for _, corpusKey := range []string{"a", "b"} {
				if _, err := a.Corpora.Create(t.Context(), corpus.Create{Key: corpusKey}); err != nil {
					t.Fatal(err)
				}
				upload := ingest.Upload{ID: "plan.txt", Name: "plan.txt", Data: []byte("The boiler is in the cellar.")}
				for range 2 {
					if _, err := a.Ingest.Upload(t.Context(), corpusKey, upload); err != nil {
						t.Fatal(err)
					}
				}
				upload.Data = []byte("Another file under the same name.")
				if _, err := a.Ingest.Upload(t.Context(), corpusKey, upload); err == nil {
					t.Error("a taken id was given again")
				}
				if _, err := a.Ingest.Upload(t.Context(), corpusKey, ingest.Upload{ID: "x.pdf", Name: "x.pdf", Data: []byte("%PDF-1.7 broken")}); err == nil {
					t.Error("a broken file was taken")
				}
			}
			r := httptest.NewRequestWithContext(t.Context(), "GET", "/v2/corpora/b/files/plan.txt", http.NoBody)
			r.Header.Set("x-api-key", key)
			w := httptest.NewRecorder()
			a.Handler().ServeHTTP(w, r)
			status, bytes, kept := http.StatusOK, "The boiler is in the cellar.", 1
			if !keep {
				status, bytes, kept = http.StatusNotFound, "", 0
			}
			if w.Code != status || keep && w.Body.String() != bytes {
				t.Errorf("%d %s", w.Code, w.Body)
			}
			if n := contents(t, filepath.Join(folder, "blobs"), int64(len(bytes))); n != kept {
				t.Errorf("%d files have the bytes, want %d", n, kept)
			}
		})
	}
}

// contents counts the files of a size below a folder.
func contents(t *testing.T, folder string, size int64) (n int) {
	t.Helper()
	err := filepath.WalkDir(folder, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Size() == size && size > 0 {
			n++
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}
