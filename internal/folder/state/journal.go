package state

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
)

// A journal is lines, each a checksum of eight hexadecimal digits, a space and JSON: a header, then records. A later record
// replaces an earlier one with the same id.

// version is of the format; a journal of another one counts as damaged.
const version = 1

type header struct {
	Version  int    `json:"quarry_folder_state"`
	Service  string `json:"service"`
	Corpus   string `json:"corpus"`
	CorpusID string `json:"corpus_id"`
	Root     string `json:"root"`
}

type record struct {
	Entry
	Gone bool `json:"gone,omitempty"` // the document is forgotten
}

var table = crc32.MakeTable(crc32.Castagnoli)

func line(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // impossible: strings, numbers and flags
	}
	return fmt.Appendf(nil, "%08x %s\n", crc32.Checksum(raw, table), raw)
}

// errDamaged is the error of a line that is not as it was written.
var errDamaged = errors.New("damaged")

// parse reads a line, with its end, into v.
func parse(text []byte, v any) error {
	raw, ended := bytes.CutSuffix(text, []byte("\n"))
	sum, raw, found := bytes.Cut(raw, []byte(" "))
	if !ended || !found || string(sum) != fmt.Sprintf("%08x", crc32.Checksum(raw, table)) || json.Unmarshal(raw, v) != nil {
		return errDamaged
	}
	return nil
}

// maxLine is more than any line has: ids are bounded by the contract.
const maxLine = 1 << 20

// slack is how many records may be outdated before the journal is written anew.
const slack = 1000

// load reads the journal at path, repairs it if need be, and opens it for writing.
func (j *Journal) load(path string, k Key) error {
	want := header{version, k.Service, k.Corpus, k.CorpusID, k.Root}
	records, damaged := 0, 0
	switch f, err := os.Open(path); {
	case err == nil:
		found := header{}
		records, damaged, err = j.read(f, &found)
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
		if found.CorpusID != "" && found.CorpusID != k.CorpusID {
			j.entries, damaged = nil, 0
			records = slack + 1
			j.note = fmt.Sprintf("corpus %s is not the one that was indexed before (it was made anew, or the service is another one); starting with an empty state", k.Corpus)
		}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	default:
		records = slack + 1
	}
	if j.entries == nil {
		j.entries = map[string]Entry{}
	}
	if damaged > 0 {
		j.note = fmt.Sprintf("the state of %s was damaged and is rebuilt; files that it has lost are compared with the corpus", k.Root)
	}
	if damaged > 0 || records > 2*len(j.entries)+slack {
		if err := j.rewrite(path, want); err != nil {
			return err
		}
	}
	var err error
	j.file, err = os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0o600)
	return err
}

// read takes in a journal and counts its records and what is damaged. Without a header that can be trusted nothing of it is.
func (j *Journal) read(f io.Reader, h *header) (records, damaged int, err error) {
	in := bufio.NewReaderSize(f, maxLine)
	for first := true; ; first = false {
		text, err := in.ReadSlice('\n')
		switch {
		case errors.Is(err, io.EOF) && len(text) == 0 && !first:
			return records, damaged, nil
		case errors.Is(err, bufio.ErrBufferFull):
			return records, damaged + 1, nil
		case err != nil && !errors.Is(err, io.EOF):
			return records, damaged, err
		case first:
			if parse(text, h) != nil || h.Version != version || h.CorpusID == "" {
				*h = header{}
				return records, damaged + 1, nil
			}
			j.entries = map[string]Entry{}
			continue
		}
		var r record
		records++
		switch {
		case parse(text, &r) != nil:
			damaged++
		case r.Gone:
			delete(j.entries, r.ID)
		default:
			j.entries[r.ID] = r.Entry
		}
	}
}

// rewrite puts a journal of the entries there are at path in one step.
func (j *Journal) rewrite(path string, h header) error {
	temporary := path + ".new"
	f, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	_, err = w.Write(line(h))
	for e := range j.All() {
		if err == nil {
			_, err = w.Write(line(record{Entry: e}))
		}
	}
	if err == nil {
		err = errors.Join(w.Flush(), f.Sync())
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(temporary))
	}
	return os.Rename(temporary, path)
}
