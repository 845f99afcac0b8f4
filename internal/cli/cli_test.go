package cli

import (
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// TestReferenceIsCurrent proves that docs/reference/cli.md is what the commands print, and that the help of each has an example;
// rewrite it with make generate.
func TestReferenceIsCurrent(t *testing.T) {
	const page = "../../docs/reference/cli.md" // not parallel: help reads the environment
	for _, name := range []string{"QUARRY_DATA", "QUARRY_URL", "QUARRY_API_KEY", "QUARRY_CA", "QUARRY_CONFIG", "COLUMNS"} {
		t.Setenv(name, "")
		_ = os.Unsetenv(name)
	}
	want, err := Reference()
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv("QUARRY_GENERATE") != "" {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(page); err != nil || string(got) != want {
		t.Errorf("%s is stale: run make generate (%v)", page, err)
	}
	for command := range strings.SplitSeq(want, "\n## ") {
		if strings.HasPrefix(command, "quarry ") && !strings.Contains(command, "Example:") {
			t.Errorf("no example in the help of %s", strings.SplitN(command, "\n", 2)[0])
		}
	}
}

// TestHoist proves that flags before a command become its own, and that nothing else moves.
func TestHoist(t *testing.T) {
	t.Parallel()
	parser, err := kong.New(&root{})
	if err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"":                                  "",
		"corpus list":                       "corpus list",
		"--url u corpus list":               "corpus list --url u",
		"--url=u --json corpus list":        "corpus list --url=u --json",
		"--json query docs --limit 3":       "query --json docs --limit 3",
		"--json --url u":                    "",
		"--url":                             "",
		"--url u corpsu list":               "corpsu list",
		"--nonsense corpus list":            "--nonsense corpus list",
		"--help":                            "--help",
		"--version":                         "--version",
		"--json --version":                  "--json --version",
		"--json -- corpus list":             "-- corpus list",
		"--save ask q":                      "ask --save q",
		"--save=d session artifacts a s":    "session artifacts --save=d a s",
		"corpus --json list":                "corpus --json list",
		"--corpus corpus corpus corpus get": "corpus --corpus corpus corpus get",
	} {
		if got := strings.Join(hoist(parser.Model.Node, strings.Fields(args)), " "); got != want {
			t.Errorf("%q: got %q, want %q", args, got, want)
		}
	}
}

// TestUnasked proves that each command is the same where the parser knows no other, and that all are known where no command is named first.
func TestUnasked(t *testing.T) {
	t.Parallel()
	known := func(args ...string) (leaves []string) {
		parser, err := kong.New(&root{}, kong.Name("quarry"), kong.IgnoreFields(unasked(args)...))
		if err != nil {
			t.Fatal(err)
		}
		for _, leaf := range parser.Model.Leaves(false) {
			line := leaf.FullPath() + ": " + leaf.Help
			for _, v := range settable(leaf) {
				line += fmt.Sprintf("\n\t%s %s = %q", shown(v), v.Help, v.Default)
			}
			leaves = append(leaves, line)
		}
		return leaves
	}
	all := known()
	for _, args := range [][]string{{"--url", "u", "corpus", "list"}, {"corpsu"}, {"__complete", "corpus"}} {
		if got := known(args...); !slices.Equal(got, all) {
			t.Errorf("%q: %d commands are known, want all %d", args, len(got), len(all))
		}
	}
	for f := range reflect.TypeFor[root]().Fields() {
		if name := nameOf(f); name != "__complete" {
			want := slices.DeleteFunc(slices.Clone(all), func(leaf string) bool {
				return !strings.HasPrefix(leaf, "quarry "+name+" ") && !strings.HasPrefix(leaf, "quarry "+name+":")
			})
			if got := known(name, "--help"); len(want) == 0 || !slices.Equal(got, want) {
				t.Errorf("%s alone: %s\nbeside others: %s", name, got, want)
			}
		}
	}
}

// TestFlagsAgree proves that flags of one name have a value in every command or in none, which hoist and completion rely on; of
// --save they take the one that has none.
func TestFlagsAgree(t *testing.T) {
	t.Parallel()
	parser, err := kong.New(&root{})
	if err != nil {
		t.Fatal(err)
	}
	known := flagsBelow(parser.Model.Node)
	err = kong.Visit(parser.Model.Node, func(v kong.Visitable, next kong.Next) error {
		if f, ok := v.(*kong.Flag); ok && f.IsBool() != known[f.Name].IsBool() && (f.Name != "save" || f.IsBool()) {
			t.Errorf("--%s has a value in some commands", f.Name)
		}
		return next(nil)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestWireTags proves that each field which a flag names is one of the contract's, and that the deepest flag is blamed.
func TestWireTags(t *testing.T) {
	t.Parallel()
	contract, err := os.ReadFile("../../api/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	parser, err := kong.New(&root{})
	if err != nil {
		t.Fatal(err)
	}
	tagged := 0
	for _, leaf := range parser.Model.Leaves(false) {
		for _, v := range settable(leaf) {
			wire := v.Tag.Get(wireTag)
			if wire == "" || wire == rest {
				continue
			}
			tagged++
			last := strings.TrimSuffix(wire[strings.LastIndexByte(wire, '.')+1:], "[]")
			if !regexp.MustCompile(`\b` + last + `(:|,|\n)`).Match(contract) {
				t.Errorf("%s of %s sets %s, which the contract does not know", v.Name, leaf.Path(), wire)
			}
		}
	}
	if tagged < 80 {
		t.Errorf("%d flags and arguments name their fields", tagged)
	}
	query := child(parser.Model.Node, "query")
	for field, want := range map[string]string{
		"body.search.limit": "--limit", "body.search.corpora[12].metadata_filter": "--filter", "body.query": "<question>",
		"body.search.reranker.rerankers[0].type": "--reranker (rerankers[].type)", "body.search": "", "body.search.limits": "", "header.x-api-key": "",
	} {
		if got := flagOf(query, field); got != want {
			t.Errorf("%s: got %q, want %q", field, got, want)
		}
	}
	create := child(child(child(parser.Model.Node, "tool"), "config"), "create")
	for field, want := range map[string]string{
		"body.name": "--name", "body.key": "<config>", "body.type": "--entry (type)", "body.argument_override.a[3].b": "--entry (argument_override.a[].b)",
		"body": "", "header.x": "",
	} {
		if got := flagOf(create, field); got != want {
			t.Errorf("%s: got %q, want %q", field, got, want)
		}
	}
}
