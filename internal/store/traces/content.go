package traces

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"quarry/internal/secret/seal"
	"quarry/internal/store"
	"quarry/internal/store/secrets"
	"quarry/internal/trace"
)

// contentKey is the key that seals the texts of spans: random, made with the first text, and itself a secret of the installation. A
// rotation seals it anew and leaves the texts, of which there may be gigabytes.
type contentKey struct {
	db      *store.DB
	secrets *secrets.Store
	known   atomic.Pointer[seal.Keyring] // what is committed
	looking sync.Mutex                   // held by who looks for it outside of a transaction
}

// keyName is the name of the key among the secrets.
const keyName = "trace/content"

// get returns the ring with the key, or nil where there is none yet.
func (k *contentKey) get(ctx context.Context) (*seal.Keyring, error) {
	if ring := k.known.Load(); ring != nil {
		return ring, nil
	}
	ring, err := k.read(k.db.Reader(ctx))
	if ring != nil {
		k.known.Store(ring)
	}
	return ring, err
}

func (k *contentKey) read(q store.Querier) (*seal.Keyring, error) {
	text, err := k.secrets.Read(q, keyName)
	if errors.Is(err, secrets.ErrNone) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the key of traces: %w", err)
	}
	key, err := seal.ParseKey(string(text))
	if err != nil {
		return nil, fmt.Errorf("read the key of traces: %w", err)
	}
	return seal.NewKeyring([]seal.Key{key}, nil)
}

// look is get for who may be in a transaction, and thus takes a second connection: one at a time does so, since they must not all wait for
// one another's. The others have nil.
func (k *contentKey) look() (*seal.Keyring, error) {
	if ring := k.known.Load(); ring != nil {
		return ring, nil
	}
	if !k.looking.TryLock() {
		return nil, nil
	}
	defer k.looking.Unlock()
	return k.get(context.Background())
}

// make returns the ring with the key, which it makes if there is none. What tx alone sees is not remembered, since tx may not be
// committed.
func (k *contentKey) make(tx *store.Tx) (*seal.Keyring, error) {
	if ring, err := k.look(); ring != nil || err != nil {
		return ring, err
	}
	if err := tx.Lock(keyName); err != nil {
		return nil, err
	}
	if ring, err := k.read(tx); ring != nil || err != nil {
		return ring, err
	}
	key := seal.NewKey()
	if err := k.secrets.Put(tx, keyName, []byte(key.Text())); err != nil {
		return nil, err
	}
	return seal.NewKeyring([]seal.Key{key}, nil)
}

// contentName is what sealed texts are bound to: a block by its first span.
func contentName(trace, span string) string { return "content/" + trace + "/" + span }

func (b *Block) seal(ring *seal.Keyring) (err error) {
	if b.content, err = ring.Seal(contentName(b.trace, b.id), b.content); err != nil {
		return fmt.Errorf("seal contents of spans: %w", err)
	}
	b.sealed = true
	return nil
}

// sealed seals the texts of a block, if there was no key before.
func (s *Store) sealed(tx *store.Tx, b *Block) error {
	if b.sealed {
		return nil
	}
	ring, err := s.key.make(tx)
	if err != nil {
		return err
	}
	return b.seal(ring)
}

// open returns the texts of a block by the ids of their spans.
func (b *Block) open(ring *seal.Keyring, sealed []byte) (map[string]*trace.Content, error) {
	if sealed[0] == '{' { // of spans that were written before there were blocks: each sealed alone, in hexadecimal digits
		return openEach(ring, b.trace, sealed)
	}
	plain, err := ring.Open(contentName(b.trace, b.id), sealed)
	if err != nil {
		return nil, err
	}
	var out map[string]*trace.Content
	if json.Unmarshal(plain, &out) != nil {
		return nil, errors.New("decode contents of spans of trace " + b.trace) // the cause may quote them
	}
	return out, nil
}

func openEach(ring *seal.Keyring, of string, all []byte) (map[string]*trace.Content, error) {
	var digits map[string]string
	if err := json.Unmarshal(all, &digits); err != nil {
		return nil, fmt.Errorf("decode contents of spans of trace %s: %w", of, err)
	}
	out := map[string]*trace.Content{}
	for span, text := range digits {
		sealed, err := hex.DecodeString(text)
		if err != nil {
			return nil, fmt.Errorf("decode content of span %s: %w", span, err)
		}
		plain, err := ring.Open(contentName(of, span), sealed)
		if err != nil {
			return nil, err
		}
		c := new(trace.Content)
		if json.Unmarshal(plain, c) != nil {
			return nil, errors.New("decode content of span " + span) // the cause may quote it
		}
		out[span] = c
	}
	return out, nil
}

// Point returns the trace that blocks of one turn have texts of, "" for none. Whoever asks keeps it until the session goes, or gives it to Leave.
func Point(all []Block) (of string) {
	for i := range all {
		if all[i].content != nil {
			of, all[i].pointed = all[i].trace, true
		}
	}
	return of
}

// Leave notes where a session has texts, for Sweep: in these traces, "" apart.
func Leave(tx *store.Tx, session int64, traces ...string) error {
	slices.Sort(traces)
	var all []textsOf
	for _, of := range slices.Compact(traces) {
		if of != "" {
			all = append(all, textsOf{session, of})
		}
	}
	return inRows(all, func(some []textsOf) error { return insertTexts(tx, some) })
}

// textsOf is a row of trace_texts: where a session has texts to which no event leads.
type textsOf struct {
	session int64
	trace   string
}

func insertTexts(tx *store.Tx, all []textsOf) error {
	const columns = 2
	args := make([]any, 0, len(all)*columns)
	for _, one := range all {
		args = append(args, one.session, one.trace)
	}
	return store.Wrap(tx.Exec(insert(len(all), columns, `trace_texts (session_no, trace)`)+` ON CONFLICT DO NOTHING`, args...), "write where texts of spans are")
}

const (
	// maxContents is how many bytes of texts a page of spans has, sealed; a single block may have more.
	maxContents = 8 << 20
	// contentsStep is how many blocks are opened at a time.
	contentsStep = 16
)

// contents sets the texts of spans that stand in the order of a list: of agents with these numbers, nil for all, and of sessions that
// are there. whole is how many of the spans it came to, at least one, before there were too many bytes.
func (s *Store) contents(ctx context.Context, q store.Querier, spans []found, agents []int64) (whole int, err error) {
	whole = len(spans)
	if s.key.secrets == nil {
		return whole, nil
	}
	of := map[*Block][]int{}
	var blocks []*Block // by their first span
	for i, one := range spans {
		if agents == nil || slices.Contains(agents, one.Agent.No) {
			if of[one.block] == nil {
				blocks = append(blocks, one.block)
			}
			of[one.block] = append(of[one.block], i)
		}
	}
	if len(blocks) == 0 {
		return whole, nil
	}
	ring, err := s.key.get(ctx)
	if ring == nil || err != nil {
		return whole, err
	}
	for bytes := 0; len(blocks) > 0; blocks = blocks[min(contentsStep, len(blocks)):] {
		some := blocks[:min(contentsStep, len(blocks))]
		sealed, err := readSealed(q, some)
		if err != nil {
			return 0, err
		}
		for _, b := range some {
			here := sealed[b.no]
			if len(here) == 0 {
				continue
			}
			if bytes += len(here); bytes > maxContents && of[b][0] > 0 {
				return of[b][0], nil // blocks behind it have later spans alone
			}
			texts, err := b.open(ring, here)
			if err != nil {
				return 0, err
			}
			for _, i := range of[b] {
				spans[i].Content = texts[spans[i].ID]
			}
		}
	}
	return whole, nil
}

// readSealed reads the sealed texts of blocks whose sessions are there, by their numbers.
func readSealed(q store.Querier, blocks []*Block) (map[int64][]byte, error) {
	args := make([]any, len(blocks))
	for i, b := range blocks {
		args[i] = b.no
	}
	out := map[int64][]byte{}
	err := store.Each(q, "read contents of spans", func(r store.Row) error {
		var no int64
		var sealed []byte
		err := r.Scan(&no, &sealed)
		out[no] = sealed
		return err
	}, `SELECT b.no, b.sealed FROM trace_blocks b JOIN sessions x ON x.no = b.session_no AND x.deleted = 0 JOIN agents a ON a.no = x.agent_no AND a.deleted = 0
		WHERE b.sealed IS NOT NULL AND b.no IN (`+store.List(1, len(args))+`)`, args...)
	return out, err
}
