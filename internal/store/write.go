package store

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"time"

	"quarry/internal/room"
)

// Write runs fn in a transaction and returns when what it wrote is durable. An error of fn rolls back what fn did and is
// returned. On SQLite ctx counts only until fn begins; on PostgreSQL its end also interrupts fn. fn may run more than once
// (after a conflict on PostgreSQL, after the failure of a neighbour on SQLite), so it must have no effect outside tx except
// for results that a later run overwrites. While the disk of the data folder is full, only what frees space is written
// (package room).
func (db *DB) Write(ctx context.Context, fn func(tx *Tx) error) error {
	if db.writer == nil {
		return Translate(db.retry(ctx, fn))
	}
	if err := db.reserve.refuse(ctx); err != nil {
		return err
	}
	write := func() error { return db.writer.write(ctx, fn) }
	if room.Frees(ctx) {
		return Translate(db.reserve.free(write))
	}
	err := write()
	if isFull(err) {
		db.reserve.give(startReserve)
	}
	return Translate(err)
}

// maxGroup is how many writes share one commit at most (design: retrieval.md 4.6): it bounds how long the first of a group
// waits for the others.
const maxGroup = 64

// writer owns the one writing connection of SQLite and commits in groups. One goroutine takes the requests that wait, runs
// each function under a savepoint of its own, and commits once for all of them. A commit is an fsync, which takes longer
// than most functions, so under load one fsync serves many writes. There is no timer: a lone write waits for nobody.
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

// gather adds the requests that wait now to the first one. It does not wait for more: the next group forms by itself while
// this one commits.
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

// commit runs a group. When a failure ends the whole transaction, as SQLite does on a full disk, those who have not caused it are
// run again one by one, since they may fit.
func (w *writer) commit(group []*request) {
	for _, r := range w.attempt(group) {
		w.attempt([]*request{r})
	}
}

// attempt runs a group in one transaction and sets each request's err. It returns the requests for which the failure of another one,
// or of what they were to do together, has ended the transaction.
func (w *writer) attempt(group []*request) (again []*request) {
	if err := w.exec("BEGIN IMMEDIATE"); err != nil {
		fail(group, err)
		return nil
	}
	var good []*request
	var left rest
	for _, r := range group {
		if r.err = r.ctx.Err(); r.err != nil {
			continue
		}
		lost := w.savepoint(r, &left)
		if lost && len(group) > 1 {
			w.rollback()
			return slices.DeleteFunc(slices.Clone(group), func(o *request) bool { return o == r })
		}
		if r.err == nil {
			good = append(good, r)
		}
	}
	if len(good) == 0 {
		w.rollback()
		return nil
	}
	if err := left.run(w.tx()); err != nil {
		w.rollback()
		if fail(good, err); len(good) > 1 {
			return good
		}
		return nil
	}
	if err := w.exec("COMMIT"); err != nil {
		w.rollback()
		if fail(good, fmt.Errorf("commit: %w", err)); len(good) > 1 && isFull(err) {
			return good
		}
	}
	return nil
}

// savepoint runs one function so that its error rolls back its own work alone, and adds what it has left for the end to left. lost
// reports that the transaction itself has ended.
func (w *writer) savepoint(r *request, left *rest) (lost bool) {
	if err := w.exec("SAVEPOINT one"); err != nil {
		r.err = err
		return true
	}
	tx := w.tx()
	r.err = call(r.fn, tx)
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
	if r.err == nil {
		left.join(tx.rest)
	}
	return false
}

func (w *writer) tx() *Tx { return &Tx{on: w.conn, ctx: context.Background(), stmts: w.stmts} }

func (w *writer) exec(text string) error { return w.tx().Exec(text) }

// rollback ends a transaction. It drops the error, because the transaction may have ended by itself already.
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

// call runs fn and turns a panic into the error of this write alone.
func call(fn func(*Tx) error, tx *Tx) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic in a write: %v\n%s", p, debug.Stack())
		}
	}()
	return fn(tx)
}

// maxTries bounds how often a transaction is run that PostgreSQL ends because of a conflict.
const maxTries = 8

// retry runs fn in a transaction of PostgreSQL, and again after a serialization failure or a deadlock.
func (db *DB) retry(ctx context.Context, fn func(*Tx) error) error {
	for try := 1; ; try++ {
		err := db.once(ctx, fn)
		if err == nil || try == maxTries || !conflicted(err) {
			return err
		}
		pause := time.Duration(rand.Int64N(int64(time.Millisecond) << try)) // random, so that the contenders do not meet again
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
	t := &Tx{on: tx, ctx: ctx}
	if err := call(fn, t); err != nil {
		return err
	}
	if err := t.rest.run(&Tx{on: tx, ctx: ctx}); err != nil {
		return err
	}
	return tx.Commit()
}
