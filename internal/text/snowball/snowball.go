// Package snowball stems words by programs in Snowball, Martin Porter's language for stemmers (snowballstem.org, "Snowball: A
// language for stemming algorithms", 2001). It compiles a program into functions and runs it; the programs of the project for
// the languages that the generated Go stemmers lack are inside, see algorithms/ORIGIN.md. What of the language no stemmer uses,
// such as commands on string variables, is an error of Compile.
package snowball

import (
	"embed"
	"fmt"
	"sync"
)

// Program is a compiled stemmer. It is safe for concurrent use.
type Program struct {
	start                       *routine
	booleans, integers, strings int // how many variables
	substrings                  int
}

// Stem returns the stem of a word in lower case. A word that the program refuses is its own stem.
func (p *Program) Stem(w string) string {
	text := []rune(w)
	m := machine{
		text: text, limit: len(text), booleans: make([]bool, p.booleans), integers: make([]int, p.integers),
		strings: make([][]rune, p.strings), found: make([]int, p.substrings),
	}
	p.start.run(&m)
	return string(m.text)
}

//go:embed algorithms/*.sbl
var algorithms embed.FS

var compiled sync.Map // name of an algorithm → func() *Program

// Algorithm returns the stemmer of a language by its English name in lower case, such as "greek". It panics if there is no such
// program inside.
func Algorithm(name string) *Program {
	once, _ := compiled.LoadOrStore(name, sync.OnceValue(func() *Program {
		source, err := algorithms.ReadFile("algorithms/" + name + ".sbl")
		if err != nil {
			panic(fmt.Sprintf("snowball: %v", err))
		}
		p, err := Compile(string(source))
		if err != nil {
			panic(fmt.Sprintf("snowball: %s: %v", name, err))
		}
		return p
	}))
	return once.(func() *Program)()
}
