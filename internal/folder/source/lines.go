package source

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// maxBroken is how many lines may be broken before the rest of the file is left unread: it is no file of JSON lines.
const maxBroken = 1000

// lines searches a root whose lines are bodies.
func (s *search) lines(ctx context.Context) error {
	f, err := os.OpenFile(s.root.Path, openFlags, 0)
	if err != nil {
		s.broken(reasonOf(err, "the file is gone"), adviceOf(err))
		return nil
	}
	defer f.Close()
	l := &lineReader{r: bufio.NewReaderSize(f, 64<<10), max: s.maxBody}
	for broken := 0; broken < maxBroken; {
		if err := ctx.Err(); err != nil {
			return err
		}
		line, err := l.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		place := fmt.Sprintf("%s:%d", s.root.Name, l.number)
		if errors.Is(err, errLong) {
			err = fmt.Errorf("the line has more than the %d bytes that the service takes", s.maxBody)
		} else if err != nil {
			s.broken(reasonOf(err, ""), adviceOf(err))
			return nil
		}
		var id string
		if err == nil {
			id, err = lineID(line)
		}
		if err != nil {
			broken++
			// What stands in the line is unknown: it may be any document.
			s.problem(Problem{Place: place, Stage: StageRead, Reason: err.Error(), Advice: "correct the line", Below: true})
			continue
		}
		at := written{path: s.root.Path, place: place, id: id, start: l.start, stamp: Stamp{Size: int64(len(line)), Identity: digest(line)}}
		if err := s.item(Item{ID: id, Place: place, Form: AsBody, Stamp: at.stamp, read: at.read}); err != nil {
			return err
		}
	}
	s.broken(fmt.Sprintf("%d lines are broken; the rest is not read", maxBroken), "check that each line is one JSON object")
	return nil
}

// errLong is the error of a line that is too long.
var errLong = errors.New("the line is too long")

// lineReader reads lines that are not blank.
type lineReader struct {
	r      *bufio.Reader
	max    int64 // bytes of a line
	number int   // of the line that was read last, from 1
	start  int64 // of its content in the file
	at     int64 // where the next line begins
	line   []byte
}

// next returns the next line without its end, which is valid until the next call. A line that is too long is passed over.
func (l *lineReader) next() ([]byte, error) {
	for {
		l.number++
		l.start, l.line = l.at, l.line[:0]
		var size int64
		var err error
		for more := true; more; {
			var piece []byte
			piece, err = l.r.ReadSlice('\n')
			more = errors.Is(err, bufio.ErrBufferFull)
			if size += int64(len(piece)); size <= l.max+2 {
				l.line = append(l.line, piece...)
			}
		}
		l.at += size
		if err != nil && (!errors.Is(err, io.EOF) || size == 0) {
			return nil, err
		}
		line := l.line
		if l.number == 1 && bytes.HasPrefix(line, []byte("\xEF\xBB\xBF")) {
			line = line[3:]
			l.start += 3
		}
		line = bytes.TrimRight(line, " \t\r\n")
		switch {
		case size > l.max+2 || int64(len(line)) > l.max:
			return nil, errLong
		case len(line) > 0:
			return line, nil
		}
	}
}

// written is a body that stands in a line of a file.
type written struct {
	path, place, id string
	start           int64
	stamp           Stamp
}

func (w written) read(context.Context) (Content, error) {
	f, err := os.OpenFile(w.path, openFlags, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return Content{}, fmt.Errorf("%s: %w", w.place, ErrGone)
	}
	data := make([]byte, w.stamp.Size)
	if err == nil {
		defer f.Close()
		_, err = f.ReadAt(data, w.start)
	}
	if errors.Is(err, io.EOF) || err == nil && digest(data) != w.stamp.Identity {
		err = errMoves
	}
	if err != nil {
		return Content{}, &Problem{Place: w.place, Stage: StageRead, Reason: reasonOf(err, ""), Advice: adviceOf(err), ID: w.id}
	}
	return Content{Data: data, Stamp: w.stamp, Settled: true}, nil
}
