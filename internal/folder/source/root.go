package source

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Kind is what an argument names.
type Kind string

// The kinds of roots.
const (
	Folder  Kind = "folder"
	Glob    Kind = "glob"
	File    Kind = "file"
	Archive Kind = "archive"
	Lines   Kind = "lines"
)

// Root is one argument, resolved.
type Root struct {
	Kind Kind
	// Path is absolute and clean. That of a glob is its fixed part.
	Path string
	// Name is the path as the user wrote it, for messages.
	Name string
	// Pattern is the rest of a glob, with slashes.
	Pattern string
}

// archives and lines are the endings of files that hold several documents; those in folders are left out until they are named.
var (
	archives = []string{".zip", ".tar", ".tar.gz", ".tgz"}
	lines    = []string{".jsonl", ".ndjson"}
)

// endingOf returns the ending of a name in lower case, with its dot. A dot in front begins no ending.
func endingOf(name string) string {
	name = strings.ToLower(strings.TrimLeft(path.Base(name), "."))
	if strings.HasSuffix(name, ".tar.gz") {
		return ".tar.gz"
	}
	return path.Ext(name)
}

func kindOf(name string) Kind {
	switch ending := endingOf(name); {
	case slices.Contains(archives, ending):
		return Archive
	case slices.Contains(lines, ending):
		return Lines
	}
	return File
}

// Resolve returns the roots that the arguments name, each once. Its errors name the argument.
func Resolve(args []string) ([]Root, error) {
	var all []Root
	for _, arg := range args {
		roots, err := resolve(arg)
		if err != nil {
			return nil, err
		}
		for _, r := range roots {
			same := func(o Root) bool { return o.Path == r.Path && o.Pattern == r.Pattern }
			if !slices.ContainsFunc(all, same) {
				all = append(all, r)
			}
		}
	}
	return all, nil
}

func resolve(arg string) ([]Root, error) {
	if scheme, _, found := strings.Cut(arg, "://"); found && !strings.ContainsAny(scheme, `/\.`) {
		return nil, fmt.Errorf("%s: web pages are not fetched; save the page and name the file", arg)
	}
	if arg == "" {
		return nil, errors.New("an empty argument names no file or folder")
	}
	info, err := os.Stat(arg)
	if errors.Is(err, fs.ErrNotExist) && strings.ContainsAny(arg, "*?[{") {
		return resolveGlob(arg)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %s", arg, reasonOf(err, "there is no such file or folder"))
	}
	full, err := filepath.Abs(arg)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", arg, err)
	}
	root := Root{Kind: kindOf(full), Path: full, Name: arg}
	switch {
	case info.IsDir():
		root.Kind = Folder
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s: %s is no file or folder that can be indexed", arg, special(info.Mode()))
	}
	return []Root{root}, nil
}

// resolveGlob returns the root of a glob, or, where the glob names archives or lines, one root for each of them.
func resolveGlob(arg string) ([]Root, error) {
	base, pattern := doublestar.SplitPattern(filepath.ToSlash(arg))
	if !doublestar.ValidatePattern(pattern) {
		return nil, fmt.Errorf("%s: there is no such file, and as a pattern it has an open bracket or brace", arg)
	}
	roots, err := resolve(filepath.FromSlash(base))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", arg, err)
	}
	root := roots[0]
	if root.Kind != Folder {
		return nil, fmt.Errorf("%s: %s is not a folder", arg, base)
	}
	single := kindOf(pattern) == File
	roots = nil
	err = doublestar.GlobWalk(os.DirFS(root.Path), pattern, func(at string, e fs.DirEntry) error {
		if single {
			return errMatch
		}
		if e.Type().IsRegular() {
			at = filepath.FromSlash(at)
			roots = append(roots, Root{Kind: kindOf(at), Path: filepath.Join(root.Path, at), Name: filepath.Join(root.Name, at)})
		}
		return nil
	}, doublestar.WithNoFollow())
	switch {
	case errors.Is(err, errMatch):
		root.Kind, root.Pattern = Glob, pattern
		return []Root{root}, nil
	case err != nil || len(roots) == 0:
		return nil, fmt.Errorf("%s: there is no such file, and as a pattern it matches nothing", arg)
	}
	return roots, nil
}

// errMatch ends the search for the first match of a pattern.
var errMatch = errors.New("a match")
