// Package cache caches the vectors of an encoder in a file, since benchmarks of ranking and of answers spend nearly all of
// their time on encoding.
package cache

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"sync"

	"quarry/internal/embed"
)

// Encoder is an encoder whose vectors are cached. A record of its file is the hash of kind and text followed by the vector.
// An incomplete record at the end, from an interrupted run, is removed.
type Encoder struct {
	embed.Encoder
	mu      sync.Mutex
	vectors map[[sha256.Size]byte][]float32 // guarded by mu
	file    *os.File                        // guarded by mu
}

// Default returns the folder that benchmarks share, or "" if the user has no cache folder.
func Default() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "quarry-ranking")
}

// Open returns e with the cache that dir has for it.
func Open(dir string, e embed.Encoder) (*Encoder, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	s := &Encoder{Encoder: e, vectors: map[[sha256.Size]byte][]float32{}}
	f, err := os.OpenFile(filepath.Join(dir, e.Fingerprint()+".vectors"), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	s.file = f
	r, record := bufio.NewReaderSize(f, 1<<20), make([]byte, sha256.Size+4*e.Dim())
	for size := int64(0); ; size += int64(len(record)) {
		_, err := io.ReadFull(r, record)
		if errors.Is(err, io.EOF) {
			return s, nil
		}
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return s, f.Truncate(size)
		}
		if err != nil {
			return nil, err
		}
		v := make([]float32, e.Dim())
		for i := range v {
			v[i] = math.Float32frombits(binary.LittleEndian.Uint32(record[sha256.Size+4*i:]))
		}
		s.vectors[[sha256.Size]byte(record)] = v
	}
}

// Encode copies the cached vectors and encodes and caches the others.
func (s *Encoder) Encode(ctx context.Context, kind embed.Kind, texts []string, out [][]float32) error {
	var missing []int
	s.mu.Lock()
	for i, text := range texts {
		if v, ok := s.vectors[key(kind, text)]; ok {
			copy(out[i], v)
		} else {
			missing = append(missing, i)
		}
	}
	s.mu.Unlock()
	if len(missing) == 0 {
		return nil
	}
	want, to := make([]string, len(missing)), make([][]float32, len(missing))
	for j, i := range missing {
		want[j], to[j] = texts[i], out[i]
	}
	if err := s.Encoder.Encode(ctx, kind, want, to); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for j, text := range want {
		if err := s.add(key(kind, text), to[j]); err != nil {
			return fmt.Errorf("cache a vector: %w", err)
		}
	}
	return nil
}

// add writes a vector to the file. s.mu must be held.
func (s *Encoder) add(k [sha256.Size]byte, v []float32) error {
	if _, ok := s.vectors[k]; ok {
		return nil
	}
	record := append([]byte(nil), k[:]...)
	for _, x := range v {
		record = binary.LittleEndian.AppendUint32(record, math.Float32bits(x))
	}
	s.vectors[k] = append([]float32(nil), v...)
	_, err := s.file.Write(record)
	return err
}

// Split splits as the encoder does; if that is not a Splitter, the text is one piece.
func (s *Encoder) Split(text string) ([]string, []int) {
	if splitter, ok := s.Encoder.(embed.Splitter); ok {
		return splitter.Split(text)
	}
	return []string{text}, []int{0}
}

// Close closes the file. It does nothing for a nil *Encoder.
func (s *Encoder) Close() error {
	if s == nil {
		return nil
	}
	err := s.file.Close()
	if errors.Is(err, fs.ErrClosed) {
		return nil
	}
	return err
}

func key(kind embed.Kind, text string) [sha256.Size]byte {
	return sha256.Sum256([]byte(fmt.Sprint(int(kind), "\x00", text)))
}
