package subagent_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"quarry/internal/agent"
	"quarry/internal/agent/session"
	"quarry/internal/agent/tool/subagent"
	"quarry/internal/store"
	"quarry/internal/store/storetest"
)

// entry is a tool of an agent in the model.
type entry struct{ name, target, mode string }

// made is a session that a call has made.
type made struct {
	key, target string
	agent       string // that has called, like the next ones
	session     string
	entry, mode string
	log         []string
	deleted     bool
}

// sheet is the naive model: all sessions that calls have made.
type sheet struct{ list []*made }

// call returns the session that a call goes on with, nil for a new one; ok is false if the call fails.
func (m *sheet) call(of, in string, e entry, key string) (found *made, ok bool) {
	for _, x := range m.list {
		switch {
		case x.deleted:
		case e.mode == subagent.Persistent:
			if x.mode == subagent.Persistent && x.agent == of && x.session == in && x.entry == e.name && x.target == e.target {
				return x, true
			}
		case key != "" && x.key == key && x.target == e.target && x.agent == of:
			mine := x.session == in && (x.mode == subagent.SessionScoped || x.mode == subagent.AgentScoped)
			shared := x.mode == subagent.AgentScoped && e.mode == subagent.AgentScoped
			return x, mine || shared
		}
	}
	return nil, key == ""
}

// player plays the same calls on the model and on the house.
type player struct {
	*sheet
	*house
	*node
	t       *testing.T
	r       *rand.Rand
	agents  map[string]*agent.Agent
	entries map[string][]entry
	callers map[string][]session.Session
	at      string
}

// TestModes proves that after any sequence of calls of several agents, sessions and tools in all modes, with any key, of deletions of
// sessions, and of calls at once, each call has used the session that a naive model says, or has failed, and that no session has a
// message of another.
func TestModes(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, func(t *testing.T, config func(testing.TB) store.Config) {
		seed := uint64(time.Now().UnixNano())
		p := &player{
			t: t, r: rand.New(rand.NewPCG(seed, 9)), sheet: &sheet{}, house: open(t, storetest.Open(t, config(t))), agents: map[string]*agent.Agent{},
			entries: map[string][]entry{}, callers: map[string][]session.Session{},
		}
		p.people()
		for step := range 120 {
			p.at = fmt.Sprintf("seed %d, step %d", seed, step)
			switch p.r.IntN(10) {
			case 0:
				p.delete()
			case 1:
				p.twice()
			default:
				p.once()
			}
		}
		p.compare()
	})
}

// people makes two agents that call, each with two sessions, and two that are called.
func (p *player) people() {
	for _, key := range []string{"x", "y"} {
		a := p.agent(p.t, key, nil, nil)
		p.agents[key] = &a
	}
	for _, key := range []string{"a", "b"} {
		tools := map[string]json.RawMessage{}
		for i, mode := range []string{subagent.Ephemeral, subagent.Persistent, subagent.SessionScoped, subagent.AgentScoped, subagent.LLMControlled} {
			for _, target := range []string{"x", "y"} {
				name := fmt.Sprint(target, i)
				tools[name] = config(target, mode, "")
				if mode == subagent.LLMControlled {
					mode = subagent.SessionScoped
				}
				p.entries[key] = append(p.entries[key], entry{name, target, mode})
			}
		}
		a := p.agent(p.t, key, tools, nil)
		p.agents[key] = &a
		p.callers[key] = []session.Session{p.session(p.t, &a), p.session(p.t, &a)}
	}
	p.node = p.start(p.t, true)
}

// draw draws who calls.
func (p *player) draw() (of string, in session.Session, e entry) {
	of = []string{"a", "b"}[p.r.IntN(2)]
	return of, p.callers[of][p.r.IntN(2)], p.entries[of][p.r.IntN(len(p.entries[of]))]
}

// answer is what a call has returned.
type answer struct {
	Key   string `json:"session_key"`
	Said  string `json:"sub_agent_response"`
	Error string `json:"error"`
}

// outputs makes calls of a tool and returns what came of them.
func (p *player) outputs(no int64, name string, args ...map[string]any) (out []answer) {
	for _, l := range p.ask(p.t, no, calls(name, args...)) {
		if raw, is := strings.CutPrefix(l, "output "); is {
			var a answer
			if err := json.Unmarshal([]byte(raw), &a); err != nil {
				p.t.Fatal(err)
			}
			out = append(out, a)
		}
	}
	if len(out) != len(args) {
		p.t.Fatalf("%s: %d outputs of %d calls", p.at, len(out), len(args))
	}
	return out
}

func (p *player) once() {
	of, in, e := p.draw()
	args, key := tell(p.at), ""
	if e.mode == subagent.SessionScoped || e.mode == subagent.AgentScoped {
		switch n := p.r.IntN(len(p.list) + 4); {
		case n < len(p.list):
			key = p.list[n].key
		case n == len(p.list):
			key = "ase_none"
		}
		if key != "" {
			args["session_key"] = key
		}
	}
	found, ok := p.call(of, in.Key, e, key)
	p.check(of, in.Key, e, p.outputs(in.No, e.name, args)[0], found, ok)
}

// check compares what came of a call with the model.
func (p *player) check(of, in string, e entry, got answer, want *made, ok bool) {
	switch {
	case !ok:
		if !strings.Contains(got.Error, "there is no session") {
			p.t.Fatalf("%s: %s %+v: %+v, want an error", p.at, of, e, got)
		}
		return
	case want == nil:
		for _, x := range p.list {
			if x.key == got.Key && !x.deleted {
				p.t.Fatalf("%s: %s %+v has used %+v, want a new session", p.at, of, e, x)
			}
		}
		want = &made{key: got.Key, target: e.target, agent: of, session: in, entry: e.name, mode: e.mode}
		p.list = append(p.list, want)
	case want.key != got.Key:
		p.t.Fatalf("%s: %s %+v has used %s, want %+v", p.at, of, e, got.Key, want)
	}
	said, _ := strings.CutPrefix(got.Said, "echo ")
	if said == "" {
		p.t.Fatalf("%s: %+v", p.at, got)
	}
	want.log = append(want.log, "asked "+said, "says "+got.Said)
}

// twice has two calls of one tool meet.
func (p *player) twice() {
	of, in, e := p.draw()
	both := p.outputs(in.No, e.name, tell(p.at+" one"), tell(p.at+" two"))
	slices.SortFunc(both, func(a, b answer) int { return strings.Compare(a.Said, b.Said) }) // outputs come in any order
	for _, got := range both {
		found, ok := p.call(of, in.Key, e, "")
		p.check(of, in.Key, e, got, found, ok)
	}
}

func (p *player) delete() {
	if len(p.list) == 0 {
		return
	}
	x := p.list[p.r.IntN(len(p.list))]
	if x.deleted {
		return
	}
	s, err := p.sessions.Get(p.t.Context(), p.agents[x.target].No, x.key)
	if err != nil {
		p.t.Fatal(err)
	}
	if err := p.sessions.Delete(p.t.Context(), s.No); err != nil {
		p.t.Fatal(err)
	}
	x.deleted = true
}

// compare compares all sessions with the model.
func (p *player) compare() {
	for _, target := range []string{"x", "y"} {
		var want []string
		for _, x := range p.list {
			if x.target == target && !x.deleted {
				want = append(want, fmt.Sprint(x.key, x.agent, x.session, x.log))
			}
		}
		var got []string
		for _, s := range p.house.all(p.t, p.agents[target]) {
			got = append(got, fmt.Sprint(s.Key, s.Origin.Agent, s.Origin.Session, p.events(p.t, s.No)))
		}
		slices.Sort(want)
		if slices.Sort(got); !slices.Equal(got, want) {
			p.t.Errorf("%s: sessions of %s are\n%s, want\n%s", p.at, target, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}
