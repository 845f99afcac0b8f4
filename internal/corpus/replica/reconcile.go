package replica

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"quarry/internal/corpus"
	"quarry/internal/index"
)

// folderName matches the names that dir returns.
var folderName = regexp.MustCompile(`^\d+-[0-9a-z]+$`)

// corporaPage is how many corpora Reconcile reads at a time.
const corporaPage = 500

// Reconcile removes index files that do not match the database: those that contain changes unknown to it, as after a
// restored backup, and those of deleted corpora. It must be called once, before anything is written: afterwards new
// changes may have the numbers of the unknown ones, and the difference could not be detected.
func (s *Set) Reconcile(ctx context.Context) error {
	if s.cfg.Dir == "" {
		return nil
	}
	entries, err := os.ReadDir(s.cfg.Dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("list index folders: %w", err)
	}
	known := map[string]bool{}
	l := corpus.List{Limit: corporaPage}
	for more := len(entries) > 0; more; {
		var page []corpus.Corpus
		if page, more, err = s.cfg.Corpora.List(ctx, l); err != nil {
			return err
		}
		for _, c := range page {
			known[filepath.Base(s.dir(c))] = true
			if err := s.dropAhead(c); err != nil {
				return err
			}
			l.After = &corpus.Position{Created: c.Created.UnixMicro(), No: c.No}
		}
	}
	for _, e := range entries {
		if e.IsDir() && folderName.MatchString(e.Name()) && !known[e.Name()] {
			if err := os.RemoveAll(filepath.Join(s.cfg.Dir, e.Name())); err != nil {
				return fmt.Errorf("remove index of a corpus that is gone: %w", err)
			}
		}
	}
	return nil
}

func (s *Set) dropAhead(c corpus.Corpus) error {
	saved, ok := index.Saved(s.dir(c))
	if !ok || saved <= c.Seq {
		return nil
	}
	s.cfg.Log.Warn("index is ahead of the database; rebuilding it", "corpus", c.Key, "index", saved, "database", c.Seq)
	if err := os.RemoveAll(s.dir(c)); err != nil {
		return fmt.Errorf("remove index that is ahead of the database: %w", err)
	}
	return nil
}
