package crash

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// spoken is an event as the model of a session has it.
type spoken struct {
	kind, text string // of calls and what closes them, the text is what was asked for; of an upload, the names of its files
	call       string
	id         string // as the program has it; "" until that is known
	turn       int
	hidden     bool
}

// kept is a file as the model of a session has it.
type kept struct {
	name, sum string // SHA-256 in hex; "" of an output of a tool, whose bytes nobody foresees
	id        string // as spoken.id
}

// output returns whether a file has the output of a tool.
func (f kept) output() bool { return strings.HasSuffix(f.name, ".json") }

// conversation is the model of a session: what it has to show after moves.
type conversation struct {
	agent, key string
	log        []spoken
	files      []kept
	turn       int      // the last one
	open       []string // what the calls are about that the turn waits for the client to make
	full       bool     // the last call of the language model has filled its context
}

// words are what tells one move from another. Texts and names of files have the word of their move.
var words = regexp.MustCompile(`zorq\d+q`)

// distinct returns the words of texts, each once.
func distinct(texts ...string) []string {
	seen := map[string]bool{}
	for _, text := range texts {
		for _, word := range words.FindAllString(text, -1) {
			seen[word] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// wordsOf is distinct of what events say. Calls and their outputs say none.
func wordsOf(events []spoken) []string {
	var texts []string
	for _, e := range events {
		if e.call == "" {
			texts = append(texts, e.text)
		}
	}
	return distinct(texts...)
}

// answerTo is what the language model says to a question, by what else it was told; summaryOf is what it sums up.
func answerTo(word string, known []string) string {
	return fmt.Sprintf("That is %s, as one of %d.", word, len(known))
}
func summaryOf(known []string) string { return "So far " + strings.Join(known, " ") + "." }

// closes reports whether an event closes a call.
func (e spoken) closes() bool { return e.call != "" && e.kind != "tool_input" }

func (c *conversation) path() string { return "/v2/agents/" + c.agent + "/sessions/" + c.key }

func (c *conversation) clone() *conversation {
	out := *c
	out.log, out.files, out.open = slices.Clone(c.log), slices.Clone(c.files), slices.Clone(c.open)
	return &out
}

func (c *conversation) visible() []spoken {
	return slices.DeleteFunc(slices.Clone(c.log), func(e spoken) bool { return e.hidden })
}

// The agents: large outputs of tools of filing become files.
const (
	plain  = "plain"
	filing = "filing"
)

// verb is what the language model does before it answers.
type verb string

const (
	tells   verb = "Say"
	fills   verb = "Go on about" // and on, which fills the context
	looks   verb = "Look for"
	makes   verb = "Make"
	loads   verb = "Learn for" // a skill
	begs    verb = "Beg for"   // two calls of the client
	both    verb = "Beg and look for"
	refuses verb = "Fail at"
)

// lesson is the content of the skill.
const lesson = "Be polite."

// ask adds a turn: the upload of files, the text of the input if it has one, the skill that it loads, what the model does, and its answer.
func (c *conversation) ask(v verb, word string, uploads []kept, text, skill bool) {
	c.supersede()
	c.turn++
	add := c.add
	if len(uploads) > 0 {
		var names []string
		for _, f := range uploads {
			names = append(names, f.name)
		}
		add("artifact_upload", strings.Join(names, " "), "")
		c.files = append(c.files, uploads...)
	}
	if text {
		add("input_message", string(v)+" "+word, "")
	}
	if skill {
		add("skill_load", lesson, "")
	}
	if c.full {
		c.sum(c.summarized(-1))
	}
	c.full = text && v == fills
	switch {
	case !text:
	case v == begs, v == both:
		c.open = []string{word + "-0", word + "-1"}
		for _, about := range c.open {
			add("tool_input", about, "call-"+about)
		}
		if v == both {
			add("tool_input", word, "call-"+word)
			add("tool_output", word, "call-"+word)
			c.offload("look")
		}
		return
	case v == loads:
		add("tool_input", word, "call-"+word)
		add("skill_load", lesson, "call-"+word)
	case v == looks:
		add("tool_input", word, "call-"+word)
		add("tool_output", word, "call-"+word)
		c.offload("look")
	case v == makes:
		add("tool_input", word, "call-"+word)
		add("tool_output", word, "call-"+word)
		c.files = append(c.files, kept{name: "made.txt", sum: sumOf([]byte("This is " + word))})
	}
	add("agent_output", answerTo(word, wordsOf(c.visible())), "")
}

func (c *conversation) add(kind, text, call string) {
	c.log = append(c.log, spoken{kind: kind, text: text, call: call, turn: c.turn})
}

// offload adds the file that a large output becomes with one of the agents.
func (c *conversation) offload(name string) {
	if c.agent == filing {
		c.files = append(c.files, kept{name: name + ".json"})
	}
}

// supersede ends the calls that the client was to make.
func (c *conversation) supersede() {
	for _, about := range c.open {
		c.add("tool_output", about+" failed", "call-"+about)
	}
	c.open = nil
}

// given is what a client says to a call.
type given struct {
	about         string
	failed, large bool
}

// answer adds outputs of the client, and, with the last one, the answer of the model.
func (c *conversation) answer(all []given) {
	for _, g := range all {
		text := g.about
		if g.failed {
			text += " failed"
		}
		c.add("tool_output", text, "call-"+g.about)
		if g.large {
			c.offload("ask")
		}
		c.open = slices.DeleteFunc(c.open, func(about string) bool { return about == g.about })
	}
	if len(c.open) == 0 {
		c.add("agent_output", answerTo(words.FindString(all[0].about), wordsOf(c.visible())), "")
	}
}

// summarized returns which events a compaction sums up, by their places in the log; at is the place of its anchor, -1 without one.
func (c *conversation) summarized(at int) map[int]bool {
	last := 0
	answered := map[string]bool{}
	var turns []int
	for _, e := range c.visible() {
		if e.kind != "compaction" {
			last = max(last, e.turn)
			turns = append(turns, e.turn)
		}
		answered[e.call] = answered[e.call] || e.closes()
	}
	out, going, told := map[int]bool{}, map[string]bool{}, false
	for i, e := range c.log {
		if e.hidden {
			continue
		}
		goes := e.kind == "compaction" || at >= 0 && i <= at || at < 0 && e.turn < slices.Max(turns) // keep_recent_inputs is 1
		switch {
		case e.kind == "tool_input":
			goes = goes && (e.turn < last || answered[e.call])
			going[e.call] = goes
		case e.closes():
			goes = goes || going[e.call]
		}
		if goes {
			out[i] = true
			told = told || e.kind != "compaction"
		}
	}
	if !told {
		return nil
	}
	return out
}

// of returns the events at places.
func (c *conversation) of(places map[int]bool) (out []spoken) {
	for i, e := range c.log {
		if places[i] {
			out = append(out, e)
		}
	}
	return out
}

// compact sums up, and reports whether there was anything to sum up.
func (c *conversation) compact(at int) bool {
	gone := c.summarized(at)
	if gone == nil {
		return false
	}
	c.full = false
	c.turn++
	c.sum(gone)
	return true
}

// sum puts a summary in the place of events, if there are any.
func (c *conversation) sum(gone map[int]bool) {
	if gone == nil {
		return
	}
	text := summaryOf(wordsOf(paired(c.of(gone))))
	for i := range c.log {
		c.log[i].hidden = c.log[i].hidden || gone[i]
	}
	c.add("compaction", text, "")
}

// paired returns events without calls that have no output, and without outputs that have no call.
func paired(events []spoken) []spoken {
	ends := map[string]int{}
	for _, e := range events {
		if e.call != "" {
			ends[e.call]++
		}
	}
	return slices.DeleteFunc(slices.Clone(events), func(e spoken) bool { return e.call != "" && ends[e.call] != 2 })
}

// fork returns the session that goes on from this one: with all visible events up to one, or, compacting, with a summary of those
// and the others behind it. to is -1 for all of them. It is nil where there is nothing to sum up.
func (c *conversation) fork(agent, key string, to int, compacting bool) *conversation {
	out := &conversation{agent: agent, key: key, files: slices.Clone(c.files), turn: c.turn}
	var copied []spoken
	if compacting {
		gone := c.summarized(to)
		if gone == nil && c.log[to].kind == "compaction" {
			copied = append(copied, spoken{kind: "compaction", text: c.log[to].text})
			gone = map[int]bool{to: true}
		} else if gone == nil {
			return nil
		} else {
			copied = append(copied, spoken{kind: "compaction", text: summaryOf(wordsOf(paired(c.of(gone))))})
		}
		for i, e := range c.log {
			if i > to && !e.hidden && !gone[i] {
				copied = append(copied, e)
			}
		}
	} else {
		for i, e := range c.log {
			if !e.hidden && (to < 0 || i <= to) {
				copied = append(copied, e)
			}
		}
	}
	last, answered := 0, map[string]bool{}
	for _, e := range copied {
		if e.kind != "compaction" {
			last = e.turn
		}
		answered[e.call] = answered[e.call] || e.closes()
	}
	for _, e := range copied {
		if e.kind != "tool_input" || e.turn != last || answered[e.call] {
			e.id = ""
			out.log = append(out.log, e)
		}
	}
	return out
}

// lines returns what a session has to show, without what the program chooses.
func (c *conversation) lines() (out []string) {
	for _, e := range c.log {
		line := e.kind + " " + e.text
		if e.hidden {
			line += " (hidden)"
		}
		out = append(out, line)
	}
	for _, f := range c.sorted() {
		line := "file " + f.name
		if !f.output() {
			line += " " + f.sum
		}
		out = append(out, line)
	}
	for _, about := range c.open {
		out = append(out, "waits for "+about)
	}
	return out
}

// sorted returns the files by name, content and id; those that have no id yet stand behind others.
func (c *conversation) sorted() []kept {
	return slices.SortedFunc(slices.Values(c.files), func(a, b kept) int {
		return cmp.Or(strings.Compare(a.name, b.name), strings.Compare(a.sum, b.sum), strings.Compare(a.id, b.id))
	})
}

// adopt takes ids from what the program shows, which has the same lines, and returns what has changed that must not.
func (c *conversation) adopt(got *conversation) (wrong []string) {
	for i, e := range c.log {
		if e.id != "" && e.id != got.log[i].id {
			wrong = append(wrong, fmt.Sprintf("event %d is %s, and was %s", i, got.log[i].id, e.id))
		}
		c.log[i].id = got.log[i].id
	}
	there := map[kept]bool{}
	for _, f := range got.files {
		there[f] = true
	}
	for _, f := range c.files {
		if f.id != "" && !there[f] {
			wrong = append(wrong, fmt.Sprintf("the file %+v is gone", f))
		}
	}
	c.files = got.files
	return wrong
}
