package store

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"time"
)

// Write runs fn in a transaction and returns when what it wrote is durable. An error of fn undoes what fn did and is
// returned; a cancelled ctx is heeded until fn's turn has come. fn may run more than once, so it must leave no
// effect outside tx but for results that a later run overwrites.
func (db *DB) Write(ctx context.Context, fn func(tx *Tx) error) error {
	if db.writer != nil {
		return Translate(db.writer.write(ctx, fn))
	}
	return Translate(db.retry(ctx, fn))
}

// maxGroup is how many writes share one commit at most (design: retrieval.md 4.6).
const maxGroup = 64

// writer owns the one writing connection of SQLite. One goroutine runs what waits, each function under its own
// savepoint, and commits once for all: under load one fsync serves many writes, and a lone write waits for nobody.
type writer struct {
	conn   *sql.Conn
	stmts  map[string]*sql.Stmt
	queue  chan *request // unbuffered: a request is either not yet taken or will be answered
	closed chan struct{}
	idle   chan struct{} // closed when the goroutine has ended
}

type request struct {
	ctx    context.Context
	fn     func(*Tx) error
	err    error
	answer chan struct{}
}

func newWriter(conn *sql.Conn) *writer {
	w := &writer{
		conn: conn, stmts: map[string]*sql.Stmt{},
		queue: make(chan *request), closed: make(chan struct{}), idle: make(chan struct{}),
	}
	go w.loop()
	return w
}

func (w *writer) write(ctx context.Context, fn func(*Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r := &request{ctx: ctx, fn: fn, answer: make(chan struct{})}
	select {
	case w.queue <- r:
		<-r.answer
		return r.err
	case <-ctx.Done():
		return ctx.Err()
	case <-w.closed:
		return ErrClosed
	}
}

func (w *writer) loop() {
	defer close(w.idle)
	for {
		select {
		case r := <-w.queue:
			group := w.gather(r)
			w.commit(group)
			for _, r := range group {
				close(r.answer)
			}
		case <-w.closed:
			return
		}
	}
}

// gather takes what waits now. It waits for nothing: while one group commits the next one forms by itself.
func (w *writer) gather(first *request) []*request {
	group := []*request{first}
	for len(group) < maxGroup {
		select {
		case r := <-w.queue:
			group = append(group, r)
		default:
			return group
		}
	}
	return group
}

// commit runs a group. When one function's failure takes the whole transaction with it (SQLite does that on a full
// disk), the others are run again one by one: they may fit.
func (w *writer) commit(group []*request) {
	culprit := w.attempt(group)
	if culprit == nil {
		return
	}
	for _, r := range group {
		if r != culprit {
			w.attempt([]*request{r})
		}
	}
}

// attempt runs a group in one transaction and sets each request's err. It returns the request that voided the
// transaction of the others, if one did.
func (w *writer) attempt(group []*request) *request {
	if err := w.exec("BEGIN IMMEDIATE"); err != nil {
		fail(group, err)
		return nil
	}
	var good []*request
	for _, r := range group {
		if r.err = r.ctx.Err(); r.err != nil {
			continue
		}
		lost := w.savepoint(r)
		if lost && len(group) > 1 {
			w.rollback()
			return r
		}
		if r.err == nil {
			good = append(good, r)
		}
	}
	if len(good) == 0 {
		w.rollback()
		return nil
	}
	if err := w.exec("COMMIT"); err != nil {
		w.rollback()
		fail(good, fmt.Errorf("commit: %w", err))
	}
	return nil
}

// savepoint runs one function so that its error undoes its own work alone. lost reports that the transaction is gone.
func (w *writer) savepoint(r *request) (lost bool) {
	if err := w.exec("SAVEPOINT one"); err != nil {
		r.err = err
		return true
	}
	r.err = call(r.fn, &Tx{on: w.conn, ctx: context.Background(), stmts: w.stmts})
	if r.err != nil {
		if w.exec("ROLLBACK TO one") != nil {
			return true
		}
	}
	if err := w.exec("RELEASE one"); err != nil {
		if r.err == nil {
			r.err = err
		}
		return true
	}
	return false
}

func (w *writer) exec(text string) error {
	return (&Tx{on: w.conn, ctx: context.Background(), stmts: w.stmts}).Exec(text)
}

// rollback ends a transaction that may have ended by itself already, hence no error.
func (w *writer) rollback() { _ = w.exec("ROLLBACK") }

// stop ends the goroutine after the group in progress.
func (w *writer) stop() {
	close(w.closed)
	<-w.idle
	for _, s := range w.stmts {
		_ = s.Close() // the connection goes next
	}
}

func fail(group []*request, err error) {
	for _, r := range group {
		r.err = err
	}
}

// call contains a panic of fn: it is the error of this write alone.
func call(fn func(*Tx) error, tx *Tx) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic in a write: %v\n%s", p, debug.Stack())
		}
	}()
	return fn(tx)
}

// maxTries bounds how often PostgreSQL may ask for a transaction to be run again.
const maxTries = 8

// retry runs fn in a transaction of PostgreSQL, again when the server found it in conflict with another one.
func (db *DB) retry(ctx context.Context, fn func(*Tx) error) error {
	for try := 1; ; try++ {
		err := db.once(ctx, fn)
		if err == nil || try == maxTries || !conflicted(err) {
			return err
		}
		pause := time.Duration(rand.Int64N(int64(time.Millisecond) << try)) // spreads the contenders
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (db *DB) once(ctx context.Context, fn func(*Tx) error) error {
	tx, err := db.read.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // no effect after Commit
	if err := call(fn, &Tx{on: tx, ctx: ctx}); err != nil {
		return err
	}
	return tx.Commit()
}
