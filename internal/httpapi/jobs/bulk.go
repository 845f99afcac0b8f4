package jobs

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"quarry/internal/api"
	"quarry/internal/corpus/bulk"
	"quarry/internal/fault"
	"quarry/internal/httpapi"
)

func (a *Area) bulkDelete(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	sel, err := selection(r, c)
	if err != nil {
		return err
	}
	// The job is enqueued without the deadline of the request, so that the answer can always name the job.
	begun, err := a.bulk.Delete(context.WithoutCancel(r.Context()), sel)
	if err != nil {
		return fault.Under(err, "query")
	}
	c.Named = map[string]string{"job_id": string(begun.Job)}
	if waitless(c) {
		return httpapi.WriteJSON(w, http.StatusAccepted, wireDeleting(begun))
	}
	n, err := a.bulk.Wait(r.Context(), begun)
	if err != nil {
		return err
	}
	return httpapi.WriteJSON(w, http.StatusOK, wireDeleted(begun, n))
}

func (a *Area) bulkUpdate(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	sel, err := selection(r, c)
	if err != nil {
		return err
	}
	var body api.BulkUpdateDocumentMetadataRequest
	if err := httpapi.Decode(c.Body, &body); err != nil {
		return err
	}
	begun, err := a.bulk.Update(context.WithoutCancel(r.Context()), sel, body.Metadata, body.Strategy != nil && *body.Strategy == "replace")
	if err != nil {
		return fault.Under(err, "", updateFields)
	}
	c.Named = map[string]string{"job_id": string(begun.Job)}
	if waitless(c) {
		return httpapi.WriteJSON(w, http.StatusAccepted, wireUpdating(begun))
	}
	n, err := a.bulk.Wait(r.Context(), begun)
	if err != nil {
		return err
	}
	return httpapi.WriteJSON(w, http.StatusOK, wireUpdated(begun, n))
}

// updateFields are the places of a command that changes metadata: its selection is in the query string.
var updateFields = fault.Names{
	"document_ids": "query.document_ids", "metadata_filter": "query.metadata_filter", "metadata": "body.metadata",
}

// waitless reports whether the client wants the job's id at once, which is the default.
func waitless(c *httpapi.Call) bool { return c.Query.Get("async") != "false" }

// selection reads which documents a request means. ids win over a filter (contract: Bulk).
func selection(r *http.Request, c *httpapi.Call) (bulk.Selection, error) {
	sel := bulk.Selection{
		Corpus: c.Path["corpus_key"], Filter: strings.TrimSpace(c.Query.Get("metadata_filter")), CreatedBy: c.Principal.Name,
		IDs: documentIDs(r.URL.RawQuery),
	}
	if c.Query.Has("document_ids") && len(sel.IDs) == 0 { // an empty list means no document; it must not fall back to the filter
		return sel, fault.InvalidField("query.document_ids", "names no document")
	}
	return sel, nil
}

// documentIDs reads the ids of a query string: a list with commas, or repeated. In a single list an encoded comma
// separates too, as most clients encode every comma; in a repeated parameter it is part of the id.
func documentIDs(raw string) (ids []string) {
	var lists, all []string
	for _, pair := range strings.Split(raw, "&") {
		name, value, _ := strings.Cut(pair, "=")
		if name, err := url.QueryUnescape(name); err == nil && name == "document_ids" {
			lists = append(lists, value)
		}
	}
	if len(lists) == 1 {
		whole, _ := url.QueryUnescape(lists[0]) // the chain has checked it
		all = strings.Split(whole, ",")
	} else {
		for _, v := range strings.Split(strings.Join(lists, ","), ",") {
			one, _ := url.QueryUnescape(v)
			all = append(all, one)
		}
	}
	for _, v := range all {
		if v != "" {
			ids = append(ids, v)
		}
	}
	return ids
}
