package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"quarry/internal/extract"
	"quarry/internal/folder/ignore"
)

// The limits where the caller sets none: those that the service has by default.
const (
	defaultFile = 10 << 20
	defaultBody = 16 << 20
	maxID       = 1024 // bytes
)

// Finder finds the items of one run. Several roots are searched one after another, so that an id which two of them have is
// noticed. It is not safe for concurrent use, but the items that it finds are.
type Finder struct {
	maxFile, maxBody int64
	include, exclude []ignore.Pattern
	places           map[string]string // of items, by id
	open             []io.Closer
}

// New returns a finder. Its error names the pattern that is wrong.
func New(o Options) (*Finder, error) {
	f := &Finder{maxFile: o.MaxFile, maxBody: o.MaxBody, places: map[string]string{}}
	if f.maxFile == 0 {
		f.maxFile = defaultFile
	}
	if f.maxBody == 0 {
		f.maxBody = defaultBody
	}
	var err, more error
	if f.include, err = patterns("--include", o.Include); err != nil {
		return nil, err
	}
	if f.exclude, more = patterns("--exclude", o.Exclude); more != nil {
		return nil, more
	}
	return f, nil
}

func patterns(flag string, texts []string) (all []ignore.Pattern, err error) {
	for _, text := range texts {
		p, err := ignore.New(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", flag, err)
		}
		all = append(all, p)
	}
	return all, nil
}

// Close releases what was opened. Items cannot be read after it.
func (f *Finder) Close() error {
	var all []error
	for _, c := range f.open {
		all = append(all, c.Close())
	}
	f.open = nil
	return errors.Join(all...)
}

// Find calls found for every item of a root, always in the same order; an error of found ends it and is returned, like that of
// ctx. Whatever else goes wrong is a problem among what was found.
func (f *Finder) Find(ctx context.Context, root Root, found func(Item) error) (Found, error) {
	s := &search{Finder: f, root: root, found: found, include: f.include}
	var err error
	switch root.Kind {
	case Folder:
		err = s.tree(ctx)
	case Glob:
		// The pattern of a glob counts from its fixed part even if it has no slash.
		only, wrong := ignore.New("/" + root.Pattern)
		if wrong != nil {
			return Found{}, wrong
		}
		s.only = &only
		s.include = append(slices.Clip(f.include), only)
		err = s.tree(ctx)
	case Archive:
		err = s.archive(ctx)
	case Lines:
		err = s.lines(ctx)
	default:
		err = s.file()
	}
	return s.out, err
}

// search is the search of one root.
type search struct {
	*Finder
	root    Root
	only    *ignore.Pattern  // of a glob
	include []ignore.Pattern // of the options, and that of a glob
	found   func(Item) error
	out     Found
}

// place returns where a path below the root stands, as people find it.
func (s *search) place(rel string) string { return filepath.Join(s.root.Name, filepath.FromSlash(rel)) }

func (s *search) problem(p Problem) { s.out.Problems = append(s.out.Problems, p) }

func (s *search) leave(rel string, cause Cause, reason string) {
	out := LeftOut{Place: s.place(rel), Cause: cause, Reason: reason}
	if strings.HasSuffix(rel, "/") {
		out.Place += string(filepath.Separator)
	} else {
		out.Ending = endingOf(rel)
	}
	s.out.LeftOut = append(s.out.LeftOut, out)
}

// item hands an item over, unless its id was found before.
func (s *search) item(i Item) error {
	if first, double := s.places[i.ID]; double {
		s.problem(Problem{
			Place: i.Place, Stage: StageFind, Reason: fmt.Sprintf("%s has the same document id %q", first, i.ID),
			Advice: "rename one of them, or index them into different corpora",
		})
		return nil
	}
	s.places[i.ID] = i.Place
	s.out.Items++
	return s.found(i)
}

// choose reports whether the options and the table of formats choose a file by its path, and otherwise why not.
func (s *search) choose(rel string) (Cause, string, bool) {
	ending := endingOf(rel)
	covers := func(p ignore.Pattern) bool { return p.Covers(rel) }
	switch {
	case s.hidden(rel):
		return CauseHidden, "a name that begins with a dot; --include names it", false
	case slices.ContainsFunc(s.exclude, covers):
		return CauseExcluded, "--exclude", false
	case len(s.Finder.include) > 0 && !slices.ContainsFunc(s.Finder.include, covers):
		return CauseExcluded, "no --include names it", false
	case kindOf(rel) != File:
		return CauseNested, "it holds documents of its own: name it on the command line", false
	case ending == ".json", extract.ReadsName(rel), s.named(rel, strings.TrimSuffix(rel, rel[len(rel)-len(ending):])+".\x00"):
		return "", "", true
	case ending == "":
		return CauseFormat, "it has no ending that tells its format", false
	}
	return CauseFormat, "there is no reader for " + ending, false
}

// named reports whether a pattern to include means this path in particular: it covers the path and not the one where the point
// in question is changed.
func (s *search) named(rel, changed string) bool {
	return slices.ContainsFunc(s.include, func(p ignore.Pattern) bool { return p.Covers(rel) && !p.Covers(changed) })
}

// hidden reports whether a part of the path begins with a dot that no pattern to include names.
func (s *search) hidden(rel string) bool {
	from := 0
	for part := range strings.SplitSeq(rel, "/") {
		if strings.HasPrefix(part, ".") && !s.named(rel, rel[:from]+"\x00"+rel[from+1:]) {
			return true
		}
		from += len(part) + 1
	}
	return false
}

// reached reports whether a pattern to include stands for something in a hidden folder of this name.
func (s *search) reached(name string) bool {
	return slices.ContainsFunc(s.include, func(p ignore.Pattern) bool { return p.Reaches(name) })
}
