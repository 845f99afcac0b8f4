package folder

import (
	"context"
	"crypto/sha256"
	"errors"
	"sync"

	"golang.org/x/sync/errgroup"

	"quarry/internal/fault"
	"quarry/internal/folder/source"
	"quarry/internal/folder/state"
)

// task is a file to send.
type task struct {
	source.Item
	journal *state.Journal
	known   state.Entry // what is remembered, its id "" when nothing is
	there   bool        // the corpus has a document with the id
	replace bool        // what it has is an earlier version of the file, surely
}

// pass is one comparison of files and corpus, and what follows from it.
type pass struct {
	*Sync
	mu     sync.Mutex // guards result
	result Result
	ids    map[string]bool           // of the corpus
	seen   map[string]*state.Journal // of items, whatever became of them
	tasks  []*task
	gone   []orphan
}

// orphan is a document without a file.
type orphan struct {
	id      string
	journal *state.Journal
}

// Pass compares files and corpus once, sends what differs and removes what is to be removed. With an error the result
// is what was done until then.
func (s *Sync) Pass(ctx context.Context) (Result, error) {
	s.gate = newGate(s.cfg.Parallel)
	p := &pass{Sync: s, ids: map[string]bool{}, seen: map[string]*state.Journal{}}
	s.start(s.cfg.Progress)
	finder, err := source.New(s.cfg.Find)
	if err != nil {
		return p.result, err
	}
	err = p.run(ctx, finder)
	s.again = true
	return p.result, errors.Join(err, finder.Close())
}

func (p *pass) run(ctx context.Context, finder *source.Finder) error {
	err := p.gate.do(ctx, p.waits, func() error {
		clear(p.ids)
		return p.cfg.Corpus.Documents(ctx, func(id string) { p.ids[id] = true })
	})
	if err != nil {
		return err
	}
	found := make([]source.Found, len(p.cfg.Roots))
	for i, root := range p.cfg.Roots {
		found[i], err = finder.Find(ctx, root.Root, func(i source.Item) error { return p.look(ctx, root.Journal, i) })
		if err != nil {
			return err
		}
		p.result.LeftOut = append(p.result.LeftOut, found[i].LeftOut...)
		for _, f := range found[i].Problems {
			p.settle(failed(f.Place, f.ID, f.Stage, f.Advice, "%s", f.Reason))
		}
	}
	p.planned(p.tasks)
	if err := p.send(ctx); err != nil {
		return err
	}
	for i, root := range p.cfg.Roots {
		p.orphans(root, &found[i])
	}
	return p.remove(ctx)
}

// settle counts an outcome.
func (p *pass) settle(i Item) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.result.add(i)
	if p.cfg.Each != nil {
		p.cfg.Each(i)
	}
}

// settings returns what the document of an item depends on beside its content.
func (s *Sync) settings(i *source.Item) string {
	if i.Form == source.AsBody {
		return "" // it holds all of it
	}
	return s.cfg.Settings
}

// look decides whether an item has to be sent. Its content is read only if what is remembered does not decide it.
func (p *pass) look(ctx context.Context, j *state.Journal, i source.Item) error {
	p.looked()
	p.seen[i.ID] = j
	if r, ok := p.refusals[i.ID]; ok && p.again && r.Stamp == i.Stamp {
		p.settle(r.Item)
		return nil
	}
	t := &task{Item: i, journal: j, there: p.ids[i.ID]}
	t.known, _ = j.Get(i.ID)
	k := &t.known
	switch {
	case !t.there || k.ID == "" || k.Outcome != state.Done || !k.Mine:
	case k.Options != p.settings(&i):
		t.replace = true
	case !k.Recent && same(k, i.Stamp):
		p.settle(t.outcome(Unchanged))
		return nil
	default:
		c, err := i.Read(ctx)
		if err != nil {
			return p.unread(ctx, t, err)
		}
		if sha256.Sum256(c.Data) == k.Sum {
			p.remember(t, c)
			p.settle(t.outcome(Unchanged))
			return nil
		}
		t.replace = true
	}
	p.tasks = append(p.tasks, t)
	return nil
}

// same reports whether a file is, by all that can be known without reading it, the one that was sent.
func same(e *state.Entry, s source.Stamp) bool {
	return e.Size == s.Size && e.Modified == s.Modified.UnixNano() && e.Identity == s.Identity
}

// remember records that the corpus has the document with this content.
func (p *pass) remember(t *task, c source.Content) {
	if p.cfg.DryRun {
		return
	}
	t.journal.Put(state.Entry{
		ID: t.ID, Outcome: state.Done, Mine: true, Size: c.Size, Modified: c.Modified.UnixNano(), Identity: c.Identity,
		Sum: sha256.Sum256(c.Data), Options: p.settings(&t.Item), Recent: !c.Settled,
	})
}

func (t *task) outcome(s State) Item { return Item{Place: t.Place, ID: t.ID, State: s, Bytes: t.Size} }

// unread settles an item that can't be read. One that is gone by now counts as not found.
func (p *pass) unread(ctx context.Context, t *task, err error) error {
	var problem *source.Problem
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, source.ErrGone):
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.seen, t.ID)
	case errors.As(err, &problem):
		p.settle(failed(problem.Place, t.ID, problem.Stage, problem.Advice, "%s", problem.Reason))
	default:
		p.settle(failed(t.Place, t.ID, source.StageRead, "", "%v", err))
	}
	return nil
}

// send sends the tasks, several at a time.
func (p *pass) send(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(p.cfg.Parallel)
	for _, t := range p.tasks {
		if ctx.Err() != nil {
			break
		}
		group.Go(func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return p.one(ctx, t)
		})
	}
	return group.Wait()
}

// one sends a file. Only an error that concerns every file is returned.
func (p *pass) one(ctx context.Context, t *task) error {
	is := New
	if t.there {
		is = Changed
	}
	if p.cfg.DryRun {
		p.settle(t.outcome(is))
		return nil
	}
	p.takes(t)
	passages := 0
	defer func() { p.settled(t, passages) }()
	c, err := t.Read(ctx)
	if err != nil {
		return p.unread(ctx, t, err)
	}
	mine := t.known.Mine && t.there // what is there now was made by this command
	t.journal.Put(state.Entry{ID: t.ID, Outcome: state.Sending, Mine: mine || !t.there})
	stored, err := p.put(ctx, t, c)
	switch {
	case err == nil && stored.Same:
		is = Unchanged
	case err == nil:
	case ends(err):
		return err
	default:
		t.journal.Put(state.Entry{ID: t.ID, Outcome: state.Failed, Mine: mine})
		i := t.refused(err)
		p.mu.Lock()
		p.refusals[t.ID] = refusal{t.Stamp, i}
		p.mu.Unlock()
		p.settle(i)
		return nil
	}
	p.remember(t, c)
	i := t.outcome(is)
	i.Bytes = c.Size
	if !stored.Same {
		i.Passages, i.Encoded = stored.Passages, stored.Encoded
	}
	passages = stored.Passages
	p.settle(i)
	return nil
}

// put sends a document. Whether one that is there has other content is asked first, unless it is known: asking costs
// nothing, replacing may.
func (p *pass) put(ctx context.Context, t *task, c source.Content) (stored Stored, err error) {
	d := Document{ID: t.ID, Form: t.Form, Data: c.Data}
	replace := t.replace
	err = p.gate.do(ctx, p.waits, func() (err error) {
		stored, err = p.cfg.Corpus.Put(ctx, d, replace)
		if fault.Is(err, fault.KindConflict) && !replace {
			replace = true
			stored, err = p.cfg.Corpus.Put(ctx, d, replace)
		}
		return err
	})
	if err == nil && t.there && !replace { // otherwise it would have been a conflict
		stored.Same = true
	}
	return stored, err
}

// ends reports whether err concerns every file.
func ends(err error) bool {
	var busy *Busy
	f, ok := fault.As(err)
	return !ok || errors.As(err, &busy) || errors.Is(err, ErrUnreachable) || f.Kind == fault.KindUnauthenticated || f.Kind == fault.KindForbidden || f.Kind == fault.KindNotFound
}

// refused returns the outcome of a file that the service does not take.
func (t *task) refused(err error) Item {
	advice := ""
	f, _ := fault.As(err)
	switch f.Kind {
	case fault.KindTooLarge:
		advice = "split the file, or raise QUARRY_MAX_UPLOAD where the service runs"
	case fault.KindMediaType:
		advice = "convert the file, or leave it out with --exclude"
	case fault.KindInternal, fault.KindTimeout, fault.KindUpstream:
		advice = "run the command again; the log of the service may say more"
	case fault.KindInvalid, fault.KindUnprocessable:
		advice = "mend the file, or leave it out with --exclude"
	}
	return failed(t.Place, t.ID, StageSend, advice, "%s", err.Error())
}

// orphans collects the documents of a root that have no file any more. What the corpus has not, what others made under the
// id and what another root has now is forgotten.
func (p *pass) orphans(root Root, found *source.Found) {
	for e := range root.Journal.All() {
		switch by := p.seen[e.ID]; {
		case by == root.Journal, by == nil && p.shielded(root.Root, found, e.ID):
		case by == nil && p.ids[e.ID] && e.Mine:
			p.gone = append(p.gone, orphan{e.ID, root.Journal})
		case !p.cfg.DryRun:
			root.Journal.Forget(e.ID)
		}
	}
}

// remove removes the documents without a file, or counts them.
func (p *pass) remove(ctx context.Context) error {
	for _, o := range p.gone {
		if !p.ids[o.id] { // another root had it, too
			o.journal.Forget(o.id)
			continue
		}
		i := Item{ID: o.id, State: Gone}
		if p.cfg.Remove && !p.cfg.DryRun {
			err := p.gate.do(ctx, p.waits, func() error { return p.cfg.Corpus.Delete(ctx, o.id) })
			switch {
			case err == nil:
				o.journal.Forget(o.id)
				delete(p.ids, o.id)
				i.State = Removed
			case ends(err):
				return err
			default:
				i = failed("", o.id, StageRemove, "run the command again", "%s", err.Error())
			}
		}
		p.settle(i)
	}
	return nil
}
