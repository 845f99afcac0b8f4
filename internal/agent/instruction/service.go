package instruction

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"quarry/internal/clock"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/opt"
	"quarry/internal/page"
)

// Service keeps instructions. Safe for concurrent use.
type Service struct{ store Store }

// New returns a service.
func New(s Store) *Service { return &Service{s} }

// Change is what a client writes to an instruction; what is absent stays, or has its default in a new one.
type Change struct {
	Name, Description, Template opt.Field[string]
	Plain                       opt.Field[bool]
	Metadata                    opt.Field[json.RawMessage]
	Enabled                     opt.Field[bool]
}

// noMetadata is the metadata of what has none.
const noMetadata = `{}`

// apply returns t with the change, checked.
func (c *Change) apply(t Text) (Text, error) {
	t.Name, t.Description, t.Template = c.Name.Or(t.Name), c.Description.Or(t.Description), c.Template.Or(t.Template)
	t.Plain, t.Metadata, t.Enabled = c.Plain.Or(t.Plain), c.Metadata.Or(t.Metadata), c.Enabled.Or(t.Enabled)
	bad := fault.Invalid()
	t.Check("", bad)
	if reason, wrong := bad.Fields["template"]; wrong && c.Template.IsAbsent() { // it was a text until now
		delete(bad.Fields, "template")
		bad.Field("template_type", "can't be velocity: the template of this instruction is not one: %s", reason)
	}
	return t, bad.Err()
}

// Create writes a new instruction.
func (s *Service) Create(ctx context.Context, c Change) (Instruction, error) {
	t, err := c.apply(Text{Metadata: json.RawMessage(noMetadata), Enabled: true})
	if err != nil {
		return Instruction{}, err
	}
	now := clock.Now()
	return s.store.Create(ctx, Instruction{ID: id.NewInstruction(), Text: t, Created: now, Updated: now})
}

// Get returns a version of an instruction, the latest for 0.
func (s *Service) Get(ctx context.Context, which id.Instruction, version int64) (Instruction, error) {
	return s.store.Get(ctx, which, version)
}

// List returns a page of instructions, newest first, and where the next page begins, nil on the last one.
func (s *Service) List(ctx context.Context, l List) (found []Instruction, next *page.Position, err error) {
	found, more, err := s.store.List(ctx, l)
	if err != nil {
		return nil, nil, err
	}
	if more {
		next = found[len(found)-1].Position()
	}
	return found, next, nil
}

// Update writes a new version of an instruction, whatever the change is, and returns it. Changes at once follow one another, each
// on what the one before it has left.
func (s *Service) Update(ctx context.Context, in Instruction, c Change) (Instruction, error) {
	for no := in.No; ; {
		t, err := c.apply(in.Text)
		if err != nil {
			return Instruction{}, err
		}
		next := in
		next.Text, next.Updated = t, clock.Now()
		next, err = s.store.Add(ctx, next)
		if !errors.Is(err, ErrChanged) {
			return next, err
		}
		if in, err = s.store.Get(ctx, in.ID, 0); err != nil {
			return Instruction{}, err
		}
		if in.No != no {
			return Instruction{}, Missing(in.ID)
		}
	}
}

// Delete removes an instruction. Agents that refer to it fail at their next input.
func (s *Service) Delete(ctx context.Context, in Instruction) error { return s.store.Delete(ctx, in) }

// DeleteVersion removes a version of an instruction that no agent pins and that is not the only one.
func (s *Service) DeleteVersion(ctx context.Context, in Instruction, version int64) error {
	err := s.store.DeleteVersion(ctx, in, version)
	if errors.Is(err, ErrOnly) {
		return fault.Conflict("instruction_version_only", "version %d is the only one of instruction %s; delete the instruction instead", version, in.ID)
	}
	if pinned, ok := errors.AsType[*PinnedError](err); ok {
		return fault.Conflict("instruction_version_in_use", "version %d of instruction %s is pinned by agents: [%s]; change their steps first",
			version, in.ID, strings.Join(pinned.Agents, ", "))
	}
	return err
}

// Sample is what an instruction is rendered with to try it.
type Sample struct {
	Metadata json.RawMessage // of the session; nil for none
	Tools    []Tool
}

// Test renders an instruction. Agent and session have empty placeholders, apart from what the sample has.
func (s *Service) Test(in Instruction, with Sample) (string, error) {
	scene := Scene{SessionMetadata: with.Metadata, Tools: with.Tools, At: clock.Now()}
	values, err := scene.Values()
	if err != nil {
		return "", err
	}
	text, err := in.Render(values)
	if err != nil {
		return "", fault.Unprocessable("invalid_instruction", "version %d of instruction %s can't be rendered: %s", in.Version, in.ID, err)
	}
	return text, nil
}

// Refer returns what references name.
func (s *Service) Refer(ctx context.Context, refs []Reference) (Found, error) {
	return s.store.Refer(ctx, refs)
}
