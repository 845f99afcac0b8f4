package replica

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"quarry/internal/corpus"
)

// folderName matches the names that dir returns.
var folderName = regexp.MustCompile(`^\d+-[0-9a-z]+$`)

// corporaPage is how many corpora Reconcile reads at a time.
const corporaPage = 500

// Reconcile removes index files that do not match the database: those that contain changes unknown to it, as after a
// restored backup, and those of deleted corpora. It must be called once, before anything is written: afterwards new
// changes may have the numbers of the unknown ones, and the difference could not be detected. It returns the corpora whose
// files are far behind, as CatchUpAll takes them, and opens no index to find them.
func (s *Set) Reconcile(ctx context.Context) (behind []corpus.Corpus, err error) {
	if s.cfg.Dir == "" {
		return nil, nil
	}
	entries, err := os.ReadDir(s.cfg.Dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("list index folders: %w", err)
	}
	known := map[string]bool{}
	var slow laggards
	l := corpus.List{Limit: corporaPage}
	if len(entries) == 0 {
		l.Since = far + 1 // none of the others lacks as many
	}
	for more := true; more; {
		var page []corpus.Corpus
		if page, more, err = s.cfg.Corpora.List(ctx, l); err != nil {
			return nil, err
		}
		for _, c := range page {
			known[filepath.Base(s.dir(c))] = true
			saved, err := s.saved(c)
			if err != nil {
				return nil, err
			}
			slow.add(c, saved)
			l.After = &corpus.Position{Created: c.Created.UnixMicro(), No: c.No}
		}
	}
	for _, e := range entries {
		if e.IsDir() && folderName.MatchString(e.Name()) && !known[e.Name()] {
			if err := os.RemoveAll(filepath.Join(s.cfg.Dir, e.Name())); err != nil {
				return nil, fmt.Errorf("remove index of a corpus that is gone: %w", err)
			}
		}
	}
	return slow.nearest(s.cfg.MaxOpen), nil
}

// saved returns the number of the last change in the files of c, 0 for none. Files that are ahead of the database go.
func (s *Set) saved(c corpus.Corpus) (int64, error) {
	all, err := s.built(c)
	if err != nil {
		return 0, err
	}
	var saved int64
	for _, b := range all {
		saved = max(saved, b.saved)
	}
	if saved <= c.Seq {
		return saved, nil
	}
	s.cfg.Log.Warn("index is ahead of the database; rebuilding it", "corpus", c.Key, "index", saved, "database", c.Seq)
	if err := os.RemoveAll(s.dir(c)); err != nil {
		return 0, fmt.Errorf("remove index that is ahead of the database: %w", err)
	}
	return 0, nil
}
