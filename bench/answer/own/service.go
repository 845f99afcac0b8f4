package own

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"

	"quarry/bench/cache"
	"quarry/internal/app"
	"quarry/internal/config"
	"quarry/internal/embed"
	"quarry/internal/query/evaluate"
)

// service is the whole product with default settings, spoken to over its REST interface without a listener.
type service struct {
	evaluation *app.Evaluation
	cached     *cache.Encoder // nil for none
	encoders   *embed.Registry
	handler    http.Handler
	key        string
}

// open starts a service over a folder of its own; vectors is the folder of the vector cache, empty for none.
func open(ctx context.Context, vectors string) (s *service, err error) {
	s = &service{}
	var cacheErr error
	keep := func(r *embed.Registry) {
		s.encoders = r
		if vectors == "" {
			return
		}
		r.Decorate(func(e embed.Encoder) embed.Encoder {
			if s.cached, cacheErr = cache.Open(vectors, e); cacheErr != nil {
				return e
			}
			return s.cached
		})
	}
	silent := func(string, int) func() { return func() {} }
	if s.evaluation, err = app.OpenEvaluation(ctx, config.Default(), &evaluate.Dataset{}, silent, keep); err != nil {
		return nil, err
	}
	a := s.evaluation.Service()
	key, err := os.ReadFile(a.KeyFile())
	if err = errors.Join(err, cacheErr); err != nil {
		return nil, errors.Join(err, s.close())
	}
	s.handler, s.key = a.Handler(), strings.TrimSpace(string(key))
	return s, nil
}

func (s *service) close() error {
	err := s.evaluation.Close()
	if s.cached != nil {
		err = errors.Join(err, s.cached.Close())
	}
	return err
}

// eachSet starts a service, and for each set fetches the documents, checks the questions against them, makes a corpus of the name of
// the set, and calls f. A set whose documents can't be had is left out. vectors is as in open.
func eachSet(ctx context.Context, vectors string, f func(*service, Set) error) (err error) {
	sets, err := Sets()
	if err != nil {
		return err
	}
	dir, err := Folder()
	if err != nil {
		return err
	}
	s, err := open(ctx, vectors)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	for _, set := range sets {
		documents, err := set.Documents(ctx, dir, true)
		if missing := new(MissingError); errors.As(err, &missing) {
			fmt.Printf("skipped: set %s: %s\n", set.Name, missing.Text)
			continue
		}
		if err == nil {
			err = set.Verify(documents)
		}
		if err == nil {
			err = s.fill(ctx, set.Name, documents)
		}
		if err == nil {
			err = f(s, set)
		}
		if err != nil {
			return fmt.Errorf("set %s: %w", set.Name, err)
		}
	}
	return nil
}

// call sends a request and reads the answer into out, unless that is nil.
func (s *service) call(ctx context.Context, method, path, contentType string, body []byte, out any) error {
	req := httptest.NewRequestWithContext(ctx, method, path, bytes.NewReader(body))
	req.Header.Set("x-api-key", s.key)
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	res := httptest.NewRecorder()
	s.handler.ServeHTTP(res, req)
	if res.Code >= 300 {
		return fmt.Errorf("%s %s answers %d: %.300s", method, path, res.Code, res.Body)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(res.Body.Bytes(), out)
}

func (s *service) post(ctx context.Context, path string, body, out any) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return s.call(ctx, http.MethodPost, path, "application/json", raw, out)
}

// fill makes a corpus of the documents, each uploaded as a file.
func (s *service) fill(ctx context.Context, corpus string, documents map[string][]byte) error {
	if err := s.post(ctx, "/v2/corpora", map[string]any{"key": corpus}, nil); err != nil {
		return err
	}
	var names []string
	for name := range documents {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		var form bytes.Buffer
		w := multipart.NewWriter(&form)
		file, err := w.CreateFormFile("file", name)
		if err != nil {
			return err
		}
		_, err = file.Write(documents[name])
		if err = errors.Join(err, w.Close()); err != nil {
			return err
		}
		if err := s.call(ctx, http.MethodPost, "/v2/corpora/"+corpus+"/upload_file", w.FormDataContentType(), form.Bytes(), nil); err != nil {
			return fmt.Errorf("document %s: %w", name, err)
		}
	}
	return nil
}

// part is a part of a document, as a result and as a read of the document show it.
type part struct {
	Text       string
	DocumentID string `json:"document_id"`
	Metadata   struct {
		IsTitle bool `json:"is_title"`
	} `json:"metadata"`
	PartMetadata struct {
		IsTitle bool `json:"is_title"`
	} `json:"part_metadata"`
}

// reply is the answer to a query.
type reply struct {
	Summary       string
	SearchResults []part `json:"search_results"`
}

// ask sends a question with nothing but defaults.
func (s *service) ask(ctx context.Context, corpus, question string) (r reply, err error) {
	return r, s.post(ctx, "/v2/query", ask(corpus, question), &r)
}

// ask is the body of a query with nothing but defaults.
func ask(corpus, question string) map[string]any {
	return map[string]any{
		"query": question, "search": map[string]any{"corpora": []any{map[string]any{"corpus_key": corpus}}}, "generation": map[string]any{},
	}
}

// heads reports whether the result is the heading of a section that has text of its own.
func (s *service) heads(ctx context.Context, corpus string, hit part) (bool, error) {
	if !hit.PartMetadata.IsTitle {
		return false, nil
	}
	var d struct{ Parts []part }
	if err := s.call(ctx, http.MethodGet, "/v2/corpora/"+corpus+"/documents/"+url.PathEscape(hit.DocumentID), "", nil, &d); err != nil {
		return false, err
	}
	for i, p := range d.Parts[:max(0, len(d.Parts)-1)] {
		if p.Metadata.IsTitle && p.Text == hit.Text && !d.Parts[i+1].Metadata.IsTitle {
			return true, nil
		}
	}
	return false, nil
}
