// Package websearch asks the services that search the web for the tool web_search: Tavily, and SearXNG, which people run themselves.
package websearch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"quarry/internal/agent/tool"
	"quarry/internal/agent/tool/web"
	"quarry/internal/outbound/exchange"
)

// TavilyURL is where Tavily is.
const TavilyURL = "https://api.tavily.com"

// Tavily searches with Tavily. It is safe for concurrent use.
type Tavily struct {
	client *http.Client
	at     string
	key    string
}

// NewTavily returns an engine at an address, through a client of package outbound. The key is a secret.
func NewTavily(client *http.Client, address, key string) *Tavily {
	return &Tavily{client, searchAt(address), key}
}

// searchAt returns the address of searches of a service.
func searchAt(address string) string {
	address = strings.TrimRight(address, "/")
	if strings.HasSuffix(address, "/search") {
		return address
	}
	return address + "/search"
}

// found are the results of both services. Passages of Tavily have a score from 0 to 1, those of SearXNG one without a bound.
type found struct {
	Results []struct {
		Title   string  `json:"title"`
		URL     string  `json:"url"`
		Content string  `json:"content"`
		Score   float64 `json:"score"`
	} `json:"results"`
}

func (f *found) results() []web.Result {
	out := make([]web.Result, len(f.Results))
	for i, r := range f.Results {
		out[i] = web.Result(r)
	}
	return out
}

// Search asks Tavily.
func (t *Tavily) Search(ctx context.Context, q web.Query) ([]web.Result, error) {
	body := map[string]any{"query": q.Text, "max_results": q.Ask()}
	if len(q.Include) > 0 {
		body["include_domains"] = q.Include
	}
	if len(q.Exclude) > 0 {
		body["exclude_domains"] = q.Exclude
	}
	var out found
	status, err := exchange.Do(ctx, t.client, exchange.Call{
		Method: http.MethodPost, URL: t.at, Header: map[string]string{"Authorization": "Bearer " + t.key}, Body: body,
	}, &out)
	if err := refused("Tavily", "the settings web_search_key and web_search_url of this service have to be looked at", status, err); err != nil {
		return nil, err
	}
	return out.results(), nil
}

// SearXNG searches with an instance of SearXNG, whose settings have to allow the format json. It is safe for concurrent use.
type SearXNG struct {
	client *http.Client
	at     string
}

// NewSearXNG returns an engine at an address, through a client of package outbound.
func NewSearXNG(client *http.Client, address string) *SearXNG {
	return &SearXNG{client, searchAt(address)}
}

// Search asks SearXNG, which knows nothing of domains but for what some of its engines read in a query.
func (s *SearXNG) Search(ctx context.Context, q web.Query) ([]web.Result, error) {
	text := q.Text
	if len(q.Include) == 1 {
		text += " site:" + strings.TrimPrefix(q.Include[0], "*.")
	}
	var out found
	status, err := exchange.Do(ctx, s.client, exchange.Call{
		Method: http.MethodGet, URL: s.at + "?" + url.Values{"q": {text}, "format": {"json"}}.Encode(),
	}, &out)
	if err := refused("SearXNG", "its own settings must have json among search.formats and let this service in, and web_search_url of this service must be its address", status, err); err != nil {
		return nil, err
	}
	return scaled(out.results()), nil
}

// scaled returns results with scores from 0 to 1, in the order of their scores as they are.
func scaled(all []web.Result) []web.Result {
	most := 0.0
	for _, r := range all {
		most = max(most, r.Score)
	}
	for i := range all {
		if most > 0 {
			all[i].Score = max(all[i].Score, 0) / most
		}
	}
	return all
}

// refused returns the failure of a search that was not answered as it should be, nil for one that was. Next is what to do about a
// service that lets nobody search or answers with a page. What the service writes isn't repeated: it may hold the key.
func refused(service, next string, status int, err error) error {
	text := ""
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return err
	case err != nil && status == 0:
		text = "can't be reached: " + err.Error()
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return &tool.Failure{Class: tool.InvalidConfiguration, Text: fmt.Sprintf(
			"%s refuses this service (status %d); %s", service, status, next)}
	case status == http.StatusTooManyRequests, status == 432, status == 433: // of Tavily: a plan that is used up
		text = fmt.Sprintf("takes no further searches for now (status %d)", status)
	case status < 200 || status > 299:
		text = fmt.Sprintf("has failed (status %d)", status)
	case errors.Is(err, exchange.ErrNoJSON):
		text = "can't be understood: " + err.Error() + "; " + next
	case err != nil:
		text = "can't be understood: " + err.Error()
	default:
		return nil
	}
	return &tool.Failure{Class: tool.ExecutionError, Text: service + " " + text}
}
