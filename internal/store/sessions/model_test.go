package sessions_test

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"quarry/internal/agent/artifact"
	"quarry/internal/agent/permit"
	"quarry/internal/agent/session"
	"quarry/internal/agent/tool"
	"quarry/internal/blob"
	"quarry/internal/blobstore/file"
	"quarry/internal/clock"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/opt"
	"quarry/internal/store/blobs"
	"quarry/internal/usage"
)

// memory is what a session should be.
type memory struct {
	no                        int64
	events                    []session.Event
	last, turn, edits, failed int64
	external                  map[string]id.Event
	queue                     []session.Input
	run                       *session.Run
	parked                    *session.Parked
	disabled, deleted         bool
	leases                    []session.Lease // also those that are lost
	resolved                  string          // what the turn has resolved
	files                     map[string]artifact.Artifact
}

// conflict is the code of a refusal.
type conflict string

func (c conflict) Error() string { return string(c) }

func (m *memory) append(turn int64, events ...session.Event) []session.Event {
	for i, e := range events {
		m.last++
		m.failed = 0
		e.Ord, e.Turn = m.last, turn
		events[i] = e
		m.events = append(m.events, e)
	}
	return events
}

func (m *memory) find(e id.Event) int {
	return slices.IndexFunc(m.events, func(x session.Event) bool { return x.ID == e })
}

// messages returns the events of an input.
func (m *memory) messages(in session.Input) (out []session.Event) {
	message := session.Event{ID: in.Event, Type: session.InputMessage, Body: session.Body{Parts: in.Parts}}
	switch {
	case len(in.Files) == 0:
		return []session.Event{message}
	case len(in.Parts) == 0:
		return []session.Event{session.Upload(in.Event, in.Files)}
	}
	return []session.Event{session.Upload(in.Upload, in.Files), message}
}

// keep adds files.
func (m *memory) keep(files []artifact.Artifact) {
	for _, f := range files {
		m.files[f.ID] = f
	}
}

// begin opens a run for an input that is in the log.
func (m *memory) begin(input []session.Event, in session.Input, l session.Lease, step string) *session.Run {
	m.run = &session.Run{Lease: l, Opening: len(input), Revision: 7, Step: step, Caller: in.Caller}
	if len(input) > 0 {
		m.run.Turn, m.run.First = input[0].Turn, input[0].Ord
	}
	if in.Compaction != nil {
		m.run.Turn, m.run.First, m.run.Opening = m.turn, m.last+1, 0
		m.run.Compaction = &session.Compacting{Event: in.Event, Wish: *in.Compaction}
	}
	return m.run
}

func (m *memory) accept(in session.Input, l session.Lease) (session.Outcome, id.Event, error) {
	if m.deleted {
		return "", "", conflict("session_not_found")
	}
	if in.Compaction != nil {
		return m.compact(in, l)
	}
	var parts []session.Part
	var known id.Event
	mine := map[string]bool{}
	for _, p := range in.Parts {
		e, there := m.external[p.ExternalID]
		switch {
		case there:
			known = cmp.Or(known, e)
		case !mine[p.ExternalID]:
			parts = append(parts, p)
		}
		mine[p.ExternalID] = p.ExternalID != ""
	}
	if len(parts) == 0 && (len(in.Parts) > 0 || len(in.Files) == 0) {
		i := m.find(known)
		if m.run != nil || m.failed == 0 || i < 0 || m.events[i].Ord != m.failed || m.events[i].Hidden != "" {
			return session.Known, known, nil
		}
		if m.disabled {
			return "", "", conflict("session_disabled")
		}
		m.failed = 0
		opening := m.events[i : i+1]
		if i > 0 && m.events[i-1].Type == session.ArtifactUpload && m.events[i-1].Ord == m.events[i].Ord-1 && m.events[i-1].Turn == m.events[i].Turn {
			opening = m.events[i-1 : i+1]
		}
		m.begin(opening, in, l, "")
		return session.Again, known, nil
	}
	in.Parts = parts
	switch {
	case m.disabled:
		return "", "", conflict("session_disabled")
	case m.run != nil && !in.Queue:
		return "", "", conflict("session_busy")
	}
	for _, p := range parts {
		if p.ExternalID != "" {
			m.external[p.ExternalID] = in.Event
		}
	}
	m.keep(in.Files)
	if m.run != nil {
		m.queue = append(m.queue, in)
		return session.Waiting, in.Event, nil
	}
	m.supersede()
	m.turn++
	m.begin(m.append(m.turn, m.messages(in)...), in, l, "")
	return session.Began, in.Event, nil
}

// compact is accept of a compaction.
func (m *memory) compact(in session.Input, l session.Lease) (session.Outcome, id.Event, error) {
	switch {
	case m.disabled:
		return "", "", conflict("session_disabled")
	case m.run != nil:
		m.queue = append(m.queue, in)
		return session.Waiting, in.Event, nil
	case m.parked != nil:
		return "", "", conflict("session_parked")
	}
	m.turn++
	m.begin(nil, in, l, "")
	return session.Began, in.Event, nil
}

// fork returns what a fork of m should be, but for the ids of its events.
func (m *memory) fork(c session.Copy) *memory {
	out := &memory{external: map[string]id.Event{}, files: maps.Clone(m.files)}
	if c.Opens != nil {
		out.events = append(out.events, *c.Opens)
	}
	left := append(m.unanswered(c), c.But...)
	for _, e := range m.events {
		if e.Hidden != "" || e.Ord < c.From || e.Ord > cmp.Or(c.To, m.last) || slices.Contains(left, e.Ord) {
			continue
		}
		out.events = append(out.events, e)
		for ext, of := range m.external {
			if of == e.ID {
				out.external[ext] = e.ID
			}
		}
	}
	for _, e := range out.events {
		out.last, out.turn = max(out.last, e.Ord), max(out.turn, e.Turn)
	}
	if m.failed == out.last {
		out.failed = m.failed
	}
	return out
}

// forget removes an event with its external ids.
func (m *memory) forget(i int) {
	for ext, e := range m.external {
		if e == m.events[i].ID {
			delete(m.external, ext)
		}
	}
	m.events = slices.Delete(m.events, i, i+1)
	m.edits++
}

// steering returns how many inputs wait to steer.
func (m *memory) steering() (n int) {
	for _, in := range m.queue {
		if in.Steer {
			n++
		}
	}
	return n
}

func (m *memory) commit(l session.Lease, c session.Commit) (out session.Committed, err error) {
	if m.deleted || m.run == nil || m.run.Holder != l.Holder {
		return out, session.ErrLost
	}
	out.Interrupted = m.run.Interrupted
	for _, s := range c.Hide {
		for i, e := range m.events {
			if e.Ord >= s.From && e.Ord <= s.To && e.Hidden == "" {
				m.events[i].Hidden = session.Compacted
			}
		}
	}
	if len(c.Hide) > 0 {
		m.edits++
	}
	m.keep(c.Artifacts)
	out.Events = m.append(m.run.Turn, slices.Clone(c.Events)...)
	if len(c.Events) > 0 {
		m.run.Recovered = 0
	}
	if r := c.Resolved; r != nil {
		m.resolved, m.run.Resolved = r.Text, *r
		if r.Secret {
			m.run.Resolved.Text = "" // it is not read with the run
		}
	}
	switch stop := c.End != nil && c.End.Stop; {
	case c.Park != nil:
		m.park(c.Park, &out)
	case m.steering() > 0 && !stop && (c.Steer || c.End != nil):
		m.steer(&out)
	case c.End != nil:
		m.end(c.End, &out)
	default:
		out.Steers = m.steering() > 0
	}
	out.Edits = m.edits
	return out, nil
}

// steer takes in the inputs that steer.
func (m *memory) steer(out *session.Committed) {
	for _, in := range m.queue {
		if in.Steer {
			out.Inputs = append(out.Inputs, m.append(m.turn, m.messages(in)...)...)
		}
	}
	m.queue = slices.DeleteFunc(m.queue, func(in session.Input) bool { return in.Steer })
	m.run.Recovered = 0
}

func (m *memory) end(e *session.End, out *session.Committed) {
	out.Ended = true
	if first := m.run.First; m.run.Compaction != nil && m.last < first {
		m.turn--
	} else if m.run.Compaction == nil && m.last == m.run.Base() {
		switch i := slices.IndexFunc(m.events, func(x session.Event) bool { return x.Ord >= first }); {
		case e.TakeBack && i >= 0:
			for ; i < len(m.events); m.forget(i) {
				for _, f := range m.events[i].Files {
					delete(m.files, f.ID)
				}
			}
			m.turn--
		case e.Failed && !e.TakeBack:
			m.failed = m.last
		}
	}
	l := m.run.Lease
	m.run = nil
	if len(m.queue) == 0 {
		return
	}
	in := m.queue[0]
	m.queue = m.queue[1:]
	m.turn++
	if in.Compaction != nil {
		out.Next = m.begin(nil, in, l, e.Step)
		return
	}
	out.Inputs = m.append(m.turn, m.messages(in)...)
	out.Next = m.begin(out.Inputs, in, l, e.Step)
}

// player plays the same moves on a store and on memory.
type player struct {
	t        *testing.T
	b        bench
	r        *rand.Rand
	all      []*memory
	now      time.Time
	at       string // for failures
	agentNo  int64
	answered []id.Event // calls that don't wait any more
	blobs    blob.Store
	dir      string // of blobs
}

// testRandomLog proves that after any sequence of inputs, uploads, commits, turns that park, answers to all or some of their calls, files of
// tools, compactions, forks, interrupts, withdrawals, hides, deletions, sweeps and claims, of which many are refused, the store answers and holds what the same moves leave in memory; that
// no session sees a file of another; and that the bytes that are kept are those of the files that there are.
func testRandomLog(t *testing.T, b bench) {
	seed := uint64(time.Now().UnixNano())
	p := &player{t: t, b: b, r: rand.New(rand.NewPCG(seed, 16)), now: clock.Now(), agentNo: b.agent(t, "a"), dir: t.TempDir()}
	var err error
	if p.blobs, err = file.Open(t.Context(), p.dir, blobs.NewRows(b.db)); err != nil {
		t.Fatal(err)
	}
	moves := []struct {
		weight int
		play   func(*memory)
	}{{30, p.accept}, {45, p.commit}, {4, p.interrupt}, {6, p.hide}, {5, p.deleteEvent}, {4, p.claim}, {2, p.toggle}, {1, p.delete}, {6, p.compact}, {3, p.fork}, {3, p.sweep}, {12, p.answer}, {6, p.withdraw}}
	for step := range 700 {
		p.at = fmt.Sprintf("seed %d, step %d", seed, step)
		if len(p.all) < 3 || p.r.IntN(60) == 0 {
			s := b.create(t, p.agentNo, fmt.Sprint("s", step))
			p.all = append(p.all, &memory{no: s.No, external: map[string]id.Event{}, files: map[string]artifact.Artifact{}})
		}
		m := p.all[len(p.all)-1-p.r.IntN(min(len(p.all), 4))]
		if m.parked != nil && p.r.IntN(2) == 0 { // otherwise inputs supersede most calls
			p.answer(m)
			continue
		}
		n := p.r.IntN(127)
		for _, move := range moves {
			if n -= move.weight; n < 0 {
				move.play(m)
				break
			}
		}
	}
	for _, m := range p.all {
		p.at = fmt.Sprintf("seed %d, session %d", seed, m.no)
		p.wantSame(m)
	}
	p.wantBytes()
}

// same fails unless both sides have refused for the same reason, or not at all.
func (p *player) same(what string, want, got error) {
	p.t.Helper()
	if f, ok := fault.As(got); ok {
		got = conflict(f.Code)
	}
	if !errors.Is(got, want) {
		p.t.Fatalf("%s, %s: %v, want %v", p.at, what, got, want)
	}
}

func (p *player) equal(what string, want, got any) {
	p.t.Helper()
	if diff := gocmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(session.Event{}, "Created"),
		cmpopts.IgnoreFields(session.Run{}, "AgentNo", "Began", "Until", "Node")); diff != "" {
		p.t.Fatalf("%s, %s (-want +got): %s", p.at, what, diff)
	}
}

func (p *player) accept(m *memory) {
	in := session.Input{Session: m.no, Event: id.NewEvent(), Queue: p.r.IntN(4) > 0, Steer: p.r.IntN(3) == 0, Caller: session.Caller{Rights: permit.Rights{All: p.r.IntN(2) == 0}, Payers: []usage.Account{{Scope: fmt.Sprint("agent/", p.r.IntN(9))}}}}
	for range 1 + p.r.IntN(2) {
		part := session.Part{Text: fmt.Sprint(p.r.IntN(1000))}
		if p.r.IntN(2) == 0 {
			part.ExternalID = fmt.Sprint(p.r.IntN(12))
		}
		in.Parts = append(in.Parts, part)
	}
	if p.r.IntN(3) == 0 {
		in.Upload, in.Files = id.NewEvent(), p.put()
		if p.r.IntN(3) == 0 {
			in.Parts = nil
		}
	}
	l := lease(m.no, "a")
	sent := in
	sent.Parts = slices.Clone(in.Parts)
	got, err := p.b.Accept(p.t.Context(), sent, l, p.now)
	p.release(in.Files)
	in.Files = p.named(m, in.Files)
	outcome, event, refused := m.accept(in, l)
	p.same("accept", refused, err)
	p.adopt(m)
	p.equal("outcome", []any{outcome, event}, []any{got.Outcome, got.Event})
	p.began(m, outcome, event, l, got)
}

// began compares the run that an input has begun.
func (p *player) began(m *memory, outcome session.Outcome, event id.Event, l session.Lease, got session.Accepted) {
	if outcome == session.Began || outcome == session.Again {
		m.leases = append(m.leases, l)
		p.equal("run", *m.run, got.Run)
		if m.run.Compaction == nil {
			p.equal("event", *m.at(m.run.First), got.Begun)
			p.equal("last", m.find(event), slices.IndexFunc(m.events, func(e session.Event) bool { return e.Ord == got.Last }))
		}
	}
}

func (p *player) compact(m *memory) {
	in := session.Input{Session: m.no, Event: id.NewEvent(), Compaction: &session.Wish{UpTo: p.pick(m), Message: fmt.Sprint(p.r.IntN(9))}}
	l := lease(m.no, "a")
	got, err := p.b.Accept(p.t.Context(), in, l, p.now)
	outcome, event, refused := m.accept(in, l)
	p.same("compact", refused, err)
	p.equal("outcome", []any{outcome, event}, []any{got.Outcome, got.Event})
	p.began(m, outcome, event, l, got)
}

// spans returns ranges of events, as a compaction hides them.
func (p *player) spans(m *memory) (out []session.Span) {
	for from := int64(1); from < m.last && p.r.IntN(3) > 0; {
		s := session.Span{From: from, To: from + p.r.Int64N(4)}
		out, from = append(out, s), s.To+1+p.r.Int64N(3)
	}
	return out
}

func (p *player) fork(m *memory) {
	c := session.Copy{Source: m.no}
	if m.last > 0 && p.r.IntN(2) == 0 {
		c.To = 1 + p.r.Int64N(m.last)
		c.But = append(c.But, p.r.Int64N(m.last))
		if p.r.IntN(2) == 0 {
			c.From = 2 + p.r.Int64N(c.To)
			opens := session.Event{Ord: c.From - 1, ID: id.NewEvent(), Turn: 1, Type: session.Compaction, Created: p.now.Truncate(time.Millisecond), Body: session.Body{Text: "so far"}}
			c.Opens = &opens
		}
	}
	made, err := p.b.Fork(p.t.Context(), fresh(p.agentNo, fmt.Sprint("f", p.r.Uint64())), nil, c)
	if m.deleted {
		p.same("fork", conflict("session_not_found"), err)
		return
	}
	p.same("fork", nil, err)
	want, got := m.fork(c), p.b.log(p.t, made.No)
	want.no = made.No
	if len(got) != len(want.events) {
		p.t.Fatalf("%s: a fork has %d events, want %d", p.at, len(got), len(want.events))
	}
	for i := range want.events { // from here on the copies have the ids that the store has made
		old := want.events[i].ID
		if c.Opens == nil || i > 0 {
			if old == got[i].ID {
				p.t.Fatalf("%s: the copy of %s has its id", p.at, old)
			}
			want.events[i].ID = got[i].ID
		}
		for ext, of := range want.external {
			if of == old {
				want.external[ext] = got[i].ID
			}
		}
	}
	p.all = append(p.all, want)
	p.wantSame(want)
}

func (p *player) commit(m *memory) {
	if len(m.leases) == 0 {
		return
	}
	l := m.leases[len(m.leases)-1]
	if p.r.IntN(8) == 0 {
		l = m.leases[p.r.IntN(len(m.leases))]
	}
	c := session.Commit{Steer: p.r.IntN(4) == 0}
	if m.run != nil && m.run.Resolved == (tool.Kept{}) && p.r.IntN(4) == 0 { // once in a turn
		c.Resolved = &tool.Kept{Text: fmt.Sprintf(`{"x":%d}`, p.r.IntN(100)), Secret: p.r.IntN(2) == 0}
	}
	fails := m.run != nil && m.last == m.run.Base() && p.r.IntN(3) == 0 // with nothing behind its input
	for range p.r.IntN(3) {
		if fails {
			break
		}
		c.Events = append(c.Events, says(fmt.Sprint(p.r.IntN(1000))))
	}
	if p.r.IntN(5) == 0 {
		c.Hide = p.spans(m)
	}
	if fails || p.r.IntN(2) == 0 {
		c.End = &session.End{Stop: p.r.IntN(3) == 0, Failed: p.r.IntN(3) == 0, TakeBack: p.r.IntN(4) == 0 || fails}
	}
	if p.r.IntN(4) == 0 {
		c.Artifacts = p.put()
		for i := range c.Artifacts {
			c.Artifacts[i].ID = artifact.NewID(c.Artifacts[i].Filename)
		}
	}
	if c.End == nil && len(c.Events) > 0 && p.r.IntN(2) == 0 && (m.run == nil || m.run.Compaction == nil) {
		c.Park = p.calls()
		for _, call := range c.Park.Calls {
			c.Events = append(c.Events, session.Event{ID: call.Event, Type: session.ToolInput, Body: session.Body{CallID: call.CallID, Tool: call.Tool, ToolName: call.ToolName}})
		}
	}
	got, err := p.b.Commit(p.t.Context(), l, c, p.now)
	p.release(c.Artifacts)
	want, refused := m.commit(l, c)
	p.same("commit", refused, err)
	p.adopt(m)
	for i := range want.Events {
		if want.Events[i].ID == "" && i < len(got.Events) {
			want.Events[i].ID = got.Events[i].ID
		}
	}
	p.equal("committed", want, got)
}

func (p *player) interrupt(m *memory) {
	run, err := p.b.Interrupt(p.t.Context(), m.no)
	p.same("interrupt", nil, err)
	p.equal("running", m.run != nil || m.parked != nil, run != nil)
	m.supersede()
	p.adopt(m)
	if m.run != nil {
		m.run.Interrupted = true
	}
}

// withdraw takes an input back that waits, or ends the turn that answers it; another turn goes on.
func (p *player) withdraw(m *memory) {
	input := p.pick(m)
	waits := p.r.IntN(len(m.queue) + 1)
	if waits < len(m.queue) {
		input = m.queue[waits].Event
	}
	run, err := p.b.Withdraw(p.t.Context(), m.no, input)
	p.same("withdraw", nil, err)
	ends := false
	switch i := m.find(input); {
	case m.deleted:
	case waits < len(m.queue):
		for ext, e := range m.external {
			if e == input {
				delete(m.external, ext)
			}
		}
		for _, f := range m.queue[waits].Files {
			delete(m.files, f.ID)
		}
		m.queue = slices.Delete(m.queue, waits, waits+1)
	case i >= 0 && m.run != nil && m.run.Turn == m.events[i].Turn:
		m.run.Interrupted, ends = true, true
	case i >= 0 && m.parked != nil && m.parked.Run.Turn == m.events[i].Turn:
		m.supersede()
		ends = true
	}
	p.adopt(m)
	p.equal("ends", ends, run != nil)
}

// pick returns an event of a session, or one that does not exist.
func (p *player) pick(m *memory) id.Event {
	if n := p.r.IntN(len(m.events) + 1); n < len(m.events) {
		return m.events[n].ID
	}
	return "aev_none"
}

// missing returns why an event can't be changed.
func (m *memory) missing(e id.Event) error {
	switch {
	case m.deleted:
		return conflict("session_not_found")
	case m.find(e) < 0:
		return conflict("event_not_found")
	}
	return nil
}

func (p *player) hide(m *memory) {
	e, why := p.pick(m), []string{"", "manual", "compaction"}[p.r.IntN(3)]
	got, err := p.b.Hide(p.t.Context(), m.no, e, why)
	refused := m.missing(e)
	p.same("hide", refused, err)
	if refused != nil {
		return
	}
	if x := &m.events[m.find(e)]; x.Hidden != why {
		x.Hidden = why
		m.edits++
	}
	p.equal("hidden", m.events[m.find(e)], got)
}

func (p *player) deleteEvent(m *memory) {
	e := p.pick(m)
	refused := m.missing(e)
	p.same("delete event", refused, p.b.DeleteEvent(p.t.Context(), m.no, e))
	if refused != nil {
		return
	}
	i := m.find(e)
	if m.events[i].Ord == m.failed {
		m.failed = 0
	}
	m.settle(i)
	m.forget(i)
}

// settle marks the call that an output answers.
func (m *memory) settle(output int) {
	o := &m.events[output]
	if !o.Answers() {
		return
	}
	for i := output - 1; i >= 0; i-- {
		if c := &m.events[i]; c.Type == session.ToolInput && c.CallID == o.CallID && c.Turn == o.Turn {
			c.Answered = true
			return
		}
	}
}

// claim takes over every run, as after a kill.
func (p *player) claim(*memory) {
	released := p.r.IntN(2) == 0
	if released {
		p.same("release", nil, p.b.Release(p.t.Context(), "a"))
	}
	got, err := p.b.Claim(p.t.Context(), p.now, true, 0, func(no int64) session.Lease { return lease(no, "a") })
	p.same("claim", nil, err)
	claimed := map[int64]session.Run{}
	for _, run := range got {
		claimed[run.Session] = run
	}
	for _, m := range p.all {
		run, ok := claimed[m.no]
		p.equal("claimed", m.run != nil && !m.deleted, ok)
		if !ok {
			continue
		}
		m.leases = append(m.leases, run.Lease)
		m.run.Lease = run.Lease
		if !released {
			m.run.Recovered++
		}
		p.equal("run", *m.run, run)
	}
}

func (p *player) toggle(m *memory) {
	_, err := p.b.Update(p.t.Context(), m.no, session.Change{Enabled: opt.Some(m.disabled)}, p.now)
	if m.deleted {
		p.same("toggle", conflict("session_not_found"), err)
		return
	}
	p.same("toggle", nil, err)
	m.disabled = !m.disabled
}

func (p *player) delete(m *memory) {
	err := p.b.Delete(p.t.Context(), m.no)
	if m.deleted {
		p.same("delete", conflict("session_not_found"), err)
		return
	}
	p.same("delete", nil, err)
	m.deleted, m.run, m.parked = true, nil, nil
}

// wantSame fails unless the store holds what memory does.
func (p *player) wantSame(m *memory) {
	got, err := p.b.Standing(p.t.Context(), m.no)
	if m.deleted {
		p.same("standing", conflict("session_not_found"), err)
		return
	}
	p.same("standing", nil, err)
	p.equal("standing", session.Standing{Last: m.last, Edits: m.edits, Run: m.run}, got)
	p.wantParked(m)
	p.wantResolved(m)
	log := p.b.log(p.t, m.no)
	p.equal("log", m.events, log)
	for i := 1; i < len(log); i++ {
		if log[i].Created.Before(log[i-1].Created) {
			p.t.Errorf("%s: event %d is older than the one before it", p.at, log[i].Ord)
		}
	}
	shown := slices.DeleteFunc(slices.Clone(m.events), func(e session.Event) bool { return e.Hidden != "" })
	page, _, err := p.b.Events(p.t.Context(), session.Page{Session: m.no, Limit: 1000})
	p.same("events", nil, err)
	p.equal("shown", shown, page)
	for hidden, want := range map[bool]int{true: len(m.events), false: len(shown)} {
		n, err := p.b.Count(p.t.Context(), m.no, hidden)
		p.same("count", nil, err)
		p.equal("count", want, n)
	}
	p.wantFiles(m)
	for _, in := range m.queue {
		waits, err := p.b.Awaited(p.t.Context(), m.no, in.Event)
		p.same("awaited", nil, err)
		p.equal("awaited", true, waits)
	}
}
