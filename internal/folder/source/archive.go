package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
)

// The limits of archives, against those that unpack to much more than anybody can store. Texts are compressed 10 to 20 times.
const (
	maxRatio     = 250      // of what an archive unpacks to and its own size ...
	ratioFrom    = 64 << 20 // ... above this many unpacked bytes
	maxDirectory = 32 << 20 // bytes of a zip's list of members
)

// archive searches a root that is an archive. Nothing is unpacked to the disk.
func (s *search) archive(ctx context.Context) error {
	f, err := os.OpenFile(s.root.Path, openFlags, 0)
	if err != nil {
		s.broken(reasonOf(err, "the archive is gone"), adviceOf(err))
		return nil
	}
	s.Finder.open = append(s.Finder.open, f)
	info, err := f.Stat()
	if err != nil {
		s.broken(reasonOf(err, ""), adviceOf(err))
		return nil
	}
	seen := members{search: s, names: map[string]bool{}}
	if endingOf(s.root.Path) == ".zip" {
		return seen.zip(ctx, f, info.Size())
	}
	return seen.tar(ctx, f, info.Size())
}

// broken records that the root, or the rest of it, cannot be read.
func (s *search) broken(reason, advice string) {
	s.problem(Problem{Place: s.root.Name, Stage: StageRead, Reason: reason, Advice: advice, Below: true})
}

// members are those of one archive.
type members struct {
	*search
	names map[string]bool // that were met
}

// member is one of an archive: its name as it stands there, what it is if it is no file, its size unpacked.
type member struct {
	name, what string
	size       int64
}

// take returns the path of a member that is to be read, or "" after it has recorded why it is not.
func (m *members) take(x member) string {
	rel, fault := memberPath(x.name)
	refuse := func(reason, advice string) string {
		p := Problem{Place: fmt.Sprintf("%s: %q", m.root.Name, x.name), Stage: StageFind, Reason: reason, Advice: advice}
		if fault == "" {
			p.Place, p.ID = m.place(rel), rel
		}
		m.problem(p)
		return ""
	}
	switch {
	case fault != "":
		return refuse(fault, "make the archive anew, from inside its folder")
	case m.names[rel]:
		return refuse("the archive has this name twice; the first one counts", "make the archive anew")
	}
	m.names[rel] = true
	cause, reason, chosen := m.choose(rel)
	switch {
	case x.what != "" && cause != CauseHidden && cause != CauseExcluded:
		return refuse("it is "+x.what+", not a file", "put the file itself into the archive")
	case !chosen:
		m.leave(rel, cause, reason)
		return ""
	case x.size == 0:
		m.leave(rel, CauseEmpty, "it is empty")
		return ""
	}
	if f := m.file(rel); x.size > f.max {
		m.problem(f.tooLarge(x.size))
		return ""
	}
	return rel
}

// file returns what is known of a chosen member by its path: JSON can only be a body.
func (m *members) file(rel string) file {
	f := file{id: rel, place: m.place(rel), max: m.maxFile, form: AsFile}
	if endingOf(rel) == ".json" {
		f.max, f.form = m.maxBody, AsBody
	}
	return f
}

// memberPath returns the path inside an archive that a name stands for, or what is wrong with it.
func memberPath(name string) (rel, fault string) {
	slashed := strings.ReplaceAll(name, `\`, "/") // some programs for Windows write these
	switch {
	case strings.HasPrefix(slashed, "/"), len(slashed) > 1 && slashed[1] == ':':
		return "", "its name is an absolute path"
	case strings.HasPrefix(slashed, "../"), strings.HasSuffix(slashed, "/.."), strings.Contains(slashed, "/../"), slashed == "..":
		return "", "its name leads out of the archive (..)"
	case strings.Trim(slashed, "./") == "":
		return "", "it has no name"
	}
	rel = path.Clean(slashed)
	return rel, wrongName(rel)
}

// errBomb is the error of an archive that unpacks to more than maxRatio times its size.
var errBomb = fmt.Errorf("it unpacks to more than %d times its size", maxRatio)

// bounded reads what an archive unpacks to, up to the limit for one of this size.
type bounded struct {
	r    io.Reader
	left int64
}

func newBounded(r io.Reader, size int64) *bounded {
	return &bounded{r: r, left: max(ratioFrom, maxRatio*min(size, 1<<50))}
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errBomb
	}
	n, err := b.r.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// archiveReason returns what is wrong with an archive.
func archiveReason(err error) string {
	switch {
	case errors.Is(err, errBomb):
		return err.Error()
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return "it ends in the middle"
	}
	return "it is damaged: " + err.Error()
}
