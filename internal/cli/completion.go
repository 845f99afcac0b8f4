package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"quarry/internal/cli/command"
)

type completionCmd struct {
	Shell string `arg:"" optional:"" help:"bash, zsh or fish."`
}

func (completionCmd) Help() string {
	return "With it, the Tab key completes commands, flags and the keys of corpora, which the service is asked for.\n\n" +
		"bash: echo 'source <(quarry completion bash)' >> ~/.bashrc\n\n" +
		"zsh: echo 'source <(quarry completion zsh)' >> ~/.zshrc\n\n" +
		"fish: quarry completion fish > ~/.config/fish/completions/quarry.fish\n\n" +
		"Example: source <(quarry completion bash)"
}

// scripts are what a shell runs on Tab: it asks for the words that may follow, and completes files where there are none.
var scripts = map[string]string{
	"bash": bashScript,
	"zsh":  "autoload -U +X bashcompinit && bashcompinit\n" + bashScript,
	"fish": `function __quarry_complete
  set -l found (quarry __complete -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)
  if test (count $found) -gt 0
    printf '%s\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c quarry -f -a '(__quarry_complete)'
`,
}

const bashScript = `_quarry() {
  local IFS=$'\n'
  COMPREPLY=($("$1" __complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _quarry quarry
`

func (c *completionCmd) Run(e *command.Env) error {
	script, ok := scripts[c.Shell]
	if !ok {
		reason := "name your shell"
		if c.Shell != "" {
			reason = fmt.Sprintf("there is no completion for %s; name one of these shells", c.Shell)
		}
		return command.Failed(command.ExitUsage, "%s", reason+":\n  quarry completion bash    for ~/.bashrc: source <(quarry completion bash)\n"+
			"  quarry completion zsh     for ~/.zshrc: source <(quarry completion zsh)\n"+
			"  quarry completion fish    quarry completion fish > ~/.config/fish/completions/quarry.fish")
	}
	fmt.Fprint(e.Out, script)
	return nil
}

// completeCmd is what the scripts call: it prints the words that may stand in the place of the last one.
type completeCmd struct {
	command.Connection
	Words []string `arg:"" optional:"" passthrough:""`
}

// patience is how long a key press waits for the service.
const patience = time.Second

// Run prints nothing where something fails: whoever presses Tab can't be told.
func (c *completeCmd) Run(e *command.Env) error {
	words := c.Words
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	if len(words) == 0 {
		words = []string{""}
	}
	l := place(e.Parser.Model.Node, words)
	all := l.static()
	if l.wantsCorpus() {
		ctx, cancel := context.WithTimeout(e.Ctx, patience)
		defer cancel()
		all = append(all, c.corpora(ctx, l.given)...)
	}
	last, before := words[len(words)-1], ""
	if name, value, ok := strings.Cut(last, "="); ok && strings.HasPrefix(last, "--") {
		last, before = value, name+"="
	}
	for _, word := range all {
		if strings.HasPrefix(word, last) {
			fmt.Fprintln(e.Out, before+word)
		}
	}
	return nil
}

// corpora returns the keys that the service knows, with the connection that the flags of the line choose.
func (c *completeCmd) corpora(ctx context.Context, given map[string]string) []string {
	for name, to := range map[string]*string{"url": &c.URL, "key": &c.Key, "data": &c.Data, "token": &c.Token, "ca": &c.CA} {
		if value, ok := given[name]; ok {
			*to = value
		}
	}
	cl, err := c.Connect()
	if err != nil {
		return nil
	}
	keys, err := cl.CorpusKeys(ctx)
	if err != nil {
		return nil
	}
	return keys
}

// location is where on the line the word to complete stands.
type location struct {
	node  *kong.Node
	value *kong.Value       // the flag or argument whose value the word is; nil where it is another word
	flag  bool              // the word begins like a flag
	given map[string]string // the flags before it that have values
}

// place finds the location of the last word.
func place(app *kong.Node, words []string) location {
	l := location{node: app, given: map[string]string{}}
	arguments := 0
	var open *kong.Flag // its value is the next word
	for _, word := range words[:len(words)-1] {
		switch {
		case word == "=": // bash cuts --flag=value in three
		case open != nil:
			l.given[open.Name], open = word, nil
		case strings.HasPrefix(word, "--"):
			name, value, ok := strings.Cut(word[2:], "=")
			if f := l.find(app, name); f != nil && !f.IsBool() {
				if l.given[name] = value; !ok {
					open = f
				}
			}
		default:
			if next := child(l.node, word); next != nil {
				l.node = next
				break
			}
			if l.node.DefaultCmd != nil {
				l.node = l.node.DefaultCmd
			}
			arguments++
		}
	}
	last := words[len(words)-1]
	name, _, assigned := strings.Cut(strings.TrimPrefix(last, "--"), "=")
	switch l.flag = strings.HasPrefix(last, "-"); {
	case open != nil:
		l.value, l.flag = open.Value, false
	case l.flag && assigned:
		if f := l.find(app, name); f != nil {
			l.value, l.flag = f.Value, false
		}
	case !l.flag && len(l.node.Positional) > 0:
		l.value = l.node.Positional[min(arguments, len(l.node.Positional)-1)]
	case !l.flag && l.node.DefaultCmd != nil:
		l.value = l.node.DefaultCmd.Positional[0]
	}
	return l
}

// find returns a flag of the command, or of any command where none was named yet.
func (l *location) find(app *kong.Node, name string) *kong.Flag {
	if l.node == app {
		return flagsBelow(app)[name]
	}
	for _, f := range l.node.Flags {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// wantsCorpus reports whether the word is the key of a corpus that exists.
func (l *location) wantsCorpus() bool {
	return l.value != nil && l.value.Name == "corpus" && (l.value.Flag != nil || l.node.Name != "create")
}

// static returns the words that the grammar knows for the place.
func (l *location) static() (out []string) {
	short := l.node.DefaultCmd != nil // a command whose name may be left out: what it takes stands here, too
	switch {
	case l.value != nil && !short:
		return slices.DeleteFunc(l.value.EnumSlice(), func(s string) bool { return s == "" })
	case l.flag && l.node.Type == kong.ApplicationNode:
		return []string{"--help", "--version", "--url", "--key", "--data", "--token", "--json", "--verbose"}
	case l.flag:
		out = append(out, "--help")
		flags := l.node.Flags
		if short {
			flags = l.node.DefaultCmd.Flags
		}
		for _, f := range flags {
			if !f.Hidden {
				out = append(out, "--"+f.Name)
			}
		}
		return out
	}
	for _, c := range l.node.Children {
		if c.Type == kong.CommandNode && !c.Hidden {
			out = append(out, c.Name)
		}
	}
	return out
}
