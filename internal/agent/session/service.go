package session

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"quarry/internal/agent"
	"quarry/internal/agent/enrich"
	"quarry/internal/agent/skill"
	"quarry/internal/clock"
	"quarry/internal/expr/metadata"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/jsonvalue"
	"quarry/internal/opt"
	"quarry/internal/page"
	"quarry/internal/room"
)

// Config is what a Service needs.
type Config struct {
	Store Store
	// Stop ends the turn of a session that was deleted, where it runs in this process, without waiting; nil for nobody. It only
	// saves work: a turn of a deleted session can't write.
	Stop func(session int64)
	Log  *slog.Logger
	// Rules are run for each session of an agent that has some; nil: a session of such an agent is an error.
	Rules *enrich.Runner
}

// Service manages sessions and reads their events. Safe for concurrent use.
type Service struct {
	store Store
	stop  func(int64)
	log   *slog.Logger
	rules *enrich.Runner
}

// New returns a service.
func New(c Config) *Service { return &Service{c.Store, c.Stop, c.Log, c.Rules} }

// Draft is a session that is to be made. The zero value is one with everything generated.
type Draft struct {
	Key         string          // "": generated from the name
	Name        string          // "": generated
	Description *string         // nil: written after the first turn; "" for none
	Metadata    json.RawMessage // a JSON object; nil: {}
	Disabled    bool
	IdleMinutes int64
	Secrets     map[string]string
	Caller      Caller // who opens it
	Origin      *Origin
	Copy        *Copy // what is taken over of another session; nil for nothing
}

// Check returns what is wrong with a draft.
func (d *Draft) Check() error {
	bad := fault.Invalid()
	if d.Key != "" && !keys.MatchString(d.Key) {
		bad.Field("key", "must be 1 to %d letters, digits, _ and -", maxKey)
	}
	checkIdle(d.IdleMinutes, bad)
	for name, value := range d.Secrets {
		checkSecret(name, value, bad)
	}
	if len(d.Secrets) > MaxSecrets {
		bad.Field("secrets", "a session has at most %d secrets", MaxSecrets)
	}
	return bad.Err()
}

// Create opens a session with an agent. A key that the agent has in use, and an agent that is disabled, are
// fault.KindConflict. The rules of the agent have run before there is the session; one that fails is fault.KindUnprocessable.
func (s *Service) Create(ctx context.Context, a *agent.Agent, d Draft) (Session, error) {
	if err := d.Check(); err != nil {
		return Session{}, err
	}
	now := clock.Now()
	x := Session{
		Key: d.Key, AgentNo: a.No, Name: d.Name, Description: opt.Deref(d.Description, ""), Describe: d.Description == nil,
		Metadata: d.Metadata, Enabled: !d.Disabled, IdleMinutes: d.IdleMinutes,
		Compaction: a.Compaction, MadeBy: d.Caller.Name(), Origin: d.Origin, Created: now, Updated: now,
	}
	if strings.TrimSpace(x.Name) == "" {
		x.Name = "Session of " + now.Format("2006-01-02 15:04:05")
	}
	if x.Metadata == nil {
		x.Metadata = json.RawMessage(`{}`)
	}
	if x.Key != "" {
		return s.create(ctx, a, x, &d)
	}
	for tries := 0; ; tries++ {
		x.Key = newKey(d.Name)
		made, err := s.create(ctx, a, x, &d)
		if f, ok := fault.As(err); !ok || f.Code != taken || tries == 20 {
			return made, err
		}
	}
}

// create writes a session that has a key, after the rules of its agent have run.
func (s *Service) create(ctx context.Context, a *agent.Agent, x Session, d *Draft) (made Session, err error) {
	undo := func() {}
	if a.Enriches() {
		if x.Metadata, undo, err = s.enrich(ctx, a, &x, d); err != nil {
			return Session{}, err
		}
		now := clock.Now() // the rules may take long
		x.Created, x.Updated = now, now
	}
	if d.Copy != nil {
		made, err = s.store.Fork(ctx, x, d.Secrets, *d.Copy)
	} else {
		made, err = s.store.Create(ctx, x, d.Secrets)
	}
	if err != nil {
		undo()
	}
	return made, err
}

// maxKey is how many characters a key has at most.
const maxKey = 50

var keys = regexp.MustCompile(fmt.Sprintf(`^[0-9a-zA-Z_-]{1,%d}$`, maxKey))

// newKey returns a key made from a name, with four hex digits at its end, and a random one without a name.
func newKey(name string) string {
	slug := strings.Join(strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return r >= utf8.RuneSelf || (r < 'a' || r > 'z') && (r < '0' || r > '9')
	}), "_")
	if slug == "" {
		return "ase_" + digits(2) + "_" + digits(10)
	}
	const around = len("ase__0000")
	return "ase_" + strings.TrimRight(slug[:min(len(slug), maxKey-around)], "_") + "_" + digits(2)
}

// digits returns n random bytes in hex.
func digits(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails since Go 1.24
	return hex.EncodeToString(b)
}

// maxIdle is the longest time to idle in minutes, a hundred years; more would leave the range of instants.
const maxIdle = 100 * 365 * 24 * 60

func checkIdle(minutes int64, bad *fault.Fault) {
	if minutes < 0 || minutes > maxIdle {
		bad.Field("tti_minutes", "must be 0 to %d, not %d", maxIdle, minutes)
	}
}

// Masked is what reads show in place of a secret.
const Masked = "****"

var secretName = regexp.MustCompile(`^[0-9a-zA-Z_-]{1,100}$`)

func checkSecret(name, value string, bad *fault.Fault) {
	at := "secrets." + name
	switch {
	case !secretName.MatchString(name):
		bad.Field(at, "the name of a secret must be 1 to 100 letters, digits, _ and -")
	case value == Masked:
		bad.Field(at, "is the mask that reads show in place of a secret; send the secret itself, or leave it out to keep the one that there is")
	case value == "" || utf8.RuneCountInString(value) > 4096:
		bad.Field(at, "must have 1 to 4096 characters")
	}
}

// Load puts the contents of skills into the parts of an input that load them. A skill that the agent does not have is
// fault.KindInvalid.
func Load(parts []Part, skills map[string]skill.Skill) error {
	bad := fault.Invalid()
	for i := range parts {
		name := parts[i].Skill
		if name == "" {
			continue
		}
		found, ok := skills[name]
		if !ok {
			bad.Field(fmt.Sprintf("messages[%d].skill_name", i), "%s", skill.Unknown(name, skills))
		}
		parts[i].Text = found.Content
	}
	return bad.Err()
}

// Get returns a session of an agent.
func (s *Service) Get(ctx context.Context, agentNo int64, key string) (Session, error) {
	return s.store.Get(ctx, agentNo, key)
}

// Query is which sessions a list shows and in which order.
type Query struct {
	AgentNo  int64
	ByEvent  bool
	Oldest   bool
	After    *page.Position
	Limit    int
	Pattern  *regexp.Regexp // in name or description; nil for any
	Metadata string         // a condition of package expr/metadata; "" for none
}

// List returns a page of sessions and where the next one begins, nil on the last page.
func (s *Service) List(ctx context.Context, q Query) (found []Session, next *page.Position, err error) {
	filter, err := metadata.Parse(q.Metadata)
	if err != nil {
		return nil, nil, fault.InvalidField("metadata_filter", "%s", err)
	}
	l := List{AgentNo: q.AgentNo, ByEvent: q.ByEvent, Oldest: q.Oldest, After: q.After, Limit: q.Limit}
	if filter != nil || q.Pattern != nil {
		l.Match = func(x *Session) bool {
			return (q.Pattern == nil || q.Pattern.MatchString(x.Name) || q.Pattern.MatchString(x.Description)) &&
				(filter == nil || filter.Matches(jsonvalue.Decode(x.Metadata)))
		}
	}
	found, more, err := s.store.List(ctx, l)
	if err != nil {
		return nil, nil, err
	}
	if more {
		next = found[len(found)-1].Place(q.ByEvent)
	}
	return found, next, nil
}

// Update changes a session and returns it. What is not given stays.
func (s *Service) Update(ctx context.Context, x *Session, c Change) (Session, error) {
	bad := fault.Invalid()
	if name, given := c.Name.Get(); given && strings.TrimSpace(name) == "" {
		bad.Field("name", "must not be empty; leave it out to keep the name")
	}
	if minutes, given := c.IdleMinutes.Get(); given {
		checkIdle(minutes, bad)
	}
	for name, value := range c.Secrets {
		if v, given := value.Get(); given {
			checkSecret(name, v, bad)
		}
	}
	if err := bad.Err(); err != nil {
		return Session{}, err
	}
	if c.empty() {
		return *x, nil
	}
	return s.store.Update(ctx, x.No, c, clock.Now())
}

// empty reports whether c changes nothing.
func (c *Change) empty() bool {
	return c.Name == opt.Field[string]{} && c.Description == opt.Field[string]{} && c.Metadata.IsAbsent() &&
		c.Enabled == opt.Field[bool]{} && c.IdleMinutes == opt.Field[int64]{} && len(c.Secrets) == 0
}

// Delete removes a session with its events and inputs, and ends its turn.
func (s *Service) Delete(ctx context.Context, no int64) error {
	err := s.store.Delete(ctx, no)
	if err == nil && s.stop != nil {
		s.stop(no)
	}
	return err
}

// Events returns a page of events, the ord after which the next page begins (0 on the last one), and how many events all pages
// have.
func (s *Service) Events(ctx context.Context, p Page) (found []Event, next int64, total int, err error) {
	found, more, err := s.store.Events(ctx, p)
	if err != nil {
		return nil, 0, 0, err
	}
	if more {
		next = found[len(found)-1].Ord
	}
	total, err = s.store.Count(ctx, p.Session, p.Hidden)
	return found, next, total, err
}

// Event returns an event of a session.
func (s *Service) Event(ctx context.Context, no int64, e id.Event) (Event, error) {
	return s.store.Event(ctx, no, e)
}

// Call returns the call that an output answers; ok is false if it was deleted.
func (s *Service) Call(ctx context.Context, no int64, output *Event) (call Event, ok bool, err error) {
	call, err = s.store.Call(ctx, no, output)
	if fault.Is(err, fault.KindNotFound) {
		return Event{}, false, nil
	}
	return call, err == nil, err
}

// DeleteEvent removes an event. Its external ids may be used again.
func (s *Service) DeleteEvent(ctx context.Context, no int64, e id.Event) error {
	return s.store.DeleteEvent(ctx, no, e)
}

// Hide leaves an event out of lists and of what the model sees, and returns it. One that is hidden stays as it is.
func (s *Service) Hide(ctx context.Context, no int64, e *Event) (Event, error) {
	if e.Hidden != "" {
		return *e, nil
	}
	return s.store.Hide(ctx, no, e.ID, Manual)
}

// Unhide shows an event again, why ever it was hidden, and returns it.
func (s *Service) Unhide(ctx context.Context, no int64, e *Event) (Event, error) {
	return s.store.Hide(ctx, no, e.ID, "")
}

const (
	idleEvery = 20 * time.Second
	idleStep  = 100
)

// Run deletes sessions whose time to idle has passed until ctx ends.
func (s *Service) Run(ctx context.Context) {
	tick := time.NewTicker(idleEvery)
	defer tick.Stop()
	for {
		if _, err := s.DeleteIdle(ctx, clock.Now()); err != nil && ctx.Err() == nil {
			s.log.Warn("idle sessions stay for now", "error", err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// DeleteIdle removes the sessions whose time to idle has passed by now, and returns their number.
func (s *Service) DeleteIdle(ctx context.Context, now time.Time) (removed int, err error) {
	for {
		n, err := s.store.Idle(room.Freeing(ctx), now, idleStep)
		removed += n
		if err != nil {
			return removed, fmt.Errorf("delete idle sessions: %w", err)
		}
		if n < idleStep {
			return removed, nil
		}
	}
}
