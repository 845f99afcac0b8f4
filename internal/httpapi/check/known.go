package check

import (
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"quarry/internal/identity/audit"
)

// known is the schemas that may hold at one place of a body. It implements audit.Known.
type known []*jsonschema.Schema

// Known returns what the schema of this name knows about the members of a body.
func (s *Schemas) Known(name string) (audit.Known, error) {
	sch, err := s.get(name)
	if err != nil {
		return nil, err
	}
	return known{sch}, nil
}

// Member returns the schemas that may apply to a member. It returns nil and true for a member of a free object, whose
// members are the client's.
func (k known) Member(name string) (audit.Known, bool) {
	var next known
	free, found := false, false
	all := k.all()
	for s := range all {
		if m := s.Properties[name]; m != nil {
			next, found = append(next, m), true
			continue
		}
		for pattern, m := range s.PatternProperties {
			if pattern.MatchString(name) {
				next, found = append(next, m), true
			}
		}
		switch more := s.AdditionalProperties.(type) {
		case bool:
			free = free || more && isFree(s, len(all) == 1)
		case *jsonschema.Schema:
			next, found = append(next, more), true
		case nil:
			free = free || isFree(s, len(all) == 1)
		}
	}
	if found && len(next) > 0 {
		return next, true
	}
	return nil, free
}

// isFree reports whether a schema takes an object with any members. The empty schema counts only where it stands alone:
// beside others it may be a condition.
func isFree(s *jsonschema.Schema, alone bool) bool {
	object := alone && s.Types == nil || s.Types != nil && slices.Contains(s.Types.ToStrings(), "object")
	combined := s.Ref != nil || len(s.AllOf)+len(s.OneOf)+len(s.AnyOf) > 0 || s.If != nil
	return object && !combined && len(s.Properties)+len(s.PatternProperties) == 0
}

// Item returns the schemas that may apply to the items of a list.
func (k known) Item() audit.Known {
	var next known
	for s := range k.all() {
		if s.Items2020 != nil {
			next = append(next, s.Items2020)
		}
	}
	if len(next) == 0 {
		return nil
	}
	return next
}

// Secret reports whether the contract marks what stands here as a secret, or as what may repeat one.
func (k known) Secret() bool {
	for s := range k.all() {
		if s.WriteOnly || s.Comment == repeats {
			return true
		}
	}
	return false
}

// all returns the schemas with those that they refer to or consist of.
func (k known) all() map[*jsonschema.Schema]bool {
	seen := map[*jsonschema.Schema]bool{}
	todo := slices.Clone(k)
	for len(todo) > 0 {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if s == nil || seen[s] {
			continue
		}
		seen[s] = true
		todo = append(todo, s.Ref, s.Then, s.Else)
		todo = slices.Concat(todo, s.AllOf, s.OneOf, s.AnyOf)
	}
	return seen
}
