package signin

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/argon2"

	"quarry/internal/fault"
)

// cost is what one argon2id costs. It stands in each hash, so that hashes made with another cost stay valid.
type cost struct {
	memory uint32 // KiB
	passes uint32
	lanes  uint8
}

// current is the least that OWASP names for argon2id with little memory (19 MiB, two passes, one lane).
var current = cost{memory: 19 << 10, passes: 2, lanes: 1}

const (
	saltBytes   = 16
	digestBytes = 32

	// What a stored hash may ask for at most: a row that someone wrote by hand must not take the machine's memory.
	maxMemory = 256 << 10
	maxPasses = 16
	maxLanes  = 4

	// maxWaiting is how many attempts wait for a place at most, about as many as find one in time; more are refused at once.
	// With a short line a few dozen who guess from as many addresses would leave no room for anyone else.
	maxWaiting = 128
	// maxWait is how long each waits.
	maxWait = 5 * time.Second
)

// hasher runs argon2id, at most two at once and never on every processor while there is more than one, so that
// attempts to sign in are not in the way of other requests. It is safe for concurrent use.
type hasher struct {
	cost    cost
	derive  func(s stored, password string, n int) []byte
	places  chan struct{}
	waiting atomic.Int32
}

func newHasher(c cost) *hasher {
	return &hasher{cost: c, derive: stored.run, places: make(chan struct{}, max(1, min(2, runtime.GOMAXPROCS(0)-1)))}
}

// errBusy is what comes back when more attempts wait than are worth it.
func errBusy() error {
	return fault.Limited("rate_limit_exceeded", "too many people sign in at this moment; try again in a few seconds").After(maxWait)
}

// enter waits for a place; leave gives it back.
func (h *hasher) enter(ctx context.Context) error {
	select {
	case h.places <- struct{}{}:
		return nil
	default:
	}
	defer h.waiting.Add(-1)
	if h.waiting.Add(1) > maxWaiting {
		return errBusy()
	}
	late := time.NewTimer(maxWait)
	defer late.Stop()
	select {
	case h.places <- struct{}{}:
		return nil
	case <-late.C:
		return errBusy()
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (h *hasher) leave() { <-h.places }

// hash gives the text that is stored of a password: algorithm, cost, salt and digest in the PHC form.
func (h *hasher) hash(ctx context.Context, password string) (string, error) {
	if err := h.enter(ctx); err != nil {
		return "", err
	}
	defer h.leave()
	s := stored{cost: h.cost, salt: random(saltBytes)}
	s.digest = h.derive(s, password, digestBytes)
	return s.String(), nil
}

// verify says whether password is the one that text was made of, and whether text was made with another cost than
// today's. An empty text is the hash of no password: it costs the same and is never right.
func (h *hasher) verify(ctx context.Context, text, password string) (right, outdated bool, err error) {
	s := stored{cost: h.cost, salt: random(saltBytes), digest: random(digestBytes)}
	if text != "" {
		if s, err = parse(text); err != nil {
			return false, false, err
		}
	}
	if err := h.enter(ctx); err != nil {
		return false, false, err
	}
	defer h.leave()
	same := subtle.ConstantTimeCompare(h.derive(s, password, len(s.digest)), s.digest) == 1
	return same && text != "", s.cost != h.cost, nil
}

// stored is a hash taken apart.
type stored struct {
	cost
	salt, digest []byte
}

func (s stored) run(password string, n int) []byte {
	return argon2.IDKey([]byte(password), s.salt, s.passes, s.memory, s.lanes, uint32(n))
}

func (s stored) String() string {
	b64 := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, s.memory, s.passes, s.lanes,
		b64.EncodeToString(s.salt), b64.EncodeToString(s.digest))
}

// errHash is the error of a stored hash that is none. It says nothing of the hash.
var errHash = errors.New("the stored password hash can't be read")

// parse reads the PHC form and refuses what String does not write and costs out of bounds.
func parse(text string) (stored, error) {
	var s stored
	var version int
	parts := strings.Split(text, "$")
	if len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" {
		return s, errHash
	}
	if _, err := fmt.Sscanf(parts[2], "v=%d", &version); err != nil || version != argon2.Version {
		return s, errHash
	}
	if _, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &s.memory, &s.passes, &s.lanes); err != nil {
		return s, errHash
	}
	var err1, err2 error
	s.salt, err1 = base64.RawStdEncoding.DecodeString(parts[4])
	s.digest, err2 = base64.RawStdEncoding.DecodeString(parts[5])
	if err1 != nil || err2 != nil || s.String() != text {
		return s, errHash
	}
	if s.memory < 8 || s.memory > maxMemory || s.passes < 1 || s.passes > maxPasses || s.lanes < 1 || s.lanes > maxLanes ||
		len(s.salt) < 8 || len(s.salt) > 64 || len(s.digest) < 16 || len(s.digest) > 64 {
		return s, errHash
	}
	return s, nil
}

func random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails since Go 1.24
	return b
}
