// Command source measures the source itself: lines by kind and package, the folders of internal/ and the imports
// between them, comments, and how many doc comments begin as Go's own do. It reads the tree that -dir names, so that
// two trees can be compared by one program.
package main

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	dir := flag.String("dir", ".", "root of the tree")
	top := flag.Int("top", 10, "how many of the largest packages are listed")
	flag.Parse()
	if err := run(*dir, *top); err != nil {
		fmt.Fprintln(os.Stderr, "source:", err)
		os.Exit(1)
	}
}

func run(dir string, top int) error {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("go env GOROOT: %w", err)
	}
	verbs, err := idiom(filepath.Join(strings.TrimSpace(string(root)), "src"))
	if err != nil {
		return err
	}
	t := tree{verbs: verbs, packages: map[string]int{}, groups: map[string]map[string]bool{}}
	if err := each(dir, t.add); err != nil {
		return err
	}
	t.print(top)
	return nil
}

// each parses every Go file below dir, skipping vendored trees and data of tests.
func each(dir string, use func(path string, fset *token.FileSet, f *ast.File)) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != dir && (d.Name() == "testdata" || d.Name() == "vendor" || strings.HasPrefix(d.Name(), ".")):
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".go":
			return nil
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		use(filepath.ToSlash(name), fset, f)
		return err
	})
}

// idiom returns the words that follow the name in at least three doc comments of functions of the standard library:
// returns, reports, sets, writes and the like.
func idiom(src string) (map[string]bool, error) {
	seen := map[string]int{}
	err := each(src, func(path string, _ *token.FileSet, f *ast.File) {
		if strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "cmd/") || strings.Contains(path, "internal/") {
			return
		}
		for _, fn := range functions(f) {
			if named, verb := opening(fn); named {
				seen[verb]++
			}
		}
	})
	verbs := map[string]bool{}
	for verb, n := range seen {
		verbs[verb] = n >= 3
	}
	return verbs, err
}

// functions returns the documented functions and methods of a file.
func functions(f *ast.File) (out []*ast.FuncDecl) {
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Doc != nil && strings.TrimSpace(fn.Doc.Text()) != "" {
			out = append(out, fn)
		}
	}
	return out
}

// opening reports whether a doc comment begins with the function's name, and returns the word behind it.
func opening(fn *ast.FuncDecl) (named bool, verb string) {
	words := strings.Fields(fn.Doc.Text())
	if len(words) < 2 {
		return false, ""
	}
	return words[0] == fn.Name.Name, strings.TrimRight(words[1], ",.:;")
}

// tree collects the figures.
type tree struct {
	verbs map[string]bool

	product, support, generated, tests, elsewhere int // lines
	comments, documented, idiomatic               int // of the product: comment lines, documented functions, idiomatic ones
	packages                                      map[string]int
	groups                                        map[string]map[string]bool // folder of internal/ → folders it imports
}

const internal = "internal/"

func (t *tree) add(path string, fset *token.FileSet, f *ast.File) {
	lines := fset.File(f.Pos()).LineCount()
	pkg := filepath.ToSlash(filepath.Dir(path))
	switch {
	case ast.IsGenerated(f):
		t.generated += lines
		return
	case strings.HasSuffix(path, "_test.go"):
		t.tests += lines
		return
	case !strings.HasPrefix(path, internal):
		t.elsewhere += lines
		return
	case support(pkg):
		t.support += lines
		return
	}
	t.product += lines
	t.packages[pkg] += lines
	t.comments += commentLines(fset, f)
	for _, fn := range functions(f) {
		t.documented++
		if named, verb := opening(fn); named && t.verbs[verb] {
			t.idiomatic++
		}
	}
	t.link(pkg, f)
}

// support reports whether a package under internal/ serves tests alone.
func support(pkg string) bool {
	base := filepath.Base(pkg)
	return strings.HasSuffix(base, "test") || base == "testkit" || base == "cutvfs" || strings.Contains(pkg, "provider/scripted")
}

func (t *tree) link(pkg string, f *ast.File) {
	from, _, _ := strings.Cut(strings.TrimPrefix(pkg, internal), "/")
	if t.groups[from] == nil {
		t.groups[from] = map[string]bool{}
	}
	for _, imp := range f.Imports {
		if dep, ok := strings.CutPrefix(strings.Trim(imp.Path.Value, `"`), "quarry/internal/"); ok {
			if to, _, _ := strings.Cut(dep, "/"); to != from {
				t.groups[from][to] = true
			}
		}
	}
}

// commentLines returns how many lines hold a comment.
func commentLines(fset *token.FileSet, f *ast.File) int {
	lines := map[int]bool{}
	for _, group := range f.Comments {
		for l := fset.Position(group.Pos()).Line; l <= fset.Position(group.End()).Line; l++ {
			lines[l] = true
		}
	}
	return len(lines)
}

func (t *tree) print(top int) {
	arrows := 0
	for _, to := range t.groups {
		arrows += len(to)
	}
	fmt.Printf("hand-written product, internal/   %6d lines in %d packages\n", t.product, len(t.packages))
	fmt.Printf("support of tests, internal/       %6d\n", t.support)
	fmt.Printf("hand-written outside internal/    %6d\n", t.elsewhere)
	fmt.Printf("tests                             %6d\n", t.tests)
	fmt.Printf("generated                         %6d\n", t.generated)
	fmt.Printf("folders of internal/ and arrows   %6d, %d\n", len(t.groups), arrows)
	fmt.Printf("lines with a comment, product     %6d, %.1f %%\n", t.comments, 100*float64(t.comments)/float64(t.product))
	fmt.Printf("idiomatic doc comments            %6d of %d, %.1f %%\n", t.idiomatic, t.documented, 100*float64(t.idiomatic)/float64(max(t.documented, 1)))
	names := slices.SortedFunc(maps.Keys(t.packages), func(a, b string) int { return t.packages[b] - t.packages[a] })
	for _, name := range names[:min(top, len(names))] {
		fmt.Printf("  %6d %s\n", t.packages[name], name)
	}
}
