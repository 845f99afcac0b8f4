package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"

	"quarry/internal/search"
)

// peer is a foreign engine in a process of its own: it answers requests, one JSON object a line.
type peer struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

// startPeer starts a foreign engine and returns what it says about itself.
func startPeer(name string, arguments ...string) (p *peer, about string, err error) {
	p = &peer{cmd: exec.Command(name, arguments...)}
	p.cmd.Stderr = os.Stderr
	p.cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, "", err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, "", err
	}
	p.out = bufio.NewScanner(out)
	p.out.Buffer(nil, 1<<26)
	if err := p.cmd.Start(); err != nil {
		return nil, "", err
	}
	var hello struct{ About string }
	if err := p.read(&hello); err != nil {
		p.stop()
		return nil, "", fmt.Errorf("%s: %w", name, err)
	}
	return p, hello.About, nil
}

// stop ends the process.
func (p *peer) stop() {
	_ = p.in.Close() // which ends it
	_ = p.cmd.Wait() // its answers have told whether it worked
}

// ask sends a request and reads the answer.
func (p *peer) ask(request, answer any) error {
	raw, err := json.Marshal(request)
	if err != nil {
		return err
	}
	if _, err := p.in.Write(append(raw, '\n')); err != nil {
		return err
	}
	return p.read(answer)
}

// read reads an answer. Lines that are no JSON objects are passed over, but shown where the process ends.
func (p *peer) read(answer any) error {
	var other []string
	for p.out.Scan() {
		if line := p.out.Text(); strings.HasPrefix(line, "{") {
			return json.Unmarshal([]byte(line), answer)
		}
		other = append(other, p.out.Text())
	}
	return errors.Join(fmt.Errorf("the process ended: %s", strings.Join(other, "; ")), p.out.Err())
}

// built is what the building of an index took.
type built struct {
	Wall, CPU float64 // seconds
	Bytes     int64   // on disk
	About     string
	Most      int // lists that can be read, 0 without lists
}

// searched is the answer to searches one after another.
type searched struct {
	Seconds []float64
	Found   [][]int // rows
	steps   []search.Step
	touched int64 // bytes of the pages that were touched, of our own searches
}

// plan returns what our searches did, on average of a query: how many segments were searched in each way, codes compared
// and rows settled, and the share of postings that was skipped.
func (r searched) plan() string {
	ways, codes, settled, read, skipped := map[string]int{}, 0, 0, 0, 0
	for _, s := range r.steps {
		if s.Way != "" {
			ways[s.Way]++
		}
		codes, settled, read, skipped = codes+s.Codes, settled+s.Settled, read+s.Postings, skipped+s.Skipped*blockPostings
	}
	n := float64(max(1, len(r.Seconds)))
	var out []string
	for _, way := range slices.Sorted(maps.Keys(ways)) {
		out = append(out, fmt.Sprintf("%s in %.1f segments", way, float64(ways[way])/n))
	}
	if settled > 0 {
		out = append(out, fmt.Sprintf("%.0f codes, %.0f settled", float64(codes)/n, float64(settled)/n))
	}
	if read > 0 {
		out = append(out, fmt.Sprintf("%.0f postings read, at most %.0f %% skipped", float64(read)/n, 100*float64(skipped)/float64(read+skipped)))
	}
	return strings.Join(out, ", ")
}

// blockPostings is how many postings a block has that is not the last of its list.
const blockPostings = 128

// command runs a program that prepares something, and shows what it prints if it fails.
func command(dir, name string, arguments ...string) error {
	c := exec.Command(name, arguments...)
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w: %.2000s", name, strings.Join(arguments, " "), err, out)
	}
	return nil
}
