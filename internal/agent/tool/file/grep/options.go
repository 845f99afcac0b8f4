// Package grep searches texts line by line for a regular expression of the syntax RE2, with the options of grep that are about
// one text. A text is read once, in pieces: none of its size is held in memory.
package grep

import (
	"fmt"
	"strconv"
	"strings"
)

// Options are how a text is searched and what is shown of it.
type Options struct {
	Fold    bool // -i: letters match in either case
	Numbers bool // -n: lines begin with their number
	Invert  bool // -v: the lines that don't match
	Count   bool // -c: nothing but the number of lines
	Word    bool // -w: matches are whole words
	Only    bool // -o: what matches, each match on a line of its own
	Limited bool // -m was given
	Most    int  // -m: stop behind so many lines
	After   int  // -A: so many lines behind each
	Before  int  // -B: so many lines before each
}

// maxContext is the most lines of -A, -B and -C, and maxMost the most of -m.
const (
	maxContext = 1_000
	maxMost    = 1_000_000_000
)

// taken is the sentence that names the options.
const taken = "there are -i, -n, -v, -c, -w, -o, and with a number behind them -m, -A, -B and -C"

// ParseOptions reads options as grep takes them: together or apart, numbers in the same word or in the next one.
func ParseOptions(args []string) (Options, error) {
	var o Options
	var around, after, before *int
	var words []string
	for _, a := range args {
		words = append(words, strings.Fields(a)...)
	}
	for i := 0; i < len(words); i++ {
		letters, ok := strings.CutPrefix(words[i], "-")
		if !ok || letters == "" || letters[0] == '-' {
			return o, unknown(words[i])
		}
		for at := range letters {
			if o.flag(letters[at]) {
				continue
			}
			if !strings.ContainsRune("mABC", rune(letters[at])) {
				return o, unknown("-" + letters[at:])
			}
			text := letters[at+1:]
			if text == "" && i+1 < len(words) {
				i++
				text = words[i]
			}
			n, err := number(letters[at], text)
			if err != nil {
				return o, err
			}
			switch letters[at] {
			case 'm':
				o.Limited, o.Most = true, n
			case 'A':
				after = &n
			case 'B':
				before = &n
			case 'C':
				around = &n
			}
			break
		}
	}
	o.After, o.Before = first(after, around), first(before, around)
	return o, nil
}

// first returns the first number that was given, 0 for none.
func first(all ...*int) int {
	for _, n := range all {
		if n != nil {
			return *n
		}
	}
	return 0
}

// flag sets an option without a number, and reports whether there is such a one.
func (o *Options) flag(letter byte) bool {
	switch letter {
	case 'i':
		o.Fold = true
	case 'n':
		o.Numbers = true
	case 'v':
		o.Invert = true
	case 'c':
		o.Count = true
	case 'w':
		o.Word = true
	case 'o':
		o.Only = true
	default:
		return false
	}
	return true
}

// number reads the number of an option.
func number(letter byte, text string) (int, error) {
	most := maxContext
	if letter == 'm' {
		most = maxMost
	}
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil || n > uint64(most) {
		return 0, fmt.Errorf("the option -%c takes a number from 0 to %d behind it, as in -%c 3, not %q", letter, most, letter, text)
	}
	return int(n), nil
}

func unknown(word string) error {
	const most = 50
	if r := []rune(word); len(r) > most {
		word = string(r[:most]) + "…"
	}
	return fmt.Errorf("there is no option %q; %s", word, taken)
}
