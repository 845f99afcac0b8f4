package jq

import (
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strconv"

	"github.com/itchyny/gojq"
)

// A step of a program can't be ended, and a few steps can make a value that repeats itself a billion times without taking memory:
// what then writes it out or compares it takes more memory or time than there is. So these steps look first. The names of the functions
// that do are no names in jq, so that no program defines or calls them.
const (
	boundedName = "%bounded" // its input, if that is of a size that a step can work with
	pairName    = "%pair"    // both arguments as a list, under the same condition
	timesName   = "%times"   // the same for arguments that are multiplied
	plusName    = "%plus"    // both arguments as a list, if what they come to together has such a size
	joinName    = "%join"    // its input, if its texts with the argument between them are of such a size
	placeName   = "%place"   // its input, if that is a place in a list that can be, or a path of such places
	parsedName  = "%parsed"  // its input, if that is not too long to be read as JSON in a step
	numberName  = "%number"  // its input, if that is not too long for a number
)

// What one step works with.
const (
	maxStep   = 64 << 20 // bytes of JSON
	maxPlace  = 4 << 20  // in a list, which has so many items once one is set there
	maxParsed = 8 << 20  // bytes of a text that is read as JSON
	maxDigits = 10_000   // of a number in a text
	maxBits   = 1 << 20  // of an integer that is multiplied
)

// walking are the functions that go through all of their input, or write it as a text.
var walking = []string{
	"tojson", "tostring", "format", "error", "halt_error", "flatten", "contains", "inside", "indices", "index", "rindex", "min", "max", "unique", "sort",
	"min_by", "max_by", "unique_by", "sort_by", "group_by", "bsearch", "tostream", "ltrimstr", "rtrimstr", "IN", "INDEX",
}

// comparing are the operators that go through both operands, or make something as large as both.
var comparing = []gojq.Operator{gojq.OpEq, gojq.OpNe, gojq.OpGt, gojq.OpLt, gojq.OpGe, gojq.OpLe, gojq.OpAdd, gojq.OpSub, gojq.OpMul}

// updating are the operators that set what such an operator returns.
var updating = map[gojq.Operator]gojq.Operator{gojq.OpUpdateAdd: gojq.OpAdd, gojq.OpUpdateMul: gojq.OpMul, gojq.OpUpdateSub: gojq.OpSub}

// operators are the functions behind the operators, which programs can call, too.
var operators = map[string]gojq.Operator{
	"_equal": gojq.OpEq, "_notequal": gojq.OpNe, "_greater": gojq.OpGt, "_less": gojq.OpLt, "_greatereq": gojq.OpGe, "_lesseq": gojq.OpLe, "_subtract": gojq.OpSub,
	"_add": gojq.OpAdd, "_multiply": gojq.OpMul,
}

// guarded is what a program is compiled with.
var guarded = []gojq.CompilerOption{
	gojq.WithFunction(boundedName, 0, 0, func(v any, _ []any) any { return bounded(v, v) }),
	gojq.WithFunction(pairName, 2, 2, func(_ any, both []any) any { return bounded(both, slices.Clone(both)) }),
	gojq.WithFunction(timesName, 2, 2, times),
	gojq.WithFunction(plusName, 2, 2, plus),
	gojq.WithFunction(joinName, 1, 1, join),
	gojq.WithFunction(placeName, 0, 0, func(v any, _ []any) any {
		if !reachable(v, 0) {
			return errPlace
		}
		return v
	}),
	gojq.WithFunction(parsedName, 0, 0, func(v any, _ []any) any { return short(v, maxParsed) }),
	gojq.WithFunction(numberName, 0, 0, func(v any, _ []any) any { return short(v, maxDigits) }),
}

func bounded(v, result any) any {
	if measure(v, 0, maxStep) < 0 {
		return errStep
	}
	return result
}

var errStep = fmt.Errorf("a step works with more than %d MiB of JSON, or with more than %d levels", maxStep>>20, maxNesting)

var errPlace = fmt.Errorf("a list has no more than %d items here", maxPlace)

// reachable reports whether a place in a list, or each place on a path, is one that a step can make a list of.
func reachable(v any, depth int) bool {
	if list, ok := v.([]any); ok {
		for _, one := range list {
			if depth > 2 || !reachable(one, depth+1) {
				return false
			}
		}
		return true
	}
	n, ok := gojq.ToFloat64(v)
	return !ok || n < maxPlace
}

// short returns a text that has at most so many bytes, and all other values.
func short(v any, most int) any {
	if text, ok := v.(string); ok && len(text) > most {
		return fmt.Errorf("a text of %d bytes is too long to be read in a step, which takes %d", len(text), most)
	}
	return v
}

// times lets a text be repeated to a bounded length, and integers grow to a bounded one.
func times(_ any, both []any) any {
	for i, v := range both {
		text, ok := v.(string)
		if n, number := gojq.ToFloat64(both[1-i]); ok && number && n*float64(len(text)) > maxStep {
			return errStep
		}
		if n, ok := v.(*big.Int); ok && n.BitLen() > maxBits {
			return fmt.Errorf("an integer has more than %d bits", maxBits)
		}
	}
	return bounded(both, slices.Clone(both))
}

// plus bounds a text, or a list, that is made of two: one that doubles would take all memory within a few steps.
func plus(_ any, both []any) any {
	const item = 16 // bytes
	var size int
	for _, v := range both {
		switch v := v.(type) {
		case string:
			size += len(v)
		case []any:
			size += len(v) * item
		}
	}
	if size > maxStep {
		return fmt.Errorf("%w: a step makes a value of more than %d MiB", ErrMemory, maxStep>>20)
	}
	return slices.Clone(both)
}

// join bounds what lies between the texts that are joined.
func join(v any, between []any) any {
	list, _ := v.([]any)
	if text, ok := between[0].(string); ok && len(text)*len(list) > maxStep {
		return errStep
	}
	return bounded(v, v)
}

var errGuard = errors.New("nested too deeply")

// guard changes a program so that its steps look before they work.
func guard(q *gojq.Query) error { return walk(reflect.ValueOf(q), 0) }

// maxSyntax is how deep a program may be nested.
const maxSyntax = 10_000

// walk changes every query below a part of a program, the inner ones first.
func walk(v reflect.Value, depth int) error {
	if depth > maxSyntax {
		return errGuard
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		if err := walk(v.Elem(), depth+1); err != nil {
			return err
		}
		switch part := v.Interface().(type) {
		case *gojq.Query:
			guardQuery(part)
		case *gojq.Term:
			guardTerm(part)
		case *gojq.String:
			guardString(part)
		case *gojq.Index:
			guardIndex(part)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if err := walk(v.Field(i), depth+1); err != nil {
				return err
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			if err := walk(v.Index(i), depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// guardQuery has an operator work with operands that were looked at: l * r becomes %times(l; r) | .[0] * .[1].
func guardQuery(q *gojq.Query) {
	switch {
	case q.Term != nil:
	case slices.Contains(comparing, q.Op):
		operands := pair(q.Op, q.Left, q.Right)
		*q = gojq.Query{Meta: q.Meta, Imports: q.Imports, FuncDefs: q.FuncDefs, Left: operands, Op: gojq.OpPipe, Right: &gojq.Query{Left: item("0"), Op: q.Op, Right: item("1")}}
	case updating[q.Op] != 0: // l *= r is r as $r | l |= . * $r
		const name = "$%r"
		by := &gojq.Query{Left: &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeIdentity}}, Op: updating[q.Op], Right: call(name)}
		guardQuery(by)
		*q = gojq.Query{Meta: q.Meta, Imports: q.Imports, FuncDefs: q.FuncDefs, Left: q.Right, Op: gojq.OpPipe, Patterns: []*gojq.Pattern{{Name: name}},
			Right: &gojq.Query{Left: q.Left, Op: gojq.OpModify, Right: by}}
	}
}

// guardTerm has a function or a format work with what was looked at.
func guardTerm(t *gojq.Term) {
	switch {
	case t.Func != nil && len(t.Func.Args) == 2 && operators[t.Func.Name] != 0:
		q := &gojq.Query{Left: t.Func.Args[0], Op: operators[t.Func.Name], Right: t.Func.Args[1]}
		guardQuery(q)
		*t = gojq.Term{Type: gojq.TermTypeQuery, Query: q, SuffixList: t.SuffixList}
	case t.Func != nil && slices.Contains(walking, t.Func.Name):
		before(t, call(boundedName))
	case t.Func != nil && t.Func.Name == "join" && len(t.Func.Args) == 1:
		before(t, call(joinName, t.Func.Args[0]))
	case t.Func != nil && (t.Func.Name == "fromjson" || t.Func.Name == "tonumber") && len(t.Func.Args) == 0:
		before(t, call(map[string]string{"fromjson": parsedName, "tonumber": numberName}[t.Func.Name]))
	case t.Func != nil:
		if i, ok := placed[t.Func.Name]; ok && i < len(t.Func.Args) {
			t.Func.Args[i] = looked(t.Func.Args[i], placeName)
		}
	case t.Type == gojq.TermTypeFormat && t.Str == nil:
		before(t, call(boundedName))
	}
}

// guardString has the values in a text looked at before they are written there.
func guardString(s *gojq.String) {
	for i, q := range s.Queries {
		if q.Term.Str == nil { // else it is what stands between values
			s.Queries[i] = looked(q, boundedName)
		}
	}
}

// guardIndex has a list indexed at places that were looked at; those that the program states are mostly small.
func guardIndex(i *gojq.Index) {
	if i.Start == nil || i.IsSlice {
		return
	}
	if t := i.Start.Term; t != nil && t.Type == gojq.TermTypeNumber && len(t.SuffixList) == 0 {
		if n, err := strconv.Atoi(t.Number); err == nil && n < maxPlace {
			return
		}
	}
	i.Start = looked(i.Start, placeName)
}

// looked returns a query whose results were looked at.
func looked(q *gojq.Query, name string) *gojq.Query {
	piped := &gojq.Query{Left: q, Op: gojq.OpPipe, Right: call(name)}
	return &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeQuery, Query: piped}}
}

// placed are the functions that set what stands at paths, with which of their arguments has these.
var placed = map[string]int{"setpath": 0, "fromstream": 0, "_index": 1}

// before has a term work with what first returns; its suffixes stay behind it.
func before(t *gojq.Term, first *gojq.Query) {
	inner := *t
	inner.SuffixList = nil
	*t = gojq.Term{Type: gojq.TermTypeQuery, SuffixList: t.SuffixList, Query: &gojq.Query{Left: first, Op: gojq.OpPipe, Right: &gojq.Query{Term: &inner}}}
}

// pair returns the query for both operands.
func pair(op gojq.Operator, l, r *gojq.Query) *gojq.Query {
	switch op {
	case gojq.OpMul:
		return call(timesName, l, r)
	case gojq.OpAdd:
		return call(plusName, l, r)
	}
	return call(pairName, l, r)
}

func call(name string, args ...*gojq.Query) *gojq.Query {
	return &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeFunc, Func: &gojq.Func{Name: name, Args: args}}}
}

// item returns the query for an item of the input.
func item(n string) *gojq.Query {
	at := &gojq.Index{Start: &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeNumber, Number: n}}}
	return &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeIndex, Index: at}}
}
