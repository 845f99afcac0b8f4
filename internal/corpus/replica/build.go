package replica

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"time"

	"quarry/internal/background"
	"quarry/internal/corpus"
	"quarry/internal/index"
)

// retryAfter is how long a node rests after it could not make an index anew in the background. The old one serves.
const retryAfter = time.Minute

// lookAgain is the pause between two looks at an index that is being merged, which takes a minute for a million passages.
const lookAgain = 20 * time.Millisecond

// Rebuild returns when the index of c on this node is of c.IndexBuild. Where it is of a lower one, Rebuild makes it anew from
// the rows beside the one in use, which is searched and changed as before until the switch. A process makes one index anew at
// a time.
func (s *Set) Rebuild(ctx context.Context, c corpus.Corpus) error {
	if err := s.builds.take(ctx); err != nil {
		return err
	}
	defer s.builds.give()
	r, c, err := s.hold(ctx, c)
	if err != nil {
		return err
	}
	defer s.release(r)
	if _, err := s.ready(ctx, r, c); err != nil {
		return err
	}
	return s.renew(ctx, r, c)
}

// renewLater begins a new index of r in the background if the corpus wants a higher build than r has. Where that can't be
// now, because another one is being made or because it has just failed, the next search tries again. The caller holds r.
func (s *Set) renewLater(r *replica, c corpus.Corpus) {
	if r.build.Load() >= c.IndexBuild || !s.builds.try() {
		return
	}
	s.mu.Lock()
	idle := s.background.Err() != nil || r.stale || time.Now().Before(r.retry)
	if !idle {
		r.refs++
		s.running.Add(1)
	}
	s.mu.Unlock()
	if idle {
		s.builds.give()
		return
	}
	go func() {
		defer s.running.Done()
		defer s.release(r)
		defer s.builds.give()
		if err := s.renew(s.background, r, c); err != nil && s.background.Err() == nil {
			s.cfg.Log.Warn("an index could not be made anew; the old one serves", "corpus", c.Key, "error", err)
			s.mu.Lock()
			r.retry = time.Now().Add(retryAfter)
			s.mu.Unlock()
		}
	}()
}

// renew builds the index of r anew beside the one in use and switches to it, unless r is of c.IndexBuild already. The caller
// has s.builds. A half-made index is worth nothing to a later call, which begins again.
func (s *Set) renew(ctx context.Context, r *replica, c corpus.Corpus) error {
	from := r.build.Load()
	if from >= c.IndexBuild {
		return nil
	}
	if s.elsewhere {
		return s.refill(ctx, r, c)
	}
	defer background.Begin()()
	began := time.Now()
	side := newReplica(r.epoch)
	side.pause = s.merges.Pause(ctx)
	t, err := s.openFresh(c, side.pause)
	if err != nil {
		return err
	}
	side.opened.Store(&t)
	old, err := s.exchange(ctx, r, side, c)
	if err != nil {
		s.abandon(t, c, c.IndexBuild)
		return err
	}
	s.cfg.Log.Info("index made anew", "corpus", c.Key, "build", c.IndexBuild, "took", time.Since(began).Round(time.Millisecond))
	s.abandon(old, c, from)
	return nil
}

// refill reads all rows into the target of r, which is not ours to have another one beside it. Searches see the old content
// until then, and changes wait.
func (s *Set) refill(ctx context.Context, r *replica, c corpus.Corpus) error {
	if err := r.turn.take(ctx); err != nil {
		return err
	}
	defer r.turn.give()
	now, err := s.reread(ctx, c)
	if err == nil {
		now, err = s.advanceLocked(ctx, r, now)
	}
	if err == nil {
		err = s.rebuild(ctx, r, now)
	}
	if err == nil {
		err = s.follow(ctx, r, now)
	}
	if err != nil {
		return fmt.Errorf("make index of %s anew: %w", c.Key, err)
	}
	r.build.Store(c.IndexBuild)
	return nil
}

// exchange fills the target of side, which is empty, and puts it in the place of that of r, which it returns. After an error
// r is as it was.
func (s *Set) exchange(ctx context.Context, r, side *replica, c corpus.Corpus) (old Target, err error) {
	if err := s.rebuild(ctx, side, c); err != nil {
		return nil, fmt.Errorf("make index of %s anew: %w", c.Key, err)
	}
	if err := merged(ctx, side.target()); err != nil {
		return nil, err
	}
	// What was written meanwhile comes first while writes go on, then with changes of the old index locked out.
	now, err := s.reread(ctx, c)
	if err != nil {
		return nil, err
	}
	if _, err := s.advanceLocked(ctx, side, now); err != nil {
		return nil, err
	}
	if err := r.turn.take(ctx); err != nil {
		return nil, err
	}
	defer r.turn.give()
	if now, err = s.reread(ctx, c); err != nil {
		return nil, err
	}
	if _, err := s.advanceLocked(ctx, side, now); err != nil {
		return nil, err
	}
	old = *r.opened.Swap(side.opened.Load())
	r.build.Store(c.IndexBuild)
	return old, nil
}

// merged returns when a target of ours has merged what it was filled with, or could not: searches of it as it was filled take
// several times as long as those of the one in use.
func merged(ctx context.Context, t Target) error {
	x, ok := t.(local)
	for ok && x.Stats().Merging {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(lookAgain):
		}
	}
	return nil
}

// buildName matches the names of the folders of builds in that of a corpus.
var buildName = regexp.MustCompile(`^build-([1-9]\d{0,17})$`)

// buildDir returns the folder of a build of the index of c. Build 0 lies where every index lay before there were builds.
func (s *Set) buildDir(c corpus.Corpus, build int64) string {
	if build == 0 {
		return s.dir(c)
	}
	return filepath.Join(s.dir(c), "build-"+strconv.FormatInt(build, 10))
}

// built is a folder of a build, and the last change that its files have.
type built struct {
	build, saved int64
	whole        bool // it has a manifest: it was filled to the end
}

// built lists the builds of the index of c that have a folder, and build 0, the highest first.
func (s *Set) built(c corpus.Corpus) ([]built, error) {
	entries, err := os.ReadDir(s.dir(c))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("list builds of an index: %w", err)
	}
	out := []built{{}}
	for _, e := range entries {
		if m := buildName.FindStringSubmatch(e.Name()); m != nil && e.IsDir() {
			n, _ := strconv.ParseInt(m[1], 10, 64) // at most 18 digits
			out = append(out, built{build: n})
		}
	}
	for i := range out {
		out[i].saved, out[i].whole = index.Saved(s.buildDir(c, out[i].build))
	}
	slices.SortFunc(out, func(a, b built) int { return cmp.Compare(b.build, a.build) })
	return out, nil
}

// openTarget opens the highest build of the index of c that was filled to the end, or an empty one where there is none, and
// removes the others. Those above c.IndexBuild are of a database that this one is not: a backup was restored.
func (s *Set) openTarget(ctx context.Context, c corpus.Corpus) (t Target, build int64, err error) {
	if s.cfg.Dir == "" || s.elsewhere {
		t, err = s.openBuild(c, c.IndexBuild)
		return t, c.IndexBuild, err
	}
	all, err := s.built(c)
	if err != nil {
		return nil, 0, err
	}
	most := c.IndexBuild
	if all[0].build > most {
		most = s.latest(ctx, c).IndexBuild
	}
	build = most
	if i := slices.IndexFunc(all, func(b built) bool { return b.whole && b.build <= most }); i >= 0 {
		build = all[i].build
	}
	for _, b := range all {
		if b.build == build {
			continue
		}
		other, err := s.openBuild(c, b.build) // so that files of a newer program stay
		if err != nil {
			return nil, 0, err
		}
		s.abandon(other, c, b.build)
	}
	t, err = s.openBuild(c, build)
	return t, build, err
}

// openBuild opens a build of the index of c.
func (s *Set) openBuild(c corpus.Corpus, build int64) (Target, error) {
	cfg, err := s.config(c, build)
	if err != nil {
		return nil, err
	}
	return s.cfg.Open(cfg)
}

// openFresh opens an empty index of the build that c wants, in the place of what a process that died has left. It is filled with
// pauses.
func (s *Set) openFresh(c corpus.Corpus, pause func() error) (Target, error) {
	cfg, err := s.config(c, c.IndexBuild)
	if err != nil {
		return nil, err
	}
	if cfg.Dir != "" {
		if err := os.RemoveAll(cfg.Dir); err != nil {
			return nil, fmt.Errorf("remove a half-made index: %w", err)
		}
	}
	cfg.Pause = pause
	return s.cfg.Open(cfg)
}

// config returns what a build of the index of c is of.
func (s *Set) config(c corpus.Corpus, build int64) (cfg index.Config, err error) {
	schema, err := c.Schema()
	if err != nil {
		return cfg, fmt.Errorf("schema of %s: %w", c.Key, err)
	}
	encoder, err := s.cfg.Encoders.Get(c.EncoderName)
	if err != nil {
		return cfg, fmt.Errorf("encoder of %s: %w", c.Key, err)
	}
	dir := ""
	if s.cfg.Dir != "" {
		dir = s.buildDir(c, build)
	}
	return index.Config{
		Dir: dir, Epoch: c.Epoch, Encoder: c.EncoderFingerprint, Schema: schema,
		SchemaVersion: c.SchemaVersion, Dim: encoder.Dim(), Dimensions: len(c.Dimensions), Conditions: s.conditions, Merges: s.merges,
		Notify: func(event string, err error) { s.cfg.Log.Warn(event, "corpus", c.Key, "error", err) },
	}, nil
}

// abandon removes the files of a build of the index of c that is not used any longer, and its folders as far as nothing
// else lies in them.
func (s *Set) abandon(t Target, c corpus.Corpus, build int64) {
	end := t.Close
	if x, ok := t.(interface{ Discard() error }); ok {
		end = x.Discard
	}
	if err := end(); err != nil {
		s.cfg.Log.Warn("files of an index that is not used remain", "corpus", c.Key, "build", build, "error", err)
	}
	if s.cfg.Dir == "" {
		return
	}
	for _, dir := range []string{s.buildDir(c, build), s.dir(c)} {
		_ = os.Remove(dir) // fails where it is not empty, or not there
	}
}
