package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// part is something that others made and the program contains.
type part struct {
	name, version string
	kind          string // of CycloneDX: library or machine-learning-model
	purl          string // package URL, "" where there is none
	licence       string // SPDX expression
	texts         []text // its licence and what its licence asks to be passed on
}

// text is a file about rights.
type text struct {
	name    string
	content []byte
}

// encoder is the model inside: internal/encode/asset/ORIGIN.md has where it is from.
const encoder = "internal/encode/asset/LICENSE"

// stemmers are the Snowball programs inside: ORIGIN.md beside it has where they are from.
const stemmers = "internal/text/snowball/algorithms/LICENSE"

// inventory returns what the programs of the targets contain, by name. A licence that is not recognised is an error: a
// person has to read it.
func inventory(ctx context.Context, targets []target) ([]part, error) {
	found := map[string]part{}
	for _, t := range targets {
		if err := linked(ctx, t, found); err != nil {
			return nil, err
		}
	}
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT", "GOVERSION").Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	where, version, _ := strings.Cut(strings.TrimSpace(string(root)), "\n")
	std := part{name: "Go standard library", version: strings.TrimPrefix(version, "go"), kind: "library", purl: "pkg:golang/std@" + strings.TrimPrefix(version, "go")}
	if err := std.read(where); err != nil {
		return nil, err
	}
	model := part{name: "all-MiniLM-L6-v2", version: "minilm.qenc", kind: "machine-learning-model"}
	if err := model.read(filepath.Dir(encoder)); err != nil {
		return nil, err
	}
	programs := part{name: "Snowball stemmers", version: "3.1.1", kind: "library", purl: "pkg:github/snowballstem/snowball@v3.1.1"}
	if err := programs.read(filepath.Dir(stemmers)); err != nil {
		return nil, err
	}
	pages, err := bundled(consoleParts)
	if err != nil {
		return nil, err
	}
	parts := append(append(slices.Collect(maps.Values(found)), std, model, programs), pages...)
	slices.SortFunc(parts, func(a, b part) int { return cmp.Compare(strings.ToLower(a.name), strings.ToLower(b.name)) })
	return parts, nil
}

// consoleParts is written by the build of the console.
const consoleParts = "internal/console/dist/parts.json"

// bundled returns the packages that the console contains. One without a file about its licence is in the public domain: the
// build refuses others.
func bundled(list string) ([]part, error) {
	raw, err := os.ReadFile(list)
	if err != nil {
		return nil, fmt.Errorf("parts of the console: %w", err)
	}
	var all []struct {
		Name, Version, License string
		Texts                  []struct{ Name, Content string }
	}
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, fmt.Errorf("parts of the console: %w", err)
	}
	out := make([]part, len(all))
	for i, p := range all {
		out[i] = part{name: p.Name, version: p.Version, kind: "library", purl: "pkg:npm/" + strings.Replace(p.Name, "@", "%40", 1) + "@" + p.Version}
		var named []string
		for _, t := range p.Texts {
			out[i].texts = append(out[i].texts, text{t.Name, []byte(t.Content)})
			named = append(named, licences(t.Content)...)
		}
		if len(p.Texts) == 0 {
			named = []string{p.License}
		}
		if err := out[i].fall(named); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// linked adds the modules whose packages the program of the target contains.
func linked(ctx context.Context, t target, found map[string]part) error {
	cmd := exec.CommandContext(ctx, "go", "list", "-deps", "-json=Module", "./cmd/quarry")
	cmd.Env = t.env()
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("go list for %s: %w", t, err)
	}
	for packages := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			Module *struct {
				Path, Version, Dir string
				Main               bool
			}
		}
		err := packages.Decode(&p)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("go list for %s: %w", t, err)
		}
		m := p.Module
		if m == nil || m.Main || found[m.Path].name != "" {
			continue
		}
		one := part{name: m.Path, version: m.Version, kind: "library", purl: "pkg:golang/" + m.Path + "@" + m.Version}
		if err := one.read(m.Dir); err != nil {
			return err
		}
		found[m.Path] = one
	}
}

// aboutRights matches the names of files that say what may be done with a module.
var aboutRights = regexp.MustCompile(`(?i)^(licen[cs]e|copying|copyright|notice|patents)([-._].*)?$`)

// read sets licence and texts from the files in dir.
func (p *part) read(dir string) error {
	all, err := os.ReadDir(dir) // sorted by name
	if err != nil {
		return fmt.Errorf("licence of %s: %w", p.name, err)
	}
	var named []string
	for _, e := range all {
		if e.IsDir() || !aboutRights.MatchString(e.Name()) || path.Ext(e.Name()) == ".go" {
			continue
		}
		raw, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return fmt.Errorf("licence of %s: %w", p.name, err)
		}
		p.texts = append(p.texts, text{e.Name(), raw})
		named = append(named, licences(string(raw))...)
	}
	return p.fall(named)
}

// fall sets the licence, from those that the part's files name.
func (p *part) fall(named []string) error {
	slices.Sort(named)
	p.licence = cmp.Or(read[p.name], strings.Join(slices.Compact(named), " AND "))
	if p.licence == "" {
		return fmt.Errorf("licence of %s: none of its files has a licence that is known here; read it and extend release/licence.go", p.name)
	}
	return nil
}
