package signin

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/argon2"

	"quarry/internal/background"
	"quarry/internal/fault"
)

// cost is the parameters of argon2id (RFC 9106). Each hash contains its own, so that hashes of another cost stay valid.
type cost struct {
	memory uint32 // KiB
	passes uint32
	lanes  uint8
}

// current is the smallest configuration that OWASP recommends for argon2id (19 MiB, two passes, one lane).
var current = cost{memory: 19 << 10, passes: 2, lanes: 1}

const (
	saltBytes   = 16
	digestBytes = 32

	// The highest cost accepted in a stored hash: a row written by hand must not use up the memory of the machine.
	maxMemory = 256 << 10
	maxPasses = 16
	maxLanes  = 4

	// maxWaiting is how many attempts may wait for a place, about as many as get one within maxWait; more are refused at
	// once. If it were small, guesses from a few dozen addresses would leave no room for anyone else.
	maxWaiting = 128
	// maxWait is how long an attempt waits for a place.
	maxWait = 5 * time.Second
)

// hasher runs argon2id, at most two at once and never on all processors if there are several, so that attempts to sign
// in do not slow down other requests. It is safe for concurrent use.
type hasher struct {
	cost    cost
	derive  func(s stored, password string, n int) []byte
	places  chan struct{}
	waiting atomic.Int32
}

func newHasher(c cost) *hasher {
	return &hasher{cost: c, derive: stored.run, places: make(chan struct{}, max(1, min(2, background.Cores()-1)))}
}

// errBusy is returned when too many attempts wait.
func errBusy() error {
	return fault.Limited("rate_limit_exceeded", "too many people sign in at this moment; try again in a few seconds").After(maxWait)
}

// enter waits for a place; leave frees it.
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

// hash returns the hash of a password as it is stored: algorithm, cost, salt and digest in the PHC string format.
func (h *hasher) hash(ctx context.Context, password string) (string, error) {
	if err := h.enter(ctx); err != nil {
		return "", err
	}
	defer h.leave()
	s := stored{cost: h.cost, salt: random(saltBytes)}
	s.digest = h.derive(s, password, digestBytes)
	return s.String(), nil
}

// verify reports whether text is the hash of password, and whether its cost is another than today's. An empty text is
// no hash: checking it takes the same time and always fails.
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

// stored is a parsed hash.
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

// errHash is the error for a stored text that is not a hash. It does not contain the text.
var errHash = errors.New("the stored password hash can't be read")

// parse reads the PHC string format. It refuses any form that String does not write, and costs out of bounds.
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
