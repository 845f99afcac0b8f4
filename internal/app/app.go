// Package app is the composition root: the only place where implementations meet the interfaces of the domain. It
// opens a data folder, builds every service in order, serves, and stops them in reverse. Commands and tests start the
// product through it.
package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	contract "quarry/api"
	"quarry/internal/answer/generate"
	"quarry/internal/answer/verify"
	"quarry/internal/config"
	"quarry/internal/corpus"
	"quarry/internal/corpus/attribute"
	"quarry/internal/corpus/bulk"
	"quarry/internal/corpus/document"
	"quarry/internal/corpus/ingest"
	"quarry/internal/corpus/metaquery"
	"quarry/internal/corpus/replica"
	"quarry/internal/embed"
	"quarry/internal/encode/kernel"
	"quarry/internal/fault"
	"quarry/internal/httpapi"
	httpaudit "quarry/internal/httpapi/audit"
	"quarry/internal/httpapi/catalog"
	httpconsistency "quarry/internal/httpapi/consistency"
	httpcorpora "quarry/internal/httpapi/corpora"
	httpdocuments "quarry/internal/httpapi/documents"
	httpgeneration "quarry/internal/httpapi/generation"
	"quarry/internal/httpapi/identity"
	httpjobs "quarry/internal/httpapi/jobs"
	httpllms "quarry/internal/httpapi/llms"
	httpqueries "quarry/internal/httpapi/queries"
	"quarry/internal/identity/account"
	"quarry/internal/identity/audit"
	"quarry/internal/identity/signin"
	"quarry/internal/identity/token"
	"quarry/internal/job"
	"quarry/internal/llm"
	"quarry/internal/page"
	"quarry/internal/query/history"
	"quarry/internal/query/retrieve"
	"quarry/internal/secret/vault"
	"quarry/internal/store"
	"quarry/internal/store/accounts"
	sqlaudit "quarry/internal/store/audit"
	"quarry/internal/store/corpora"
	"quarry/internal/store/documents"
	"quarry/internal/store/jobs"
	"quarry/internal/store/queries"
	"quarry/internal/store/secrets"
	"quarry/internal/store/signing"
	"quarry/internal/store/usages"
	"quarry/internal/usage"
)

// App is the running product over one data folder.
type App struct {
	cfg      config.Config
	log      *slog.Logger
	folder   *folder
	db       *store.DB
	replicas *replica.Set
	encoders *embed.Registry
	jobs     *job.Queue
	vault    *vault.Vault
	tokens   *token.Service
	signin   *signin.Service
	server   *httpapi.Server
	listener net.Listener
	ready    atomic.Bool

	stopBackground func() // returns when nothing runs any more; nil until something does

	// NewOwner says that this start made the owner and wrote its key.
	NewOwner bool

	Corpora  *corpus.Service
	Ingest   *ingest.Service
	Retrieve *retrieve.Service
	History  *history.Service
	Usage    *usage.Counters
	Models   *llm.Service
	Presets  *generate.Presets
	Verify   *verify.Service
}

// Open takes the data folder, listens, opens the database and builds the services; Serve answers requests. Errors:
// *HeldError, *PortError, *FolderError, or what the database says.
func Open(ctx context.Context, cfg config.Config, log *slog.Logger) (*App, error) {
	if err := kernel.Use(cfg.Kernel); err != nil {
		return nil, err
	}
	a := &App{cfg: cfg, log: log}
	if err := a.open(ctx); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

func (a *App) open(ctx context.Context) (err error) {
	if a.folder, err = openFolder(a.cfg.Data); err != nil {
		return err
	}
	if a.cfg.Listen != "" {
		if a.listener, err = net.Listen("tcp", a.cfg.Listen); err != nil {
			return &PortError{a.cfg.Listen, err}
		}
	}
	if a.db, err = store.Open(ctx, store.Config{Dir: a.cfg.Data, URL: a.cfg.Database}); err != nil {
		return databaseError(a.cfg.Data, err)
	}
	secret, err := a.db.Secret(ctx)
	if err != nil {
		return databaseError(a.cfg.Data, err)
	}
	if a.vault, err = openVault(ctx, a.cfg, a.folder, a.db); err != nil {
		return databaseError(a.cfg.Data, err)
	}
	keys := signing.New(a.db, secrets.New(a.db, a.vault.Keyring()))
	a.tokens = token.New(token.Config{Store: keys, Installation: installation(secret), Issuer: a.cfg.PublicURL})
	if err := a.tokens.Prepare(ctx); err != nil {
		return databaseError(a.cfg.Data, err)
	}
	rows := accounts.New(a.db)
	a.signin = signin.New(signin.Config{Store: rows, Issuer: a.tokens, PublicURL: a.publicURL(), Log: a.log})
	people := account.New(account.Config{Store: rows, Codes: a.signin})
	if a.NewOwner, err = makeOwner(ctx, a.folder, people); err != nil {
		return databaseError(a.cfg.Data, err)
	}
	if err := a.build(ctx, people, page.NewCursors(secret)); err != nil {
		return err
	}
	if a.listener != nil {
		if err := a.publish(); err != nil {
			return err
		}
	}
	a.startBackground(ctx)
	return nil
}

// startBackground starts what works beside the requests: the workers of the queue, which go on with what was under way
// when the last process ended, and the retention of the history. Close ends it.
func (a *App) startBackground(ctx context.Context) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	running.Go(func() { a.jobs.Run(ctx) })
	running.Go(func() { a.History.Run(ctx) })
	running.Go(func() { a.Usage.Run(ctx) })
	a.stopBackground = func() {
		cancel()
		running.Wait()
	}
}

// build connects the services.
func (a *App) build(ctx context.Context, people *account.Service, cursors *page.Cursors) (err error) {
	corpusRows, documentRows := corpora.New(a.db), documents.New(a.db)
	if a.encoders, err = embed.NewRegistry(); err != nil {
		return fmt.Errorf("load the embedded encoder: %w", err)
	}
	a.replicas = replica.New(replica.Config{
		Dir: filepath.Join(a.cfg.Data, indexFolder), Documents: documentRows, Corpora: corpusRows,
		Encoders: a.encoders, Log: a.log,
	})
	if err := a.replicas.Reconcile(ctx); err != nil {
		return err
	}
	a.jobs = job.New(job.Config{Store: jobs.New(a.db), Log: a.log, Alone: a.cfg.Database == ""}) // the folder's lock keeps others out
	a.Corpora = corpus.New(corpusRows, a.encoders, dropped{a.replicas, a.jobs})
	reading := document.NewService(documentRows, corpusRows, a.replicas, int(a.cfg.MaxDeletes))
	a.Ingest = ingest.New(ingest.Config{Corpora: corpusRows, Documents: documentRows, Encoders: a.encoders, Index: a.replicas})
	many := bulk.New(bulk.Config{Corpora: corpusRows, Documents: reading, Store: documentRows, Index: a.replicas, Jobs: a.jobs})
	attributes := attribute.New(corpusRows, documentRows, a.replicas, a.jobs)
	a.jobs.Handle(job.ReplaceFilterAttributes, attributes.Replace)
	a.Retrieve = retrieve.New(corpusRows, a.replicas, documentRows, a.encoders)
	a.History = history.New(queries.New(a.db), time.Duration(a.cfg.HistoryDays)*24*time.Hour, a.log)
	a.Usage = usage.NewCounters(usages.New(a.db), a.log)
	a.Models = a.models()
	a.Presets = a.presets()
	a.Verify = a.verifier()
	origins, err := a.cfg.Origins()
	if err != nil {
		return err
	}
	trusted, err := a.cfg.Proxies()
	if err != nil {
		return err
	}
	recorded := audit.New(sqlaudit.New(a.db), a.log)
	a.server, err = httpapi.New(httpapi.Config{
		Audit: recorded, AuditContent: a.cfg.AuditContent, TrustedProxies: trusted, Origins: origins,
		Authenticate: gate{people, a.tokens}.principal,
		Areas: []httpapi.Area{
			httpcorpora.New(a.Corpora, attributes, cursors),
			httpdocuments.New(a.Ingest, reading, cursors, a.cfg.MaxUpload),
			httpjobs.New(a.jobs, many, cursors),
			identity.New(identity.Config{Accounts: people, SignIn: a.signin, Tokens: a.tokens, Cursors: cursors, Secrets: a.vault}),
			httpaudit.New(recorded, cursors),
			catalog.New(a.encoders, a.Verify, cursors),
			httpconsistency.New(a.Verify),
			httpgeneration.New(a.Presets, cursors),
			httpqueries.New(a.Retrieve, a.answers(), a.History),
			httpqueries.NewMetadata(metaquery.New(corpusRows, documentRows)),
			httpqueries.NewHistory(a.History, cursors),
			httpllms.New(a.Models, cursors),
		},
		Resolvers: map[string]httpapi.Resolver{"corpus_key": httpcorpora.Resolver(a.Corpora)},
		Log:       a.log, MaxJSON: a.cfg.MaxJSON, MaxUpload: a.cfg.MaxUpload, Ready: a.ready.Load, OpenAPI: contract.YAML,
		Limits: limits(a.cfg),
	})
	return err
}

// dropped passes on that a life of a corpus has ended.
type dropped struct {
	replicas *replica.Set
	jobs     *job.Queue
}

// Dropped implements corpus.Listener.
func (d dropped) Dropped(c corpus.Corpus) {
	d.replicas.Dropped(c)
	d.jobs.Refresh()
}

// Handler is the whole HTTP interface; tests call it without a listener.
func (a *App) Handler() http.Handler {
	a.ready.Store(true)
	return a.server
}

// URL is the address that the service listens on.
func (a *App) URL() string { return "http://" + a.listener.Addr().String() }

// KeyFile is where the owner's key stands.
func (a *App) KeyFile() string { return a.folder.path(keyFile) }

// Encoder names the default encoder.
func (a *App) Encoder() string {
	e, _ := a.encoders.Find("") // the default is always there
	return fmt.Sprintf("%s (all-MiniLM-L6-v2), %d dimensions, %s kernels", e.Name(), e.Dim(), kernel.Current())
}

// Built lists the operations that do not answer 501.
func (a *App) Built() []string { return a.server.Built() }

// publish leaves the address in the data folder, for commands on this machine.
func (a *App) publish() error {
	if err := writeSynced(a.folder.path(addressFile), a.URL()+"\n"); err != nil {
		return folderError(a.cfg.Data, err)
	}
	return nil
}

// drain is how long requests in flight get when the service stops; those that are not done after most of it are told so,
// and streams still get their end.
const (
	drain = 10 * time.Second
	tell  = 8 * time.Second
)

// errStopping is what requests are told that the stop of the service has cut off.
var errStopping = fault.Unavailable("stopping", "the service is stopping and could not wait for the end of this request; ask again")

// Serve answers requests until ctx ends, then lets requests in flight finish.
func (a *App) Serve(ctx context.Context) error {
	s := &http.Server{
		Handler: a.Handler(), ReadHeaderTimeout: 20 * time.Second, IdleTimeout: 2 * time.Minute,
		ErrorLog: slog.NewLogLogger(a.log.Handler(), slog.LevelDebug),
	}
	requests, cut := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cut(nil)
	s.BaseContext = func(net.Listener) context.Context { return requests }
	failed := make(chan error, 1)
	l := httpapi.Listen(s, a.listener)
	go func() { failed <- s.Serve(l) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	a.ready.Store(false)
	deadline, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
	defer cancel()
	defer time.AfterFunc(tell, func() { cut(errStopping) }).Stop()
	if err := s.Shutdown(deadline); err != nil {
		a.log.Warn("requests in flight were cut off", "error", err)
		return s.Close()
	}
	return nil
}

// Close stops everything in the reverse order of Open. It may be called on a half-opened App.
func (a *App) Close() error {
	var errs []error
	if a.stopBackground != nil {
		a.stopBackground()
	}
	if a.replicas != nil {
		errs = append(errs, a.replicas.Close())
	}
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
