package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"

	"quarry/internal/cli/command"
)

// Reference is the page docs/reference/cli.md: what --help prints for every command.
func Reference() (string, error) {
	var b strings.Builder
	b.WriteString("# Command line\n\nGenerated from the program's own help; do not edit. Exit codes: 0 done, 1 some items failed, 2 wrong usage,\n3 another process holds the data folder, or indexes the folder, 4 the port is taken, 5 the data folder can't be used, 6 server not reached, 130 stopped by Ctrl-C.\n")
	parser, err := kong.New(&root{}, kong.Name("quarry"))
	if err != nil {
		return "", err
	}
	for _, path := range leaves(parser.Model.Node, nil) {
		var help strings.Builder
		args := append(append([]string{}, path...), "--help")
		if code := Run(context.Background(), args, Streams{In: strings.NewReader(""), Out: &help, Err: io.Discard}); code != command.ExitDone {
			return "", fmt.Errorf("%v exits with %d", args, code)
		}
		fmt.Fprintf(&b, "\n## quarry %s\n\n```\n%s\n```\n", strings.Join(path, " "), strings.TrimSpace(help.String()))
	}
	return b.String(), nil
}

// leaves lists the paths of the commands that run something.
func leaves(n *kong.Node, path []string) [][]string {
	var out [][]string
	for _, child := range n.Children {
		if child.Type == kong.CommandNode && !child.Hidden {
			out = append(out, leaves(child, append(append([]string{}, path...), child.Name))...)
		}
	}
	if out == nil && len(path) > 0 {
		out = [][]string{path}
	}
	return out
}
