package traces

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"quarry/internal/id"
	"quarry/internal/secret/seal"
	"quarry/internal/store"
	"quarry/internal/trace"
)

// Block is spans of one turn that are written at once: one row. Everything about it that takes time is done before the transaction.
type Block struct {
	no             int64         // once it is read
	trace, id      string        // id is that of the first span
	began, ended   int64         // the earliest start and the latest one, in microseconds since 1970
	agent, session trace.Subject // texts are as the columns have them
	parents        string        // of its spans, each once, between commas
	spans          string        // JSON of stored spans, by start and id
	sum
	content []byte      // JSON of the texts by the ids of their spans, nil for none
	sealed  bool        // content is
	pointed bool        // an event leads to the content
	entry   *trace.Span // that has ended its trace
	late    bool        // a turn within the trace has ended
}

// What a block takes at most, but for one span that is larger alone.
const (
	maxSpans = 200
	maxTexts = 512 << 10 // bytes
)

// Pack returns spans as blocks, in the order of the first span of each.
func (s *Store) Pack(spans []trace.Span) (all []Block, err error) {
	type turn struct {
		trace          string
		session, agent int64
	}
	type part struct {
		spans []trace.Span
		texts int
	}
	var parts []part
	places := map[turn]int{}
	for i := range spans {
		one := &spans[i]
		of, size := turn{one.Trace, one.Session.No, one.Agent.No}, one.Content.Size()
		at, known := places[of]
		if !known || len(parts[at].spans) == maxSpans || parts[at].texts+size > maxTexts {
			at = len(parts)
			places[of], parts = at, append(parts, part{})
		}
		parts[at] = part{append(parts[at].spans, *one), parts[at].texts + size}
	}
	for i := range parts {
		if all, err = s.pack(all, parts[i].spans); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// pack appends spans of one turn as a block, or as several if their texts are too large for one.
func (s *Store) pack(all []Block, spans []trace.Span) ([]Block, error) {
	slices.SortFunc(spans, byStart)
	first, last := &spans[0], &spans[len(spans)-1]
	b := Block{trace: first.Trace, id: first.ID, began: first.Started.UnixMicro(), ended: last.Started.UnixMicro(), agent: first.Agent, session: first.Session}
	b.agent.Key, b.session.Key = store.Text(b.agent.Key), store.Text(b.session.Key)
	if err := s.packTexts(&b, spans); err != nil {
		return nil, err
	}
	if half := len(spans) / 2; len(b.content) > seal.MaxPlain && half > 0 {
		all, err := s.pack(all, spans[:half])
		if err != nil {
			return nil, err
		}
		return s.pack(all, spans[half:])
	}
	kept, parents := make([]stored[any], len(spans)), []string{}
	for i := range spans {
		one := &spans[i]
		kept[i] = stored[any]{
			ID: one.ID, Parent: one.Parent, Operation: one.Operation, Started: one.Started.UnixMicro(), Ended: one.Ended.UnixMicro(), Failed: one.Failed,
			Class: one.Class, Message: one.Message, Step: one.Step, Event: one.Event, Attributes: attributes(one),
		}
		if one.Parent != "" && !slices.Contains(parents, one.Parent) {
			parents = append(parents, one.Parent)
		}
		switch {
		case one.Parent == "":
			b.entry = new(*one)
			b.entry.Content = nil
		case one.Operation == trace.InvokeAgent:
			b.late = true
		}
		b.sum.add(one)
	}
	b.parents = strings.Join(parents, ",")
	raw, err := json.Marshal(kept)
	if err != nil {
		return nil, fmt.Errorf("encode spans: %w", err)
	}
	b.spans = store.Text(strings.ReplaceAll(string(raw), `\u0000`, `\ufffd`))
	if b.content == nil {
		return append(all, b), nil
	}
	ring, err := s.key.look()
	if ring != nil && err == nil { // else the transaction makes the key
		err = b.seal(ring)
	}
	return append(all, b), err
}

// packTexts sets the content of a block, not sealed yet. Where one text is all of it, it fits: what JSON has in many bytes is replaced.
func (s *Store) packTexts(b *Block, spans []trace.Span) error {
	texts := map[string]*trace.Content{}
	for i := range spans {
		if spans[i].Content != nil {
			texts[spans[i].ID] = spans[i].Content
		}
	}
	if len(texts) == 0 || s.key.secrets == nil {
		return nil
	}
	var err error
	if b.content, err = encodeTexts(texts); err == nil && len(b.content) > seal.MaxPlain && len(spans) == 1 {
		texts[b.id] = texts[b.id].Plain()
		b.content, err = encodeTexts(texts)
	}
	return err
}

func encodeTexts(texts map[string]*trace.Content) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(texts); err != nil {
		return nil, fmt.Errorf("encode contents of spans: %w", err)
	}
	return out.Bytes(), nil
}

// byStart is the order of spans.
func byStart(a, b trace.Span) int {
	return cmp.Or(a.Started.Compare(b.Started), strings.Compare(a.ID, b.ID))
}

// stored is a span in a block. Started and Ended are in microseconds since 1970.
type stored[A any] struct {
	ID         string          `json:"id"`
	Parent     string          `json:"parent,omitempty"`
	Operation  trace.Operation `json:"operation"`
	Started    int64           `json:"started"`
	Ended      int64           `json:"ended"`
	Failed     bool            `json:"failed,omitempty"`
	Class      trace.Class     `json:"class,omitempty"`
	Message    string          `json:"message,omitempty"`
	Step       string          `json:"step,omitempty"`
	Event      id.Event        `json:"event,omitempty"`
	Attributes A               `json:"attributes,omitempty"` // what attributes returns
}

// attributes returns what a span has of its operation: one of the pointers, or nil.
func attributes(s *trace.Span) any {
	switch {
	case s.Invocation != nil:
		return s.Invocation
	case s.Chat != nil:
		return s.Chat
	case s.Call != nil:
		return s.Call
	case s.Transition != nil:
		return s.Transition
	case s.Image != nil:
		return s.Image
	case s.Compaction != nil:
		return s.Compaction
	}
	return nil
}

// empty sets the attributes that belong to the operation of a span and returns them.
func empty(s *trace.Span) any {
	switch s.Operation {
	case trace.InvokeAgent:
		s.Invocation = new(trace.InvocationAttributes)
		return s.Invocation
	case trace.Chat:
		s.Chat = new(trace.ChatAttributes)
		return s.Chat
	case trace.ExecuteTool:
		s.Call = new(trace.CallAttributes)
		return s.Call
	case trace.StepTransition:
		s.Transition = new(trace.TransitionAttributes)
		return s.Transition
	case trace.ImageRead:
		s.Image = new(trace.ImageAttributes)
		return s.Image
	case trace.Compaction:
		s.Compaction = new(trace.CompactionAttributes)
		return s.Compaction
	}
	return new(struct{})
}

// unpack returns the spans of a block whose row has been read.
func (b *Block) unpack() ([]trace.Span, error) {
	var kept []stored[json.RawMessage]
	if err := json.Unmarshal([]byte(b.spans), &kept); err != nil {
		return nil, fmt.Errorf("decode spans of trace %s: %w", b.trace, err)
	}
	out := make([]trace.Span, len(kept))
	for i := range kept {
		k, s := &kept[i], &out[i]
		*s = trace.Span{
			Trace: b.trace, ID: k.ID, Parent: k.Parent, Operation: k.Operation, Started: time.UnixMicro(k.Started).UTC(), Ended: time.UnixMicro(k.Ended).UTC(),
			Failed: k.Failed, Class: k.Class, Message: k.Message, Step: k.Step, Event: k.Event, Agent: b.agent, Session: b.session,
		}
		if k.Attributes == nil || bytes.Equal(k.Attributes, []byte("null")) {
			continue
		}
		if err := json.Unmarshal(k.Attributes, empty(s)); err != nil {
			return nil, fmt.Errorf("decode attributes of span %s: %w", s.ID, err)
		}
	}
	return out, nil
}

// sum is what spans come to.
type sum struct {
	input, output int64
	flags         int64 // of operations and classes
	tools         []string
}

func (s *sum) add(one *trace.Span) {
	s.flags |= operationFlag(one.Operation)
	if one.Chat != nil {
		s.input, s.output = s.input+one.Chat.InputTokens, s.output+one.Chat.OutputTokens
	}
	if one.Operation != trace.ExecuteTool {
		s.flags |= classFlag(one.Class)
		return
	}
	s.flags |= toolClassFlag(one.Class)
	if one.Call != nil && one.Call.Tool != "" {
		s.use(toolName(one.Call.Tool))
	}
}

func (s *sum) use(tools ...string) {
	for _, t := range tools {
		if at, known := slices.BinarySearch(s.tools, t); !known {
			s.tools = slices.Insert(s.tools, at, t)
		}
	}
}

func (s *sum) join(o sum) {
	s.input, s.output, s.flags = s.input+o.input, s.output+o.output, s.flags|o.flags
	s.use(o.tools...)
}
