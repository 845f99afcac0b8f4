package audit

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"quarry/internal/clip"
	"quarry/internal/secret/redact"
)

// Masked is written in place of a secret.
const Masked = "****"

// The limits on what is recorded of a request.
const (
	maxChanges = 8 << 10 // bytes of the body, as JSON
	maxText    = 512     // bytes of one text of a body that is too long
	maxItems   = 50      // items of one list, members of one object, of a body that is too long
	MaxName    = 256     // bytes of a value of the path or of a name
)

// secretName matches the names of members that hold a secret or may hold one, such as headers for other services.
var secretName = regexp.MustCompile(`(?i)(^|[_-])(password|passwd|pass|pwd|pw|passphrase|secret|credential|authorization|cookie|signature|assertion|one_time_code)s?$` +
	`|(^|[_-])(api|access|private|secret|signing|encryption|service_account)[_-]?key(_json)?s?$|password$|secret$|token$|^tokens$|apikey$|^auth$|headers?$`)

// IsSecretName reports whether a member of this name is masked.
func IsSecretName(name string) bool { return secretName.MatchString(name) }

// MaskText masks everything in a text that has the form of one of our secrets, and cuts the text to max bytes.
func MaskText(s string, limit int) string {
	return cut(redact.Text(strings.ToValidUTF8(s, "\uFFFD")), limit)
}

func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return fmt.Sprintf("%s… (%d bytes)", clip.Head(s, limit), len(s))
}

// Known is a place in the contract's schema of a body. Mask keeps the values of the members that it knows.
type Known interface {
	// Member returns the place of a member of an object; ok is false for a name that is not in the contract.
	Member(name string) (at Known, ok bool)
	// Item returns the place of the items of a list.
	Item() Known
	// Secret reports whether the contract marks the value at this place as a secret.
	Secret() bool
}

// Mask returns the part of a body that is recorded, at most 8 KiB. The values of secret members become ****, and so do
// those of unknown members, which may be secrets under a mistyped name. It returns nil for a body that is not a JSON
// object.
func Mask(body []byte, at Known) json.RawMessage {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var v map[string]any
	if d.Decode(&v) != nil || v == nil {
		return nil
	}
	masked := mask(v, at, false).(map[string]any)
	if weight(masked) <= maxChanges {
		if out := encode(masked); len(out) <= maxChanges {
			return out
		}
	}
	short := shorten(masked).(map[string]any)
	if out := encode(short); len(out) <= maxChanges {
		return out
	}
	return encode(fit(short))
}

func mask(v any, at Known, secret bool) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, x := range v {
			hidden := secret || IsSecretName(name)
			var next Known
			if at != nil {
				var ok bool
				if next, ok = at.Member(name); !ok || next != nil && next.Secret() {
					hidden = true
				}
			}
			out[MaskText(name, MaxName)] = mask(x, next, hidden)
		}
		return out
	case []any:
		var next Known
		if at != nil {
			next = at.Item()
		}
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = mask(x, next, secret)
		}
		return out
	case string:
		if secret {
			return Masked
		}
		return MaskText(v, len(v))
	case json.Number:
		if secret {
			return Masked
		}
	}
	return v
}

// weight returns about how many bytes v takes; it stops counting above maxChanges.
func weight(v any) (n int) {
	switch v := v.(type) {
	case map[string]any:
		for name, x := range v {
			if n += 4 + len(name) + weight(x); n > maxChanges {
				return n
			}
		}
		return n + 2
	case []any:
		for _, x := range v {
			if n += 1 + weight(x); n > maxChanges {
				return n
			}
		}
		return n + 2
	case string:
		return len(v) + 2
	}
	return 4
}

// bySize returns the names of members by ascending size of their values.
func bySize(v map[string]any) []string {
	sizes := make(map[string]int, len(v))
	for name, x := range v {
		sizes[name] = weight(x)
	}
	return slices.SortedFunc(maps.Keys(v), func(a, b string) int {
		return cmp.Or(cmp.Compare(sizes[a], sizes[b]), cmp.Compare(a, b))
	})
}

// shorten cuts long texts, lists and objects.
func shorten(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for i, name := range bySize(v) {
			if i == maxItems {
				out["…"] = fmt.Sprintf("%d more", len(v)-i)
				break
			}
			out[name] = shorten(v[name])
		}
		return out
	case []any:
		out := make([]any, 0, min(len(v), maxItems+1))
		for i, x := range v {
			if i == maxItems {
				out = append(out, fmt.Sprintf("… %d more", len(v)-i))
				break
			}
			out = append(out, shorten(x))
		}
		return out
	case string:
		return cut(v, maxText)
	}
	return v
}

// fit keeps as many members as there is room for, the smallest first, and replaces the others by their sizes.
func fit(v map[string]any) map[string]any {
	out, room := map[string]any{}, maxChanges
	for _, name := range bySize(v) {
		const around = 40 // bytes for the note and the signs around a member
		key, _ := json.Marshal(name)
		value, _ := json.Marshal(v[name]) // came out of JSON
		room -= len(key) + around
		switch {
		case room < 0:
			out["…"] = "more members"
			return out
		case len(value) <= room:
			out[name] = v[name]
			room -= len(value)
		default:
			out[name] = fmt.Sprintf("… (%d bytes)", len(value))
		}
	}
	return out
}

func encode(v map[string]any) json.RawMessage {
	raw, _ := json.Marshal(v) // came out of JSON
	return raw
}
