package file

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"quarry/internal/agent/artifact"
	"quarry/internal/agent/tool"
	"quarry/internal/agent/tool/schema"
	"quarry/internal/fault"
	"quarry/internal/opt"
)

const readDescription = "Reads a file of this session by its artifact_id. A small file is read as a whole; of a large one, read ranges of lines by start_line and end_line, " +
	"which are counted from 1 and included. Files that are no text are read with the encoding base64."

// Bounds of what one call reads, as they are by default and at the most.
const (
	defaultSize, mostSize   = 256 << 10, 10 << 20
	defaultLines, mostLines = 200, 10_000
)

// reader is one configuration of artifact_read.
type reader struct{ size, lines int64 }

// newRead returns the type artifact_read.
func newRead(s *schema.Schema) tool.Type {
	return func(configuration json.RawMessage) (*tool.Tool, error) {
		var c struct {
			Size  *int64 `json:"max_size_bytes"`
			Lines *int64 `json:"max_lines"`
		}
		if err := settings(configuration, &c); err != nil {
			return nil, err
		}
		f := fault.Invalid()
		bounded := func(name string, n, most int64) {
			if n < 1 || n > most {
				f.Field(settingsField+"."+name, "must be 1 to %d, not %d", most, n)
			}
		}
		r := &reader{opt.Deref(c.Size, defaultSize), opt.Deref(c.Lines, defaultLines)}
		bounded("max_size_bytes", r.size, mostSize)
		bounded("max_lines", r.lines, mostLines)
		if err := f.Err(); err != nil {
			return nil, err
		}
		return &tool.Tool{Name: Read, Description: readDescription, Schema: s, Repeat: tool.Reads, Run: r.run}, nil
	}
}

// reading is the output of artifact_read.
type reading struct {
	Reference
	Encoding string          `json:"encoding"`
	Metadata json.RawMessage `json:"metadata"`
	Start    int64           `json:"start_line,omitempty"`
	End      int64           `json:"end_line,omitempty"`
	Total    int64           `json:"total_lines,omitempty"`
	Cut      bool            `json:"truncated,omitempty"`
	Note     string          `json:"note,omitempty"`
	Content  string          `json:"content"`
}

// run is Tool.Run.
func (r *reader) run(ctx context.Context, c tool.Call, _ tool.Activity) (json.RawMessage, error) {
	var args struct {
		ID       string `json:"artifact_id"`
		Encoding string `json:"encoding"`
		Start    int64  `json:"start_line"`
		End      int64  `json:"end_line"`
	}
	if err := arguments(&c, &args); err != nil {
		return nil, err
	}
	raw, ranged := args.Encoding != "base64", args.Start > 0 || args.End > 0
	a, err := c.Files.Get(ctx, args.ID)
	switch {
	case err != nil:
		return nil, err
	case ranged && !raw:
		return nil, invalid("start_line and end_line are for the encoding raw; base64 reads the whole file")
	case args.End > 0 && args.End < args.Start:
		return nil, invalid("end_line, %d, is before start_line, %d", args.End, args.Start)
	case !ranged && a.Size > r.size && !raw:
		return nil, invalid("%s has %d bytes, more than the %d that are read as a whole, and only text can be read in parts", a.ID, a.Size, r.size)
	case !ranged && a.Size > r.size:
		return nil, invalid("%s has %d bytes, more than the %d that are read as a whole; read up to %d of its lines at once by start_line and end_line", a.ID, a.Size, r.size, r.lines)
	}
	_, data, err := c.Files.Open(ctx, args.ID)
	if err != nil {
		return nil, err
	}
	defer func() { _ = data.Close() }()
	out := reading{Reference: reference(&a), Encoding: cmp.Or(args.Encoding, "raw"), Metadata: object(&a)}
	if ranged {
		err = r.read(ctx, data, &out, max(args.Start, 1), args.End)
	} else {
		err = whole(data, raw, &out)
	}
	if errors.Is(err, errBinary) {
		return nil, invalid(`%s (%s) is no text in UTF-8, so it can't be read raw; read it with "encoding": "base64", as a whole`, a.ID, a.MIME)
	}
	if err != nil {
		return nil, err
	}
	return encode(out)
}

// object returns the metadata of a file.
func object(a *artifact.Artifact) json.RawMessage {
	if len(a.Metadata) == 0 {
		return json.RawMessage("{}")
	}
	return a.Metadata
}

// errBinary is the error of a file that is no text.
var errBinary = errors.New("it is no text")

// whole reads a file as it is or as base64. It is small.
func whole(data io.Reader, raw bool, out *reading) error {
	all, err := upTo(data, mostSize)
	switch {
	case err != nil:
		return err
	case !raw:
		out.Content = base64.StdEncoding.EncodeToString(all)
		return nil
	case !text(all):
		return errBinary
	}
	out.Content = string(all)
	return nil
}

// text reports whether bytes are text that JSON and the store can hold.
func text(b []byte) bool { return utf8.Valid(b) && bytes.IndexByte(b, 0) < 0 }

// lineBuffer is how much of a file is in memory while lines are counted.
const lineBuffer = 256 << 10

// read reads lines from the first to the last, 0 for the last of the file, as far as one call reads. It goes through the file to
// its end, for the number of its lines.
func (r *reader) read(ctx context.Context, data io.Reader, out *reading, first, last int64) error {
	var kept bytes.Buffer
	in, line, begun, broken := bufio.NewReaderSize(data, lineBuffer), int64(1), false, false
	for ended := false; !ended; {
		piece, err := in.ReadSlice('\n')
		if line >= first && line < first+r.lines && (last == 0 || line <= last) && len(piece) > 0 {
			room := int(r.size) - kept.Len()
			if room > 0 {
				out.End = line
			}
			kept.Write(piece[:min(len(piece), room)])
			broken = broken || len(piece) > room
		}
		begun = begun || len(piece) > 0
		switch {
		case err == nil:
			line, begun = line+1, false
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
		case errors.Is(err, io.EOF):
			ended = true
		case !errors.Is(err, bufio.ErrBufferFull):
			return err
		}
	}
	if out.Start, out.Total = first, line; !begun {
		out.Total--
	}
	if first > max(out.Total, 1) {
		return invalid("start_line is %d, but %s has %d lines", first, out.ID, out.Total)
	}
	r.note(out, broken, last)
	lines := kept.Bytes()
	for broken && len(lines) > 0 && kept.Len()-len(lines) < utf8.UTFMax && !utf8.Valid(lines) {
		lines = lines[:len(lines)-1] // of a character that the bound has cut
	}
	if !text(lines) {
		return errBinary
	}
	out.Content = string(lines)
	return nil
}

// note notes what is missing of the lines that were asked for.
func (r *reader) note(out *reading, broken bool, last int64) {
	if last == 0 || last > out.Total {
		last = out.Total
	}
	switch {
	case broken:
		out.Cut, out.Note = true, fmt.Sprintf("Line %d is cut: one call reads %d bytes at most. Search in it with artifact_grep and the option -o, or go on with start_line %d.", out.End, r.size, out.End+1)
	case out.End < last:
		out.Cut, out.Note = true, fmt.Sprintf("These are %d of the lines that were asked for, the most that one call reads; go on with start_line %d.", out.End-out.Start+1, out.End+1)
	}
}
