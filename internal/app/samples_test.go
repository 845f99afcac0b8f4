package app_test

import (
	"bytes"
	"errors"
	"io/fs"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"quarry/internal/app/apptest"
	"quarry/internal/testkit"
)

// TestSamples proves that each file of the samples that another parser reads is indexed, or is refused because nothing recognises text in pictures here: by
// the upload door, without a declared type.
func TestSamples(t *testing.T) {
	t.Parallel()
	const dir = "../../../shared/data/parse-samples"
	files, err := filepath.Glob(dir + "/*/sources/*")
	if _, missing := os.Stat(dir); errors.Is(missing, fs.ErrNotExist) {
		testkit.Skip(t, "sample files are not on this machine")
	}
	if err != nil || len(files) == 0 {
		t.Fatalf("%d samples, %v", len(files), err)
	}
	a, key := apptest.Start(t, nil)
	send := func(path, kind string, body []byte) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), "POST", path, bytes.NewReader(body))
		r.Header.Set("Content-Type", kind)
		r.Header.Set("x-api-key", key)
		w := httptest.NewRecorder()
		a.Handler().ServeHTTP(w, r)
		return w
	}
	if w := send("/v2/corpora", "application/json", []byte(`{"key":"samples"}`)); w.Code != http.StatusCreated {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		form := multipart.NewWriter(&b)
		part, err := form.CreateFormFile("file", url.PathEscape(filepath.Base(file)))
		if err == nil {
			_, err = part.Write(data)
		}
		if err = errors.Join(err, form.Close()); err != nil {
			t.Fatal(err)
		}
		want := http.StatusCreated
		if filepath.Ext(file) == ".png" { // nothing recognises its text here
			want = http.StatusBadRequest
		}
		if w := send("/v2/corpora/samples/upload_file", form.FormDataContentType(), b.Bytes()); w.Code != want {
			t.Errorf("%s: %d, want %d: %.300s", file, w.Code, want, w.Body)
		}
	}
}
