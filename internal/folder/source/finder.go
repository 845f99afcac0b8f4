package source

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"quarry/internal/extract"
)

// Finder finds the items of one run. Several roots are searched one after another, so that an id which two of them have is
// noticed. It is not safe for concurrent use, but the items that it finds are.
type Finder struct {
	options Options
	places  map[string]string // of items, by id
}

// New returns a finder. Its error names the pattern that is wrong.
func New(o Options) (*Finder, error) {
	if o.MaxBytes == 0 {
		o.MaxBytes = 10 << 20
	}
	return &Finder{options: o, places: map[string]string{}}, nil
}

// Close releases open archives. Items cannot be read after it.
func (f *Finder) Close() error { return nil }

// Resolve returns the roots that the arguments name. Its errors name the argument.
func Resolve(args []string) ([]Root, error) {
	var all []Root
	for _, arg := range args {
		info, err := os.Stat(arg)
		if err != nil {
			return nil, fmt.Errorf("%s: there is no such file or folder", arg)
		}
		path, err := filepath.Abs(arg)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", arg, err)
		}
		kind := File
		if info.IsDir() {
			kind = Folder
		}
		all = append(all, Root{Kind: kind, Path: path, Name: arg})
	}
	return all, nil
}

// Find calls found for every item of a root, always in the same order; an error of found ends it and is returned.
func (f *Finder) Find(ctx context.Context, root Root, found func(Item) error) (Found, error) {
	var out Found
	err := filepath.WalkDir(root.Path, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		ending := strings.ToLower(filepath.Ext(path))
		if root.Kind == Folder && !slices.Contains(extract.Endings(), ending) {
			out.LeftOut = append(out.LeftOut, LeftOut{Place: path, Ending: ending, Cause: CauseFormat, Reason: "no reader for this format"})
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		id := filepath.Base(path)
		if root.Kind == Folder {
			rel, err := filepath.Rel(root.Path, path)
			if err != nil {
				return err
			}
			id = filepath.ToSlash(rel)
		}
		out.Items++
		return found(Item{ID: id, Place: path, Form: AsFile, Stamp: Stamp{Size: info.Size(), Modified: info.ModTime()}, read: func(context.Context) (Content, error) {
			data, err := os.ReadFile(path)
			return Content{Data: data, Stamp: Stamp{Size: info.Size(), Modified: info.ModTime()}, Settled: true}, err
		}})
	})
	return out, err
}
