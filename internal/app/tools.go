package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"

	"quarry/internal/agent/tool"
	"quarry/internal/agent/tool/catalog"
	"quarry/internal/agent/tool/file"
	"quarry/internal/agent/tool/indexing"
	"quarry/internal/agent/tool/message"
	"quarry/internal/agent/tool/search"
	"quarry/internal/agent/tool/subagent"
	"quarry/internal/agent/tool/web"
	"quarry/internal/config"
	"quarry/internal/corpus/document"
	httpdocuments "quarry/internal/httpapi/documents"
	httpqueries "quarry/internal/httpapi/queries"
	"quarry/internal/messenger"
	"quarry/internal/oauth"
	"quarry/internal/query"
	"quarry/internal/store"
	"quarry/internal/store/tools"
	"quarry/internal/webget"
	"quarry/internal/websearch"
)

// newKit returns what the tools of agents are made with, and the tools that agents can refer to.
func newKit(cfg config.Config, out doors, db *store.DB, queries *query.Service, c *corpusServices, asking *subagent.Tool, log *slog.Logger) (tool.Kit, *catalog.Service, error) {
	kit := tool.Kit{Types: map[string]tool.Type{}, Dynamic: map[string]tool.Type{}, Log: log}
	searching, err := search.New(httpqueries.NewSearcher(queries))
	if err != nil {
		return tool.Kit{}, nil, err
	}
	kit.Types[search.Name] = searching
	files, dynamic, err := file.Tools(file.Config{Documents: texts{c.documents}, Reader: c.ingest, MaxFile: cfg.MaxUpload})
	if err != nil {
		return tool.Kit{}, nil, err
	}
	maps.Copy(kit.Types, files)
	maps.Copy(kit.Dynamic, dynamic)
	changing, err := indexing.Types(indexing.Config{
		Ingest: c.ingest, Bulk: c.bulk, Reader: httpdocuments.Reader{}, Log: log, File: cfg.MaxUpload, JSON: cfg.MaxJSON,
	})
	if err != nil {
		return tool.Kit{}, nil, err
	}
	maps.Copy(kit.Dynamic, changing)
	kit.Types[subagent.Name] = asking.Type
	if err := addWeb(kit, cfg, out); err != nil {
		return tool.Kit{}, nil, err
	}
	known, err := catalog.New(tools.New(db), kit)
	return kit, known, err
}

// addWeb adds the tools that call out: to the web, and to people.
func addWeb(kit tool.Kit, cfg config.Config, out doors) (err error) {
	if kit.Types[web.Get], err = web.NewGet(webget.New(out.tools, out.insecure), tokens{out.tokens}); err != nil {
		return err
	}
	if kit.Types[web.Search], err = web.NewSearch(searchEngine(cfg, out)); err != nil {
		return err
	}
	messages, err := message.Tools(message.Config{ // there are no connectors yet
		Slack: messenger.NewSlack(out.tools, messenger.SlackURL), Chat: messenger.NewChat(out.tools, messenger.ChatURL),
	})
	maps.Copy(kit.Dynamic, messages)
	return err
}

// searchEngine returns what searches the web, by the settings.
func searchEngine(cfg config.Config, out doors) web.Provider {
	p := web.Provider{Name: cfg.WebSearch}
	switch {
	case cfg.WebSearch == "searxng" && cfg.WebSearchURL == "":
		p.Why = "the service has no address of SearXNG: whoever runs it has to give it the setting web_search_url"
	case cfg.WebSearch == "searxng":
		p.Engine = websearch.NewSearXNG(out.search, cfg.WebSearchURL)
	case cfg.WebSearchKey == "":
		p.Why = "the service has no key of Tavily: whoever runs it has to give it the setting web_search_key"
	default:
		p.Engine = websearch.NewTavily(out.search, cmp.Or(cfg.WebSearchURL, websearch.TavilyURL), cfg.WebSearchKey)
	}
	return p
}

// tokens gets access tokens for web_get.
type tokens struct{ client *oauth.Client }

// Token returns an access token.
func (t tokens) Token(ctx context.Context, g web.Grant, refused string) (string, error) {
	by := oauth.Credentials{Endpoint: g.Endpoint, ClientID: g.ClientID, ClientSecret: g.ClientSecret, Refresh: g.Refresh, Scopes: g.Scopes}
	if refused != "" {
		t.client.Refuse(ctx, by, refused)
	}
	token, err := t.client.Token(ctx, by)
	var failed *oauth.Error
	if errors.As(err, &failed) {
		return "", &tool.Failure{Class: tool.ExecutionError, Text: failed.Error()}
	}
	return token, err
}

// texts reads documents for tools of agents.
type texts struct{ *document.Service }

// Text returns the text of a document and its metadata.
func (t texts) Text(ctx context.Context, corpus, id string) (string, json.RawMessage, error) {
	_, d, err := t.Get(ctx, corpus, id)
	if err != nil {
		return "", nil, err
	}
	return d.Text(), d.Metadata, nil
}
