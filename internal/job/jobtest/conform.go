package jobtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/job"
	"quarry/internal/page"
	"quarry/internal/testkit"
)

// Conform holds a job.Store to the interface's comments. open returns a fresh, empty one.
func Conform(t *testing.T, open func(testing.TB) job.Store) {
	for _, c := range []struct {
		name string
		test func(*testing.T, job.Store)
	}{
		{"job written", testJobWritten}, {"job written once", testJobWrittenOnce}, {"job of another account", testJobOfAnother}, {"list jobs", testListJobs},
		{"claim", testClaim}, {"claim once", testClaimOnce}, {"turns", testTurns}, {"lanes", testLanes},
		{"lease lost", testLeaseLost}, {"checkpoint", testCheckpoint}, {"ends", testEnds}, {"free", testFree},
		{"sweep jobs", testSweepJobs},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.test(t, open(t))
		})
	}
}

var epoch = time.Date(2031, 4, 2, 8, 0, 0, 1000, time.UTC)

const kind job.Type = "test"

// at is a moment of these tests, in seconds.
func at(s float64) time.Time { return epoch.Add(time.Duration(s * float64(time.Second))) }

func add(t *testing.T, s job.Store, j job.Job) job.Job {
	t.Helper()
	if j.ID == "" {
		j.ID = id.NewJob()
	}
	if j.Type == "" {
		j.Type = kind
	}
	if j.Created.IsZero() {
		j.Created = epoch
	}
	if j.Input == nil {
		j.Input = json.RawMessage(`null`)
	}
	j, err := s.Add(t.Context(), j)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// claim takes a job at a moment for ten seconds; the lease is empty when there is none.
func claim(t *testing.T, s job.Store, now time.Time) (job.Job, job.Lease) {
	t.Helper()
	l := job.Lease{Holder: id.Text(8), Until: now.Add(10 * time.Second)}
	j, ok, err := s.Claim(t.Context(), []job.Type{kind, "other"}, now, l)
	if err != nil {
		t.Fatal(err)
	}
	if !ok {
		return j, job.Lease{}
	}
	l.No = j.No
	return j, l
}

func end(t *testing.T, s job.Store, l job.Lease, o job.Outcome) {
	t.Helper()
	if err := s.End(t.Context(), l, o); err != nil {
		t.Fatal(err)
	}
}

func stored(t *testing.T, s job.Store, j job.Job) job.Job {
	t.Helper()
	got, err := s.Get(t.Context(), j.Account, j.ID)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// testJobWritten proves that add keeps every member and queues the job.
func testJobWritten(t *testing.T, s job.Store) {
	for _, want := range []job.Job{
		{ID: "job_a", Type: kind, Account: "acme", CreatedBy: "ann", CorpusKeys: []string{"b", "a"}, Lane: "corpus:1", Comment: "soon",
			Created: epoch, Input: json.RawMessage(`{"ids":["é<\u0000"]}`)},
		{ID: "job_b", Type: kind, Created: epoch, Input: json.RawMessage(`null`)},
	} {
		made := add(t, s, want)
		if made.No == 0 {
			t.Error("the job has no number")
		}
		want.No, want.State = made.No, job.Queued
		if diff := cmp.Diff(want, made); diff != "" {
			t.Error("added (-want +got):", diff)
		}
		if diff := cmp.Diff(want, stored(t, s, want)); diff != "" {
			t.Error("stored (-want +got):", diff)
		}
	}
}

// testJobWrittenOnce proves that of calls at once for one type and lane one writes a job, whose name all return, until that
// job has ended.
func testJobWrittenOnce(t *testing.T, s job.Store) {
	once := func(typ job.Type, lane string) id.Job {
		j, err := s.AddOnce(t.Context(), job.Job{ID: id.NewJob(), Type: typ, Lane: lane, Created: epoch, Input: json.RawMessage(`{"n":1}`)})
		if err != nil || string(j.Input) != `{"n":1}` || j.No == 0 {
			t.Errorf("added once: %+v, %v", j, err)
		}
		return j.ID
	}
	found := make([]id.Job, 8)
	var all sync.WaitGroup
	for i := range found {
		all.Go(func() { found[i] = once(kind, "l") })
	}
	all.Wait()
	if len(slices.Compact(found)) > 1 {
		t.Errorf("several jobs were written: %v", found)
	}
	if other, lane := once("other", "l"), once(kind, "m"); other == found[0] || lane == found[0] {
		t.Error("a job of another type or lane was taken for it")
	}
	_, l := claim(t, s, at(1))
	if got := once(kind, "l"); got != found[0] {
		t.Errorf("while it waits or runs another one is written: %s", got)
	}
	for ; l.No != 0; _, l = claim(t, s, at(1)) {
		end(t, s, l, job.Outcome{State: job.Completed, At: at(2)})
	}
	if got := once(kind, "l"); got == found[0] {
		t.Error("the job that has ended was returned")
	}
}

// testJobOfAnother proves that a job is not found by another account, nor is one that never was.
func testJobOfAnother(t *testing.T, s job.Store) {
	j := add(t, s, job.Job{Account: "a"})
	for _, c := range []struct {
		account string
		id      id.Job
	}{{"b", j.ID}, {"a", "job_none"}, {"", j.ID}} {
		_, err := s.Get(t.Context(), c.account, c.id)
		if f, ok := fault.As(err); !ok || f.Kind != fault.KindNotFound || f.Code != "job_not_found" || f.ID != string(c.id) {
			t.Errorf("Get(%q, %s): %v, want job_not_found", c.account, c.id, err)
		}
	}
}

// testListJobs proves that List orders by creation then id, newest first, pages without gap, and joins its filters.
func testListJobs(t *testing.T, s job.Store) {
	add(t, s, job.Job{ID: "job_a", Created: at(1), CorpusKeys: []string{"x"}})
	add(t, s, job.Job{ID: "job_B", Created: at(2), CorpusKeys: []string{"x", "y"}, Type: "other"})
	add(t, s, job.Job{ID: "job_b", Created: at(2)})
	add(t, s, job.Job{ID: "job_c", Created: at(2), CorpusKeys: []string{"y"}})
	add(t, s, job.Job{ID: "job_z", Created: at(3), Account: "other"})
	_, l := claim(t, s, at(4)) // the other account's, or job_a; see below
	end(t, s, l, job.Outcome{State: job.Completed, At: at(5)})
	_, l = claim(t, s, at(4))
	end(t, s, l, job.Outcome{State: job.Completed, At: at(5)})
	for _, c := range []struct {
		name string
		list job.List
		want []id.Job
		more bool
	}{
		{"all", job.List{Limit: 9}, []id.Job{"job_c", "job_b", "job_B", "job_a"}, false},
		{"first two", job.List{Limit: 2}, []id.Job{"job_c", "job_b"}, true},
		{"after them", job.List{Limit: 2, Before: page.At(at(2), "job_b")}, []id.Job{"job_B", "job_a"}, false},
		{"none", job.List{}, nil, false},
		{"of x", job.List{Limit: 9, Corpora: []string{"x"}}, []id.Job{"job_B", "job_a"}, false},
		{"of x or y", job.List{Limit: 9, Corpora: []string{"x", "y", "none"}}, []id.Job{"job_c", "job_B", "job_a"}, false},
		{"after", job.List{Limit: 9, After: at(1)}, []id.Job{"job_c", "job_b", "job_B"}, false},
		{"after all", job.List{Limit: 9, After: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)}, nil, false},
		{"completed", job.List{Limit: 9, States: []job.State{job.Completed}}, []id.Job{"job_a"}, false},
		{"queued or failed of y", job.List{Limit: 9, States: []job.State{job.Queued, job.Failed}, Corpora: []string{"y"}}, []id.Job{"job_c", "job_B"}, false},
		{"another account's", job.List{Limit: 9, Account: "other"}, []id.Job{"job_z"}, false},
	} {
		page, more, err := s.List(t.Context(), c.list)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		var got []id.Job
		for _, j := range page {
			got = append(got, j.ID)
			if j.Input != nil || j.Progress != nil {
				t.Errorf("%s: job %s comes with input or progress", c.name, j.ID)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" || more != c.more {
			t.Errorf("%s: more %v, want %v; (-want +got): %s", c.name, more, c.more, diff)
		}
	}
}

// testClaim proves that a claimed job is started and not claimed again before its lease has run out; a type not asked
// for is not claimed.
func testClaim(t *testing.T, s job.Store) {
	add(t, s, job.Job{Type: "unknown here"})
	want := add(t, s, job.Job{})
	if j, l := claim(t, s, at(-1)); l.No != 0 {
		t.Errorf("claimed %v before it was due", j)
	}
	got, l := claim(t, s, at(1))
	want.State, want.Started, want.Attempt = job.Started, at(1), 1
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("claimed (-want +got):", diff)
	}
	if diff := cmp.Diff(want, stored(t, s, want)); diff != "" {
		t.Error("stored (-want +got):", diff)
	}
	if j, l := claim(t, s, at(10.999)); l.No != 0 {
		t.Errorf("claimed %v under a lease", j)
	}
	again, _ := claim(t, s, l.Until)
	want.Attempt = 2
	if diff := cmp.Diff(want, again); diff != "" {
		t.Error("claimed after its lease (-want +got):", diff)
	}
}

// testClaimOnce proves that of many workers that claim at once each job goes to one.
func testClaimOnce(t *testing.T, s job.Store) {
	for range 12 {
		add(t, s, job.Job{})
	}
	taken := testkit.AtOnce(t.Context(), 16, func(ctx context.Context, i int) []int64 {
		var mine []int64
		for {
			j, ok, err := s.Claim(ctx, []job.Type{kind}, at(1), job.Lease{Holder: fmt.Sprint(i), Until: at(9)})
			if err != nil {
				t.Error(err)
			}
			if !ok {
				return mine
			}
			mine = append(mine, j.No)
		}
	})
	all := slices.Concat(taken...)
	slices.Sort(all)
	if n := len(slices.Compact(slices.Clone(all))); n != 12 || len(all) != 12 {
		t.Errorf("12 jobs were claimed as %v", all)
	}
}

// testTurns proves that an account with one job does not wait for another's many.
func testTurns(t *testing.T, s job.Store) {
	for range 4 {
		add(t, s, job.Job{Account: "a"})
	}
	for _, account := range []string{"b", "b", "c"} {
		add(t, s, job.Job{Account: account})
	}
	var order string
	var seen []int64
	for range 7 {
		j, _ := claim(t, s, at(1))
		order += j.Account
		if j.Account == "a" {
			seen = append(seen, j.No)
		}
	}
	if order != "abcabaa" {
		t.Errorf("accounts were served in the order %s, want abcabaa", order)
	}
	if !slices.IsSorted(seen) {
		t.Errorf("jobs of one account were claimed in the order %v", seen)
	}
}

// testLanes proves that jobs of one lane run one after another, oldest first, also while one waits to be tried again;
// others don't wait.
func testLanes(t *testing.T, s job.Store) {
	first := add(t, s, job.Job{Lane: "l"})
	second := add(t, s, job.Job{Lane: "l"})
	other := add(t, s, job.Job{Lane: "m"})
	free := add(t, s, job.Job{})
	expect := func(now time.Time, want job.Job) job.Lease {
		t.Helper()
		j, l := claim(t, s, now)
		if j.ID != want.ID {
			t.Fatalf("claimed %+v, want %s", j, want.ID)
		}
		return l
	}
	l := expect(at(1), first)
	expect(at(1), other)
	expect(at(1), free)
	expect(at(1), job.Job{})
	end(t, s, l, job.Outcome{State: job.WillRetry, At: at(2), Due: at(5)})
	expect(at(3), job.Job{})
	l = expect(at(5), first)
	end(t, s, l, job.Outcome{State: job.Failed, At: at(6)})
	expect(at(6), second)
}

// testLeaseLost proves that a worker whose lease was lost to another, or whose job was given back, can't write any
// more.
func testLeaseLost(t *testing.T, s job.Store) {
	j := add(t, s, job.Job{})
	_, old := claim(t, s, at(1))
	_, l := claim(t, s, at(12))
	late := func(l job.Lease, what string) {
		t.Helper()
		if err := s.Save(t.Context(), l, job.Checkpoint{Progress: json.RawMessage(`"late"`)}); !errors.Is(err, job.ErrAborted) {
			t.Errorf("Save %s: %v, want ErrAborted", what, err)
		}
		if err := s.End(t.Context(), l, job.Outcome{State: job.Completed, At: at(13)}); !errors.Is(err, job.ErrAborted) {
			t.Errorf("End %s: %v, want ErrAborted", what, err)
		}
	}
	late(old, "after another's claim")
	end(t, s, l, job.Outcome{State: job.Failed, Comment: "why", At: at(13)})
	late(l, "after its end")
	if got := stored(t, s, j); got.State != job.Failed || got.Progress != nil || got.Comment != "why" {
		t.Errorf("stored %+v", got)
	}
}

// testCheckpoint proves that save extends the lease and keeps what it is not given; only progress that differs makes
// the attempts count again.
func testCheckpoint(t *testing.T, s job.Store) {
	j := add(t, s, job.Job{})
	claim(t, s, at(1))
	_, l := claim(t, s, at(12))
	comment := "half"
	for i, c := range []struct {
		save     job.Checkpoint
		progress string
		comment  string
		attempt  int
	}{
		{job.Checkpoint{}, "", "", 2},
		{job.Checkpoint{Progress: json.RawMessage(`{"n":1}`)}, `{"n":1}`, "", 1},
		{job.Checkpoint{Comment: &comment}, `{"n":1}`, "half", 1},
	} {
		l.Until = at(30 + float64(i))
		if err := s.Save(t.Context(), l, c.save); err != nil {
			t.Fatal(err)
		}
		got := stored(t, s, j)
		if string(got.Progress) != c.progress || got.Comment != c.comment || got.Attempt != c.attempt {
			t.Errorf("save %d: stored %+v", i, got)
		}
	}
	if _, l := claim(t, s, at(31.9)); l.No != 0 {
		t.Error("claimed under a lease that was extended")
	}
	again, l := claim(t, s, at(32))
	if again.Attempt != 2 || string(again.Progress) != `{"n":1}` {
		t.Errorf("claimed %+v, want attempt 2 with the progress", again)
	}
	if err := s.Save(t.Context(), l, job.Checkpoint{Progress: json.RawMessage(`{"n":1}`)}); err != nil {
		t.Fatal(err)
	}
	if got := stored(t, s, j); got.Attempt != 2 {
		t.Errorf("attempt %d after the same progress, want 2", got.Attempt)
	}
}

// testEnds proves that a job given back is claimed again when due, unless it has ended; what is put back has not been
// tried.
func testEnds(t *testing.T, s job.Store) {
	for _, c := range []struct {
		o         job.Outcome
		attempt   int
		claimable bool
	}{
		{job.Outcome{State: job.Completed, Comment: "done", At: at(2)}, 1, false},
		{job.Outcome{State: job.Failed, Comment: "why", At: at(2)}, 1, false},
		{job.Outcome{State: job.Aborted, At: at(2)}, 1, false},
		{job.Outcome{State: job.WillRetry, Comment: "why", At: at(2), Due: at(5)}, 1, true},
		{job.Outcome{State: job.Queued, At: at(2), Due: at(5)}, 0, true},
	} {
		j := add(t, s, job.Job{Comment: "before"})
		_, l := claim(t, s, at(1))
		end(t, s, l, c.o)
		got := stored(t, s, j)
		want := c.o.Comment
		if want == "" {
			want = "before"
		}
		if got.State != c.o.State || got.Comment != want || got.Attempt != c.attempt || got.Completed.IsZero() != c.claimable || !got.Started.Equal(at(1)) {
			t.Errorf("after %+v stored %+v", c.o, got)
		}
		if _, l := claim(t, s, at(4)); l.No != 0 {
			t.Errorf("after %+v claimed before it was due", c.o)
		}
		if again, l := claim(t, s, at(5)); (l.No != 0) != c.claimable {
			t.Errorf("after %+v claimed %+v", c.o, again)
		} else if l.No != 0 {
			end(t, s, l, job.Outcome{State: job.Completed, At: at(6)})
		}
	}
}

// testFree proves that free returns back what a dead process had, and nothing else.
func testFree(t *testing.T, s job.Store) {
	j := add(t, s, job.Job{})
	_, l := claim(t, s, at(1))
	if err := s.Free(t.Context(), at(2)); err != nil {
		t.Fatal(err)
	}
	if err := s.Save(t.Context(), l, job.Checkpoint{}); !errors.Is(err, job.ErrAborted) {
		t.Errorf("Save after Free: %v, want ErrAborted", err)
	}
	got, l := claim(t, s, at(2))
	if got.ID != j.ID {
		t.Fatalf("claimed %+v", got)
	}
	end(t, s, l, job.Outcome{State: job.WillRetry, At: at(3), Due: at(9)})
	if err := s.Free(t.Context(), at(4)); err != nil {
		t.Fatal(err)
	}
	if _, l := claim(t, s, at(5)); l.No != 0 {
		t.Error("a job that waits to be tried again was freed")
	}
}

// testSweepJobs proves that Sweep removes what ended long ago and keeps what did not end.
func testSweepJobs(t *testing.T, s job.Store) {
	old, fresh, open := add(t, s, job.Job{CorpusKeys: []string{"k"}}), add(t, s, job.Job{}), add(t, s, job.Job{})
	for _, when := range []float64{2, 5} {
		_, l := claim(t, s, at(1))
		end(t, s, l, job.Outcome{State: job.Completed, At: at(when)})
	}
	if err := s.Sweep(t.Context(), at(5)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(t.Context(), "", old.ID); !fault.Is(err, fault.KindNotFound) {
		t.Errorf("the old job: %v, want not found", err)
	}
	stored(t, s, fresh)
	stored(t, s, open)
}

// AbortedByDelete proves that remove, which deletes the corpus gone, aborts its unfinished jobs alone, and that their
// workers can't write any more. The corpus stays exists, too.
func AbortedByDelete(t *testing.T, s job.Store, remove func() error) {
	t.Helper()
	ended := add(t, s, job.Job{CorpusKeys: []string{"gone"}})
	_, l := claim(t, s, at(1))
	end(t, s, l, job.Outcome{State: job.Completed, At: at(2)})
	running := add(t, s, job.Job{CorpusKeys: []string{"stays", "gone"}})
	_, l = claim(t, s, at(1))
	queued := add(t, s, job.Job{CorpusKeys: []string{"gone"}})
	other := add(t, s, job.Job{CorpusKeys: []string{"stays"}})
	if err := remove(); err != nil {
		t.Fatal(err)
	}
	for j, want := range map[*job.Job]job.State{&ended: job.Completed, &running: job.Aborted, &queued: job.Aborted, &other: job.Queued} {
		got := stored(t, s, *j)
		if got.State != want || got.Completed.IsZero() == want.Ended() {
			t.Errorf("stored %+v, want %s", got, want)
		}
		if want == job.Aborted && got.Comment != "corpus gone was deleted" {
			t.Errorf("comment %q", got.Comment)
		}
	}
	if err := s.Save(t.Context(), l, job.Checkpoint{}); !errors.Is(err, job.ErrAborted) {
		t.Errorf("Save of an aborted job: %v, want ErrAborted", err)
	}
}
