// Package blobtest is what every blob.Store is held to.
package blobtest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"quarry/internal/blob"
	"quarry/internal/clock"
)

// Bed is a store with what lies behind it.
type Bed struct {
	blob.Store
	Refer   func(testing.TB, blob.Blob) error // counts a reference
	Unrefer func(testing.TB, blob.Blob)
	Damage  func(testing.TB, blob.Blob) // changes a byte in the middle
	Lose    func(testing.TB, blob.Blob) // removes a part, or the whole
	// Stored returns the contents that there are, in any order, and how much else is kept, such as what is being written.
	Stored  func(testing.TB) (sums []string, other int)
	Restart func(testing.TB) Bed // as after a kill
}

// Conform holds a blob.Store to the interface's comments. open returns a fresh, empty one.
func Conform(t *testing.T, open func(testing.TB) Bed) {
	for _, c := range []struct {
		name string
		test func(*testing.T, Bed)
	}{
		{"read", testRead}, {"once", testOnce}, {"limit", testLimit}, {"broken off", testBrokenOff}, {"damaged", testDamaged},
		{"holds", testHolds}, {"references", testReferences}, {"killed", testKilled}, {"at once", testAtOnce},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.test(t, open(t))
		})
	}
}

// most is the limit of these tests: a few pieces.
const most = 3 << 20

// content returns n bytes that differ from one seed to the next.
func content(n int, seed uint64) []byte {
	out := make([]byte, n)
	r := rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)})
	_, _ = r.Read(out) // never fails
	return out
}

func put(t testing.TB, b Bed, data []byte) blob.Blob {
	t.Helper()
	out, err := b.Put(t.Context(), bytes.NewReader(data), most)
	if err != nil {
		t.Fatalf("put %d bytes: %v", len(data), err)
	}
	return out
}

func release(t testing.TB, b Bed, x blob.Blob) {
	t.Helper()
	if err := b.Release(t.Context(), x); err != nil {
		t.Fatalf("release: %v", err)
	}
}

// later is when a store takes every hold for one of a process that was killed.
func later() time.Time { return clock.Now().Add(48 * time.Hour) }

func sweep(t testing.TB, b Bed, now time.Time, want int) {
	t.Helper()
	if n, err := b.Sweep(t.Context(), now); err != nil || n != want {
		t.Fatalf("sweep removes %d, %v; want %d", n, err, want)
	}
}

// holds fails unless the store has these contents and nothing else.
func holds(t testing.TB, b Bed, want ...blob.Blob) {
	t.Helper()
	got, other := b.Stored(t)
	if len(got) != len(want) || other != 0 {
		t.Fatalf("there are %d contents and %d other things, want %d and none", len(got), other, len(want))
	}
	for _, x := range want {
		if !slices.Contains(got, x.Sum) {
			t.Fatalf("%s is not there", x.Sum)
		}
	}
}

// testRead proves that what was put is read again, whole and in ranges, by readers at once.
func testRead(t *testing.T, b Bed) {
	for i, n := range []int{0, 1, 512 << 10, 512<<10 + 1, 2<<20 + 77} {
		data := content(n, uint64(i))
		x := put(t, b, data)
		if x.Size != int64(n) || !blob.Valid(x.Sum) {
			t.Fatalf("%d bytes are %+v", n, x)
		}
		c, err := b.Open(t.Context(), x)
		if err != nil {
			t.Fatalf("open %d bytes: %v", n, err)
		}
		if err := iotest.TestReader(c, data); n < 1<<20 && err != nil {
			t.Errorf("%d bytes: %v", n, err)
		}
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for range 20 {
					from := rand.IntN(n + 1)
					p := make([]byte, rand.IntN(n-from+1))
					if k, err := c.ReadAt(p, int64(from)); k != len(p) || err != nil && !errors.Is(err, io.EOF) || !bytes.Equal(p, data[from:from+k]) {
						t.Errorf("read %d bytes from %d of %d: %d, %v", len(p), from, n, k, err)
					}
				}
			})
		}
		all.Wait()
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

// testOnce proves that the same content twice is kept once, until nobody has it any more.
func testOnce(t *testing.T, b Bed) {
	data := content(700_000, 1)
	first, second := put(t, b, data), put(t, b, data)
	if first != second {
		t.Fatalf("the same content is %+v and %+v", first, second)
	}
	holds(t, b, first)
	release(t, b, first)
	sweep(t, b, clock.Now(), 0)
	release(t, b, second)
	sweep(t, b, clock.Now(), 1)
	holds(t, b)
}

// testLimit proves that a content may have as many bytes as the limit, and that one more is refused and leaves nothing.
func testLimit(t *testing.T, b Bed) {
	exact := content(most, 1)
	x := put(t, b, exact)
	if _, err := b.Put(t.Context(), bytes.NewReader(append(exact, 1)), most); !errors.Is(err, blob.ErrTooLarge) {
		t.Errorf("a byte too many: %v", err)
	}
	holds(t, b, x)
}

// testBrokenOff proves that the error of a reader is that of Put, and that nothing is left.
func testBrokenOff(t *testing.T, b Bed) {
	gone := errors.New("the client is gone")
	_, err := b.Put(t.Context(), io.MultiReader(bytes.NewReader(content(1_200_000, 1)), iotest.ErrReader(gone)), most)
	if !errors.Is(err, gone) {
		t.Errorf("put: %v", err)
	}
	holds(t, b)
}

// testDamaged proves that a content whose bytes are others than were stored, or are gone, isn't read.
func testDamaged(t *testing.T, b Bed) {
	changed, lost := put(t, b, content(1_300_000, 1)), put(t, b, content(1_300_000, 2))
	b.Damage(t, changed)
	b.Lose(t, lost)
	none := blob.Blob{Sum: "../../../../etc/passwd", Size: 10}
	for _, x := range []blob.Blob{changed, lost, none, {Sum: changed.Sum, Size: 5}} {
		c, err := b.Open(t.Context(), x)
		if !errors.Is(err, blob.ErrDamaged) && !errors.Is(err, blob.ErrMissing) {
			t.Errorf("open %+v: %v, %v", x, c, err)
		}
	}
	if x := put(t, b, content(1_300_000, 3)); x.Sum == changed.Sum {
		t.Error("other bytes have the same name")
	}
}

// testHolds proves that a content that is held stays, and goes when it is released and nobody refers to it.
func testHolds(t *testing.T, b Bed) {
	kept, left := put(t, b, content(600_000, 1)), put(t, b, content(600_000, 2))
	sweep(t, b, clock.Now(), 0)
	if err := b.Refer(t, kept); err != nil {
		t.Fatal(err)
	}
	release(t, b, kept)
	release(t, b, left)
	sweep(t, b, clock.Now(), 1)
	holds(t, b, kept)
	if err := b.Refer(t, left); err == nil {
		t.Error("something refers to a content that is gone")
	}
	again := put(t, b, content(600_000, 2))
	holds(t, b, kept, again)
}

// testReferences proves that a content stays while anything refers to it.
func testReferences(t *testing.T, b Bed) {
	x := put(t, b, content(10, 1))
	for range 3 {
		if err := b.Refer(t, x); err != nil {
			t.Fatal(err)
		}
	}
	release(t, b, x)
	for range 2 {
		b.Unrefer(t, x)
		sweep(t, b, later(), 0)
	}
	b.Unrefer(t, x)
	sweep(t, b, clock.Now(), 1)
	holds(t, b)
}

// cut reads as if the process were killed in the middle.
type cut struct {
	io.Reader
	dead chan struct{}
	at   chan struct{}
}

func (c *cut) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	if err == io.EOF {
		close(c.at)
		<-c.dead
		return 0, errors.New("too late")
	}
	return n, err
}

// testKilled proves that what a killed process has held or was writing goes, and what is referred to stays.
func testKilled(t *testing.T, b Bed) {
	kept, held := put(t, b, content(600_000, 1)), put(t, b, content(600_000, 2))
	if err := b.Refer(t, kept); err != nil {
		t.Fatal(err)
	}
	writer := &cut{Reader: bytes.NewReader(content(1_500_000, 3)), dead: make(chan struct{}), at: make(chan struct{})}
	var all sync.WaitGroup
	all.Go(func() { _, _ = b.Put(t.Context(), writer, most) }) // its process is dead
	<-writer.at
	if _, other := b.Stored(t); other == 0 {
		t.Error("nothing is being written")
	}
	next := b.Restart(t)
	if _, err := next.Sweep(t.Context(), later()); err != nil {
		t.Fatal(err)
	}
	holds(t, next, kept)
	if c, err := next.Open(t.Context(), kept); err != nil {
		t.Errorf("open what is referred to: %v", err)
	} else if err := c.Close(); err != nil {
		t.Error(err)
	}
	if _, err := next.Open(t.Context(), held); !errors.Is(err, blob.ErrMissing) {
		t.Errorf("open what was held: %v", err)
	}
	close(writer.dead)
	all.Wait()
}

// testAtOnce proves that writers of the same contents, some of which go on to refer to them, and sweeps at the same time leave
// exactly what is referred to.
func testAtOnce(t *testing.T, b Bed) {
	const kinds, writers, rounds = 3, 6, 12
	var refs [kinds]atomic.Int64
	var all, sweeps sync.WaitGroup
	over := make(chan struct{})
	for range 2 {
		sweeps.Go(func() {
			for {
				select {
				case <-over:
					return
				default:
				}
				if _, err := b.Sweep(t.Context(), clock.Now()); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for w := range writers {
		all.Go(func() {
			r := rand.New(rand.NewPCG(uint64(w), 5))
			for range rounds {
				if err := turn(t, b, r, &refs); err != nil {
					t.Errorf("writer %d: %v", w, err)
					return
				}
			}
		})
	}
	all.Wait()
	close(over)
	sweeps.Wait()
	if _, err := b.Sweep(t.Context(), clock.Now()); err != nil {
		t.Fatal(err)
	}
	var want []blob.Blob
	for i := range refs {
		if refs[i].Load() > 0 {
			want = append(want, put(t, b, content(5000, uint64(i))))
		}
	}
	holds(t, b, want...)
}

// turn is what one writer does once.
func turn(t *testing.T, b Bed, r *rand.Rand, refs *[3]atomic.Int64) error {
	kind := r.IntN(len(refs))
	x, err := b.Put(t.Context(), bytes.NewReader(content(5000, uint64(kind))), most)
	if err != nil {
		return fmt.Errorf("put: %w", err)
	}
	keeps := r.IntN(2) == 0
	if keeps {
		if err := b.Refer(t, x); err != nil {
			return fmt.Errorf("refer to what is held: %w", err)
		}
	}
	if err := b.Release(t.Context(), x); err != nil {
		return fmt.Errorf("release: %w", err)
	}
	if !keeps {
		return nil
	}
	c, err := b.Open(t.Context(), x)
	if err != nil {
		return fmt.Errorf("open: %w", err)
	}
	if err := c.Close(); err != nil {
		return err
	}
	if r.IntN(2) == 0 {
		b.Unrefer(t, x)
		return nil
	}
	refs[kind].Add(1)
	return nil
}
