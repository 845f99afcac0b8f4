package rotated_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"quarry/internal/oauth"
	"quarry/internal/outbound"
	"quarry/internal/secret/seal"
	"quarry/internal/secret/vault"
	"quarry/internal/store"
	"quarry/internal/store/rotated"
	"quarry/internal/store/secrets"
	"quarry/internal/store/storetest"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("quarry/internal/store/storetest.startServer"))
}

// TestRotated proves that the store of rotated tokens keeps the promises of oauth.Rotated on both databases, and that clients
// over it lose no refresh token and spend none twice.
func TestRotated(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) rows {
		sealed := storetest.Secrets(t, db)
		return rows{db, sealed, rotated.New(db, sealed)}
	}, map[string]func(*testing.T, rows){
		"locks": testLocks, "swaps": testSwaps, "forgets": testForgets, "rotates": testRotates, "replaces nothing": testReplacesNothing,
		"at once": testAtOnce, "caller goes": testCallerGoes, "killed": testKilled, "store fails": testStoreFails,
	})
}

type rows struct {
	db     *store.DB
	sealed *secrets.Store
	*rotated.Store
}

// endpoint is a token endpoint for refresh tokens r0, r1, …: each use of the present one makes the next, and ends all access
// tokens before.
type endpoint struct {
	*httptest.Server
	mu      sync.Mutex
	present int           // guarded by mu
	grace   bool          // takes the former one, too
	fixed   bool          // keeps r0
	asked   []string      // refresh tokens; guarded by mu
	hold    chan struct{} // closed to let answers go; nil holds none
	held    chan struct{} // has an element for each answer that is held
}

func newEndpoint(t *testing.T) *endpoint {
	t.Helper()
	e := &endpoint{held: make(chan struct{}, 100)}
	e.Server = httptest.NewServer(http.HandlerFunc(e.serve))
	t.Cleanup(e.Close)
	return e
}

func (e *endpoint) serve(w http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	_ = r.ParseForm()
	sent := r.PostForm.Get("refresh_token")
	e.asked = append(e.asked, sent)
	ok := sent == fmt.Sprint("r", e.present) || e.grace && sent == fmt.Sprint("r", e.present-1)
	if ok && !e.fixed {
		e.present++
	}
	present, n := e.present, len(e.asked)
	e.mu.Unlock()
	if e.hold != nil {
		e.held <- struct{}{}
		<-e.hold
	}
	switch {
	case !ok:
		w.WriteHeader(400)
		_, _ = fmt.Fprintf(w, `{"error":"invalid_grant","error_description":"no such token %s"}`, sent)
	case e.fixed:
		_, _ = fmt.Fprintf(w, `{"access_token":"a%d","expires_in":3600}`, n)
	default:
		_, _ = fmt.Fprintf(w, `{"access_token":"a%d","expires_in":3600,"refresh_token":"r%d"}`, n, present)
	}
}

func (e *endpoint) spent() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return strings.Join(e.asked, " ")
}

func (e *endpoint) credentials() oauth.Credentials {
	return oauth.Credentials{Endpoint: e.URL, ClientID: "me", ClientSecret: "hush", Refresh: "r0"}
}

// node returns a client as a node has it: nothing in memory.
func node(t *testing.T, r oauth.Rotated) *oauth.Client {
	t.Helper()
	h := outbound.New(outbound.Config{AllowPrivate: true})
	c := oauth.NewClient(h, r)
	t.Cleanup(func() { c.Close(); h.CloseIdleConnections() })
	return c
}

func token(t *testing.T, c *oauth.Client, e *endpoint, want string) {
	t.Helper()
	if got, err := c.Token(t.Context(), e.credentials()); err != nil || got != want {
		t.Fatalf("token %q, %v, want %q", got, err, want)
	}
}

func count(t *testing.T, db *store.DB, query string) (n int) {
	t.Helper()
	if err := db.Reader(t.Context()).QueryRow(query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func exec(t *testing.T, db *store.DB, query string, args ...any) {
	t.Helper()
	if err := db.Write(t.Context(), func(tx *store.Tx) error { return tx.Exec(query, args...) }); err != nil {
		t.Fatal(err)
	}
}

// testLocks proves that one holder at a time has a lock, until it gives it back or its time is over.
func testLocks(t *testing.T, s rows) {
	lock := func(holder string, until time.Duration, want bool) {
		t.Helper()
		if _, ok, err := s.Lock(t.Context(), "k", holder, time.Now().Add(until)); err != nil || ok != want {
			t.Fatalf("%s: %v, %v", holder, ok, err)
		}
	}
	lock("a", time.Hour, true)
	lock("b", time.Hour, false)
	if err := s.Unlock(t.Context(), "k", "b"); err != nil {
		t.Fatal(err)
	}
	lock("b", time.Hour, false)
	if err := s.Unlock(t.Context(), "k", "a"); err != nil {
		t.Fatal(err)
	}
	if n := count(t, s.db, `SELECT COUNT(*) FROM rotated_tokens`); n != 0 {
		t.Errorf("%d rows are left of a lock", n)
	}
	lock("b", -time.Second, true)
	lock("c", time.Hour, true)
	if err := s.Unlock(t.Context(), "k", "b"); err != nil {
		t.Fatal(err)
	}
	lock("d", time.Hour, false)
}

// testSwaps proves that a state is stored over the version that was read alone, and comes back as it was.
func testSwaps(t *testing.T, s rows) {
	next := func(n int64) oauth.State {
		return oauth.State{Refresh: fmt.Sprint("r", n), Access: oauth.Token{Value: "a\"ü", Expires: time.UnixMicro(1_900_000_000_000_000 + n)}}
	}
	for _, step := range []struct {
		after int64
		want  bool
	}{{0, true}, {0, false}, {1, true}, {1, false}, {5, false}, {2, true}} {
		if ok, err := s.Swap(t.Context(), "k", step.after, next(step.after+1)); err != nil || ok != step.want {
			t.Fatalf("after %d: %v, %v", step.after, ok, err)
		}
	}
	got, ok, err := s.Lock(t.Context(), "k", "a", time.Now().Add(time.Hour))
	want := next(3)
	if err != nil || !ok || got.Version != 3 || got.Refresh != want.Refresh || got.Access.Value != want.Access.Value || !got.Access.Expires.Equal(want.Access.Expires) {
		t.Errorf("%v %v %v", got, ok, err)
	}
	if n := count(t, s.db, `SELECT COUNT(*) FROM secrets WHERE name = 'rotated/k'`); n != 1 {
		t.Errorf("%d secrets", n)
	}
	if err := s.Unlock(t.Context(), "k", "a"); err != nil || count(t, s.db, `SELECT COUNT(*) FROM rotated_tokens`) != 1 {
		t.Errorf("the state went with its lock: %v", err)
	}
}

// testForgets proves that states which nobody has used for more than a year go with their secrets, and others stay.
func testForgets(t *testing.T, s rows) {
	for _, key := range []string{"old", "young"} {
		if ok, err := s.Swap(t.Context(), key, 0, oauth.State{Refresh: "r"}); err != nil || !ok {
			t.Fatal(ok, err)
		}
	}
	exec(t, s.db, `UPDATE rotated_tokens SET updated = $1 WHERE id = 'old'`, time.Now().AddDate(-2, 0, 0).UnixMicro())
	if ok, err := s.Swap(t.Context(), "new", 0, oauth.State{Refresh: "r"}); err != nil || !ok {
		t.Fatal(ok, err)
	}
	if n := count(t, s.db, `SELECT COUNT(*) FROM secrets WHERE name IN ('rotated/young', 'rotated/new')`); n != 2 || count(t, s.db, `SELECT COUNT(*) FROM secrets WHERE name LIKE 'rotated/%'`) != 2 {
		t.Errorf("%d of the young ones are left, or the old one is", n)
	}
}

// testRotates proves that each refresh token is spent once, in turn, over refusals and starts of the service, and that none of them is
// in the database in clear.
func testRotates(t *testing.T, s rows) {
	e := newEndpoint(t)
	c := node(t, s)
	token(t, c, e, "a1")
	token(t, c, e, "a1")
	c.Refuse(t.Context(), e.credentials(), "a1")
	token(t, c, e, "a2")
	restarted := node(t, s)
	token(t, restarted, e, "a2") // as stored
	restarted.Refuse(t.Context(), e.credentials(), "a2")
	token(t, restarted, e, "a3")
	if got := e.spent(); got != "r0 r1 r2" {
		t.Errorf("spent %s", got)
	}
	var sealed []byte
	if err := s.db.Reader(t.Context()).QueryRow(`SELECT sealed FROM secrets WHERE name LIKE 'rotated/%'`).Scan(&sealed); err != nil || strings.Contains(string(sealed), "refresh") {
		t.Errorf("%q, %v", sealed, err)
	}
}

// testReplacesNothing proves that an endpoint which keeps its refresh token leaves nothing in the database.
func testReplacesNothing(t *testing.T, s rows) {
	e := newEndpoint(t)
	e.fixed = true
	c := node(t, s)
	token(t, c, e, "a1")
	c.Refuse(t.Context(), e.credentials(), "a1")
	token(t, c, e, "a2")
	c.Close()
	if e.spent() != "r0 r0" || count(t, s.db, `SELECT COUNT(*) FROM rotated_tokens`) != 0 || count(t, s.db, `SELECT COUNT(*) FROM secrets`) != 0 {
		t.Errorf("spent %s, or rows are left", e.spent())
	}
}

// testAtOnce proves that many callers on two nodes, at once, spend a refresh token once and share what it has brought.
func testAtOnce(t *testing.T, s rows) {
	e := newEndpoint(t)
	nodes := []*oauth.Client{node(t, s), node(t, rotated.New(s.db, s.sealed))}
	for round := 1; round <= 3; round++ {
		var all sync.WaitGroup
		for i := range 16 {
			all.Go(func() {
				if got, err := nodes[i%2].Token(t.Context(), e.credentials()); err != nil || got != fmt.Sprint("a", round) {
					t.Errorf("round %d: %q, %v", round, got, err)
				}
			})
		}
		all.Wait()
		for _, n := range nodes {
			n.Refuse(t.Context(), e.credentials(), fmt.Sprint("a", round))
		}
	}
	if got := e.spent(); got != "r0 r1 r2" {
		t.Errorf("spent %s", got)
	}
}

// testCallerGoes proves that a refresh token which was spent for a caller who has gone is replaced all the same.
func testCallerGoes(t *testing.T, s rows) {
	e := newEndpoint(t)
	e.hold = make(chan struct{})
	c := node(t, s)
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("gone")
	go func() { <-e.held; cancel(gone) }()
	if _, err := c.Token(ctx, e.credentials()); !errors.Is(err, gone) {
		t.Fatal(err)
	}
	close(e.hold)
	c.Close()
	token(t, node(t, s), e, "a1")
	if got := e.spent(); got != "r0" {
		t.Errorf("spent %s", got)
	}
}

// dying is rows of a process that is killed as it is about to store a token: it never says or does anything again.
type dying struct {
	oauth.Rotated
	dead chan struct{}
}

func (d *dying) Swap(context.Context, string, int64, oauth.State) (bool, error) {
	close(d.dead)
	runtime.Goexit()
	return false, nil
}

func (d *dying) Unlock(ctx context.Context, key, holder string) error {
	select {
	case <-d.dead:
		return nil
	default:
		return d.Rotated.Unlock(ctx, key, holder)
	}
}

// testKilled proves what is left by a kill between the answer of an endpoint and the commit: a lock that ends by its time, and the
// former refresh token, which endpoints take that allow for this; of others the refusal says what to do.
func testKilled(t *testing.T, s rows) {
	for _, grace := range []bool{true, false} {
		e := newEndpoint(t)
		e.grace = grace
		d := &dying{s, make(chan struct{})}
		ctx, cancel := context.WithCancel(t.Context())
		go func() { <-d.dead; cancel() }()
		if _, err := node(t, d).Token(ctx, e.credentials()); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		key := e.credentials().Key()
		if _, ok, err := s.Lock(t.Context(), key, "other", time.Now()); ok || err != nil {
			t.Fatalf("the lock of the dead: %v, %v", ok, err)
		}
		exec(t, s.db, `UPDATE rotated_tokens SET locked = 0 WHERE id = $1`, key) // its time is over
		c := node(t, s)
		if grace {
			token(t, c, e, "a2")
			c.Refuse(t.Context(), e.credentials(), "a2")
			token(t, c, e, "a3")
			if got := e.spent(); got != "r0 r0 r2" {
				t.Errorf("spent %s", got)
			}
			continue
		}
		_, err := c.Token(t.Context(), e.credentials())
		var refused *oauth.Error
		if !errors.As(err, &refused) || refused.Code != "invalid_grant" || !strings.Contains(err.Error(), "configure a new one") || strings.Contains(err.Error(), "r0") {
			t.Errorf("%v", err)
		}
	}
}

// failing is rows whose disk is full for some writes.
type failing struct {
	oauth.Rotated
	left int
}

var errFull = errors.New("the disk is full")

func (f *failing) Swap(ctx context.Context, key string, after int64, next oauth.State) (bool, error) {
	if f.left--; f.left >= 0 {
		return false, errFull
	}
	return f.Rotated.Swap(ctx, key, after, next)
}

// testStoreFails proves that a refresh token which can't be stored at first is stored before its access token is used.
func testStoreFails(t *testing.T, s rows) {
	e := newEndpoint(t)
	token(t, node(t, &failing{s, 2}), e, "a1")
	restarted := node(t, s)
	token(t, restarted, e, "a1")
	restarted.Refuse(t.Context(), e.credentials(), "a1")
	token(t, restarted, e, "a2")
	if got := e.spent(); got != "r0 r1" {
		t.Errorf("spent %s", got)
	}
}

// TestTwoNodes proves over PostgreSQL that nodes with connections of their own spend a refresh token once.
func TestTwoNodes(t *testing.T) {
	t.Parallel()
	url := storetest.Postgres(t)
	keys := []seal.Key{seal.NewKey()}
	e := newEndpoint(t)
	var nodes []*oauth.Client
	for range 2 {
		db := storetest.Open(t, store.Config{URL: url})
		v, err := vault.Open(t.Context(), vault.Config{Rows: secrets.NewRows(db), Keys: keys})
		if err != nil {
			t.Fatal(err)
		}
		nodes = append(nodes, node(t, rotated.New(db, secrets.New(db, v.Keyring()))))
	}
	for round := 1; round <= 5; round++ {
		var all sync.WaitGroup
		for _, n := range nodes {
			all.Go(func() {
				if got, err := n.Token(t.Context(), e.credentials()); err != nil || got != fmt.Sprint("a", round) {
					t.Errorf("round %d: %q, %v", round, got, err)
				}
			})
		}
		all.Wait()
		for _, n := range nodes {
			n.Refuse(t.Context(), e.credentials(), fmt.Sprint("a", round))
		}
	}
	if got := e.spent(); got != "r0 r1 r2 r3 r4" {
		t.Errorf("spent %s", got)
	}
}

// TestSecretRotation proves that a rotation of the secret keys seals refresh tokens anew, and that they open afterwards.
func TestSecretRotation(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, store.Config{Dir: t.TempDir()})
	v, err := vault.Open(t.Context(), vault.Config{Rows: secrets.NewRows(db), File: seal.NewFile(filepath.Join(t.TempDir(), "secret.key"))})
	if err != nil {
		t.Fatal(err)
	}
	s := rotated.New(db, secrets.New(db, v.Keyring()))
	e := newEndpoint(t)
	token(t, node(t, s), e, "a1")
	p, err := v.Rotate(t.Context())
	if err != nil || !p.Done || p.Resealed != 1 {
		t.Fatalf("%+v, %v", p, err)
	}
	c := node(t, s)
	token(t, c, e, "a1")
	c.Refuse(t.Context(), e.credentials(), "a1")
	token(t, c, e, "a2")
}
