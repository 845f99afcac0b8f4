// Command gen writes internal/api from api/openapi.yaml: the models that models.txt lists (through oapi-codegen), the
// table of operations and the JSON Schemas that requests are checked with; and docs/reference/roles.md. It is not part
// of the binary; developers run it through `make generate`, and CI runs it with -check.
//
//	go run ./api/gen          write the files
//	go run ./api/gen -check   name the files that are not current and the models that are listed for nobody, exit 1
package main

//go:generate go run . -root ../..

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// outDir is where the generated package lives, relative to the root.
const outDir = "internal/api"

func main() {
	root := flag.String("root", ".", "root of the repository")
	check := flag.Bool("check", false, "compare with the files on disk and write nothing")
	flag.Parse()
	if err := run(*root, *check); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(root string, check bool) error {
	text, err := os.ReadFile(filepath.Join(root, "api", "openapi.yaml"))
	if err != nil {
		return fmt.Errorf("read contract: %w", err)
	}
	files, err := tables(text)
	if err != nil {
		return err
	}
	if files["models.gen.go"], err = models(root, text); err != nil {
		return err
	}
	if check {
		return errors.Join(compareUse(root, text), compare(filepath.Join(root, outDir), files))
	}
	for name, body := range files {
		if err := os.WriteFile(filepath.Join(root, outDir, name), body, 0o644); err != nil {
			return fmt.Errorf("write generated file: %w", err)
		}
	}
	return nil
}

// tables returns the generated files that need no outside tool, by name.
func tables(text []byte) (map[string][]byte, error) {
	c, err := parse(text)
	if err != nil {
		return nil, err
	}
	schemas, err := c.schemasJSON()
	if err != nil {
		return nil, err
	}
	table, err := c.operationsGo()
	if err != nil {
		return nil, err
	}
	roles, err := c.rolesMarkdown()
	if err != nil {
		return nil, err
	}
	return map[string][]byte{
		rolesPage:           roles,
		"operations.gen.go": table,
		"schemas.gen.go":    []byte(schemasGo),
		"schemas.gen.json":  schemas,
	}, nil
}

// compare returns an error that names the generated files which differ from those in dir.
func compare(dir string, files map[string][]byte) error {
	var stale []error
	for _, name := range slices.Sorted(maps.Keys(files)) {
		have, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !bytes.Equal(have, files[name]) {
			stale = append(stale, fmt.Errorf("%s is not current: run make generate", filepath.Join(outDir, name)))
		}
	}
	return errors.Join(stale...)
}
