// Package corpora is the HTTP handlers of corpora: create, list, get, update, delete, reset, sizes, statistics and
// replacement of their filter attributes, and their indexes. wire.go, attributes.go and index.go are the only places where
// their wire types meet packages corpus, attribute and rebuild; the rules themselves are there.
package corpora

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"quarry/internal/api"
	"quarry/internal/corpus"
	"quarry/internal/corpus/attribute"
	"quarry/internal/corpus/rebuild"
	"quarry/internal/fault"
	"quarry/internal/httpapi"
	"quarry/internal/id"
	"quarry/internal/page"
)

// Area answers the operations of corpora.
type Area struct {
	corpora    *corpus.Service
	attributes *attribute.Service
	indexes    *rebuild.Service
	shares     Shares
	cursors    *page.Cursors
}

// Shares returns the lexical share of queries that give none; retrieve.Service is one.
type Shares interface {
	DefaultLambda(ctx context.Context, c corpus.Corpus) (float64, error)
}

// New returns the area over the services; cursors sign the page keys.
func New(s *corpus.Service, a *attribute.Service, i *rebuild.Service, shares Shares, cursors *page.Cursors) *Area {
	return &Area{s, a, i, shares, cursors}
}

// Handlers implements httpapi.Area.
func (a *Area) Handlers() map[string]httpapi.Handler {
	return map[string]httpapi.Handler{
		"createCorpus": a.create, "listCorpora": a.list, "getCorpus": a.get,
		"updateCorpus": a.update, "deleteCorpus": a.delete, "resetCorpus": a.reset,
		"computeCorpusSize": a.computeSize, "replaceFilterAttributes": a.replaceAttributes, "getFilterAttributeStats": a.attributeStats,
		"getCorpusIndex": a.index, "rebuildCorpusIndex": a.rebuildIndex,
	}
}

// Resolver returns a resolver that reads the corpus in the path; fault.KindNotFound when it does not exist.
func Resolver(corpora *corpus.Service) httpapi.Resolver {
	return func(ctx context.Context, c *httpapi.Call) error {
		found, err := corpora.Get(ctx, c.Path["corpus_key"])
		c.Found = found
		return err
	}
}

func (a *Area) create(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	var body api.CreateCorpusRequest
	if err := httpapi.Decode(c.Body, &body); err != nil {
		return err
	}
	made, err := a.corpora.Create(r.Context(), createCommand(&body))
	if err != nil {
		return fault.Under(err, "body")
	}
	c.Named = map[string]string{"corpus_key": made.Key}
	return httpapi.WriteJSON(w, http.StatusCreated, wireCorpus(&made))
}

func (a *Area) get(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	found, ok := c.Found.(corpus.Corpus)
	if !ok { // no resolver ran
		var err error
		if found, err = a.corpora.Get(r.Context(), c.Path["corpus_key"]); err != nil {
			return err
		}
	}
	out := wireCorpus(&found)
	out.DefaultLexicalInterpolation = a.share(r.Context(), found)
	return httpapi.WriteJSON(w, http.StatusOK, out)
}

// patience is how long the read of a corpus waits for its index. An index that is rebuilt takes minutes, and settings are read
// most when something is wrong.
const patience = time.Second

// share returns the lexical share of queries that give none; nil where the index can't tell it in time. Queries tell what is wrong with it.
func (a *Area) share(ctx context.Context, c corpus.Corpus) *float64 {
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	lambda, err := a.shares.DefaultLambda(ctx, c)
	if err != nil {
		return nil
	}
	return &lambda
}

func (a *Area) update(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	var body api.UpdateCorpusRequest
	if err := httpapi.Decode(c.Body, &body); err != nil {
		return err
	}
	changed, err := a.corpora.Update(r.Context(), c.Path["corpus_key"], patchCommand(&body))
	if err != nil {
		return err
	}
	return httpapi.WriteJSON(w, http.StatusOK, wireCorpus(&changed))
}

func (a *Area) delete(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	return httpapi.NoContent(w, a.corpora.Delete(r.Context(), c.Path["corpus_key"]))
}

func (a *Area) reset(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	return httpapi.NoContent(w, a.corpora.Reset(r.Context(), c.Path["corpus_key"]))
}

// list answers a page. With a page key, filters that the request leaves out are those of the page before.
func (a *Area) list(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	l := corpus.List{Limit: c.Limit()}
	scope := c.Scope("filter")
	if ids := c.Query["corpus_id"]; len(ids) > 0 {
		scope.Filters["corpus_id"] = strings.Join(slices.Sorted(slices.Values(ids)), ",")
	}
	position, err := c.Position(a.cursors, &scope)
	if err != nil {
		return err
	}
	if position != nil {
		if l.After, err = after(position); err != nil {
			return err
		}
	}
	if err := filters(&l, scope.Filters); err != nil {
		return err
	}
	found, more, err := a.corpora.List(r.Context(), l)
	if err != nil {
		return err
	}
	out := api.ListCorporaResponse{Corpora: wireCorpora(found), Metadata: &api.ListMetadata{}}
	if more && len(found) > 0 {
		last := &found[len(found)-1]
		key := a.cursors.Encode(scope, strconv.FormatInt(last.Created.UnixMicro(), 10), strconv.FormatInt(last.No, 10))
		out.Metadata.PageKey = &key
	}
	return httpapi.WriteJSON(w, http.StatusOK, out)
}

// maxIDs keeps the statement within what every database takes.
const maxIDs = 1000

// filters reads the filters of the scope into l.
func filters(l *corpus.List, from map[string]string) error {
	if ids := from["corpus_id"]; ids != "" {
		for _, v := range strings.Split(ids, ",") {
			l.IDs = append(l.IDs, id.Corpus(v))
		}
		if len(l.IDs) > maxIDs {
			return fault.InvalidField("query.corpus_id", "must be given at most %d times", maxIDs)
		}
	}
	var err error
	l.Match, err = httpapi.Pattern(from["filter"])
	return err
}

// after reads the position of a page key of this list.
func after(position []string) (*corpus.Position, error) {
	bad := fault.Under(page.Foreign(), "query")
	if len(position) != 2 {
		return nil, bad
	}
	created, err1 := strconv.ParseInt(position[0], 10, 64)
	no, err2 := strconv.ParseInt(position[1], 10, 64)
	if err1 != nil || err2 != nil {
		return nil, bad
	}
	return &corpus.Position{Created: created, No: no}, nil
}
