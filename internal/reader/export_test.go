package reader

import (
	"bufio"
	"bytes"
	"reflect"
	"slices"

	"quarry/internal/extract"
)

// SetParse has workers of this process parse in another way.
func SetParse(f func(extract.Choice) (*extract.Document, error)) { parse = f }

// Confine takes from this process what workers don't have.
func Confine() error { return confine() }

// RestrictFiles is the part of Confine that is Landlock's.
func RestrictFiles() error { return restrict() }

// Processes returns the processes of the workers that run.
func (p *Pool) Processes() (all []int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for w := range p.all {
		all = append(all, w.cmd.Process.Pid)
	}
	slices.Sort(all)
	return all
}

// Encode returns a value as it is sent, Decode reads it.
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	w := bufio.NewWriter(&b)
	err := writeValue(w, reflect.ValueOf(v))
	_ = w.Flush() // into memory
	return b.Bytes(), err
}

var Decode = decode

// Exchange is what a service makes of the answer of a worker.
func Exchange(answer []byte, most int64) (doc *extract.Document, page *extract.Raster, stage string, refused, err error) {
	at := &progress{}
	out, refused, err := hear(bytes.NewReader(answer), most, at)
	return out.tree, out.raster, at.now(), refused, err
}

// Answer is what a worker makes of the messages of a service, until their end.
func Answer(messages []byte) (answers []byte, err error) {
	in := bytes.NewReader(messages)
	var out bytes.Buffer
	for {
		f, err := next(in)
		if err != nil {
			return out.Bytes(), err
		}
		if err := answer(&out, f); err != nil {
			return out.Bytes(), err
		}
	}
}

// Page returns the message that asks for a page of a file.
func Page(in extract.Input, s extract.Scan) ([]byte, error) {
	var b bytes.Buffer
	t := task{in, &s}
	err := t.send(&b)
	return b.Bytes(), err
}

// Exact reports whether a raster is taken from a worker.
func Exact(r *extract.Raster) bool { return whole(r) }

// File returns the message of a file.
func File(in extract.Input) ([]byte, error) {
	var b bytes.Buffer
	err := send(&b, file, in)
	return b.Bytes(), err
}
