package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"quarry/bench/scale/data"
	"quarry/bench/scale/exact"
	"quarry/bench/scale/table"
	"quarry/internal/cpu"
	"quarry/internal/index"
	"quarry/internal/search"
)

// enough is the recall at which engines are compared.
const enough = 0.99

// contender is an engine that takes its turns.
type contender struct {
	name    string
	ask     func() (searched, error)
	pid     int // whose memory it touches
	built   built
	recall  float64
	rates   []float64 // queries a second, by round
	seconds []float64 // of all queries of all rounds
	touched int64
	plan    string
}

// dense compares vectors: all of them static, and those of the encoder.
func (b *bench) dense() error {
	static, err := b.whole()
	if err != nil {
		return err
	}
	if err := b.compareDense(static, b.staticAsked); err != nil {
		return err
	}
	encoded, err := b.encoded()
	if err != nil {
		return err
	}
	if len(encoded.rows) < 3000 {
		fmt.Printf("\nskipped: %d encoded passages; so few have no files (-real)\n", len(encoded.rows))
		return nil
	}
	return b.compareDense(encoded, b.encodedAsked)
}

func (b *bench) compareDense(s *set, asked data.Vectors) error {
	truth, err := exact.Of(s.vectors, asked, nil)
	if err != nil {
		return err
	}
	dir := filepath.Join(b.dir, "index-"+s.name)
	x, made, err := s.build(dir)
	if err != nil {
		return err
	}
	defer func() {
		_ = x.Close() // nothing is written
		_ = os.RemoveAll(dir)
	}()
	fmt.Printf("\n%s: %d vectors; ours: %+v\n", s.name, len(s.rows), x.Stats())
	recall := func(r searched) float64 { return truth[0].Recall(s.vectors, asked, r.Found, nil) }
	contenders := b.ourDense(s, x, made, asked)
	foreign, stop, err := b.foreignDense(s, asked, recall)
	defer stop()
	if err != nil {
		return err
	}
	contenders = append(contenders, foreign...)
	if err := b.takeTurns(contenders, recall); err != nil {
		return err
	}
	printContenders(contenders, "hnswlib")
	return nil
}

// ourDense returns our index on each path of the CPU.
func (b *bench) ourDense(s *set, x *index.Index, made built, asked data.Vectors) (out []*contender) {
	paths := cpu.Available()
	for _, path := range slices.Backward(paths[min(1, len(paths)-1):]) { // plain Go only where there is nothing else
		for _, way := range ways {
			queries := make([]search.Query, asked.Len())
			for i := range queries {
				queries[i].Vector = asked.Row(i)
				way.set(&queries[i])
			}
			out = append(out, &contender{name: "ours, " + path.String() + way.name, pid: os.Getpid(), built: made, ask: func() (searched, error) {
				if err := cpu.Use(path.String()); err != nil {
					return searched{}, err
				}
				defer func() { _ = cpu.Use("auto") }() // a path that every CPU has
				return s.ask(x, queries, nearer)
			}})
		}
	}
	return out
}

// way is how a search is asked for.
type way struct {
	name string
	set  func(*search.Query)
}

// ways are those that are compared: the planner's choice for ten results and for as many as the service asks for, and the
// exact search.
var ways = []way{
	{"", func(q *search.Query) { q.Pool = exact.K }},
	{", pool of 200", func(q *search.Query) { q.Pool = 200 }},
	{", exact", func(q *search.Query) { q.Exact = true }},
}

// efforts are the values of ef and nprobe that are tried until the recall is enough.
var efforts = []int{16, 32, 48, 64, 96, 128, 160, 224, 320, 448, 640, 1024, 2048, 4096}

// foreignDense starts the foreign engines and finds out which effort each needs.
func (b *bench) foreignDense(s *set, asked data.Vectors, recall func(searched) float64) (out []*contender, stop func(), err error) {
	var started []*peer
	stop = func() {
		for _, p := range started {
			p.stop()
		}
	}
	if !b.peers {
		return nil, stop, nil
	}
	python, err := b.environment()
	if err != nil {
		fmt.Println("skipped: hnswlib and faiss,", err)
		return nil, stop, nil
	}
	name := fmt.Sprintf("%d-%s-%d", b.settings.passages, s.name, len(s.rows))
	if err := link(s, b.dir, name); err != nil {
		return nil, stop, err
	}
	queries := name + "-queries.f32"
	if err := data.Save(filepath.Join(b.dir, queries), asked); err != nil {
		return nil, stop, err
	}
	for i, engine := range strings.Split(b.engines, ",") {
		p, about, err := startPeer(python, filepath.Join(b.source, "vectors.py"), b.dir)
		if err != nil {
			return out, stop, err
		}
		started = append(started, p)
		if i == 0 {
			fmt.Println(about)
		}
		c, err := b.foreign(p, engine, name, queries, asked.Dim, recall)
		if err != nil {
			return out, stop, err
		}
		out = append(out, c)
	}
	return out, stop, nil
}

// link writes the vectors of s where the foreign engines look for them, unless they are there.
func link(s *set, dir, name string) error {
	path := filepath.Join(dir, name+".f32")
	if info, err := os.Stat(path); err == nil && info.Size() == int64(4*len(s.vectors.Values)) {
		return nil
	}
	return data.Save(path, s.vectors)
}

// foreign opens an engine and raises its effort until the recall is enough.
func (b *bench) foreign(p *peer, engine, name, queries string, dim int, recall func(searched) float64) (*contender, error) {
	c := &contender{pid: p.cmd.Process.Pid}
	fmt.Fprintf(os.Stderr, "opening %s, which takes minutes where it is built\n", engine)
	if err := p.ask(map[string]any{"do": "open", "engine": engine, "set": name, "dim": dim}, &c.built); err != nil {
		return nil, err
	}
	search := func(effort int) (out searched, err error) {
		err = p.ask(map[string]any{"do": "search", "engine": engine, "queries": queries, "k": exact.K, "effort": effort}, &out)
		return out, err
	}
	for _, effort := range efforts {
		r, err := search(effort)
		if err != nil {
			return nil, err
		}
		c.name, c.recall = fmt.Sprintf("%s, %s, effort %d", engine, c.built.About, effort), recall(r)
		c.ask = func() (searched, error) { return search(effort) }
		if c.recall >= enough || c.built.Most > 0 && effort >= c.built.Most {
			break
		}
	}
	return c, nil
}

// environment returns the Python with the foreign engines, which it installs at the first time.
func (b *bench) environment() (python string, err error) {
	dir := filepath.Join(b.dir, "python")
	python = filepath.Join(dir, "bin", "python")
	if _, err := os.Stat(filepath.Join(dir, "complete")); err == nil {
		return python, nil
	}
	if err := command("", b.python, "-m", "venv", dir); err != nil {
		return "", err
	}
	if err := command("", python, "-m", "pip", "install", "--quiet", "-r", filepath.Join(b.source, "requirements.txt")); err != nil {
		return "", err
	}
	return python, os.WriteFile(filepath.Join(dir, "complete"), nil, 0o600)
}

// takeTurns runs rounds in which each contender answers all queries once.
func (b *bench) takeTurns(all []*contender, recall func(searched) float64) error {
	for round := range b.rounds {
		for _, c := range all {
			if err := b.ctx.Err(); err != nil {
				return err
			}
			if round == 0 {
				_ = clearReferenced(c.pid) // where the system can't tell, no memory is printed
			}
			r, err := c.ask()
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			if round == 0 {
				c.touched = r.touched
				if c.pid != os.Getpid() {
					c.touched = referenced(c.pid)
				}
				c.recall, c.plan = recall(r), r.plan()
			}
			c.rates = append(c.rates, float64(len(r.Seconds))/table.Sum(r.Seconds))
			c.seconds = append(c.seconds, r.Seconds...)
		}
	}
	return nil
}

// printContenders prints what contenders did, each beside the one of which the name begins with base: the median of the
// ratios of the rounds.
func printContenders(all []*contender, base string) {
	var to *contender
	for _, c := range all {
		if len(c.name) >= len(base) && c.name[:len(base)] == base {
			to = c
		}
	}
	table.Head("engine", "recall@10", "queries/s", "× "+base, "p50", "p99", "memory touched", "built: processor, clock", "on disk", "what was done")
	for _, c := range all {
		ratio := "–"
		if to != nil {
			ratios := make([]float64, len(c.rates))
			for i := range ratios {
				ratios[i] = c.rates[i] / to.rates[i]
			}
			ratio = fmt.Sprintf("%.2f", table.Median(ratios))
		}
		table.Row(c.name, fmt.Sprintf("%.4f", c.recall), fmt.Sprintf("%.0f", table.Median(c.rates)), ratio, table.Milliseconds(table.Quantile(c.seconds, 0.5)), table.Milliseconds(table.Quantile(c.seconds, 0.99)),
			table.Megabytes(c.touched), fmt.Sprintf("%.1f, %.1f s", c.built.CPU, c.built.Wall), table.Megabytes(c.built.Bytes), c.plan)
	}
}
