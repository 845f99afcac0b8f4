package app

import (
	"context"
	"log/slog"
	"path/filepath"

	"quarry/internal/agent/artifact"
	"quarry/internal/agent/enrich"
	"quarry/internal/agent/fork"
	"quarry/internal/agent/identity"
	"quarry/internal/agent/session"
	"quarry/internal/agent/session/feed"
	"quarry/internal/agent/tool"
	"quarry/internal/agent/tool/catalog"
	"quarry/internal/agent/tool/configuration"
	"quarry/internal/agent/turn"
	"quarry/internal/agent/turn/spans"
	"quarry/internal/blob"
	"quarry/internal/blobstore/file"
	"quarry/internal/config"
	"quarry/internal/glossary"
	"quarry/internal/httpapi"
	httpsessions "quarry/internal/httpapi/sessions"
	"quarry/internal/llm"
	"quarry/internal/page"
	"quarry/internal/store"
	"quarry/internal/store/blobs"
	"quarry/internal/store/secrets"
	"quarry/internal/store/sessions"
	"quarry/internal/store/traces"
	"quarry/internal/trace"
)

// sessionServices keep sessions and answer their inputs.
type sessionServices struct {
	sessions *session.Service
	forks    *fork.Service
	turns    *turn.Engine
	files    *artifact.Service
	feed     *feed.Hub
}

// blobFolder is the folder, in the data folder, of the files of sessions.
const blobFolder = "blobs"

// newBlobs returns where the bytes of files are kept: the data folder, or the database where nodes share it.
func newBlobs(ctx context.Context, cfg config.Config, db *store.DB) (blob.Store, error) {
	if cfg.Database != "" {
		return blobs.NewPieces(db), nil
	}
	return file.Open(ctx, filepath.Join(cfg.Data, blobFolder), blobs.NewRows(db))
}

func newSession(cfg config.Config, db *store.DB, sealed *secrets.Store, kept blob.Store, defined agentRows, selves *identity.Service, kit tool.Kit, known *catalog.Service, models llm.Models, heard trace.Sinks, log *slog.Logger) sessionServices {
	rows := sessions.New(db, sealed)
	rows.Spans = traces.New(db, sealed)
	hub := feed.New(rows)
	files := artifact.NewService(artifact.Config{Store: rows, Blobs: kept, Most: cfg.MaxArtifact, Log: log})
	turns := turn.New(turn.Config{
		Log: rows, Sessions: rows, Agents: defined.agents, Identities: selves, Instructions: defined.instructions, Glossaries: glossary.NewLookup(defined.glossaries, 0), Models: models, Kit: kit, Tools: known, Stored: defined.tools, Files: files, Hub: hub, Logger: log,
		Trace:          &spans.Recorder{Content: cfg.TraceContent, Sink: heard},
		Alone:          cfg.Database == "", // the folder's lock keeps others out
		MaxTransitions: int(cfg.MaxStepTransitions), MaxCalls: int(cfg.MaxModelCalls),
	})
	rules := enrich.New(configuration.NewSets(defined.tools, known, kit), selves, defined.agents)
	made := session.New(session.Config{Store: rows, Stop: turns.Drop, Log: log, Rules: rules})
	return sessionServices{made, fork.New(made, rows, defined.agents, models), turns, files, hub}
}

// areas returns the handlers of these services.
func (s sessionServices) areas(cursors *page.Cursors) []httpapi.Area {
	turns := httpsessions.NewTurns(s.turns, s.sessions, s.files)
	return []httpapi.Area{httpsessions.New(s.sessions, s.forks, turns, cursors), turns, httpsessions.NewFiles(s.files, cursors)}
}

// background are the tasks that run beside the requests.
func (s sessionServices) background() []func(context.Context) {
	return []func(context.Context){s.turns.Run, s.sessions.Run, s.files.Run}
}
