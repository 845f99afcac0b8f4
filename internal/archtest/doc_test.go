package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// houseVerbs are verbs that doc comments do not use for what a declaration does: a function returns, reports, sets or
// writes something.
var houseVerbs = []string{"gives", "says", "tells", "makes", "wants"}

// TestDocComments proves that the doc comment of a function begins with its name, and that no doc comment goes on with
// one of houseVerbs.
func TestDocComments(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		if _, internal := strings.CutPrefix(p.ImportPath, module); !internal {
			continue
		}
		for _, file := range p.GoFiles {
			fset := token.NewFileSet()
			f, err := parser.ParseFile(fset, filepath.Join(p.Dir, file), nil, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			if ast.IsGenerated(f) {
				continue
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if fault := docFault(n); fault != "" {
					t.Errorf("%s/%s:%d: %s", p.ImportPath, file, fset.Position(n.Pos()).Line, fault)
				}
				return true
			})
		}
	}
}

// docFault returns what is wrong with the doc comment of a declaration, or "".
func docFault(n ast.Node) string {
	var names []*ast.Ident
	var doc *ast.CommentGroup
	function := false
	switch n := n.(type) {
	case *ast.FuncDecl:
		names, doc, function = []*ast.Ident{n.Name}, n.Doc, true
	case *ast.GenDecl:
		doc = n.Doc
		for _, s := range n.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				names = append(names, s.Name)
			case *ast.ValueSpec:
				names = append(names, s.Names...)
			}
		}
	case *ast.TypeSpec:
		names, doc = []*ast.Ident{n.Name}, n.Doc
	case *ast.ValueSpec:
		names, doc = n.Names, n.Doc
	case *ast.Field:
		names, doc = n.Names, n.Doc
	}
	words := strings.Fields(doc.Text()) // empty for a comment of directives
	if len(words) == 0 {
		return ""
	}
	first := strings.TrimRight(words[0], ",:;")
	named := slices.ContainsFunc(names, func(i *ast.Ident) bool { return first == i.Name || first == i.Name+"'s" })
	switch {
	case function && !named:
		return "the doc comment of " + names[0].Name + " begins with " + words[0]
	case named && len(words) > 1 && slices.Contains(houseVerbs, words[1]):
		return "the doc comment says that " + first + " " + words[1] + "; write returns, reports, sets, writes, ..."
	}
	return ""
}
