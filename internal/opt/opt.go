// Package opt provides a field that distinguishes a JSON member that was left out from one that was null and from one
// with a value, as the semantics of PATCH require.
package opt

import "encoding/json"

// Field is absent (its zero value), null, or a value. It is comparable where T is.
type Field[T any] struct {
	value T
	state uint8 // 0 absent, 1 null, 2 value
}

// Some returns a field with the value v.
func Some[T any](v T) Field[T] { return Field[T]{value: v, state: 2} }

// From returns the field of a member that knows no null: absent if p is nil.
func From[T any](p *T) Field[T] {
	if p == nil {
		return Field[T]{}
	}
	return Some(*p)
}

// Null returns a field that was sent as null.
func Null[T any]() Field[T] { return Field[T]{state: 1} }

// Get returns the value; ok is false when the field is absent or null.
func (f Field[T]) Get() (v T, ok bool) { return f.value, f.state == 2 }

// Or returns the value, or d when the field is absent or null.
func (f Field[T]) Or(d T) T {
	if f.state == 2 {
		return f.value
	}
	return d
}

// IsNull reports whether the field was sent as null.
func (f Field[T]) IsNull() bool { return f.state == 1 }

// IsAbsent reports whether the field was left out.
func (f Field[T]) IsAbsent() bool { return f.state == 0 }

// UnmarshalJSON reads a member that was sent.
func (f *Field[T]) UnmarshalJSON(raw []byte) error {
	if string(raw) == "null" {
		*f = Null[T]()
		return nil
	}
	f.state = 2
	return json.Unmarshal(raw, &f.value)
}

// MarshalJSON writes the value, or null; the tag omitzero leaves an absent member out.
func (f Field[T]) MarshalJSON() ([]byte, error) {
	if v, ok := f.Get(); ok {
		return json.Marshal(v)
	}
	return []byte("null"), nil
}

// Deref returns what p points to, or d if p is nil.
func Deref[T any](p *T, d T) T {
	if p == nil {
		return d
	}
	return *p
}

// NonZero returns a pointer to v, or nil if v is the zero value: a member that is left out then.
func NonZero[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}
