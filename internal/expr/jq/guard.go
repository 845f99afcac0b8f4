package jq

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/itchyny/gojq"
)

// A step of a program can't be ended, and a few steps can make a value that repeats itself a billion times without taking memory:
// what then writes it out or compares it takes more memory or time than there is. So these steps look first. The names of the functions
// that do are no names in jq, so that no program defines or calls them.
const (
	boundedName = "%bounded" // its input, if that is of a size that a step can work with
	pairName    = "%pair"    // both arguments as a list, under the same condition
	timesName   = "%times"   // the same for arguments that are multiplied
	joinName    = "%join"    // its input, if its texts with the argument between them are of such a size
)

// maxStep is how many bytes of JSON one step works with.
const maxStep = 64 << 20

// walking are the functions that go through all of their input, or write it as a text.
var walking = []string{
	"tojson", "tostring", "format", "error", "halt_error", "flatten", "contains", "inside", "indices", "index", "rindex", "min", "max", "unique", "sort",
	"min_by", "max_by", "unique_by", "sort_by", "group_by", "bsearch", "tostream", "ltrimstr", "rtrimstr", "IN", "INDEX",
}

// comparing are the operators that go through both operands.
var comparing = []gojq.Operator{gojq.OpEq, gojq.OpNe, gojq.OpGt, gojq.OpLt, gojq.OpGe, gojq.OpLe, gojq.OpSub, gojq.OpMul}

// operators are the functions behind the operators, which programs can call, too.
var operators = map[string]gojq.Operator{
	"_equal": gojq.OpEq, "_notequal": gojq.OpNe, "_greater": gojq.OpGt, "_less": gojq.OpLt, "_greatereq": gojq.OpGe, "_lesseq": gojq.OpLe, "_subtract": gojq.OpSub,
	"_multiply": gojq.OpMul,
}

// guarded is what a program is compiled with.
var guarded = []gojq.CompilerOption{
	gojq.WithFunction(boundedName, 0, 0, func(v any, _ []any) any { return bounded(v, v) }),
	gojq.WithFunction(pairName, 2, 2, func(_ any, both []any) any { return bounded(both, slices.Clone(both)) }),
	gojq.WithFunction(timesName, 2, 2, times),
	gojq.WithFunction(joinName, 1, 1, join),
}

func bounded(v, result any) any {
	if measure(v, 0, maxStep) < 0 {
		return errStep
	}
	return result
}

var errStep = fmt.Errorf("a step works with more than %d MiB of JSON, or with more than %d levels", maxStep>>20, maxNesting)

// times lets a text be repeated to a bounded length.
func times(_ any, both []any) any {
	for i, v := range both {
		text, ok := v.(string)
		if n, number := gojq.ToFloat64(both[1-i]); ok && number && n*float64(len(text)) > maxStep {
			return errStep
		}
	}
	return bounded(both, slices.Clone(both))
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
	case q.Op == gojq.OpUpdateMul, q.Op == gojq.OpUpdateSub: // l *= r is r as $r | l |= . * $r
		op := map[gojq.Operator]gojq.Operator{gojq.OpUpdateMul: gojq.OpMul, gojq.OpUpdateSub: gojq.OpSub}[q.Op]
		const name = "$%r"
		by := &gojq.Query{Left: &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeIdentity}}, Op: op, Right: call(name)}
		guardQuery(by)
		*q = gojq.Query{Meta: q.Meta, Imports: q.Imports, FuncDefs: q.FuncDefs, Left: q.Right, Op: gojq.OpPipe, Patterns: []*gojq.Pattern{{Name: name}},
			Right: &gojq.Query{Left: q.Left, Op: gojq.OpModify, Right: by}}
	}
}

// guardTerm has a function, a format and the values in a text work with what was looked at.
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
	case t.Type == gojq.TermTypeFormat:
		if t.Str == nil {
			before(t, call(boundedName))
		}
	}
	if t.Str != nil {
		for i, q := range t.Str.Queries {
			if q.Term.Str == nil { // else it is what stands between values
				q = &gojq.Query{Left: q, Op: gojq.OpPipe, Right: call(boundedName)}
				t.Str.Queries[i] = &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeQuery, Query: q}}
			}
		}
	}
}

// before has a term work with what first returns; its suffixes stay behind it.
func before(t *gojq.Term, first *gojq.Query) {
	inner := *t
	inner.SuffixList = nil
	*t = gojq.Term{Type: gojq.TermTypeQuery, SuffixList: t.SuffixList, Query: &gojq.Query{Left: first, Op: gojq.OpPipe, Right: &gojq.Query{Term: &inner}}}
}

// pair returns the query for both operands.
func pair(op gojq.Operator, l, r *gojq.Query) *gojq.Query {
	if op == gojq.OpMul {
		return call(timesName, l, r)
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
