package cli

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"quarry/internal/cli/command"
)

// unasked returns a pattern of the fields of root that the parser need not learn: those of all other commands, where args begin with
// the name of one. To learn them all takes longer than most commands take. Completion needs them.
func unasked(args []string) (patterns []string) {
	var others []string
	found := false
	for f := range reflect.TypeFor[root]().Fields() {
		if len(args) > 0 && nameOf(f) == args[0] {
			found = true
			continue
		}
		others = append(others, f.Name)
	}
	if !found || args[0] == "__complete" {
		return nil
	}
	return []string{`^root\.(` + strings.Join(others, "|") + `)$`}
}

// nameOf returns what a command of the root is called by.
func nameOf(f reflect.StructField) string { return cmp.Or(f.Tag.Get("name"), strings.ToLower(f.Name)) }

// hoist moves flags that stand before the command behind its name, where the parser takes them for the command's own. It drops
// them if no command follows, and leaves args as they are if no command has one of the flags: the parser reports both. Flags of
// the program itself, such as --help, stay where they are, and so does --version, see asCommand.
func hoist(app *kong.Node, args []string) []string {
	known := flagsBelow(app)
	i := 0
	for i < len(args) && strings.HasPrefix(args[i], "--") && args[i] != "--" {
		name, _, given := strings.Cut(strings.TrimPrefix(args[i], "--"), "=")
		f := known[name]
		if f == nil || slices.Contains(app.Flags, f) || name == "version" {
			return args
		}
		if i++; !given && !f.IsBool() {
			i++
		}
	}
	at := i
	for n := app; at < len(args); at++ {
		if n = child(n, args[at]); n == nil {
			break
		}
	}
	if at == i { // the parser reports what stands where a command should
		return args[min(i, len(args)):]
	}
	out := append([]string{}, args[i:at]...)
	return append(append(out, args[:i]...), args[at:]...)
}

// flagsBelow returns the flags of every command by name. Those of one name all have a value, or none has, but for --save, which
// before a command is that of ask: it has none.
func flagsBelow(app *kong.Node) map[string]*kong.Flag {
	known := map[string]*kong.Flag{}
	_ = kong.Visit(app, func(v kong.Visitable, next kong.Next) error { // the function fails nowhere
		if f, ok := v.(*kong.Flag); ok && (known[f.Name] == nil || !known[f.Name].IsBool()) {
			known[f.Name] = f
		}
		return next(nil)
	})
	return known
}

func child(n *kong.Node, name string) *kong.Node {
	for _, c := range n.Children {
		if c.Type == kong.CommandNode && c.Name == name {
			return c
		}
	}
	return nil
}

// misuse prints what is wrong with the arguments, and where the help of the command stands.
func misuse(e *command.Env, err error) int {
	path := "quarry"
	var p *kong.ParseError
	if errors.As(err, &p) && p.Context != nil {
		for _, step := range p.Context.Path {
			if step.Command != nil {
				path = step.Command.FullPath()
			}
		}
	}
	fmt.Fprintf(e.Err, "quarry: %s\nTry: %s --help\n", plain(err.Error()), path)
	return command.ExitUsage
}

// noNumber is how the parser says that a value is no number.
var noNumber = regexp.MustCompile(`: expected a (valid \d+ bit u?int|float) but got ("(?:[^"\\]|\\.)*")( \(\w+\))?`)

// plain returns what the parser says in the words of users.
func plain(text string) string {
	m := noNumber.FindStringSubmatchIndex(text)
	if m == nil {
		return text
	}
	kind := "a whole number"
	if text[m[2]:m[3]] == "float" {
		kind = "a number"
	}
	return text[:m[0]] + " must be " + kind + ", not " + text[m[4]:m[5]] + text[m[1]:]
}
