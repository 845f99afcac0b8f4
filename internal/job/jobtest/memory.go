// Package jobtest has the conformance suite of job.Store, and one in memory that passes it, for tests of services that
// use the queue. Only tests import it.
package jobtest

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/job"
	"quarry/internal/page"
)

// Memory is a job.Store in memory. The zero value is empty and ready.
type Memory struct {
	mu   sync.Mutex
	all  []*entry         // guarded by mu; in order of No
	turn int64            // guarded by mu
	last map[string]int64 // guarded by mu; account → turn
}

type entry struct {
	job.Job
	due    time.Time
	holder string
}

var _ job.Store = (*Memory)(nil)

// Add writes a job.
func (m *Memory) Add(_ context.Context, j job.Job) (job.Job, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.add(j), nil
}

func (m *Memory) add(j job.Job) job.Job {
	j.No, j.State = 1, job.Queued
	if n := len(m.all); n > 0 {
		j.No = m.all[n-1].No + 1
	}
	m.all = append(m.all, &entry{Job: j, due: j.Created})
	return j
}

// AddOnce writes a job unless there is one of its type and lane.
func (m *Memory) AddOnce(_ context.Context, j job.Job) (job.Job, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range m.all {
		if e.Type == j.Type && e.Lane == j.Lane && !e.State.Ended() {
			return e.Job, nil
		}
	}
	return m.add(j), nil
}

// Get returns a job of an account.
func (m *Memory) Get(_ context.Context, account string, id id.Job) (job.Job, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range m.all {
		if e.ID == id && e.Account == account {
			return e.Job, nil
		}
	}
	return job.Job{}, fault.NotFound("job_not_found", string(id), "job %s does not exist", id)
}

// List returns a page of jobs.
func (m *Memory) List(_ context.Context, l job.List) (page []job.Job, more bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range m.all {
		if wanted(&e.Job, &l) {
			j := e.Job
			j.Input, j.Progress = nil, nil
			page = append(page, j)
		}
	}
	slices.SortFunc(page, func(a, b job.Job) int {
		return -cmp.Or(cmp.Compare(a.Created.UnixMicro(), b.Created.UnixMicro()), cmp.Compare(a.ID, b.ID))
	})
	if l.Limit = max(l.Limit, 0); len(page) > l.Limit {
		return page[:l.Limit], l.Limit > 0, nil
	}
	return page, false, nil
}

func wanted(j *job.Job, l *job.List) bool {
	return j.Account == l.Account && j.Created.After(l.After) &&
		l.Before.Precedes(page.At(j.Created, j.ID)) &&
		(len(l.States) == 0 || slices.Contains(l.States, j.State)) &&
		(len(l.Corpora) == 0 || slices.ContainsFunc(l.Corpora, func(k string) bool { return slices.Contains(j.CorpusKeys, k) }))
}

// Claim takes a due job.
func (m *Memory) Claim(_ context.Context, types []job.Type, now time.Time, l job.Lease) (job.Job, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var best *entry
	for _, e := range m.all {
		if e.State.Ended() || e.due.After(now) || !slices.Contains(types, e.Type) || !m.laneFree(e) {
			continue
		}
		if best == nil || cmp.Or(cmp.Compare(m.last[e.Account], m.last[best.Account]), cmp.Compare(e.Account, best.Account)) < 0 {
			best = e
		}
	}
	if best == nil {
		return job.Job{}, false, nil
	}
	m.turn++
	if m.last == nil {
		m.last = map[string]int64{}
	}
	m.last[best.Account] = m.turn
	if best.Started.IsZero() {
		best.Started = now
	}
	best.State, best.due, best.holder = job.Started, l.Until, l.Holder
	best.Attempt++
	return best.Job, true, nil
}

func (m *Memory) laneFree(e *entry) bool {
	return e.Lane == "" || !slices.ContainsFunc(m.all, func(o *entry) bool {
		return o.Lane == e.Lane && !o.State.Ended() && o != e && (o.No < e.No || o.State == job.Started)
	})
}

// held returns the job that a lease still holds.
func (m *Memory) held(l job.Lease) (*entry, error) {
	for _, e := range m.all {
		if e.No == l.No && e.State == job.Started && e.holder == l.Holder {
			return e, nil
		}
	}
	return nil, job.ErrAborted
}

// Save extends a lease and writes a checkpoint.
func (m *Memory) Save(_ context.Context, l job.Lease, c job.Checkpoint) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, err := m.held(l)
	if err != nil {
		return err
	}
	e.due = l.Until
	if c.Progress != nil && !bytes.Equal(c.Progress, e.Progress) {
		e.Progress, e.Attempt = c.Progress, 1
	}
	if c.Comment != nil {
		e.Comment = *c.Comment
	}
	return nil
}

// End ends a lease with an outcome.
func (m *Memory) End(_ context.Context, l job.Lease, o job.Outcome) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, err := m.held(l)
	if err != nil {
		return err
	}
	e.State, e.due, e.holder = o.State, o.Due, ""
	if o.Comment != "" {
		e.Comment = o.Comment
	}
	if o.State.Ended() {
		e.Completed = o.At
	}
	if o.State == job.Queued {
		e.Attempt--
	}
	return nil
}

// Free ends every lease.
func (m *Memory) Free(_ context.Context, now time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range m.all {
		if e.State == job.Started {
			e.due, e.holder = now, ""
		}
	}
	return nil
}

// Sweep removes the jobs that ended before an instant.
func (m *Memory) Sweep(_ context.Context, before time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.all = slices.DeleteFunc(m.all, func(e *entry) bool { return e.State.Ended() && e.Completed.Before(before) })
	return nil
}

// Abort ends the unfinished jobs of a corpus, as deleting it does.
func (m *Memory) Abort(corpusKey string, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range m.all {
		if !e.State.Ended() && slices.Contains(e.CorpusKeys, corpusKey) {
			e.State, e.Completed, e.holder = job.Aborted, now, ""
		}
	}
}
