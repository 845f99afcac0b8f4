package offload

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"quarry/internal/jsonvalue"
)

// Cut returns a JSON object that has at most most bytes, of which there are at least 1024: what is too long in it has lost its
// middle, where a notice stands. Members that fit stay as they are.
func Cut(output json.RawMessage, most int) json.RawMessage {
	v, _ := jsonvalue.Decode(output).(map[string]any)
	if v != nil {
		if out := jsonvalue.Encode(cut(v, most, 0)); len(out) <= most {
			return out
		}
	}
	return jsonvalue.Encode(map[string]any{"content": middle(string(output), most-len(`{"content":}`))})
}

const (
	maxDepth    = 12  // below it, values are cut as texts
	leastItem   = 200 // bytes to which an item of a list is cut; where there is no room for so much, items go
	leastMember = 100 // the same of members of an object
	noticeFor   = 80  // bytes that a notice takes at most, with quotes and comma
)

// cut returns a value whose JSON has about budget bytes at most.
func cut(v any, budget, depth int) any {
	if size(v) <= budget {
		return v
	}
	switch v := v.(type) {
	case string:
		return middle(v, budget)
	case []any:
		if depth < maxDepth {
			return cutList(v, budget, depth)
		}
	case map[string]any:
		if depth < maxDepth {
			return cutObject(v, budget, depth)
		}
	}
	return middle(string(jsonvalue.Encode(v)), budget)
}

// cutList cuts the items of a list, or leaves out those in the middle where too little would be left of each.
func cutList(list []any, budget, depth int) any {
	sizes := make([]int, len(list))
	for i := range list {
		sizes[i] = size(list[i]) + 1
	}
	kept, level := fit(sizes, budget-2, leastItem)
	out := make([]any, 0, len(kept)+1)
	for i, k := range kept {
		if i > 0 && kept[i-1] != k-1 {
			out = append(out, fmt.Sprintf("[… %d of %d items left out …]", len(list)-len(kept), len(list)))
		}
		out = append(out, cut(list[k], level-1, depth+1))
	}
	return out
}

// cutObject is cutList for members, which are in the order of their names.
func cutObject(object map[string]any, budget, depth int) any {
	names := slices.Sorted(maps.Keys(object))
	sizes := make([]int, len(names))
	for i, name := range names {
		sizes[i] = size(name) + 1 + size(object[name]) + 1
	}
	kept, level := fit(sizes, budget-2, leastMember)
	out := make(map[string]any, len(kept)+1)
	for _, k := range kept {
		name := names[k]
		out[name] = cut(object[name], level-size(name)-2, depth+1)
	}
	if left := len(names) - len(kept); left > 0 {
		out["…"] = fmt.Sprintf("[… %d of %d members left out …]", left, len(names))
	}
	return out
}

// fit returns which of the pieces of these sizes stay, and the size to which each of them has to be cut so that they fit. None is
// cut to less than least: those from the middle go first.
func fit(sizes []int, budget, least int) (kept []int, level int) {
	if level := share(sizes, budget); level >= least {
		kept = make([]int, len(sizes))
		for i := range kept {
			kept[i] = i
		}
		return kept, level
	}
	budget -= noticeFor
	for from, to := 0, len(sizes)-1; from <= to; {
		next := from
		if len(kept)%2 == 1 {
			next = to
		}
		if budget -= min(sizes[next], least); budget < 0 {
			break
		}
		if kept = append(kept, next); next == from {
			from++
		} else {
			to--
		}
	}
	slices.Sort(kept)
	return kept, least
}

// share returns the largest size to which pieces of these sizes can be cut so that all of them together fit into a budget.
func share(sizes []int, budget int) int {
	sorted := slices.Sorted(slices.Values(sizes))
	for i, n := range sorted {
		if left := len(sorted) - i; n > budget/left {
			return budget / left
		}
		budget -= n
	}
	return budget
}

// middle returns a text without its middle, so that its JSON has about budget bytes at most.
func middle(s string, budget int) string {
	half := max(0, budget-noticeFor) / 2
	head, tail := 0, len(s)
	for used := 0; head < len(s); {
		r, n := utf8.DecodeRuneInString(s[head:])
		if used += escaped(r, n); used > half {
			break
		}
		head += n
	}
	for used := 0; tail > head; {
		r, n := utf8.DecodeLastRuneInString(s[:tail])
		if used += escaped(r, n); used > half {
			break
		}
		tail -= n
	}
	return s[:head] + fmt.Sprintf("[… %d bytes left out …]", tail-head) + s[tail:]
}

// size returns how many bytes a value takes as JSON.
func size(v any) int {
	n := 2
	switch v := v.(type) {
	case string:
		for at := 0; at < len(v); {
			r, width := utf8.DecodeRuneInString(v[at:])
			n += escaped(r, width)
			at += width
		}
		return n
	case []any:
		for _, item := range v {
			n += size(item) + 1
		}
		return n
	case map[string]any:
		for name, member := range v {
			n += size(name) + size(member) + 2
		}
		return n
	case json.Number:
		return len(v)
	}
	return 5
}

// escaped returns how many bytes a character of so many bytes takes within JSON.
func escaped(r rune, n int) int {
	switch {
	case r == '"', r == '\\', r == '\n', r == '\r', r == '\t', r == '\b', r == '\f':
		return 2
	case r < ' ', r == '\u2028', r == '\u2029', r == utf8.RuneError && n == 1:
		return 6
	}
	return n
}
