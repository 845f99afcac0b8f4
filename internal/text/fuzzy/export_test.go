package fuzzy

import "strings"

// QueryTokens returns the distinct tokens of a query.
var QueryTokens = queryTokens

// ValueTokens returns the tokens of the inside of a JSON string.
func ValueTokens(raw string) []string {
	var t textBuffer
	var out []string
	t.tokens([]byte(raw), true, func(b []byte) { out = append(out, string(b)) })
	return out
}

// DistanceAgain is Distance with a table that was in use before.
func DistanceAgain(a, b string, most int) int {
	var t distances
	_ = t.within([]rune(strings.Repeat("xyz", 9)), []rune(strings.Repeat("zyx", 9)), 99) // leaves stale values in the table
	return t.within([]rune(a), []rune(b), most)
}

// Value is a value that a walker visited.
type Value struct {
	Raw    string
	Quoted bool
}

// Values returns the values of a field in a JSON object.
func Values(object []byte, name string) []Value {
	var out []Value
	w := walker{visit: func(_ int, raw []byte, quoted bool) { out = append(out, Value{string(raw), quoted}) }}
	w.object(object, []field{{Field: Field{Name: name}}})
	return out
}
