package segment

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// Writer writes a file section by section, so that large ones are never in memory. Not safe for concurrent use.
type Writer struct {
	p      *pending
	at     uint64 // bytes so far
	places []place
	unmap  []func() error
}

var padding [align]byte

// Create begins the file at path. It is there, whole, when Commit has returned; Abort is to be called in any case.
func (fs Files) Create(path string) (*Writer, error) {
	p, err := fs.begin(path)
	if err != nil {
		return nil, err
	}
	w := &Writer{p: p, at: headSize}
	var head [headSize]byte
	copy(head[:], magic)
	if _, err := p.to.Write(head[:]); err != nil {
		p.abort()
		return nil, fmt.Errorf("write index file: %w", err)
	}
	return w, nil
}

// Add writes a section.
func (w *Writer) Add(s Section) error {
	return w.Stream(s.Name, s.Version, func(to io.Writer) error {
		_, err := to.Write(s.Data)
		return err
	})
}

// Stream writes a section that is made of what write writes.
func (w *Writer) Stream(name string, version uint16, write func(io.Writer) error) error {
	if version == 0 {
		return fmt.Errorf("section %q has no version", name)
	}
	s := stream{w: w}
	if err := write(&s); err != nil {
		return fmt.Errorf("write section %q of an index file: %w", name, err)
	}
	w.places = append(w.places, place{name, version, w.at, s.size, s.crc})
	pad := (align - s.size%align) % align
	w.at += s.size + pad
	if _, err := w.p.to.Write(padding[:pad]); err != nil {
		return fmt.Errorf("write index file: %w", err)
	}
	return nil
}

// stream is a section while it is written.
type stream struct {
	w       *Writer
	size    uint64
	crc     uint32
	unpause int // bytes until the next pause
}

// Write implements io.Writer, with pauses.
func (s *stream) Write(data []byte) (n int, err error) {
	for len(data) > 0 {
		if s.unpause == 0 {
			if s.w.p.fs.Pause != nil {
				if err := s.w.p.fs.Pause(); err != nil {
					return n, err
				}
			}
			s.unpause = block
		}
		some := data[:min(len(data), s.unpause)]
		s.crc = crc32.Update(s.crc, castagnoli, some)
		if _, err := s.w.p.to.Write(some); err != nil {
			return n, err
		}
		n, data = n+len(some), data[len(some):]
		s.size, s.unpause = s.size+uint64(len(some)), s.unpause-len(some)
	}
	return n, nil
}

// Map returns the bytes of a section that was written, to be read until Commit or Abort. They lie in the file where the
// system can map it.
func (w *Writer) Map(name string) ([]byte, error) {
	for _, p := range w.places {
		if p.name != name || p.length == 0 {
			continue
		}
		if err := w.p.to.Flush(); err != nil {
			return nil, fmt.Errorf("write index file: %w", err)
		}
		data, unmap, err := mapPart(w.p.f, int64(p.offset), int(p.length))
		if err != nil {
			return nil, fmt.Errorf("map index file: %w", err)
		}
		w.unmap = append(w.unmap, unmap)
		return data, nil
	}
	return nil, nil
}

// Commit ends the file and puts it in its place.
func (w *Writer) Commit() error {
	if err := w.release(); err != nil {
		return fmt.Errorf("write index file: %w", err)
	}
	toc := appendTOC(nil, w.places)
	t := tail{toc: w.at, length: uint64(len(toc)), crc: crc32.Checksum(toc, castagnoli)}
	t.size = w.at + t.length + tailSize
	if _, err := w.p.to.Write(t.append(toc)); err != nil {
		return fmt.Errorf("write index file: %w", err)
	}
	return w.p.commit()
}

// Abort removes what was written unless Commit has put it in its place.
func (w *Writer) Abort() {
	_ = w.release() // nothing could be done about it
	w.p.abort()
}

func (w *Writer) release() error {
	var errs []error
	for _, unmap := range w.unmap {
		errs = append(errs, unmap())
	}
	w.unmap = nil
	return errors.Join(errs...)
}
