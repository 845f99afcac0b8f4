// Package queries holds the handlers of the three query operations, whole and streamed. wire.go and generation.go map
// their bodies and answers; what a query does is in packages retrieve and generate.
package queries

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"quarry/internal/answer/generate"
	"quarry/internal/fault"
	"quarry/internal/httpapi"
	"quarry/internal/identity/authz"
	"quarry/internal/opt"
	"quarry/internal/query/history"
	"quarry/internal/query/retrieve"
)

// Runner answers queries.
type Runner interface {
	Run(ctx context.Context, q retrieve.Query) (retrieve.Answer, error)
}

// Saver keeps the query history.
type Saver interface {
	Save(ctx context.Context, r history.Record)
}

// Answers plans generated answers.
type Answers interface {
	Plan(ctx context.Context, r generate.Request) (*generate.Plan, error)
}

// Area is the query operations.
type Area struct {
	run     Runner
	answers Answers
	history Saver
}

// New gives the area over a runner and what answers from its results; the history takes what was asked and answered.
func New(r Runner, g Answers, s Saver) *Area { return &Area{r, g, s} }

// Handlers gives the handler of each operation.
func (a *Area) Handlers() map[string]httpapi.Handler {
	return map[string]httpapi.Handler{
		"searchCorpus": a.searchCorpus,
		"queryCorpus":  a.queryCorpus,
		"query":        a.query,
	}
}

func (a *Area) searchCorpus(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	q := retrieve.Query{
		Text: c.Query.Get("query"), Limit: defaultLimit, RerankerPath: "query.reranker",
		Sources: []retrieve.Source{{Corpus: c.Path["corpus_key"], Lambda: retrieve.DefaultLambda, Path: "query"}},
	}
	if v := c.Query.Get("limit"); v != "" {
		q.Limit, _ = strconv.Atoi(v) // checked against the schema
	}
	if v := c.Query.Get("offset"); v != "" {
		q.Offset, _ = strconv.Atoi(v) // checked against the schema
	}
	f := fault.Invalid()
	if strings.TrimSpace(q.Text) == "" {
		f.Field("query.query", "must not be blank")
	}
	checkPage(f, q, "query.limit", "query.offset")
	if len(f.Fields) > 0 {
		return f
	}
	asked := getRequest(c.Query, c.Path["corpus_key"])
	if v := c.Query.Get("save_history"); v != "" {
		save, _ := strconv.ParseBool(v) // checked against the schema
		q.Save = opt.Some(save)
	}
	asked.rewriting, _ = strconv.ParseBool(c.Query.Get("intelligent_query_rewriting"))
	return (&work{area: a, call: c, query: q, asked: asked}).whole(w, r)
}

func (a *Area) queryCorpus(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	return a.post(w, r, c, c.Path["corpus_key"])
}

func (a *Area) query(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	return a.post(w, r, c, "")
}

func (a *Area) post(w http.ResponseWriter, r *http.Request, c *httpapi.Call, key string) error {
	q, b, err := parse(c.Body, key)
	if err != nil {
		return err
	}
	if err := allowed(c, q); err != nil {
		return err
	}
	wanted, names, err := generationOf(b)
	if err != nil {
		return err
	}
	asked, err := postRequest(c.Body, c.Path["corpus_key"])
	if err != nil {
		return err
	}
	if b.SaveHistory != nil {
		q.Save = opt.Some(*b.SaveHistory)
	}
	asked.rewriting = b.Rewriting
	k := &work{area: a, call: c, query: q, asked: asked, names: names}
	if wanted != nil {
		if k.plan, err = a.answers.Plan(r.Context(), *wanted); err != nil {
			return fault.Under(err, "body.generation", names)
		}
	}
	if b.StreamResponse {
		return k.stream(w, r)
	}
	return k.whole(w, r)
}

// allowed checks the role on every corpus that the body names; those of the path were checked before.
func allowed(c *httpapi.Call, q retrieve.Query) error {
	t := authz.Target{}
	for _, s := range q.Sources {
		t.Corpora = append(t.Corpora, s.Corpus)
	}
	rule := authz.Rule{APIRoles: c.Op.APIRoles, CorpusRoles: c.Op.CorpusRoles, AgentRoles: c.Op.AgentRoles}
	if !authz.Allow(c.Principal, rule, t) {
		return fault.Forbidden("querying needs the role viewer or better on every corpus named: %s", strings.Join(t.Corpora, ", "))
	}
	return nil
}
