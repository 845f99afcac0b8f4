// Package app is the composition root: the only place where implementations meet the interfaces of the domain. It
// opens a data folder, builds every service in order, serves, and stops them in reverse. Commands and tests start the
// product through it.
package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"

	"quarry/internal/agent/identity"
	"quarry/internal/agent/permit"
	"quarry/internal/agent/tool/subagent"
	"quarry/internal/config"
	"quarry/internal/corpus"
	"quarry/internal/corpus/ingest"
	"quarry/internal/cpu"
	"quarry/internal/embed"
	"quarry/internal/httpapi"
	"quarry/internal/httpapi/analytics"
	"quarry/internal/httpapi/catalog"
	"quarry/internal/httpapi/certificate"
	httpchats "quarry/internal/httpapi/chats"
	"quarry/internal/httpapi/deeds"
	"quarry/internal/index/vector"
	"quarry/internal/llm/registry"
	"quarry/internal/otlp"
	"quarry/internal/page"
	"quarry/internal/query"
	"quarry/internal/query/history"
	"quarry/internal/query/retrieve"
	"quarry/internal/reader"
	"quarry/internal/store"
	sqlagents "quarry/internal/store/agents"
	"quarry/internal/store/documents"
	sqlglossaries "quarry/internal/store/glossaries"
	sqlsessions "quarry/internal/store/sessions"
	"quarry/internal/trace"
)

// App is the running product over one data folder.
type App struct {
	cfg      config.Config
	log      *slog.Logger
	folder   *folder
	db       *store.DB
	identity *identityServices
	corpus   *corpusServices
	doors    doors
	files    *reader.Pool       // nil where this process parses files itself
	ocr      func() recognition // waits until it is known
	exporter *otlp.Exporter     // nil where spans are not sent
	sinks    trace.Sinks        // what hears of the spans of agents
	server   *httpapi.Server
	listener net.Listener
	shown    *certificate.Keeper // nil without TLS
	ready    atomic.Bool
	warm     atomic.Bool // the indexes need not be waited for

	stopReaders    func() // ends the readers of sessions that would read on without an end
	stopBackground func() // returns when nothing runs any more; nil until something does
	stopCounting   func() // writes what was counted last; nil until something counts

	// NewOwner reports whether this start made the owner and wrote its key.
	NewOwner bool
	// Stopping, if it is set before Serve, is called when Serve begins to stop, with the number of requests in flight.
	Stopping func(requests int64)

	Corpora  *corpus.Service
	Ingest   *ingest.Service
	Retrieve *retrieve.Service
	Query    *query.Service
	History  *history.Service
	Models   *registry.Service
}

// Open takes the data folder, listens, opens the database and builds the services; Serve answers requests. Errors:
// *SettingError, *HeldError, *PortError, *FolderError, or what the database says.
//
// Files are parsed by processes of the command worker, which calls reader.Work; without one, as in tests, by this process, and no text is
// recognised in pictures.
func Open(ctx context.Context, cfg config.Config, log *slog.Logger, worker ...string) (*App, error) {
	if err := cpu.Use(cfg.Kernel); err != nil {
		return nil, err
	}
	a := &App{cfg: cfg, log: log}
	if len(worker) > 0 {
		a.files = newReader(cfg, worker, log)
		var err error
		if a.ocr, err = startFindingOCR(ctx, cfg); err != nil {
			return nil, errors.Join(err, a.Close())
		}
	} else {
		a.ocr = func() recognition {
			return recognition{absent: "the program that embeds the service has not set up text recognition"}
		}
	}
	if err := a.open(ctx); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

func (a *App) open(ctx context.Context) (err error) {
	if err := a.openCertificate(); err != nil {
		return err
	}
	if a.folder, err = openFolder(a.cfg.Data); err != nil {
		return err
	}
	if err := a.listen(ctx); err != nil {
		return err
	}
	a.db, err = store.Open(ctx, store.Config{
		Dir: a.cfg.Data, URL: a.cfg.Database, Sweepers: []store.Sweeper{documents.Sweeper{}, sqlsessions.Sweeper{}, sqlagents.Sweeper{}, sqlglossaries.Sweeper{}}, Full: a.tellFull,
	})
	if err != nil {
		return databaseError(a.cfg.Data, err)
	}
	secret, err := a.db.Secret(ctx)
	if err != nil {
		return databaseError(a.cfg.Data, err)
	}
	a.identity, err = openIdentity(ctx, a.cfg, a.folder, a.db, installation(secret), a.publicURL(), a.log)
	if err != nil {
		return databaseError(a.cfg.Data, err)
	}
	if a.NewOwner, err = makeOwner(ctx, a.folder, a.identity.accounts); err != nil {
		return databaseError(a.cfg.Data, err)
	}
	background, err := a.build(ctx, page.NewCursors(secret))
	if err != nil {
		return err
	}
	if a.listener != nil {
		if err := a.publish(); err != nil {
			return err
		}
	}
	a.startBackground(ctx, background)
	return nil
}

// build joins the capabilities, each built from those before it, and returns the tasks that run beside the requests:
// the workers of the job queue, the retention of the history and of traces, and the writers of the usage counters and of metrics.
func (a *App) build(ctx context.Context, cursors *page.Cursors) (background []func(context.Context), err error) {
	kept, err := newBlobs(ctx, a.cfg, a.db)
	if err != nil {
		return nil, err
	}
	encoders, err := embed.NewRegistry()
	if err != nil {
		return nil, fmt.Errorf("load the embedded encoder: %w", err)
	}
	if a.doors, err = newDoors(a.cfg, a.db, a.identity.secrets); err != nil {
		return nil, err
	}
	if err := a.openExporter(); err != nil {
		return nil, err
	}
	models := newLLM(a.cfg, a.doors, a.db, a.identity.secrets, encoders, a.log)
	if a.corpus, err = openCorpus(ctx, a.cfg, a.db, kept, a.files, encoders, models.registry, a.ocr().reads(a.cfg), a.log); err != nil {
		return nil, err
	}
	answers := newAnswer(a.cfg, a.db, a.corpus, models.registry, a.log)
	counts := newMetric(a.db, a.log)
	a.stopCounting = counts.recorder.Close
	a.sinks = append(a.sinks, counts.recorder)
	queries := newQuery(a.cfg, a.db, a.corpus, answers.generate, models.registry, counts.recorder, a.log)
	chats := newChat(a.db, queries.query)
	asking, err := subagent.New()
	if err != nil {
		return nil, err
	}
	kit, known, err := newKit(a.cfg, a.doors, a.db, queries.query, a.corpus, asking, a.log)
	if err != nil {
		return nil, err
	}
	kit.Deeds = deeds.New(a.identity.audit, a.cfg.AuditContent)
	rows := newAgentRows(a.db, a.identity.secrets, func(all map[string]json.RawMessage) []permit.Need { return known.Needs(kit, all) })
	selves := identity.New(rows.agents, httpapi.Rights)
	sessions := newSession(a.cfg, a.db, a.identity.secrets, kept, rows, selves, kit, known, models.registry, a.sinks, a.log)
	asking.Join(subagent.Config{
		Agents: rows.agents, Sessions: sessions.sessions, Turns: sessions.turns, Places: callPlaces(a.cfg), Log: a.log,
	})
	servers := newToolServers(a.cfg, a.db, a.identity.secrets, known, a.doors.servers, a.log)
	agents := newAgent(rows, selves, models.registry, kit, known, servers, sessions.turns)
	traced := newTraces(a.cfg, a.db, a.identity.secrets, a.log)
	a.stopReaders = sync.OnceFunc(sessions.feed.Stop)
	a.server, err = newServer(a.cfg, a.identity, resolvers(a.corpus, chats, agents, sessions, counts), a.ready.Load, a.warm.Load, a.log, slices.Concat(
		a.identity.areas(cursors), a.corpus.areas(a.cfg, queries.retrieve, cursors), models.areas(cursors), answers.areas(cursors), queries.areas(cursors), agents.areas(cursors),
		sessions.areas(cursors), counts.areas(), []httpapi.Area{analytics.NewTraces(traced, cursors)},
		[]httpapi.Area{catalog.New(a.corpus.encoders, answers.correct, cursors), httpchats.New(chats, cursors), httpchats.NewAsking(chats)},
	))
	a.Corpora, a.Ingest, a.Models = a.corpus.containers, a.corpus.ingest, models.registry
	a.Retrieve, a.Query, a.History = queries.retrieve, queries.query, queries.history
	return append(sessions.background(), a.warmUp(), servers.Run, a.corpus.jobs.Run, queries.history.Run, traced.Run, models.usage.Run, counts.recorder.Run), err
}

// Handler returns the whole HTTP interface; tests call it without a listener.
func (a *App) Handler() http.Handler {
	a.ready.Store(true)
	return a.server
}

// KeyFile returns the path of the file with the owner's key.
func (a *App) KeyFile() string { return a.folder.path(keyFile) }

// Encoder returns a description of the default encoder and the CPU paths that it and the scan of its vectors take.
func (a *App) Encoder() string {
	e, _ := a.corpus.encoders.Find("") // the default is always there
	return fmt.Sprintf("%s (all-MiniLM-L6-v2), %d dimensions, %s encoder kernels, %s vector scan", e.Name(), e.Dim(), cpu.Current(), vector.Kernel(e.Dim()))
}

// Built returns the ids of the operations that do not answer 501.
func (a *App) Built() []string { return a.server.Built() }

// Close stops everything in the reverse order of Open. It may be called on a half-opened App.
func (a *App) Close() error {
	var errs []error
	if a.stopBackground != nil {
		a.stopBackground()
	}
	if a.stopCounting != nil {
		a.stopCounting()
	}
	a.ocr().close()
	if a.files != nil {
		a.files.Close()
	}
	if a.corpus != nil {
		errs = append(errs, a.corpus.replicas.Close())
	}
	if a.exporter != nil {
		a.exporter.Close()
	}
	a.doors.close()
	if a.db != nil {
		errs = append(errs, a.db.Close())
	}
	if a.listener != nil {
		_ = a.listener.Close() // closed already when Serve ran
	}
	if a.folder != nil {
		errs = append(errs, a.folder.close())
	}
	return errors.Join(errs...)
}
