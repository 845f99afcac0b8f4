package check

import (
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"quarry/internal/fault"
)

// maxFaults is how many fields one refusal names. Refusing a body that is wrong in a million places would otherwise take
// gigabytes.
const maxFaults = 100

// checker checks a value against a compiled schema. The library that compiles schemas can check values too, but it collects
// every error before it returns the first; this walk stops at maxFaults and knows the keywords that api/gen writes
// (a test compares both on every schema).
type checker struct {
	place
	bad     *fault.Fault
	quiet   int  // greater than 0 inside a condition, where a mismatch is no fault
	dropped bool // whether a member was removed
}

// check reports whether v fits s, and adds the places that do not to the fault.
func (c *checker) check(s *jsonschema.Schema, v any) bool {
	if c.quiet == 0 && len(c.bad.Fields) >= maxFaults {
		return false
	}
	if s.Bool != nil && !*s.Bool {
		return c.refuse("is not allowed here")
	}
	if s.WriteOnly && isMask(v) && !(s.Comment == takesMask && v == plainMask) {
		return c.refuse(maskReason)
	}
	if s.Types != nil && !hasType(*s.Types, v) {
		return c.refuse("must be %s, not %s", either(s.Types.ToStrings()), TypeName(v))
	}
	ok := s.Ref == nil || c.check(s.Ref, v)
	for _, part := range []func(*jsonschema.Schema, any) bool{c.content, c.listed, c.forms, c.required} {
		if c.quiet > 0 && !ok {
			return false
		}
		ok = part(s, v) && ok
	}
	return ok
}

// refuse adds the current place to the fault, except inside a condition.
func (c *checker) refuse(format string, args ...any) bool {
	if c.quiet == 0 && len(c.bad.Fields) < maxFaults {
		c.bad.Field(c.String(), format, args...)
	}
	return false
}

// try reports whether v fits s, and adds nothing to the fault.
func (c *checker) try(s *jsonschema.Schema, v any) bool {
	c.quiet++
	defer func() { c.quiet-- }()
	return c.check(s, v)
}

// oneOf requires exactly one form to fit. The reasons of several forms would contradict one another, so reasons are
// reported only if a single form is for values of this type. If none is, the types of all are the reason.
func (c *checker) oneOf(forms []*jsonschema.Schema, v any) bool {
	fits := 0
	var near []*jsonschema.Schema
	var all jsonschema.Types
	for _, form := range forms {
		if c.try(form, v) {
			fits++
		}
		types := takes(form)
		if types == 0 || hasType(types, v) {
			near = append(near, form)
		}
		all |= types
	}
	switch {
	case fits == 1:
		return true
	case fits == 0 && len(near) == 1:
		return c.check(near[0], v)
	case len(near) == 0:
		return c.refuse("must be %s, not %s", either(all.ToStrings()), TypeName(v))
	}
	return c.refuse("has none of the forms that are accepted here")
}

// takes returns the types of the values that a schema is for, 0 where it doesn't say so.
func takes(s *jsonschema.Schema) (types jsonschema.Types) {
	if s.Types != nil {
		return *s.Types
	}
	if s.Ref != nil {
		return takes(s.Ref)
	}
	for _, form := range s.OneOf {
		one := takes(form)
		if one == 0 {
			return 0
		}
		types |= one
	}
	return types
}

// forms checks the keywords that combine schemas.
func (c *checker) forms(s *jsonschema.Schema, v any) bool {
	ok := true
	for _, part := range s.AllOf {
		ok = c.check(part, v) && ok
	}
	if s.Not != nil && c.try(s.Not, v) {
		ok = c.refuse("is not allowed here")
	}
	if len(s.OneOf) > 0 {
		ok = c.oneOf(s.OneOf, v) && ok
	}
	if s.If == nil {
		return ok
	}
	branch := s.Else
	if c.try(s.If, v) {
		branch = s.Then
	}
	return (branch == nil || c.check(branch, v)) && ok
}

// listed checks enum, const and format.
func (c *checker) listed(s *jsonschema.Schema, v any) bool {
	ok := true
	if s.Enum != nil && !contains(s.Enum.Values, v) {
		ok = c.refuse("must be one of %s, not %s", values(s.Enum.Values), Show(v))
	}
	if s.Const != nil && !contains([]any{*s.Const}, v) {
		ok = c.refuse("must be %s, not %s", Show(*s.Const), Show(v))
	}
	if s.Format != nil && s.Format.Validate(v) != nil {
		ok = c.refuse("must be %s, not %s", format(s.Format.Name), Show(v))
	}
	return ok
}

// content checks the keywords that are for one type of value.
func (c *checker) content(s *jsonschema.Schema, v any) bool {
	switch v := v.(type) {
	case map[string]any:
		return c.object(s, v)
	case []any:
		return c.array(s, v)
	case string:
		return c.text(s, v)
	case json.Number:
		return c.number(s, v)
	}
	return true
}

func (c *checker) object(s *jsonschema.Schema, v map[string]any) bool {
	if len(s.Properties) == 0 && len(s.PatternProperties) == 0 && takesAny(s) {
		return c.size(s.MinProperties, s.MaxProperties, len(v), "member")
	}
	ok := true
	for name, value := range v {
		if c.stray(s, name) || value == nil && c.leftOut(s, name) {
			delete(v, name)
			c.dropped = true
			continue
		}
		c.member(name)
		if c.maskOfNothing(s, name, value) {
			ok = c.refuse(maskReason)
		}
		ok = c.memberOf(s, name, value) && ok
		c.back()
		if !ok && c.quiet > 0 {
			return false
		}
	}
	return c.size(s.MinProperties, s.MaxProperties, len(v), "member") && ok
}

// takesAny reports whether s has nothing to say about members that it doesn't name.
func takesAny(s *jsonschema.Schema) bool {
	open, isBool := s.AdditionalProperties.(bool)
	return s.AdditionalProperties == nil || isBool && open
}

// required checks that the required members are there. It runs last: a form in which a member is optional may have
// dropped its null.
func (c *checker) required(s *jsonschema.Schema, v any) bool {
	object, isObject := v.(map[string]any)
	if !isObject {
		return true
	}
	ok := true
	for _, name := range s.Required {
		if _, given := object[name]; !given {
			c.member(name)
			ok = c.refuse("is required")
			c.back()
		}
	}
	return ok
}

// noNull is the comment of a member that doesn't take null for having been left out.
const noNull = "null is no value"

// leftOut reports whether a null counts as a member that was left out: an optional one whose schema takes no null. Clients
// that serialise whole objects send such nulls. Entries of a map can't be left out, and neither does null stand for leaving out a
// member where that takes away what is there (noNull).
func (c *checker) leftOut(s *jsonschema.Schema, name string) bool {
	if slices.Contains(s.Required, name) || s.Properties[name] == nil || s.Properties[name].Comment == noNull {
		return false
	}
	c.quiet++
	defer func() { c.quiet-- }()
	return !c.memberOf(s, name, nil)
}

// maskOfNothing reports whether value is the mask of a secret that this request doesn't take, such as the key in a change
// of an API key. Other unknown members are ignored; the sender of this one may believe that it has an effect. Only members
// at the top of the body count: deeper ones may be data.
func (c *checker) maskOfNothing(s *jsonschema.Schema, name string, value any) bool {
	return len(c.steps) == 1 && s.Properties[name] == nil && isMask(value) && secretNames()[name]
}

func (c *checker) memberOf(s *jsonschema.Schema, name string, v any) bool {
	ok, known := true, false
	if next := s.Properties[name]; next != nil {
		ok, known = c.check(next, v), true
	}
	for pattern, next := range s.PatternProperties {
		if pattern.MatchString(name) {
			ok, known = c.check(next, v) && ok, true
		}
	}
	if known {
		return ok
	}
	switch more := s.AdditionalProperties.(type) {
	case bool:
		if !more {
			return c.refuse("is not known here")
		}
	case *jsonschema.Schema:
		return c.check(more, v)
	}
	return ok
}

// stray reports whether name is unknown to s and differs from a known one in case alone. Unknown members are
// ignored, but encoding/json would read this one into the field of the known one, unchecked.
func (c *checker) stray(s *jsonschema.Schema, name string) bool {
	if c.quiet > 0 || !takesAny(s) || s.Properties[name] != nil {
		return false
	}
	for known := range s.Properties {
		if strings.EqualFold(known, name) {
			return true
		}
	}
	return false
}

func (c *checker) array(s *jsonschema.Schema, v []any) bool {
	ok := c.size(s.MinItems, s.MaxItems, len(v), "item")
	if s.Items2020 == nil {
		return ok
	}
	for i, item := range v {
		c.item(i)
		ok = c.check(s.Items2020, item) && ok
		c.back()
		if !ok && (c.quiet > 0 || len(c.bad.Fields) >= maxFaults) {
			return false
		}
	}
	return ok
}

func (c *checker) size(least, most *int, got int, noun string) bool {
	switch {
	case least != nil && got < *least:
		return c.refuse("must have at least %s", count(*least, noun))
	case most != nil && got > *most:
		return c.refuse("must have at most %s, it has %d", count(*most, noun), got)
	}
	return true
}

func (c *checker) text(s *jsonschema.Schema, v string) bool {
	if s.MinLength != nil || s.MaxLength != nil {
		n := utf8.RuneCountInString(v)
		switch {
		case s.MinLength != nil && n < *s.MinLength && *s.MinLength == 1:
			return c.refuse("must not be empty")
		case s.MinLength != nil && n < *s.MinLength:
			return c.refuse("must be at least %s long, it has %d", count(*s.MinLength, "character"), n)
		case s.MaxLength != nil && n > *s.MaxLength:
			return c.refuse("must be at most %s long, it has %d", count(*s.MaxLength, "character"), n)
		}
	}
	if s.Pattern != nil && !s.Pattern.MatchString(v) {
		return c.refuse("must match the pattern %s", s.Pattern)
	}
	return true
}

func (c *checker) number(s *jsonschema.Schema, v json.Number) bool {
	if s.Minimum == nil && s.Maximum == nil {
		return true
	}
	n, ok := new(big.Rat).SetString(v.String()) // exact, and short: Parse and typedParam bound digits and exponent
	switch {
	case !ok:
		return c.refuse("is not a number")
	case s.Minimum != nil && n.Cmp(s.Minimum) < 0:
		return c.refuse("must be at least %s", number(s.Minimum))
	case s.Maximum != nil && n.Cmp(s.Maximum) > 0:
		return c.refuse("must be at most %s", number(s.Maximum))
	}
	return true
}

// hasType reports whether v has one of the types of JSON Schema.
func hasType(t jsonschema.Types, v any) bool {
	has := func(name string) bool {
		var one jsonschema.Types
		one.Add(name)
		return int(t)&int(one) != 0
	}
	switch v := v.(type) {
	case nil:
		return has("null")
	case bool:
		return has("boolean")
	case string:
		return has("string")
	case []any:
		return has("array")
	case map[string]any:
		return has("object")
	case json.Number:
		return has("number") || has("integer") && isInteger(v)
	}
	panic(fmt.Sprintf("value of type %T in JSON", v))
}

// isInteger reports whether n is an integer; 10.0 and 1e1 are, as in JSON Schema.
func isInteger(n json.Number) bool {
	if !strings.ContainsAny(n.String(), ".eE") {
		return true
	}
	r, ok := new(big.Rat).SetString(n.String())
	return ok && r.IsInt()
}

// contains reports whether a schema lists v; its numbers are float64.
func contains(listed []any, v any) bool {
	if n, ok := v.(json.Number); ok {
		f, err := n.Float64()
		if err != nil {
			return false
		}
		v = f
	}
	return slices.ContainsFunc(listed, func(l any) bool { return reflect.DeepEqual(l, v) })
}
