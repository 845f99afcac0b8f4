package draft

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"hash"
	"math"
	"sort"

	"quarry/internal/corpus/document"
)

// digester hashes what a client sent, so that the same content gives the same digest whatever the order of its
// JSON members and whatever this version makes of it. Every value goes in with its length: no two contents share a
// byte stream.
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

// canonical gives raw compact with sorted members; what can't be read stays as it is.
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
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	sort.Strings(names)
	d.number(uint64(len(names)))
	for _, name := range names {
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

// FileDigest is the digest of an upload: the bytes, the metadata and the options that came with them. The id is part of
// none of them, for it decides which stored document is compared.
func FileDigest(data []byte, options ...json.RawMessage) string {
	d := newDigester("file")
	d.number(uint64(len(data)))
	d.h.Write(data)
	for _, o := range options {
		d.json(o)
	}
	return d.sum()
}
