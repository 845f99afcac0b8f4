package folder_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"quarry/internal/fault"
	"quarry/internal/folder"
)

// TestBusy proves that a service that is busy, or away for a moment, costs time and no file.
func TestBusy(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		err   error
		after time.Duration // at least
	}{
		"limited":   {fault.Limited("rate", "too many requests").After(7 * time.Second), 7 * time.Second},
		"full":      {fault.Unavailable("disk_full", "the disk is full"), 200 * time.Millisecond},
		"restarted": {fmt.Errorf("%w: connection refused", folder.ErrUnreachable), 200 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, map[string]string{"a.md": "A", "b.md": "B"})
			synctest.Test(t, func(t *testing.T) {
				b.t = t
				failures := map[string]int{"list": 1, "put": 3}
				b.corpus.before = func(op, _ string) error {
					if failures[op]--; failures[op] >= 0 {
						return tc.err
					}
					return nil
				}
				waited := false
				b.change = func(c *folder.Config) {
					c.Progress = func(p folder.Progress) { waited = waited || p.Waiting != "" }
				}
				began := time.Now()
				b.want("2 new, 0 changed, 0 unchanged, 0 gone, 0 removed, 0 failed", "a.md", "b.md")
				if took := time.Since(began); took < 2*tc.after || !waited {
					t.Errorf("took %s, progress says that it waits: %t", took, waited)
				}
			})
		})
	}
}

// TestFewerAtOnce proves that a service that takes one request at a time gets what it can take, without a pause after each.
func TestFewerAtOnce(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for i := range 40 {
		files[fmt.Sprintf("%02d.md", i)] = fmt.Sprint("text ", i)
	}
	b := newBench(t, files)
	synctest.Test(t, func(t *testing.T) {
		b.t = t
		b.change = func(c *folder.Config) {
			c.Parallel = 8
			c.Corpus = &narrow{memory: b.corpus}
		}
		began := time.Now()
		b.want("40 new, 0 changed, 0 unchanged, 0 gone, 0 removed, 0 failed", b.ids()...)
		if took := time.Since(began); took > 90*time.Second {
			t.Errorf("40 files of one second each took %s", took)
		}
	})
}

// narrow is a corpus that takes a second for a document and no other meanwhile.
type narrow struct {
	*memory
	under atomic.Int32
}

func (n *narrow) Put(ctx context.Context, d folder.Document, replace bool) (folder.Stored, error) {
	defer n.under.Add(-1)
	if n.under.Add(1) > 1 {
		return folder.Stored{}, fault.Limited("too_many", "too many at once").After(10 * time.Second)
	}
	time.Sleep(time.Second)
	return n.memory.Put(ctx, d, replace)
}

// TestPatience proves that a pass ends when the service stays away or takes nothing, with the reason, and that what was
// not sent is sent by the next run.
func TestPatience(t *testing.T) {
	t.Parallel()
	var busy *folder.Busy
	for name, tc := range map[string]struct {
		err  error
		is   func(error) bool
		from time.Duration
		to   time.Duration
	}{
		"away":  {fmt.Errorf("%w: refused", folder.ErrUnreachable), func(err error) bool { return errors.Is(err, folder.ErrUnreachable) }, time.Minute, 3 * time.Minute},
		"busy":  {fault.Unavailable("full", "the disk is full"), func(err error) bool { return errors.As(err, &busy) }, 9 * time.Minute, 11 * time.Minute},
		"quota": {fault.Limited("quota", "no tokens left").After(24 * time.Hour), func(err error) bool { return errors.As(err, &busy) }, 0, time.Second},
		"no":    {fault.Forbidden("needs a role"), func(err error) bool { return fault.Is(err, fault.KindForbidden) }, 0, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, map[string]string{"a.md": "A", "b.md": "B", "c.md": "C"})
			synctest.Test(t, func(t *testing.T) {
				b.t = t
				b.corpus.before = func(op, _ string) error {
					if op == "put" {
						return tc.err
					}
					return nil
				}
				began := time.Now()
				_, err := b.run()
				if took := time.Since(began); !tc.is(err) || took < tc.from || took > tc.to {
					t.Errorf("%v after %s", err, took)
				}
				b.corpus.before = nil
				b.want("3 new, 0 changed, 0 unchanged, 0 gone, 0 removed, 0 failed", "a.md", "b.md", "c.md")
			})
		})
	}
}

// TestProgress proves that progress counts up to all files, and that its estimate of passages ends at their number.
func TestProgress(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for i := range 20 {
		files[fmt.Sprintf("%d.md", i)] = fmt.Sprint("text ", i)
	}
	b := newBench(t, files)
	var last folder.Progress
	b.change = func(c *folder.Config) {
		c.Progress = func(p folder.Progress) {
			if p.Sent < last.Sent || p.Passages < last.Passages || p.Passages > p.Total || len(p.Hand) > 2 || p.Sent > p.Files {
				t.Errorf("%+v after %+v", p, last)
			}
			last = p
		}
	}
	b.want("20 new, 0 changed, 0 unchanged, 0 gone, 0 removed, 0 failed", b.ids()...)
	if last.Sent != 20 || last.Files != 20 || last.Passages != 20 || last.Total != 20 || last.Looked != 20 || len(last.Hand) != 0 {
		t.Errorf("%+v", last)
	}
}

// TestWatch proves that a watch brings in what changes while it runs: files and folders made, changed, moved and removed,
// and that it ends with its context.
func TestWatch(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a.md": "A"})
	b.change = func(c *folder.Config) { c.Remove = true }
	s, closing := b.open()
	defer closing()
	ctx, stop := context.WithCancel(t.Context())
	passes, ended := make(chan folder.Result), make(chan error, 1)
	go func() {
		ended <- s.Watch(ctx, folder.Hooks{
			Before: func() {},
			After: func(r *folder.Result, err error) error {
				select {
				case passes <- *r:
				case <-ctx.Done():
				}
				return err
			},
			Note: func(text string) { t.Log(text) },
		})
	}()
	await := func(want map[string]string) {
		t.Helper()
		for {
			select {
			case <-passes:
			case err := <-ended:
				t.Fatalf("the watch has ended: %v", err)
			}
			if b.corpus.holds(want) {
				return
			}
		}
	}
	await(map[string]string{"a.md": "A"})
	b.write("a.md", "A2")
	await(map[string]string{"a.md": "A2"})
	b.write("new/deep/b.md", "B")
	await(map[string]string{"a.md": "A2", "new/deep/b.md": "B"})
	b.write("new/deep/c.md", "C")
	await(map[string]string{"a.md": "A2", "new/deep/b.md": "B", "new/deep/c.md": "C"})
	b.rename("new/deep", "moved")
	await(map[string]string{"a.md": "A2", "moved/b.md": "B", "moved/c.md": "C"})
	b.remove("moved/b.md")
	await(map[string]string{"a.md": "A2", "moved/c.md": "C"})
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("ends with %v", err)
	}
}
