package draft

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"hash"
	"maps"
	"math"
	"slices"

	"quarry/internal/corpus/document"
)

// digester hashes what a client sent. The digest does not depend on the order of JSON members, nor on the parts that
// this version derives. Every value is hashed with its length, so that different contents are different byte streams.
type digester struct{ h hash.Hash }

func newDigester(kind string) digester {
	d := digester{sha256.New()}
	d.text(kind)
	return d
}

func (d digester) sum() string { return hex.EncodeToString(d.h.Sum(nil)) }

func (d digester) number(n uint64) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], n)
	d.h.Write(b[:])
}

func (d digester) text(texts ...string) {
	for _, s := range texts {
		d.number(uint64(len(s)))
		d.h.Write([]byte(s))
	}
}

// json hashes a value with the members of its objects in order of their names.
func (d digester) json(raw json.RawMessage) { d.text(string(canonical(raw))) }

// canonical returns raw in compact form with sorted members, nil for null and for invalid JSON.
func canonical(raw json.RawMessage) []byte {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber() // numbers keep their text
	var v any
	if dec.Decode(&v) != nil || v == nil {
		return nil
	}
	out, err := json.Marshal(v)
	if err != nil {
		return raw
	}
	return out
}

func (d digester) dimensions(m map[string]float64) {
	d.number(uint64(len(m)))
	for _, name := range slices.Sorted(maps.Keys(m)) {
		d.text(name)
		d.number(math.Float64bits(m[name]))
	}
}

func (d digester) tables(all []document.Table) {
	d.number(uint64(len(all)))
	for _, t := range all {
		d.text(t.ID, t.Title, t.Description)
		d.json(t.Data)
	}
}

func (d digester) images(all []document.Image) {
	d.number(uint64(len(all)))
	for _, m := range all {
		d.text(m.ID, m.Title, m.Caption, m.Description, m.MimeType, string(m.Data))
	}
}

func (d digester) sections(all []Section) {
	d.number(uint64(len(all)))
	for i := range all {
		s := &all[i]
		id, given := s.ID.Get()
		d.number(uint64(uint32(id)))
		d.number(map[bool]uint64{true: 1}[given])
		d.text(s.Title, s.Text)
		d.json(s.Metadata)
		d.tables(s.Tables)
		d.images(s.Images)
		d.sections(s.Sections)
	}
}

func (cmd *Structured) digest() string {
	d := newDigester("structured")
	d.text(cmd.ID, cmd.Title, cmd.Description)
	d.json(cmd.Metadata)
	d.dimensions(cmd.Dimensions)
	d.number(uint64(cmd.Chunking.MaxChars))
	d.sections(cmd.Sections)
	return d.sum()
}

func (cmd *Core) digest() string {
	d := newDigester("core")
	d.text(cmd.ID)
	d.json(cmd.Metadata)
	d.tables(cmd.Tables)
	d.images(cmd.Images)
	d.number(uint64(len(cmd.Parts)))
	for i := range cmd.Parts {
		p := &cmd.Parts[i]
		d.text(p.Text, p.Context, p.TableID, p.ImageID, p.ImageMode)
		d.json(p.Metadata)
		d.dimensions(p.Dimensions)
	}
	return d.sum()
}

// FileDigest returns the digest of an upload: its bytes, metadata and options. The id is not part of it, as it selects
// the stored document to compare with.
func FileDigest(data []byte, options ...json.RawMessage) string {
	d := newDigester("file")
	d.number(uint64(len(data)))
	d.h.Write(data)
	for _, o := range options {
		d.json(o)
	}
	return d.sum()
}
