package store_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/corpus"
	"quarry/internal/corpus/document"
	"quarry/internal/id"
	"quarry/internal/store"
	"quarry/internal/store/corpora"
	"quarry/internal/store/cutvfs"
	"quarry/internal/store/documents"
	"quarry/internal/store/storetest"
)

var (
	cuts    = flag.Int("cuts", 120, "power cuts that TestPowerCut makes")
	cutSeed = flag.Uint64("cutseed", 0, "seed of TestPowerCut, 0 for a fresh one")
)

// note is what the workload puts into the log of the file layer around each write.
type note struct {
	what   string // "create", "insert", "delete", "reset"
	corpus string
	doc    string
	acked  bool // false: about to be asked for
}

// TestPowerCut proves that a power cut at any moment, on a disk that keeps nothing, anything or everything that was not
// synced, loses no acknowledged write, shows no half document and leaves sequences, counters and file sound.
//
// It is not parallel: all layers of one program log each other's folder syncs, see cutvfs.
func TestPowerCut(t *testing.T) {
	seed := *cutSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	defer func() {
		if t.Failed() {
			t.Logf("repeat with: go test ./internal/store -run TestPowerCut -cuts=%d -cutseed=%d (the workload's timing is not repeated)", *cuts, seed)
		}
	}()
	random := rand.New(rand.NewPCG(seed, 1))
	layer, err := cutvfs.Register()
	if err != nil {
		t.Fatal(err)
	}
	workload(t, layer, seed)
	log := layer.Log()
	places := choosePlaces(log, *cuts, random)
	disk := cutvfs.NewDisk()
	var notes []note
	done, syncs := 0, 0
	for i, op := range log {
		disk.Apply(op)
		if n, ok := op.Note.(note); ok {
			notes = append(notes, n)
		}
		if op.Kind == cutvfs.Sync {
			syncs++
		}
		for ; done < len(places) && places[done] == i; done++ {
			variants := []cutvfs.Variant{cutvfs.Lost, cutvfs.Torn}
			if done%10 == 0 {
				variants = append(variants, cutvfs.Kept)
			}
			for _, v := range variants {
				dir := t.TempDir()
				if err := disk.Cut(dir, v, random); err != nil {
					t.Fatal(err)
				}
				if err := checkImage(t.Context(), dir, notes); err != nil {
					t.Fatalf("cut after operation %d of %d (%s of %s), what was not synced %s: %v", i, len(log), kindNames[op.Kind], op.File, v, err)
				}
			}
		}
	}
	t.Logf("%d cuts in %d operations with %d syncs, %d notes", done, len(log), syncs, len(notes))
}

var kindNames = map[cutvfs.Kind]string{cutvfs.Create: "create", cutvfs.Write: "write", cutvfs.Truncate: "truncate", cutvfs.Sync: "sync",
	cutvfs.Delete: "delete", cutvfs.SyncFolder: "sync folder", cutvfs.Mark: "mark"}

// choosePlaces returns n places in ascending order. Half are anywhere; a quarter each are just after an acknowledgement,
// where the promise is freshest, and around the writing back of the log into the database file, which is rare.
func choosePlaces(log []cutvfs.Op, n int, random *rand.Rand) []int {
	var acks, backs []int
	for i, op := range log {
		if x, ok := op.Note.(note); ok && x.acked {
			acks = append(acks, i)
		}
		if op.Kind != cutvfs.Mark && !strings.HasSuffix(op.File, "-wal") {
			backs = append(backs, i)
		}
	}
	places := make([]int, n)
	for i := range places {
		switch i % 4 {
		case 0:
			places[i] = acks[random.IntN(len(acks))]
		case 1:
			places[i] = backs[random.IntN(len(backs))]
		default:
			places[i] = random.IntN(len(log))
		}
	}
	slices.Sort(places)
	return places
}

// workload opens a database on the layer and lets several clients write at once, with a note in the log around each write.
func workload(t *testing.T, layer *cutvfs.VFS, seed uint64) {
	t.Helper()
	db, err := store.OpenVFS(t.Context(), t.TempDir(), layer.Name(), documents.Sweeper{})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Pragma(t.Context(), "wal_autocheckpoint=60"); err != nil { // often, as the run is short
		t.Fatal(err)
	}
	shared := client{t: t, layer: layer, corpora: corpora.New(db), documents: documents.New(db), key: "shared"}
	shared.create()
	var clients sync.WaitGroup
	for i := range 6 {
		clients.Go(func() {
			c := shared
			if i%2 == 0 {
				c.key = fmt.Sprint("own", i)
				c.create()
			}
			c.run(rand.New(rand.NewPCG(seed, uint64(100+i))), fmt.Sprint(i), i == 4)
		})
	}
	clients.Wait()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

type client struct {
	t         *testing.T
	layer     *cutvfs.VFS
	corpora   *corpora.Store
	documents *documents.Store
	key       string
	corpus    corpus.Corpus
}

func (c *client) create() {
	c.noted(note{what: "create", corpus: c.key}, func() (err error) {
		c.corpus, err = c.corpora.Create(c.t.Context(), corpus.Corpus{ID: id.NewCorpus(), Key: c.key, Created: time.Now()})
		return err
	})
}

// writesEach is how many documents a client of the workload writes.
const writesEach = 45

// run writes documents with ids of the client's own, deletes some and replaces some, which are there before and
// afterwards; with resets it also resets the corpus now and then.
func (c *client) run(random *rand.Rand, who string, resets bool) {
	ctx := c.t.Context()
	var mine []string
	for i := range writesEach {
		docID := fmt.Sprintf("%s/%d", who, i)
		c.noted(note{what: "insert", corpus: c.key, doc: docID}, func() error {
			_, err := c.documents.Insert(ctx, c.corpus.No, c.corpus.Epoch, cutDocument(docID, random.IntN(6)))
			return err
		})
		mine = append(mine, docID)
		switch roll := random.IntN(20); {
		case roll < 4:
			at := random.IntN(len(mine))
			docID := mine[at]
			mine = slices.Delete(mine, at, at+1)
			c.noted(note{what: "delete", corpus: c.key, doc: docID}, func() error {
				_, err := storetest.Remove(ctx, c.documents, c.corpus, docID)
				return err
			})
		case roll > 15 && len(mine) > 0:
			docID := mine[random.IntN(len(mine))]
			c.noted(note{what: "replace", corpus: c.key, doc: docID}, func() error {
				_, err := c.documents.Replace(ctx, c.corpus.No, c.corpus.Epoch, cutDocument(docID, random.IntN(6)))
				return err
			})
		case roll == 5 && resets:
			mine = nil
			c.noted(note{what: "reset", corpus: c.key}, func() (err error) {
				c.corpus, err = c.corpora.Reset(ctx, c.key)
				return err
			})
		}
	}
}

func (c *client) noted(n note, write func() error) {
	c.layer.Mark(n)
	if err := write(); err != nil {
		c.t.Errorf("%+v: %v", n, err)
		return
	}
	n.acked = true
	c.layer.Mark(n)
}

// cutDocument returns the same document for the same arguments; its title is the number of parts.
func cutDocument(docID string, parts int) *document.Document {
	d := &document.Document{ID: docID, Title: fmt.Sprint(parts), Metadata: json.RawMessage(`{"id":"` + docID + `"}`), Digest: docID}
	for i := range parts {
		vector := make([]byte, 772)
		copy(vector, fmt.Sprintf("%s#%d", docID, i))
		d.Parts = append(d.Parts, document.Part{Ord: i, Text: strings.Repeat(fmt.Sprintf("%s, part %d. ", docID, i), 30),
			Metadata: json.RawMessage(`{"lang":"eng"}`), Vector: vector})
	}
	return d
}

// fate is what a cut may have left of a corpus: documents that must be there, and documents that may.
type fate struct {
	must bool // the corpus is there for certain
	docs map[string]bool
	// resetting holds what was certainly there before a reset that was not acknowledged: it is all there or all gone
	resetting map[string]bool
}

const (
	certain = true
	perhaps = false
)

// expected returns the fate of each corpus after the notes up to a cut.
func expected(notes []note) map[string]*fate {
	all := map[string]*fate{}
	for _, n := range notes {
		f := all[n.corpus]
		if f == nil {
			f = &fate{docs: map[string]bool{}}
			all[n.corpus] = f
		}
		switch {
		case n.what == "create":
			f.must = n.acked
		case n.what == "insert":
			f.docs[n.doc] = n.acked // not acknowledged: perhaps
		case n.what == "delete" && n.acked:
			delete(f.docs, n.doc)
		case n.what == "delete":
			f.docs[n.doc] = perhaps
		case n.what == "reset" && n.acked:
			f.docs, f.resetting = map[string]bool{}, nil
		case n.what == "reset":
			f.resetting = map[string]bool{}
			for docID := range f.docs {
				f.resetting[docID], f.docs[docID] = certain, perhaps
			}
		}
	}
	return all
}

// checkImage opens what a cut left and compares it with the notes.
func checkImage(ctx context.Context, dir string, notes []note) error {
	db, err := store.Open(ctx, store.Config{Dir: dir, Sweepers: []store.Sweeper{documents.Sweeper{}}})
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }() // the image is thrown away
	found, err := store.Select(db.Reader(ctx), "check", store.One[string], "PRAGMA integrity_check")
	if err != nil || len(found) != 1 || found[0] != "ok" {
		return fmt.Errorf("integrity check: %q, %w", found, err)
	}
	fates := expected(notes)
	all, _, err := corpora.New(db).List(ctx, corpus.List{Limit: 100})
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, c := range all {
		seen[c.Key] = true
		if fates[c.Key] == nil {
			return fmt.Errorf("corpus %s was never asked for", c.Key)
		}
		if err := checkCorpus(ctx, documents.New(db), c, fates[c.Key]); err != nil {
			return fmt.Errorf("corpus %s: %w", c.Key, err)
		}
	}
	if len(all) > 0 {
		d := cutDocument("after the cut", 2)
		if _, err := documents.New(db).Insert(ctx, all[0].No, all[0].Epoch, d); err != nil {
			return fmt.Errorf("write after the cut: %w", err)
		}
	}
	for key, f := range fates {
		if f.must && !seen[key] {
			return fmt.Errorf("acknowledged corpus %s is lost", key)
		}
	}
	return nil
}

func checkCorpus(ctx context.Context, s *documents.Store, c corpus.Corpus, f *fate) error {
	docs, seq, _, err := s.Scan(ctx, c.No, 0, 10000)
	if err != nil {
		return err
	}
	nos := map[int64]bool{}
	seen := map[string]bool{}
	var parts int64
	for _, d := range docs {
		if _, known := f.docs[d.ID]; !known {
			return fmt.Errorf("document %s was deleted or never asked for", d.ID)
		}
		want := cutDocument(d.ID, len(d.Parts))
		want.No, want.Created, want.Updated = d.No, d.Created, d.Updated
		if !reflect.DeepEqual(*want, d) { // cmp.Diff takes minutes for all images
			return fmt.Errorf("document %s is not whole: %s", d.ID, cmp.Diff(*want, d))
		}
		nos[d.No], seen[d.ID] = true, true
		parts += int64(len(d.Parts))
	}
	for docID, must := range f.docs {
		if must && !seen[docID] {
			return fmt.Errorf("acknowledged document %s is lost", docID)
		}
	}
	if err := allOrNothing(f.resetting, seen); err != nil {
		return err
	}
	if c.Usage.Documents != int64(len(docs)) || c.Usage.Parts != parts {
		return fmt.Errorf("usage %+v, but %d documents and %d parts are there", c.Usage, len(docs), parts)
	}
	return checkSequence(ctx, s, c.No, seq, nos)
}

func allOrNothing(resetting, seen map[string]bool) error {
	there := 0
	for docID := range resetting {
		if seen[docID] {
			there++
		}
	}
	if there != 0 && there != len(resetting) {
		return fmt.Errorf("an unfinished reset left %d documents of %d", there, len(resetting))
	}
	return nil
}

// checkSequence replays the changes: they must be dense and lead to the documents that are there.
func checkSequence(ctx context.Context, s *documents.Store, corpusNo, seq int64, nos map[int64]bool) error {
	changes, missing, err := s.Changes(ctx, corpusNo, 0, seq, 100000)
	if err != nil || missing || int64(len(changes)) != seq {
		return fmt.Errorf("%d changes up to number %d, missing %v, %w", len(changes), seq, missing, err)
	}
	replayed := map[int64]bool{}
	for i, c := range changes {
		if c.Seq != int64(i+1) {
			return fmt.Errorf("change %d has number %d", i+1, c.Seq)
		}
		switch c.Op {
		case document.OpPut:
			replayed[c.No] = true
		case document.OpReplace:
			replayed[c.No] = true
			delete(replayed, c.Old)
		case document.OpDelete:
			delete(replayed, c.No)
		case document.OpReset:
			clear(replayed)
		}
	}
	if diff := cmp.Diff(replayed, nos); diff != "" {
		return fmt.Errorf("the changes lead to other documents (-changes +there): %s", diff)
	}
	return nil
}
