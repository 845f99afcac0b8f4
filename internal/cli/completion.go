package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"quarry/internal/cli/command"
)

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

func (completionCmd) Help() string { return "Example: source <(quarry completion bash)" }

func (c *completionCmd) Run(e *command.Env) error {
	words := map[string][]string{}
	collect(e.Parser.Model.Node, nil, words)
	switch c.Shell {
	case "fish":
		for _, path := range slices.Sorted(maps.Keys(words)) {
			next := words[path]
			cond := "__fish_use_subcommand"
			if path != "" {
				cond = "__fish_seen_subcommand_from " + lastWord(path)
			}
			for _, w := range next {
				if flag, ok := strings.CutPrefix(w, "--"); ok {
					fmt.Fprintf(e.Out, "complete -c quarry -n '%s' -l %s\n", cond, flag)
				} else {
					fmt.Fprintf(e.Out, "complete -c quarry -f -n '%s' -a %s\n", cond, w)
				}
			}
		}
	default:
		if c.Shell == "zsh" {
			fmt.Fprintln(e.Out, "autoload -U +X bashcompinit && bashcompinit")
		}
		fmt.Fprintln(e.Out, bashScript(words))
	}
	return nil
}

func lastWord(path string) string { return path[strings.LastIndexByte(path, ' ')+1:] }

// collect maps each command path ("corpus create") to the words that may follow it.
func collect(n *kong.Node, path []string, out map[string][]string) {
	key := strings.Join(path, " ")
	for _, child := range n.Children {
		if child.Type == kong.CommandNode && !child.Hidden {
			out[key] = append(out[key], child.Name)
			collect(child, append(path, child.Name), out)
		}
	}
	for _, f := range n.Flags {
		out[key] = append(out[key], "--"+f.Name)
	}
}

func bashScript(words map[string][]string) string {
	var b strings.Builder
	b.WriteString("_quarry() {\n  local cur=${COMP_WORDS[COMP_CWORD]} path=\"\" w\n  for w in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n    [[ $w == -* ]] || path=\"${path:+$path }$w\"\n  done\n  while :; do\n    case \"$path\" in\n")
	for _, path := range slices.Sorted(maps.Keys(words)) {
		next := words[path]
		fmt.Fprintf(&b, "      %q) COMPREPLY=($(compgen -W %q -- \"$cur\")); return;;\n", path, strings.Join(next, " "))
	}
	b.WriteString("    esac\n    [[ $path == *\" \"* ]] || break\n    path=${path% *}\n  done\n}\ncomplete -o default -F _quarry quarry")
	return b.String()
}
