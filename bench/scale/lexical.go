package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"quarry/bench/scale/data"
	"quarry/bench/scale/exact"
	"quarry/bench/scale/table"
	"quarry/internal/index"
	"quarry/internal/search"
)

// deletedEvery is which documents are deleted: one in twenty.
const deletedEvery = 20

// words is what the lexical measurement asks: queries of one kind, by words of a passage or of a question.
type words struct {
	kind, file string
	queries    [][]string
}

// lexical compares words beside Lucene and Bleve: the same analysed words on all sides, in files, with positions, a
// twentieth of the documents deleted.
func (b *bench) lexical() error {
	s := &set{name: "words", passages: b.passages, rows: upTo(len(b.passages.Texts)), texts: true}
	analysed := data.Words(b.passages.Texts)
	kinds, err := b.ask(analysed)
	if err != nil {
		return err
	}
	engines, stop, err := b.foreignLexical(analysed)
	defer stop()
	if err != nil {
		return err
	}
	dir := filepath.Join(b.dir, "index-words")
	x, made, err := s.build(dir)
	if err != nil {
		return err
	}
	defer func() {
		_ = x.Close() // nothing that counts is written
		_ = os.RemoveAll(dir)
	}()
	if err := s.forget(x); err != nil {
		return err
	}
	fmt.Printf("\nours: %+v\n", x.Stats())
	for _, k := range kinds {
		if err := b.compareWords(s, x, made, k, engines); err != nil {
			return err
		}
	}
	return b.phrases(s, x)
}

// ask draws the queries and writes them where the foreign engines read them.
func (b *bench) ask(analysed [][]string) (kinds []words, err error) {
	for _, n := range []int{2, 4, 8} {
		kinds = append(kinds, words{kind: fmt.Sprintf("%d terms", n), queries: data.Draw(analysed, b.queries, n)})
	}
	sentences := slices.DeleteFunc(data.Words(b.questions), func(q []string) bool { return len(q) == 0 })
	kinds = append(kinds, words{kind: "sentences", queries: sentences})
	for i := range kinds {
		kinds[i].file = b.file("queries-%d.txt", i)
		err = errors.Join(err, data.Lines(kinds[i].file, kinds[i].queries))
	}
	return kinds, err
}

// forget deletes a document in twenty.
func (s *set) forget(x *index.Index) error {
	var changes []index.Change
	for d := 0; d < len(s.first); d += deletedEvery {
		changes = append(changes, index.Change{Seq: x.Applied() + int64(len(changes)) + 1, Op: index.Delete, No: int64(d + 1)})
	}
	if err := x.Apply(changes); err != nil {
		return err
	}
	return x.Flush()
}

// foreignEngine is a process that searches words.
type foreignEngine struct {
	name  string
	peer  *peer
	built built
}

// foreignLexical starts Lucene and Bleve over the analysed words, each line with the number of its document in front. What
// is missing on the machine is left out.
func (b *bench) foreignLexical(analysed [][]string) (out []foreignEngine, stop func(), err error) {
	stop = func() {
		for _, e := range out {
			e.peer.stop()
		}
	}
	if !b.peers {
		return nil, stop, nil
	}
	lines := make([][]string, len(analysed))
	for i, w := range analysed {
		lines[i] = append([]string{strconv.Itoa(int(b.passages.Of[i]))}, w...)
	}
	file := b.file("words.txt")
	if err := data.Lines(file, lines); err != nil {
		return nil, stop, err
	}
	for _, e := range []struct {
		name  string
		start func() (*peer, string, error)
	}{{"Lucene", b.startLucene}, {"Bleve", b.startBleve}} {
		p, about, err := e.start()
		if err != nil {
			fmt.Println("skipped:", err)
			continue
		}
		f := foreignEngine{name: about, peer: p}
		out = append(out, f)
		if err := b.kept(p, file, strings.ToLower(e.name), &out[len(out)-1].built); err != nil {
			return out, stop, err
		}
	}
	return out, stop, nil
}

// kept opens the index that a foreign engine has from an earlier run, and builds it where there is none. What building
// took is kept beside it.
func (b *bench) kept(p *peer, words, name string, was *built) error {
	note := b.file("%s.json", name)
	request := map[string]any{"do": "open", "words": words, "index": b.file("%s", name), "deleted_every": deletedEvery}
	if raw, err := os.ReadFile(note); err == nil && json.Unmarshal(raw, was) == nil {
		return p.ask(request, &struct{}{})
	}
	fmt.Fprintf(os.Stderr, "building %s\n", name)
	request["do"] = "build"
	if err := p.ask(request, was); err != nil {
		return err
	}
	raw, err := json.Marshal(was)
	if err != nil {
		return err
	}
	return os.WriteFile(note, raw, 0o600)
}

// startLucene builds the Java program beside this one with Maven, in the folder, and starts it.
func (b *bench) startLucene() (*peer, string, error) {
	target := filepath.Join(b.dir, "java")
	err := command("", "mvn", "-q", "-f", filepath.Join(b.source, "lucene", "pom.xml"), "-Dtarget="+target, "package", "dependency:copy-dependencies")
	if err != nil {
		return nil, "", err
	}
	return startPeer("java", "-Xmx2g", "-XX:+UseSerialGC", "-cp", filepath.Join(target, "classes")+":"+filepath.Join(target, "dependency", "*"), "Words")
}

// startBleve builds the program of the module beside this one and starts it.
func (b *bench) startBleve() (*peer, string, error) {
	binary := filepath.Join(b.dir, "bleve-words")
	if err := command(filepath.Join(b.source, "bleve"), "go", "build", "-o", binary, "."); err != nil {
		return nil, "", err
	}
	return startPeer(binary)
}

// compareWords lets our index and the foreign engines take turns with queries of one kind.
func (b *bench) compareWords(s *set, x *index.Index, made built, k words, engines []foreignEngine) error {
	queries := make([]search.Query, len(k.queries))
	for i, q := range k.queries {
		queries[i].Terms = q
	}
	mine, err := s.ask(x, queries, heavier)
	if err != nil {
		return err
	}
	all := []*contender{{name: "ours", pid: os.Getpid(), built: made, ask: func() (searched, error) { return s.ask(x, queries, heavier) }}}
	for _, e := range engines {
		all = append(all, &contender{name: e.name, pid: e.peer.cmd.Process.Pid, built: e.built, ask: func() (out searched, err error) {
			return out, e.peer.ask(map[string]any{"do": "search", "queries": k.file, "k": exact.K}, &out)
		}})
	}
	for range 2 { // Java's compiler needs to have seen the queries
		for _, c := range all[1:] {
			if _, err := c.ask(); err != nil {
				return err
			}
		}
	}
	fmt.Printf("\n%s: %d queries; recall is the share of our ten\n", k.kind, len(queries))
	if err := b.takeTurns(all, func(r searched) float64 { return overlap(mine.Found, r.Found) }); err != nil {
		return err
	}
	printContenders(all, "ours")
	return nil
}

// overlap returns the share of the rows of want that are in got.
func overlap(want, got [][]int) float64 {
	same, n := 0, 0
	for q, rows := range want {
		for _, r := range rows {
			if n++; slices.Contains(got[q], r) {
				same++
			}
		}
	}
	return float64(same) / float64(max(1, n))
}

// phrases times phrases and prefixes, of two adjacent words of questions and of their beginnings.
func (b *bench) phrases(s *set, x *index.Index) error {
	var phrases, prefixes []search.Query
	for _, q := range b.questions {
		surface := strings.Fields(strings.ToLower(strings.Map(plain, q)))
		if len(surface) < 4 {
			continue
		}
		at := len(surface) / 2
		phrases = append(phrases, search.Query{Phrases: [][]string{surface[at-1 : at+1]}})
		if word := surface[at]; len(word) > 3 {
			prefixes = append(prefixes, search.Query{Prefixes: []string{word[:3]}})
		}
	}
	table.Head("ours", "queries", "queries/s", "p50", "p99")
	for name, queries := range map[string][]search.Query{"phrases of two words": phrases, "prefixes of three letters": prefixes} {
		if len(queries) == 0 {
			continue
		}
		r, err := s.ask(x, queries, heavier)
		if err != nil {
			return err
		}
		table.Row(name, len(queries), fmt.Sprintf("%.0f", float64(len(queries))/table.Sum(r.Seconds)), table.Milliseconds(table.Median(r.Seconds)), table.Milliseconds(table.Quantile(r.Seconds, 0.99)))
	}
	return nil
}

// plain replaces what is no letter or digit by a space.
func plain(r rune) rune {
	if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
		return r
	}
	return ' '
}
