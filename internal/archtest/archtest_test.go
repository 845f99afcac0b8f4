// Package archtest checks the plan of the house: who may import whom, that every package is in its place and in
// docs/architecture.md, that each has a doc comment, and it reports the size budgets. It holds tests alone.
package archtest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "quarry/internal/"

type goPackage struct {
	ImportPath, Dir, Doc string
	GoFiles, Imports     []string
}

func packages(t *testing.T) []goPackage {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Dir,Doc,GoFiles,Imports", "quarry/...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []goPackage
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		if err := d.Decode(&p); err == io.EOF {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// layerOf returns the layer of an internal package.
func layerOf(name string) (layer, bool) {
	if slices.Contains(support, name) {
		return tests, true
	}
	g, ok := groups[groupOf(name)]
	return g.layer, ok
}

// groupOf returns the folder under internal/ that a package stands in.
func groupOf(name string) string {
	first, _, _ := strings.Cut(name, "/")
	return first
}

// rank returns the position of a package in its group's order, -1 where the order does not name it or a parent of it.
func rank(order []string, name string) int {
	inside := strings.TrimPrefix(strings.TrimPrefix(name, groupOf(name)), "/")
	for at := cmp.Or(inside, "."); ; at = path.Dir(at) {
		if i := slices.Index(order, at); i >= 0 || at == "." {
			return i
		}
	}
}

// mayImport reports whether the plan lets one internal package import another.
func mayImport(from, to string) bool {
	fromLayer, _ := layerOf(from)
	toLayer, _ := layerOf(to)
	a, b := groupOf(from), groupOf(to)
	switch {
	case fromLayer == tests || slices.Contains(tools, from):
		return true
	case toLayer == tests:
		return false
	case a != b:
		return toLayer == leaf || slices.Contains(strings.Fields(groups[a].uses), b)
	}
	order := strings.Fields(groups[a].order)
	return len(order) == 0 || rank(order, from) >= 0 && rank(order, to) >= 0 && rank(order, from) >= rank(order, to)
}

func inLayer(l layer) func(string) bool {
	return func(name string) bool { at, ok := layerOf(name); return ok && at == l }
}

func under(areas ...string) func(string) bool {
	return func(name string) bool {
		return slices.ContainsFunc(areas, func(a string) bool { return name == a || strings.HasPrefix(name, a+"/") })
	}
}

func either(a, b func(string) bool) func(string) bool {
	return func(s string) bool { return a(s) || b(s) }
}

func not(f func(string) bool) func(string) bool { return func(s string) bool { return !f(s) } }

// TestImportRules proves that every package stands in a group, that it imports only the groups which its own may
// use, and nothing that is forbidden to it.
func TestImportRules(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		name, internal := strings.CutPrefix(p.ImportPath, module)
		if !internal || len(p.GoFiles) == 0 {
			continue
		}
		if _, ok := layerOf(name); !ok {
			t.Errorf("%s has no place in the house: add its group to internal/archtest/layers_test.go and docs/architecture.md", p.ImportPath)
			continue
		}
		for _, imp := range p.Imports {
			for _, f := range forbidden {
				if f.area(name) && (imp == f.imports || strings.HasPrefix(imp, f.imports+"/")) {
					t.Errorf("%s imports %s: %s", name, imp, f.reason)
				}
			}
			if dep, ok := strings.CutPrefix(imp, module); ok && !mayImport(name, dep) {
				t.Errorf("%s imports %s: the plan in internal/archtest/layers_test.go does not allow it", name, dep)
			}
		}
	}
}

// TestPlanIsExact proves that the plan allows no import that nothing needs.
func TestPlanIsExact(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for _, p := range packages(t) {
		name, _ := strings.CutPrefix(p.ImportPath, module)
		if at, ok := layerOf(name); !ok || at == tests || slices.Contains(tools, name) {
			continue
		}
		for _, imp := range p.Imports {
			if dep, ok := strings.CutPrefix(imp, module); ok {
				used[groupOf(name)+" "+groupOf(dep)] = true
			}
		}
	}
	for name, g := range groups {
		for _, other := range strings.Fields(g.uses) {
			if !used[name+" "+other] {
				t.Errorf("%s may use %s and does not: take it out of internal/archtest/layers_test.go", name, other)
			}
		}
	}
}

// TestGroupsPointDown proves that the plan has no circle: a group uses only groups that do not use it, directly or
// through others, and of no higher layer.
func TestGroupsPointDown(t *testing.T) {
	t.Parallel()
	for name, g := range groups {
		for _, used := range strings.Fields(g.uses) {
			if other, ok := groups[used]; !ok || other.layer > g.layer {
				t.Errorf("%s may use %s, which is unknown or stands above it", name, used)
			}
			if reaches(used, name) {
				t.Errorf("%s uses %s, which uses %s", name, used, name)
			}
		}
	}
}

func reaches(from, to string) bool {
	return slices.ContainsFunc(strings.Fields(groups[from].uses), func(next string) bool { return next == to || reaches(next, to) })
}

// TestNoRegistrationByInit proves that no package registers itself: wiring is in app alone, and blank imports are
// for the database drivers in store, and for what the program sets before it is initialised.
func TestNoRegistrationByInit(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		for _, file := range p.GoFiles {
			f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, file), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, imp := range f.Imports {
				blank := imp.Name != nil && imp.Name.Name == "_" && imp.Path.Value != `"embed"`
				heap := p.ImportPath == "quarry/cmd/quarry" && imp.Path.Value == `"quarry/cmd/quarry/heap"`
				if blank && !heap && !strings.HasPrefix(p.ImportPath, module+"store") {
					t.Errorf("%s/%s: blank import of %s; only store may have one, for a database driver, and the program that of heap", p.ImportPath, file, imp.Path.Value)
				}
			}
		}
	}
}

// requestPlace is how a field path begins where a place in a request stands in front.
var requestPlace = regexp.MustCompile(`\bbody\.[a-z%]|\bbody\[|^(query|path|header)\.[a-z%]`)

// TestFaultsNameNoPlace proves that only httpapi knows where in a request a field stands: everything below names
// fields of the command that it was given, so that a command nested elsewhere still blames the right field.
func TestFaultsNameNoPlace(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		name, internal := strings.CutPrefix(p.ImportPath, module)
		if !internal || under("httpapi", "api")(name) {
			continue
		}
		for _, file := range p.GoFiles {
			f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, file), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if text := placeNamed(n); text != "" {
					t.Errorf("%s/%s: %s names a place of a request: name the field of the command, and let the handler put the place in front (fault.Under)", p.ImportPath, file, text)
				}
				return true
			})
		}
	}
}

// placeNamed returns the literal of n that names a place of a request, "" for none. The word body alone counts only
// where a fault is made.
func placeNamed(n ast.Node) string {
	if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
		if text, _ := strconv.Unquote(l.Value); requestPlace.MatchString(text) {
			return l.Value
		}
	}
	call, ok := n.(*ast.CallExpr)
	if !ok || len(call.Args) == 0 {
		return ""
	}
	made, _ := call.Fun.(*ast.SelectorExpr)
	l, _ := call.Args[0].(*ast.BasicLit)
	if made != nil && l != nil && l.Value == `"body"` && (made.Sel.Name == "Field" || made.Sel.Name == "InvalidField") {
		return l.Value
	}
	return ""
}

// TestEveryPackageIsDocumented proves that each package says what it is for and stands in the architecture's table.
func TestEveryPackageIsDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range packages(t) {
		if len(p.GoFiles) == 0 {
			continue
		}
		if p.Doc == "" {
			t.Errorf("%s has no package comment", p.ImportPath)
		}
		name, internal := strings.CutPrefix(p.ImportPath, module)
		if internal && !bytes.Contains(page, []byte("`"+name+"`")) {
			t.Errorf("%s is missing from the package table of docs/architecture.md", name)
		}
	}
}

// hard budgets of the house; generated files are exempt.
const (
	maxFunction = 80
	maxFile     = 600
	maxPackage  = 2000
)

// TestBudgets proves that no function, file or package has grown past the hard budgets.
func TestBudgets(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		total := 0
		for _, file := range p.GoFiles {
			name := filepath.Join(p.Dir, file)
			fset := token.NewFileSet()
			f, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			if ast.IsGenerated(f) {
				continue
			}
			lines := fset.File(f.Pos()).LineCount()
			total += lines
			if lines > maxFile {
				t.Errorf("%s/%s has %d lines, the budget is %d", p.ImportPath, file, lines, maxFile)
			}
			for _, long := range longFunctions(fset, f) {
				t.Errorf("%s/%s: %s, the budget is %d lines", p.ImportPath, file, long, maxFunction)
			}
		}
		if total > maxPackage {
			t.Errorf("%s has %d lines, the budget is %d", p.ImportPath, total, maxPackage)
		}
	}
}

func longFunctions(fset *token.FileSet, f *ast.File) []string {
	var out []string
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Body == nil {
			continue
		}
		if n := fset.Position(fn.End()).Line - fset.Position(fn.Pos()).Line + 1; n > maxFunction {
			out = append(out, fmt.Sprintf("func %s has %d lines", fn.Name.Name, n))
		}
	}
	return out
}
