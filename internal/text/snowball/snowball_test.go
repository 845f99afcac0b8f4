package snowball_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"quarry/internal/text/snowball"
)

// Proves that the programs inside give the stems that the Snowball project's own compiler gives.
func TestAlgorithms(t *testing.T) {
	t.Parallel()
	programs, err := filepath.Glob("algorithms/*.sbl")
	if err != nil || len(programs) != 15 {
		t.Fatalf("%d programs, %v; want 15", len(programs), err)
	}
	for _, file := range programs {
		name := strings.TrimSuffix(filepath.Base(file), ".sbl")
		raw, err := os.ReadFile("testdata/" + name + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for line := range strings.Lines(string(raw)) {
			w, want, _ := strings.Cut(strings.TrimSpace(line), " ")
			if got := snowball.Algorithm(name).Stem(w); got != want {
				t.Errorf("%s: %s has the stem %s, want %s", name, w, got, want)
			}
			n++
		}
		if n < 20 {
			t.Errorf("%s: %d words, want 20 at the least", name, n)
		}
	}
}

// Proves each command of the language on programs of a line.
func TestCommands(t *testing.T) {
	t.Parallel()
	const head = `stringescapes {} stringdef e' '{U+00E9}' externals ( stem ) integers ( p q ) booleans ( b ) strings ( s ) groupings ( v w )
		routines ( yes no ) define v 'aeiou{e'}' define w v + 'y' - 'a' define yes as true define no as false `
	for name, test := range map[string]struct{ program, word, want string }{
		"match":              {`define stem as (['ab'] <- 'x')`, "abc", "xc"},
		"no match":           {`define stem as (['b'] <- 'x')`, "abc", "abc"},
		"or":                 {`define stem as ([('x' or 'a' or 'b')] delete)`, "abc", "bc"},
		"and":                {`define stem as ([('abc' and 'ab')] delete)`, "abc", "c"},
		"mixed":              {`define stem as ([(next and 'b' or 'a')] delete)`, "abc", "bc"},
		"not":                {`define stem as (not 'b' [next] delete)`, "abc", "bc"},
		"test":               {`define stem as (test 'ab' [next] delete)`, "abc", "bc"},
		"try":                {`define stem as (try ('a' 'x') [next] delete)`, "abc", "bc"},
		"do":                 {`define stem as (do 'ab' [next] delete)`, "abc", "bc"},
		"fail":               {`define stem as ((fail ([next] delete) or true) insert 'x')`, "abc", "xbc"},
		"goto":               {`define stem as (goto 'b' insert 'x')`, "abc", "axbc"},
		"gopast":             {`define stem as (gopast v insert 'x')`, "bac", "baxc"},
		"gopast to the end":  {`define stem as (gopast 'z' insert 'x')`, "bac", "bac"},
		"repeat":             {`define stem as (repeat ('a') insert 'x')`, "aaab", "aaaxb"},
		"loop":               {`define stem as (loop 2 'a' insert 'x')`, "aaab", "aaxab"},
		"loop too far":       {`define stem as (loop 4 'a' insert 'x')`, "aaab", "aaab"},
		"atleast":            {`define stem as (atleast 2 'a' insert 'x')`, "aaab", "aaaxb"},
		"hop":                {`define stem as (hop 2 insert 'x')`, "abc", "abxc"},
		"hop too far":        {`define stem as (hop 4 insert 'x')`, "abc", "abc"},
		"non":                {`define stem as (gopast non-v insert 'x')`, "aec", "aecx"},
		"grouping":           {`define stem as (gopast w insert 'x')`, "aye", "ayxe"},
		"escape":             {`define stem as (['{e'}'] <- '{'}')`, "éa", "'a"},
		"marks":              {`define stem as (next setmark p next tomark p or (atmark p insert 'x') or insert 'y')`, "abc", "abyc"},
		"tomark":             {`define stem as ($p = 2 tomark p insert 'x')`, "abc", "abxc"},
		"tolimit":            {`define stem as (tolimit atlimit insert 'x')`, "abc", "abcx"},
		"setlimit":           {`define stem as (setlimit hop 2 for (tolimit insert 'x') hop 1 insert 'y')`, "abc", "abxcy"},
		"arithmetic":         {`define stem as ($p = 2 $p *= 3 $p += 4 $p -= 1 $p /= 2 $(p == 4 + (len - 3)) $q = -p $q < 0 insert 'x')`, "abc", "xabc"},
		"relation":           {`define stem as ($len >= 4 insert 'x')`, "abc", "abc"},
		"booleans":           {`define stem as (set b unset b not b set b b insert 'x')`, "abc", "xabc"},
		"strings":            {`define stem as ([hop 2] -> s tolimit insert s $(lenof s == 2))`, "abc", "abcab"},
		"string matches":     {`define stem as ([next] -> s s insert 'x')`, "aab", "aaxb"},
		"attach":             {`define stem as (attach 'x' 'xa' insert 'y')`, "abc", "xaybc"},
		"insert leaves":      {`define stem as (insert 'x' 'a' insert 'y')`, "abc", "xaybc"},
		"sequence in braces": {`define stem as ([next] (<- 'x' [next] delete))`, "abc", "xc"},
		"among":              {`define stem as ([substring] among('a' 'ab' (<- 'x') 'abc' no (<- 'y') 'abcd' (delete)))`, "abc", "xc"},
		"among by itself":    {`define stem as (among('a' (insert 'x') 'ab' yes (insert 'y')))`, "abc", "abyc"},
		"among without":      {`define stem as (among('b' 'c') insert 'x')`, "abc", "abc"},
		"among, no command":  {`define stem as (among('b' 'a') insert 'x')`, "abc", "axbc"},
		"backwards": {`routines ( back ) backwardmode ( define back as ( [substring] among('c' 'bc' (test (next atlimit) <- 'x')) ) )
			define stem as backwards back`, "abc", "ax"},
		"backwards limit": {`routines ( back ) backwardmode ( define back as ( setlimit tomark p for ([substring]) among('bc' (delete)) ) )
			define stem as (hop 2 setmark p backwards back)`, "abc", "abc"},
		"comments": {"define stem as ( // one ' \n /* two \n ' */ insert 'x')", "abc", "xabc"},
		"bounded":  {`define stem as (repeat true insert 'x')`, "abc", "xabc"},
	} {
		p, err := snowball.Compile(head + test.program)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := p.Stem(test.word); got != test.want {
			t.Errorf("%s: %s becomes %s, want %s", name, test.word, got, test.want)
		}
	}
}

// Proves that what is no program is refused with its line.
func TestRefused(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		``:                                     "no routine is external",
		`externals ( stem )`:                   "the routine stem is not defined",
		"externals ( stem )\ndefine stem as (": `line 2: "" is no command`,
		`externals ( stem ) define stem as 'a`: "line 1: a string has no end",
		`externals ( stem ) define stem as other`: "line 1: other is no command and not declared",
		`externals ( stem ) define stem as hop x`: "line 1: x is no integer",
		`externals ( stem ) define stem as non x`: "line 1: x is no grouping",
		`externals ( stem ) define stem as set x`: "line 1: x is not declared among booleans",
		`externals ( stem ) define stem as $ 1`:   `line 1: "" is not expected here`,
		`externals ( stem ) define other as true`: "line 1: other is not declared",
		`externals ( stem ) ;`:                    "line 1: unexpected ';'",
		`/* never`:                                "line 1: the comment has no end",
		`stringescapes {} stringdef a '{b}'`:      `line 1: the escape "b" is not defined`,
	} {
		if _, err := snowball.Compile(source); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", source, err, want)
		}
	}
}

// FuzzStem proves that any text has a stem, in bounded time, and that it is valid UTF-8.
func FuzzStem(f *testing.F) {
	f.Add("greek", "ελληνικών")
	f.Add("serbian", "језицима")
	f.Add("esperanto", "--'")
	f.Fuzz(func(t *testing.T, name, w string) {
		if _, err := os.Stat("algorithms/" + name + ".sbl"); err != nil || strings.Contains(name, "/") || len(w) > 64 || !utf8.ValidString(w) {
			return
		}
		if stem := snowball.Algorithm(name).Stem(w); !utf8.ValidString(stem) {
			t.Errorf("%q becomes %q", w, stem)
		}
	})
}

// FuzzCompile proves that any source is compiled or refused.
func FuzzCompile(f *testing.F) {
	f.Add("externals ( stem ) integers ( p ) define stem as (repeat (gopast 'a' setmark p) [substring] among('a' 'b' (delete)))")
	f.Fuzz(func(_ *testing.T, source string) { _, _ = snowball.Compile(source) })
}
