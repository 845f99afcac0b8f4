package index_test

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"quarry/internal/expr/filter"
	"quarry/internal/index"
	"quarry/internal/index/manifest"
	"quarry/internal/index/segment"
	"quarry/internal/index/vector"
	"quarry/internal/search"
	"quarry/internal/text/analysis"
)

// The folders testdata/format<n> were written by programs of their time and are never written again: what lies on disks
// out there must be opened for ever. So nothing that makes their documents may change either.

// keptDocs returns the documents of the kept folders with numbers from … to-1, each a function of its number.
func keptDocs(from, to int64) []index.Document {
	words := []string{"a", "ab", "abc", "b", "boat", "boats", "cat", "dog", "e", "fish", "zebra", "ö"}
	var out []index.Document
	for no := from; no < to; no++ {
		rng := rand.New(rand.NewPCG(uint64(no), 21))
		d := index.Document{No: no, ID: fmt.Sprintf("d%d", no), Values: []filter.Value{filter.Text([]string{"hr", "it", "law"}[no%3]),
			filter.Int(2015 + no%10), filter.Real(float64(no%5) / 2), filter.List(filter.TextList, filter.Text("x"), filter.Text(words[no%12]))}}
		if no%4 == 0 {
			d.Values[no%3] = filter.Value{}
		}
		for ord := range 1 + int(no%3) {
			v := make([]float32, dim)
			for i := range v {
				v[i] = float32(rng.IntN(201)-100) / 1000
			}
			packed, err := vector.Pack(v)
			if err != nil {
				panic(err)
			}
			p := index.Part{Ord: ord, Lang: []string{"eng", "deu"}[no%7/6], Vector: packed, Dimensions: []float32{float32(ord) / 3},
				Values: make([]filter.Value, 7), Leads: ord == 0 && no%5 == 0}
			p.Values[4] = filter.Text([]string{"note", "rule"}[(int(no)+ord)%2])
			p.Values[5] = filter.List(filter.IntegerList, filter.Int(int64(ord)+2), filter.Int(no%4))
			p.Values[6] = filter.Bool(ord == 1)
			for i := range 5 + rng.IntN(12) {
				w := words[rng.IntN(len(words))]
				p.Stems = append(p.Stems, w)
				p.Words = append(p.Words, analysis.Term{Text: w, Pos: int32(i)})
			}
			if no%6 == 0 {
				p.Heading = []string{words[no%11]}
			}
			d.Parts = append(d.Parts, p)
		}
		out = append(out, d)
	}
	return out
}

// keptValues are the values that documents 80 to 84 have got in place of their own.
func keptValues(no int64) []filter.Value { return []filter.Value{filter.Text("new"), filter.Int(no)} }

// keptLast is the last change in the kept folders: 100 documents put, 5 deleted, 5 given other values.
const keptLast = 110

// keptNow returns the documents that the kept folders hold.
func keptNow() []index.Document {
	docs := append(keptDocs(1, 11), keptDocs(16, 101)...)
	for i := range docs {
		if no := docs[i].No; no >= 80 && no < 85 {
			docs[i].Values = keptValues(no)
		}
	}
	return docs
}

// writeKept writes a folder as the kept ones are: two segments, one with deletes, the other with newer columns.
func writeKept(t *testing.T, cfg index.Config) {
	t.Helper()
	x, err := index.Open(cfg)
	must(t, err)
	x.SealAt(1<<30, 0)
	x.ListsFrom(64, 0)
	put := func(docs []index.Document) (out []index.Change) {
		for i := range docs {
			out = append(out, index.Change{Seq: docs[i].No, Op: index.Put, No: docs[i].No, Doc: &docs[i]})
		}
		return out
	}
	must(t, x.Apply(put(keptDocs(1, 71))))
	must(t, x.Flush())
	must(t, x.Apply(put(keptDocs(71, 101))))
	must(t, x.Flush())
	for i := range int64(5) {
		must(t, x.Apply([]index.Change{{Seq: 101 + 2*i, Op: index.Delete, No: 11 + i},
			{Seq: 102 + 2*i, Op: index.Update, No: 80 + i, Doc: &index.Document{No: 80 + i, Values: keptValues(80 + i)}}}))
	}
	must(t, x.Close())
}

// keptConfig is that of the kept folders.
func keptConfig(t *testing.T, dir string) index.Config {
	return index.Config{Dir: dir, Epoch: 8, Encoder: "e", Schema: newSchema(t), SchemaVersion: 4, Dim: dim, Dimensions: 1}
}

// kept returns the configuration of a copy of a kept folder.
func kept(t *testing.T, name string) index.Config {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "index")
	must(t, os.CopyFS(dir, os.DirFS(filepath.Join("testdata", name))))
	// How words are analysed is no matter of the files' form, and the terms of these documents are given as they are.
	m, err := manifest.Read(dir)
	must(t, err)
	if m.Analysis != analysis.Version {
		m.Analysis = analysis.Version
		must(t, m.Write(segment.Files{}, dir))
	}
	return keptConfig(t, dir)
}

// keptQueries ask for every kind of thing that a folder holds.
func keptQueries(t *testing.T) []search.Query {
	v := make([]float32, dim)
	v[1], v[40] = 1, -0.5
	q := search.Query{Vector: v, Terms: []string{"boat", "cat", "\x00deu"}, Phrases: [][]string{{"dog", "fish"}}, Prefixes: []string{"b"},
		Exclude: []string{"zebra"}, ExcludePhrases: [][]string{{"a", "ab"}}, Dimensions: []float64{2}, Schema: 4, K: 12}
	out := []search.Query{q, {Vector: v, K: 200}, {Terms: []string{"\x00eng", "ö"}, K: 200}, {Terms: []string{"boat"}, K: 1}}
	for _, h := range []search.Headings{search.NoHeadings, search.OnlyHeadings} {
		out = append(out, search.Query{Vector: v, Headings: h, Schema: 4, K: 200})
	}
	for _, text := range append(conditions, "doc.dept = 'new'") {
		out = append(out, search.Query{Vector: v, Terms: []string{"dog"}, Filter: text, Schema: 4, K: 200})
	}
	return out
}

// remade returns an index in memory of the documents that the kept folders hold.
func remade(t *testing.T, cfg index.Config) *index.Index {
	t.Helper()
	cfg.Dir = ""
	x, err := index.Open(cfg)
	must(t, err)
	must(t, x.Replace(keptLast, once(keptNow())))
	return x
}

// TestFormats proves that folders of every format are opened as they are and answer every query, bit for bit, as an index
// made of the same documents now; that they go on being searched, changed, rewritten and merged; and that what is then
// written is of the present format.
func TestFormats(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"format2", "format3", "format3-bounds", "format3-summaries", keptNewest} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := kept(t, name)
			was := files(t, cfg.Dir)
			cfg.Notify = func(event string, err error) { t.Errorf("%s: %v", event, err) }
			want := remade(t, cfg)
			x, err := index.Open(cfg)
			must(t, err)
			if s := x.Stats(); x.Applied() != keptLast || x.SchemaVersion() != 4 || x.Partial() || s.Segments != 2 || s.MappedBytes == 0 {
				t.Fatalf("applied %d, attributes %d, %+v", x.Applied(), x.SchemaVersion(), s)
			}
			sameHits(t, "as it was", x, want)
			if !reflect.DeepEqual(files(t, cfg.Dir), was) {
				t.Error("opening changed the files")
			}
			// 50 deleted documents make the first segment due, so that it is written anew.
			x.SealAt(1<<30, 0)
			for i := range int64(50) {
				c := []index.Change{{Seq: keptLast + 1 + i, Op: index.Delete, No: 20 + i}}
				must(t, x.Apply(c))
				must(t, want.Apply(c))
			}
			sameHits(t, "changed", x, want)
			merged(t, x, false)
			must(t, x.Close())
			now := files(t, cfg.Dir)
			if now["1.seg"] != nil || !bytes.HasPrefix(now["3.seg"], []byte("QRYSEG03")) || !bytes.Equal(now["2.seg"], was["2.seg"]) {
				t.Errorf("files %v after the first segment was written anew", slices.Sorted(maps.Keys(now)))
			}
			x, err = index.Open(cfg)
			must(t, err)
			sameHits(t, "rewritten", x, want)
			// Seven segments of the size of the second make that one due.
			x.SealAt(1<<30, 0)
			next := int64(keptLast + 51)
			for range 7 {
				docs := keptDocs(next, next+6)
				for i := range docs {
					c := []index.Change{{Seq: docs[i].No, Op: index.Put, No: docs[i].No, Doc: &docs[i]}}
					must(t, x.Apply(c))
					must(t, want.Apply(c))
				}
				next += 6
				must(t, x.Flush())
				merged(t, x, false)
			}
			if now := files(t, cfg.Dir); now["2.seg"] != nil {
				t.Errorf("files %v after merging", slices.Sorted(maps.Keys(now)))
			}
			must(t, x.Close())
			x, err = index.Open(cfg)
			must(t, err)
			if x.Applied() != next-1 {
				t.Errorf("applied %d of %d", x.Applied(), next-1)
			}
			sameHits(t, "merged", x, want)
			must(t, x.Close())
			must(t, want.Close())
		})
	}
}

// sameHits compares the answers of two indexes.
func sameHits(t *testing.T, when string, x, want *index.Index) {
	t.Helper()
	found := 0
	for i, q := range keptQueries(t) {
		got := sortedHits(t, x, q)
		if want := sortedHits(t, want, q); !slices.Equal(got, want) {
			t.Fatalf("%s: query %d: got %+v\nwant %+v", when, i, got, want)
		}
		found += len(got)
	}
	if found < 500 {
		t.Errorf("%s: only %d hits", when, found)
	}
}

// rewrite replaces the sections of an index file by what change makes of them.
func rewrite(t *testing.T, path string, change func([]segment.Section) []segment.Section) {
	t.Helper()
	f, err := segment.Open(path)
	must(t, err)
	var sections []segment.Section
	for _, s := range f.Sections() {
		s.Data = bytes.Clone(s.Data)
		sections = append(sections, s)
	}
	must(t, f.Close())
	must(t, segment.Files{}.Write(path, change(sections)))
}

// newerSection raises the version of a section.
func newerSection(name string) func([]segment.Section) []segment.Section {
	return func(in []segment.Section) []segment.Section {
		for i := range in {
			if in[i].Name == name {
				in[i].Version++
			}
		}
		return in
	}
}

// TestNewerFiles proves that files of a newer program are neither read nor removed, whatever in them is newer; that the
// index is made beside them and found there again; and that the newer program goes on with its own files and removes
// what lies beside them.
func TestNewerFiles(t *testing.T) {
	t.Parallel()
	for name, raise := range map[string]func(t *testing.T, dir string){
		"manifest": func(t *testing.T, dir string) {
			body := []byte(`{"format":4,"epoch":8,"seq":77,"segments":{"of":"another form"}}`)
			line := fmt.Sprintf("%08x %s\n", crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)), body)
			must(t, os.WriteFile(filepath.Join(dir, "MANIFEST"), []byte(line), 0o600))
		},
		"file": func(t *testing.T, dir string) {
			b, err := os.ReadFile(filepath.Join(dir, "2.seg"))
			must(t, err)
			b[7], b[len(b)-1] = '4', '4'
			must(t, os.WriteFile(filepath.Join(dir, "2.seg"), b, 0o600))
		},
		"meta":    func(t *testing.T, dir string) { rewrite(t, filepath.Join(dir, "1.seg"), newerSection("meta")) },
		"section": func(t *testing.T, dir string) { rewrite(t, filepath.Join(dir, "2.seg"), newerSection("stem.heads")) },
		"deletes": func(t *testing.T, dir string) { rewrite(t, filepath.Join(dir, "1.del.1"), newerSection("live")) },
		"columns": func(t *testing.T, dir string) { rewrite(t, filepath.Join(dir, "2.col.1"), newerSection("col.1")) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := kept(t, "format3")
			own := files(t, cfg.Dir)
			raise(t, cfg.Dir)
			newer := files(t, cfg.Dir)
			last := map[bool]int64{true: 77, false: keptLast}[name == "manifest"]
			if got, ok := index.Saved(cfg.Dir); got != last || !ok {
				t.Errorf("saved %d by the newer program, want %d", got, last)
			}
			events := ""
			cfg.Notify = func(event string, err error) {
				events += event + " "
				if !errors.Is(err, segment.ErrNewer) {
					t.Errorf("%s: %v", event, err)
				}
			}
			seq := int64(0)
			for round := range 2 { // the second time with the files beside
				x, err := index.Open(cfg)
				must(t, err)
				if x.Applied() != seq || events != "index_files_newer " {
					t.Fatalf("round %d: applied %d, events %q", round, x.Applied(), events)
				}
				x.SealAt(1<<30, 0)
				if round == 0 {
					seq = keptLast + 5
					must(t, x.Replace(seq, once(keptNow())))
				} else if s := x.Stats(); s.MappedBytes == 0 || s.Documents != len(keptNow()) {
					t.Errorf("from the files beside: %+v", s)
				}
				must(t, x.Close())
				events = ""
				beside := files(t, filepath.Join(cfg.Dir, "format-3"))
				if len(beside) != 2 {
					t.Errorf("beside: %v", slices.Sorted(maps.Keys(beside)))
				}
				for n, b := range newer {
					if now, err := os.ReadFile(filepath.Join(cfg.Dir, n)); err != nil || !bytes.Equal(now, b) {
						t.Fatalf("round %d: %s was touched: %v", round, n, err)
					}
				}
			}
			if got, ok := index.Saved(cfg.Dir); got != seq || !ok {
				t.Errorf("saved %d, want %d", got, seq)
			}
			// The program that reads them comes back.
			for n, b := range own {
				must(t, os.WriteFile(filepath.Join(cfg.Dir, n), b, 0o600))
			}
			x, err := index.Open(cfg)
			must(t, err)
			if _, err := os.Stat(filepath.Join(cfg.Dir, "format-3")); !os.IsNotExist(err) || x.Applied() != keptLast || events != "" {
				t.Errorf("back: applied %d, events %q, beside %v", x.Applied(), events, err)
			}
			must(t, x.Close())
		})
	}
}

// TestBeside proves that of the folders in its own a program removes those that it or an older one made beside its files, but nothing
// in them that no program made, and none of a newer one.
func TestBeside(t *testing.T) {
	t.Parallel()
	cfg := kept(t, "format3")
	for _, path := range []string{"format-1/MANIFEST", "format-2/3.seg", "format-2/notes", "format-3/format-2/1.del.1", "format-4/1.seg", "format/1.seg"} {
		path = filepath.Join(cfg.Dir, path)
		must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must(t, os.WriteFile(path, []byte("x"), 0o600))
	}
	x, err := index.Open(cfg)
	must(t, err)
	must(t, x.Close())
	var left []string
	must(t, filepath.WalkDir(cfg.Dir, func(path string, d fs.DirEntry, err error) error {
		if rel, _ := filepath.Rel(cfg.Dir, path); strings.Contains(rel, "format") && !d.IsDir() {
			left = append(left, rel)
		}
		return err
	}))
	want := []string{"format/1.seg", "format-2/notes", "format-4/1.seg"}
	slices.Sort(left)
	slices.Sort(want)
	if !slices.Equal(left, want) {
		t.Errorf("left %v, want %v", left, want)
	}
	if _, err := os.Stat(filepath.Join(cfg.Dir, "format-3")); !os.IsNotExist(err) {
		t.Errorf("an empty folder stays: %v", err)
	}
}

// TestOptionalSection proves that without the sections that can be done without, or with newer versions of them, the same is
// found, and that one which does not belong to its segment is damage: of the columns, where it is of one.
func TestOptionalSection(t *testing.T) {
	t.Parallel()
	for _, section := range []string{"stem.bounds", "sum.4", "list.head", "list.code"} {
		for name, change := range map[string]func([]segment.Section) []segment.Section{
			"newer": newerSection(section),
			"none": func(in []segment.Section) []segment.Section {
				return slices.DeleteFunc(in, func(s segment.Section) bool { return s.Name == section })
			},
			"short": func(in []segment.Section) []segment.Section {
				for i := range in {
					if in[i].Name == section {
						in[i].Data = in[i].Data[8:]
					}
				}
				return in
			},
		} {
			cfg := kept(t, keptNewest)
			rewrite(t, filepath.Join(cfg.Dir, "1.seg"), change)
			x, err := index.Open(cfg)
			must(t, err)
			damaged, ofColumns := name == "short" || name == "none" && section == "list.code", section == "sum.4"
			if x.Partial() != (damaged && !ofColumns) || (x.SchemaVersion() == index.NoSchema) != (damaged && ofColumns) {
				t.Errorf("%s %s: partial %v, attributes %d", name, section, x.Partial(), x.SchemaVersion())
			}
			if !damaged {
				want := remade(t, cfg)
				sameHits(t, name+" "+section, x, want)
				must(t, want.Close())
			}
			must(t, x.Close())
		}
	}
}

// TestUnknownSection proves that a section which this program does not know changes nothing, is checked like the others, and
// is not carried on; and that one which is needed must be there.
func TestUnknownSection(t *testing.T) {
	t.Parallel()
	cfg := kept(t, "format3")
	for _, name := range []string{"1.seg", "2.seg", "1.del.1", "2.col.1"} {
		rewrite(t, filepath.Join(cfg.Dir, name), func(in []segment.Section) []segment.Section {
			more := segment.Section{Name: "stem.moons", Version: 7, Data: []byte("full")}
			return append([]segment.Section{more}, append(in, more)...)
		})
	}
	events := 0
	cfg.Notify = func(event string, err error) {
		if events++; event != index.EventDamaged {
			t.Errorf("%s: %v", event, err)
		}
	}
	want := remade(t, cfg)
	x, err := index.Open(cfg)
	must(t, err)
	if events > 0 || x.Applied() != keptLast {
		t.Fatalf("%d events, applied %d", events, x.Applied())
	}
	sameHits(t, "with a section more", x, want)
	must(t, x.Close())
	was := files(t, cfg.Dir)
	damaged := bytes.Replace(was["2.seg"], []byte("full"), []byte("gull"), 1)
	must(t, os.WriteFile(filepath.Join(cfg.Dir, "2.seg"), damaged, 0o600))
	x, err = index.Open(cfg)
	must(t, err)
	if !x.Partial() || events != 1 {
		t.Errorf("a damaged section that nobody knows: partial %v, %d events", x.Partial(), events)
	}
	must(t, x.Close())
	for n, b := range was {
		must(t, os.WriteFile(filepath.Join(cfg.Dir, n), b, 0o600))
	}
	rewrite(t, filepath.Join(cfg.Dir, "2.seg"), func(in []segment.Section) []segment.Section {
		return slices.DeleteFunc(in, func(s segment.Section) bool { return s.Name == "row.stem" || s.Name == "stem.moons" })
	})
	x, err = index.Open(cfg)
	must(t, err)
	if !x.Partial() || events != 2 {
		t.Errorf("without a section that is needed: partial %v, %d events", x.Partial(), events)
	}
	must(t, x.Close())
	must(t, want.Close())
}

// keptNewest is the kept folder whose sections are those that are written today.
const keptNewest = "format3-lists"

// TestKeptFolder proves that among the kept folders is one that has every file, section and version that is written now. Where
// that has changed, another folder is kept beside the others: name it above, and QUARRY_GENERATE=1 writes it.
func TestKeptFolder(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "index")
	writeKept(t, keptConfig(t, dir))
	keep := filepath.Join("testdata", keptNewest)
	if _, err := os.Stat(keep); os.Getenv("QUARRY_GENERATE") != "" && os.IsNotExist(err) {
		must(t, os.CopyFS(keep, os.DirFS(dir)))
	}
	contents := func(dir string) (out []string) {
		for name := range files(t, dir) {
			if name == "MANIFEST" {
				m, err := manifest.Read(dir)
				must(t, err)
				out = append(out, fmt.Sprintf("manifest of format %d", m.Format))
				continue
			}
			f, err := segment.Open(filepath.Join(dir, name))
			must(t, err)
			for _, s := range f.Sections() {
				out = append(out, fmt.Sprintf("%s: %s version %d", name, s.Name, s.Version))
			}
			must(t, f.Close())
		}
		slices.Sort(out)
		return out
	}
	if got, want := contents(keep), contents(dir); !slices.Equal(got, want) {
		t.Errorf("%s has\n%s\nwritten now:\n%s", keep, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
