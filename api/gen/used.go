package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// modelList names the file that lists the schemas whose models are generated, one in a line.
const modelList = "api/gen/models.txt"

// apiPath is the import path of the generated package.
const apiPath = `"quarry/internal/api"`

func listedModels(root string) ([]string, error) {
	text, err := os.ReadFile(filepath.Join(root, modelList))
	if err != nil {
		return nil, fmt.Errorf("read list of models: %w", err)
	}
	return strings.Fields(string(text)), nil
}

// compareUse returns an error that names every model that is listed and used nowhere, and every schema whose model is
// used and not listed.
func compareUse(root string, text []byte) error {
	c, err := parse(text)
	if err != nil {
		return err
	}
	listed, err := listedModels(root)
	if err != nil {
		return err
	}
	used, err := usedNames(root)
	if err != nil {
		return err
	}
	var wrong []error
	if !slices.IsSorted(listed) {
		wrong = append(wrong, fmt.Errorf("%s is not sorted", modelList))
	}
	for _, name := range listed {
		if !used[name] {
			wrong = append(wrong, fmt.Errorf("%s lists %s, which nothing uses: take it out", modelList, name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(used)) {
		if c.schemas[name] != nil && !slices.Contains(listed, name) {
			wrong = append(wrong, fmt.Errorf("%s does not list %s, which is used: add it", modelList, name))
		}
	}
	return errors.Join(wrong...)
}

// usedNames returns the names of package api that the module's Go files use.
func usedNames(root string) (map[string]bool, error) {
	used := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && strings.HasPrefix(d.Name(), "."):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go"):
			return nil
		}
		return usedIn(path, used)
	})
	return used, err
}

// usedIn adds the names of package api that a file uses.
func usedIn(path string, used map[string]bool) error {
	source, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(source), apiPath) {
		return err
	}
	file, err := parser.ParseFile(token.NewFileSet(), path, source, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && x.Name == "api" {
				used[s.Sel.Name] = true
			}
		}
		return true
	})
	return nil
}
