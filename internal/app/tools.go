package app

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"

	"quarry/internal/agent/tool"
	"quarry/internal/agent/tool/catalog"
	"quarry/internal/agent/tool/file"
	"quarry/internal/agent/tool/indexing"
	"quarry/internal/agent/tool/search"
	"quarry/internal/config"
	"quarry/internal/corpus/document"
	httpdocuments "quarry/internal/httpapi/documents"
	httpqueries "quarry/internal/httpapi/queries"
	"quarry/internal/query"
	"quarry/internal/store"
	"quarry/internal/store/tools"
)

// newKit returns what the tools of agents are made with, and the tools that agents can refer to.
func newKit(cfg config.Config, db *store.DB, queries *query.Service, c *corpusServices, sealer tool.Sealer, log *slog.Logger) (tool.Kit, *catalog.Service, error) {
	kit := tool.Kit{Types: map[string]tool.Type{}, Dynamic: map[string]tool.Type{}, Sealer: sealer, Log: log}
	searching, err := search.New(httpqueries.NewSearcher(queries))
	if err != nil {
		return tool.Kit{}, nil, err
	}
	kit.Types[search.Name] = searching
	files, err := file.Types(texts{c.documents})
	if err != nil {
		return tool.Kit{}, nil, err
	}
	maps.Copy(kit.Types, files)
	changing, err := indexing.Types(indexing.Config{
		Ingest: c.ingest, Bulk: c.bulk, Reader: httpdocuments.Reader{}, Log: log, File: cfg.MaxUpload, JSON: cfg.MaxJSON,
	})
	if err != nil {
		return tool.Kit{}, nil, err
	}
	maps.Copy(kit.Dynamic, changing)
	known, err := catalog.New(tools.New(db), kit)
	return kit, known, err
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
