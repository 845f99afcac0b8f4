package source

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"quarry/internal/folder/ignore"
)

// ignoreFile holds patterns of what is not read in its folder and below.
const ignoreFile = ".quarryignore"

// noBody is why JSON is left out.
const noBody = "JSON that is no document's body: an object with type core or structured, and id"

// tree searches a folder. It is opened once, and everything in it through it, so that nothing outside can be read even if a
// folder becomes a link meanwhile.
func (s *search) tree(ctx context.Context) error {
	dir, err := os.OpenRoot(s.root.Path)
	if err != nil {
		s.shut("", s.root.Name, reasonOf(err, "the folder is gone"), adviceOf(err))
		return nil
	}
	s.Finder.open = append(s.Finder.open, dir)
	return s.walk(ctx, dir, "", nil)
}

// walk searches a folder below the root, "" for the root itself.
func (s *search) walk(ctx context.Context, dir *os.Root, folder string, rules *ignore.Rules) error {
	entries, err := list(dir, folder)
	if errors.Is(err, fs.ErrNotExist) && folder != "" {
		return nil // deleted since the folder above was read
	}
	if err != nil {
		s.shut(folder, s.place(folder), reasonOf(err, "the folder is gone"), adviceOf(err))
		return nil
	}
	if rules, err = s.rules(dir, folder, rules); err != nil {
		s.shut(folder, s.place(path.Join(folder, ignoreFile)), reasonOf(err, "it is gone"), "correct it; until then nothing in its folder is read")
		return nil
	}
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.entry(ctx, dir, path.Join(folder, e.Name()), e, rules); err != nil {
			return err
		}
	}
	return nil
}

// shut records that a folder cannot be read.
func (s *search) shut(folder, place, reason, advice string) {
	p := Problem{Place: place, Stage: StageFind, Reason: reason, Advice: advice, Below: true}
	if folder != "" {
		p.ID = folder + "/"
	}
	s.problem(p)
}

// list returns the entries of a folder in order of their names.
func list(dir *os.Root, folder string) ([]fs.DirEntry, error) {
	f, err := dir.Open(path.Join(".", folder))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entries, err := f.ReadDir(-1)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}

// rules returns the patterns of a folder before those above it. Where they cannot be read the folder must not be: what the
// user leaves out would be sent.
func (s *search) rules(dir *os.Root, folder string, above *ignore.Rules) (*ignore.Rules, error) {
	name := path.Join(folder, ignoreFile)
	info, err := dir.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return above, nil
	}
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is not a regular file")
	}
	if err != nil {
		return nil, err
	}
	f, err := dir.OpenFile(name, openFlags, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ignore.Read(f, folder, above)
}

func (s *search) entry(ctx context.Context, dir *os.Root, rel string, e fs.DirEntry, rules *ignore.Rules) error {
	if e.Name() == ignoreFile || s.only != nil && !s.only.Covers(rel) && !(e.IsDir() && s.only.Inside(rel)) {
		return nil
	}
	if e.IsDir() {
		return s.folder(ctx, dir, rel, rules)
	}
	cause, reason, chosen := s.choose(rel)
	switch {
	case !chosen && cause == CauseHidden:
		s.leave(rel, cause, reason)
	case rules.Ignored(rel, false):
		s.leave(rel, CauseIgnored, ignoreFile)
	case !chosen && cause == CauseExcluded:
		s.leave(rel, cause, reason)
	case e.Type()&fs.ModeSymlink != 0:
		s.leave(rel, CauseLink, link(dir, rel))
	case !e.Type().IsRegular():
		s.leave(rel, CauseSpecial, special(e.Type()))
	case !chosen:
		s.leave(rel, cause, reason)
	case s.misnamed(rel):
	default:
		return s.regular(dir, rel)
	}
	return nil
}

// misnamed reports whether a path cannot be the id of a document, and records it.
func (s *search) misnamed(rel string) bool {
	reason := wrongName(rel)
	if reason != "" {
		s.problem(Problem{Place: s.place(rel), Stage: StageFind, Reason: reason, Advice: "rename it, or leave it out with --exclude"})
	}
	return reason != ""
}

func (s *search) folder(ctx context.Context, dir *os.Root, rel string, rules *ignore.Rules) error {
	names := func(p ignore.Pattern) bool { return p.Match(rel, true) }
	leave := func(cause Cause, reason string) {
		if s.only == nil || s.only.Covers(rel) {
			s.leave(rel+"/", cause, reason)
		}
	}
	switch name := path.Base(rel); {
	case strings.HasPrefix(name, ".") && !s.reached(name):
		leave(CauseHidden, "a name that begins with a dot; --include names it")
	case rules.Ignored(rel, true):
		leave(CauseIgnored, ignoreFile)
	case slices.ContainsFunc(s.exclude, names):
		leave(CauseExcluded, "--exclude")
	case s.misnamed(rel):
	default:
		return s.walk(ctx, dir, rel, rules)
	}
	return nil
}

// regular looks at a chosen file of the folder.
func (s *search) regular(dir *os.Root, rel string) error {
	f := file{dir: dir, path: rel, id: rel, place: s.place(rel), max: s.maxFile, form: AsFile}
	info, err := f.stat()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil // deleted since the folder was read
	case err != nil:
		s.problem(f.problem(StageFind, reasonOf(err, ""), adviceOf(err)))
		return nil
	case info.Size() == 0:
		s.leave(rel, CauseEmpty, "it is empty")
		return nil
	}
	if endingOf(rel) == ".json" {
		return s.json(f, info, func() error {
			s.leave(rel, CauseNoBody, noBody)
			return nil
		})
	}
	return s.offer(f, info)
}

// json offers a file as the body that it holds, and calls other if it is none.
func (s *search) json(f file, info fs.FileInfo, other func() error) error {
	f.max = s.maxBody
	id, body, err := f.bodyID()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, errUndecided) && info.Size() <= f.max:
		return other()
	case errors.Is(err, errUndecided):
		f.form = AsBody
		s.problem(f.tooLarge(info.Size()))
		return nil
	case err != nil:
		s.problem(f.problem(StageRead, reasonOf(err, ""), adviceOf(err)))
		return nil
	case !body:
		return other()
	}
	f.form, f.id = AsBody, id
	return s.offer(f, info)
}

// offer hands a file over as an item if its size allows it.
func (s *search) offer(f file, info fs.FileInfo) error {
	if info.Size() > f.max {
		s.problem(f.tooLarge(info.Size()))
		return nil
	}
	return s.item(Item{ID: f.id, Place: f.place, Form: f.form, Stamp: stampOf(info), read: f.read})
}

// file searches a root that is one file. It was named, so that nothing about its name keeps it from being read, and a link is
// followed.
func (s *search) file() error {
	name := path.Base(filepath.ToSlash(s.root.Path))
	f := file{path: s.root.Path, id: name, place: s.root.Name, max: s.maxFile, form: AsFile}
	if reason := wrongName(name); reason != "" {
		s.problem(f.problem(StageFind, reason, "rename it"))
		return nil
	}
	info, err := f.stat()
	switch {
	case err != nil:
		s.problem(f.problem(StageFind, reasonOf(err, "the file is gone"), adviceOf(err)))
		return nil
	case info.Size() == 0:
		s.problem(f.problem(StageFind, "the file is empty", "write something into it"))
		return nil
	}
	if endingOf(name) == ".json" {
		return s.json(f, info, func() error { return s.offer(f, info) })
	}
	return s.offer(f, info)
}

// wrongName returns why a path cannot be the id of a document, or "".
func wrongName(rel string) string {
	switch {
	case !utf8.ValidString(rel):
		return "the name is not UTF-8"
	case strings.ContainsFunc(path.Base(rel), unicode.IsControl):
		return "the name has a line break or another control character"
	case len(rel) > maxID:
		return fmt.Sprintf("the path has %d bytes; ids of documents have at most %d", len(rel), maxID)
	}
	return ""
}

// link returns where a link leads, as the reason why it is left out.
func link(dir *os.Root, rel string) string {
	target, err := dir.Readlink(rel)
	if err != nil {
		return "a link; links are not followed"
	}
	what := "a link to " + target
	switch _, err := os.Stat(dir.Name() + "/" + rel); {
	case errors.Is(err, fs.ErrNotExist):
		what = "a link to nothing (" + target + ")"
	case isLoop(err):
		what = "a link in a circle (" + target + ")"
	}
	return what + "; links are not followed: name what it leads to"
}

// special returns what a file is that is neither a regular one nor a folder nor a link.
func special(m fs.FileMode) string {
	switch {
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m&fs.ModeNamedPipe != 0:
		return "a pipe"
	case m&fs.ModeDevice != 0:
		return "a device"
	}
	return "a special file"
}
