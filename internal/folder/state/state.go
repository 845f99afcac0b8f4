// Package state remembers what quarry index sent from a folder to a corpus: a journal in the user's cache folder, one for
// each service, corpus and root. The next run compares files with it and sends only what differs. It also knows which
// documents this command made, so that it removes no others.
package state

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"quarry/internal/filelock"
)

// Key names what a journal is of.
type Key struct {
	Service string // address
	Corpus  string // key of the corpus
	Root    string // absolute path of the folder or file

	// CorpusID differs from that of other corpora that had its key before, or have it on another service.
	CorpusID string
}

// Outcome is what became of a file.
type Outcome string

// The outcomes. Sending is written before a file is sent and replaced by one of the others: where it stands, the run
// ended meanwhile and the document may or may not be in the corpus.
const (
	Sending Outcome = "sending"
	Done    Outcome = "done"
	Failed  Outcome = "failed"
)

// Sum is the SHA-256 of the content of a file.
type Sum [sha256.Size]byte

// MarshalText returns the sum in hexadecimal.
func (s Sum) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, s[:]), nil }

// UnmarshalText reads what MarshalText wrote.
func (s *Sum) UnmarshalText(text []byte) error {
	if len(text) != 2*len(s) {
		return errors.New("not a SHA-256")
	}
	_, err := hex.Decode(s[:], text)
	return err
}

// Entry is what is known of one document. The members about the file are those of the content that was sent last.
type Entry struct {
	ID       string  `json:"id"`
	Outcome  Outcome `json:"is"`
	Mine     bool    `json:"mine,omitempty"` // the document in the corpus, if it is there, was made by this command
	Size     int64   `json:"size,omitempty"`
	Modified int64   `json:"time,omitempty"` // nanoseconds since 1970
	Identity string  `json:"file,omitempty"` // of the file, where the system has one
	Sum      Sum     `json:"sum,omitzero"`
	Options  string  `json:"options,omitempty"` // settings that the document depends on
	// Recent is set when the file had been changed so shortly before it was read that a later change may have left its
	// time as it was: only its content tells.
	Recent bool `json:"recent,omitempty"`
}

// HeldError is returned by Open while another process has the journal open.
type HeldError struct {
	Root, Corpus string
	PID          int // of that process, 0 when unknown
}

func (e *HeldError) Error() string {
	by := "another quarry index"
	if e.PID != 0 {
		by += fmt.Sprintf(" (process id %d)", e.PID)
	}
	return fmt.Sprintf("%s is indexing %s into corpus %s; wait until it has ended, or stop it", by, e.Root, e.Corpus)
}

// Journal is the state of one root. Safe for concurrent use.
type Journal struct {
	mu      sync.Mutex
	entries map[string]Entry
	file    *os.File // nil where nothing is kept
	lock    *os.File
	err     error // the first error of writing, after which nothing is written any more
	note    string
}

// Dir returns the folder of the journals of this user.
func Dir() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(cache, "quarry", "folders"), nil
}

// Memory returns a journal that is forgotten when the process ends.
func Memory() *Journal { return &Journal{entries: map[string]Entry{}} }

// Open opens the journal with this key in dir, which it creates. A journal that is damaged, or of another corpus, is no
// error: Note then has a sentence for the user. Another process that has the journal open is *HeldError.
func Open(dir string, k Key) (*Journal, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, k.name())
	lock, err := take(path+".lock", k)
	if err != nil {
		return nil, err
	}
	j := &Journal{lock: lock}
	if err := j.load(path+".journal", k); err != nil {
		return nil, errors.Join(err, release(lock))
	}
	return j, nil
}

// name returns a name for the files of a journal: readable, and different for every key.
func (k Key) name() string {
	sum := sha256.New()
	for _, s := range []string{k.Service, k.Corpus, k.Root} {
		fmt.Fprintf(sum, "%d %s", len(s), s)
	}
	corpus := strings.Map(func(r rune) rune {
		if strings.ContainsRune(`/\:*?"<>|.`, r) || r < ' ' {
			return '_'
		}
		return r
	}, k.Corpus)
	return corpus[:min(len(corpus), 50)] + "-" + hex.EncodeToString(sum.Sum(nil)[:10])
}

// take opens and locks a file that holds the id of the process.
func take(path string, k Key) (*os.File, error) {
	lock, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := filelock.Take(lock); err != nil {
		raw, _ := os.ReadFile(path) // what it says only improves the message
		pid, _ := strconv.Atoi(strings.TrimSpace(string(raw)))
		_ = lock.Close()
		if errors.Is(err, filelock.ErrHeld) {
			err = &HeldError{Root: k.Root, Corpus: k.Corpus, PID: pid}
		}
		return nil, err
	}
	err = lock.Truncate(0)
	if err == nil {
		_, err = lock.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	if err != nil {
		return nil, errors.Join(err, release(lock))
	}
	return lock, nil
}

// release unlocks and closes the file of a lock, which stays: removing it would race with the next holder.
func release(lock *os.File) error { return errors.Join(filelock.Release(lock), lock.Close()) }

// Note returns what the user should know of how the journal was found, "" when there is nothing.
func (j *Journal) Note() string { return j.note }

// Get returns the entry of a document.
func (j *Journal) Get(id string) (Entry, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	e, ok := j.entries[id]
	return e, ok
}

// All returns the entries there are at this moment, by id.
func (j *Journal) All() iter.Seq[Entry] {
	j.mu.Lock()
	defer j.mu.Unlock()
	ids := slices.Sorted(maps.Keys(j.entries))
	return func(yield func(Entry) bool) {
		for _, id := range ids {
			if e, ok := j.Get(id); ok && !yield(e) {
				return
			}
		}
	}
}

// Put records an entry in the place of the one with its id. When it returns, the entry survives the end of the process.
func (j *Journal) Put(e Entry) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.entries[e.ID] = e
	j.append(record{Entry: e})
}

// Forget removes the entry of a document that is in the corpus no longer.
func (j *Journal) Forget(id string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.entries, id)
	j.append(record{Entry: Entry{ID: id}, Gone: true})
}

func (j *Journal) append(r record) {
	if j.file == nil || j.err != nil {
		return
	}
	_, j.err = j.file.Write(line(r))
}

// Close writes the journal to disk and lets other processes open it. Its error is the first one of writing: what came
// after it is not remembered.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.lock == nil {
		return nil
	}
	err := j.err
	if err == nil {
		err = j.file.Sync()
	}
	err = errors.Join(err, j.file.Close(), release(j.lock))
	j.file, j.lock = nil, nil
	return err
}
