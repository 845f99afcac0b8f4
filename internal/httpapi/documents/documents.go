// Package documents holds the handlers of documents: create, list, read, change, delete and upload. wire.go maps bodies and
// answers, form.go reads the multipart form of an upload; what a document becomes is in packages document and ingest.
package documents

import (
	"encoding/json"
	"net/http"
	"strconv"

	"quarry/internal/corpus/document"
	"quarry/internal/corpus/ingest"
	"quarry/internal/fault"
	"quarry/internal/httpapi"
	"quarry/internal/page"
)

// Area is the document operations.
type Area struct {
	ingest    *ingest.Service
	documents *document.Service
	cursors   *page.Cursors
	limits    Limits
}

// Limits are how many bytes a request may have. Bodies are held to JSON by package httpapi.
type Limits struct {
	Upload int64 `json:"max_upload_bytes"` // the file of an upload
	JSON   int64 `json:"max_json_bytes"`
}

// New returns the area.
func New(i *ingest.Service, d *document.Service, c *page.Cursors, l Limits) *Area {
	return &Area{i, d, c, l}
}

// Handlers returns the handler of each operation.
func (a *Area) Handlers() map[string]httpapi.Handler {
	return map[string]httpapi.Handler{
		"createCorpusDocument":  a.create,
		"listCorpusDocuments":   a.list,
		"getCorpusDocument":     a.get,
		"deleteCorpusDocument":  a.delete,
		"uploadFile":            a.upload,
		"getImage":              a.image,
		"getCorpusDocumentFile": a.file,
		"listTableExtractors":   a.extractors,
		"getLimits":             a.getLimits,

		"updateCorpusDocument":          a.amend(true),
		"replaceCorpusDocumentMetadata": a.amend(false),
	}
}

func (a *Area) create(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	draft, err := decodeDraft(c.Body)
	if err != nil {
		return err
	}
	o := ingest.Options{Replace: replaces(c)}
	if c.Query.Get("wait_for") == "indexed" {
		o.Wait = ingest.Durable
	}
	d, err := a.ingest.Create(r.Context(), c.Path["corpus_key"], draft, o)
	if err != nil {
		return fault.Under(err, "body")
	}
	return added(w, d)
}

// replaces reports whether a request to add a document puts it in the place of one that has its id.
func replaces(c *httpapi.Call) bool { return c.Query.Get("on_conflict") == "replace" }

// added answers a request to add a document.
func added(w http.ResponseWriter, a *ingest.Added) error {
	w.Header().Set("X-Quarry-Passages", strconv.Itoa(a.Passages))
	w.Header().Set("X-Quarry-Passages-Encoded", strconv.Itoa(a.Encoded))
	return httpapi.WriteJSON(w, http.StatusCreated, created(a))
}

// defaultLimit and maxLimit bound a page of documents (contract: Pagination).
const (
	defaultLimit = 10
	maxLimit     = 1000
)

func (a *Area) list(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	q := document.Query{Limit: defaultLimit}
	if v := c.Query.Get("limit"); v != "" {
		var err error
		if q.Limit, err = strconv.Atoi(v); err != nil || q.Limit < 1 || q.Limit > maxLimit {
			return fault.InvalidField("query.limit", "must be an integer from 1 to %d", maxLimit)
		}
	}
	key := c.Path["corpus_key"]
	scope := c.Scope("metadata_filter")
	scope.Filters["corpus_key"] = key
	position, err := c.Position(a.cursors, &scope)
	if err != nil {
		return err
	}
	if len(position) == 1 {
		q.After = position[0]
	}
	q.Filter = scope.Filters["metadata_filter"]
	docs, more, err := a.documents.List(r.Context(), key, q)
	if err != nil {
		return fault.Under(err, "query")
	}
	out := listOut{Documents: make([]documentOut, len(docs))}
	for i := range docs {
		out.Documents[i] = head(&docs[i])
	}
	if more {
		out.Metadata.PageKey = a.cursors.Encode(scope, docs[len(docs)-1].ID)
	}
	return httpapi.WriteJSON(w, http.StatusOK, out)
}

func (a *Area) get(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	owner, d, err := a.documents.Get(r.Context(), c.Path["corpus_key"], c.Path["document_id"])
	if err != nil {
		return err
	}
	return httpapi.WriteJSON(w, http.StatusOK, whole(&owner, d))
}

// amend returns the handler of the two operations that change metadata.
func (a *Area) amend(merge bool) httpapi.Handler {
	return func(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
		var body struct {
			Metadata json.RawMessage `json:"metadata"` // as it was sent
		}
		if len(c.Body) > 0 {
			if err := unmarshal("body", c.Body, &body); err != nil {
				return err
			}
		}
		d, err := a.documents.Amend(r.Context(), c.Path["corpus_key"], c.Path["document_id"], body.Metadata, merge)
		if err != nil {
			return fault.Under(err, "body")
		}
		return httpapi.WriteJSON(w, http.StatusOK, head(d))
	}
}

func (a *Area) delete(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	return httpapi.NoContent(w, a.documents.Delete(r.Context(), c.Path["corpus_key"], c.Path["document_id"]))
}

func (a *Area) getLimits(w http.ResponseWriter, _ *http.Request, _ *httpapi.Call) error {
	return httpapi.WriteJSON(w, http.StatusOK, a.limits)
}
