package app_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"quarry/internal/app/apptest"
	"quarry/internal/config"
	"quarry/internal/corpus"
	"quarry/internal/corpus/ingest"
)

// TestKeptImages proves that the embedded pictures of an uploaded file are images of its document where the setting says so, with the part
// that has what is said of them, and that they go with the document; without the setting what is said of them is text.
func TestKeptImages(t *testing.T) {
	t.Parallel()
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 80, 70))); err != nil {
		t.Fatal(err)
	}
	encoded := base64.StdEncoding.EncodeToString(picture.Bytes())
	page := "# Valves\n\nThe valve opens at three bar.\n\n![a red valve](data:image/png;base64," + encoded + ")\n\n![away](http://192.0.2.1/x.png)\n"
	for _, keep := range []bool{true, false} {
		t.Run(fmt.Sprint(keep), func(t *testing.T) {
			t.Parallel()
			a, key := apptest.Start(t, func(c *config.Config) { c.KeepImages = keep })
			if _, err := a.Corpora.Create(t.Context(), corpus.Create{Key: "a"}); err != nil {
				t.Fatal(err)
			}
			call := func(method, path string, to any) int {
				t.Helper()
				r := httptest.NewRequestWithContext(t.Context(), method, "/v2/corpora/a/documents/"+path, http.NoBody)
				r.Header.Set("x-api-key", key)
				w := httptest.NewRecorder()
				a.Handler().ServeHTTP(w, r)
				if to != nil && w.Code == http.StatusOK {
					if err := json.Unmarshal(w.Body.Bytes(), to); err != nil {
						t.Fatal(err)
					}
				}
				return w.Code
			}
			id := url.PathEscape("valve.md")
			if _, err := a.Ingest.Upload(t.Context(), "a", ingest.Upload{ID: "valve.md", Name: "valve.md", Data: []byte(page)}); err != nil {
				t.Fatal(err)
			}
			var doc struct {
				Images []struct {
					ID          string
					Description string
					MIME        string `json:"mime_type"`
				}
				Parts []struct {
					Text  string
					Image string `json:"image_id"`
				}
			}
			if code := call("GET", id, &doc); code != http.StatusOK {
				t.Fatal(code)
			}
			words, images := "", 0
			for _, p := range doc.Parts {
				if p.Text == "a red valve" {
					words = p.Image
				}
				images += len(p.Image)
			}
			if !keep {
				if len(doc.Images) > 0 || images > 0 || call("GET", id+"/images/image_1", nil) != http.StatusNotFound {
					t.Errorf("%+v", doc)
				}
				return
			}
			if len(doc.Images) != 1 || doc.Images[0].MIME != "image/png" || doc.Images[0].Description != "a red valve" || words != doc.Images[0].ID {
				t.Fatalf("%+v", doc)
			}
			var got struct {
				Data struct{ Data string } `json:"image_data"`
			}
			if code := call("GET", id+"/images/"+words, &got); code != http.StatusOK || got.Data.Data != encoded {
				t.Errorf("%d %.80s", code, got.Data.Data)
			}
			if code := call("DELETE", id, nil); code != http.StatusNoContent {
				t.Error(code)
			}
			if code := call("GET", id+"/images/"+words, nil); code != http.StatusNotFound {
				t.Errorf("the image of a document that was deleted: %d", code)
			}
		})
	}
}
