package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"quarry/bench/service"
	"quarry/internal/api"
	"quarry/internal/identity/account"
	"quarry/internal/identity/authz"
	"quarry/internal/query/measure"
	"quarry/internal/store"
	"quarry/internal/store/accounts"
)

// authenticate measures, in process, looking up the principal of a key and checking whether it may read a corpus.
func authenticate(dir string, secrets []string) error {
	db, err := store.Open(context.Background(), store.Config{Dir: dir})
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	people := account.New(accounts.New(db), nil)
	op := api.OperationByID("getCorpus")
	rule := authz.Rule{APIRoles: op.APIRoles, CorpusRoles: op.CorpusRoles, AgentRoles: op.AgentRoles}
	const calls = 20_000
	times := make([]time.Duration, 0, calls)
	before := db.Reads()
	for i := range calls {
		began := time.Now()
		p, err := people.Authenticate(context.Background(), secrets[i*7919%len(secrets)])
		if err != nil || !authz.Allow(p, rule, authz.Target{Corpora: []string{"c1"}}) {
			return fmt.Errorf("key %d is refused: %w", i, err)
		}
		times = append(times, time.Since(began))
	}
	fmt.Printf("authentication and permission check among %d keys: %s, %.2f reads each\n\n", len(secrets), spread(times), float64(db.Reads()-before)/calls)
	return nil
}

// spread returns the percentiles of times as text.
func spread(times []time.Duration) string {
	slices.Sort(times)
	at := func(q float64) time.Duration { return measure.Percentile(times, q).Round(100 * time.Nanosecond) }
	return fmt.Sprintf("p50 %v, p95 %v, p99 %v", at(0.5), at(0.95), at(0.99))
}

// pages measures listing users and keys in pages of 100 and of 10.
func pages(p *service.Process) error {
	fmt.Printf("| list | pages | time of a page | processor time of a page |\n|---|---|---|---|\n")
	for _, c := range []struct{ name, path, query string }{
		{"keys, 100 a page", "/v2/api_keys", "limit=100"},
		{"keys, 10 a page", "/v2/api_keys", "limit=10"},
		{"keys on a corpus, 100 a page", "/v2/api_keys", "limit=100&corpus_key=c7"},
		{"personal keys, 100 a page", "/v2/api_keys", "limit=100&api_key_role=personal"},
		{"users, 100 a page", "/v2/users", "limit=100"},
		{"users of a corpus, 100 a page", "/v2/users", "limit=100&corpus_key=c7"},
	} {
		var times []time.Duration
		cpu, err := p.ProcessorTime()
		if err != nil {
			return err
		}
		for len(times) < 200 {
			if times, err = walk(p, c.path, c.query, times); err != nil {
				return err
			}
		}
		now, err := p.ProcessorTime()
		if err != nil {
			return err
		}
		fmt.Printf("| %s | %d | %s | %v |\n", c.name, len(times), spread(times), ((now - cpu) / time.Duration(len(times))).Round(10*time.Microsecond))
	}
	fmt.Println()
	return nil
}

// walk reads a list to its end and appends the time of each page to times.
func walk(p *service.Process, path, query string, times []time.Duration) ([]time.Duration, error) {
	for page := ""; ; {
		began := time.Now()
		raw, err := p.Must(http.StatusOK, http.MethodGet, path+"?"+query+page, nil)
		if err != nil {
			return nil, err
		}
		times = append(times, time.Since(began))
		var answer struct {
			Metadata struct {
				PageKey string `json:"page_key"`
			} `json:"metadata"`
		}
		if err := json.Unmarshal(raw, &answer); err != nil {
			return nil, err
		}
		if answer.Metadata.PageKey == "" {
			return times, nil
		}
		page = "&page_key=" + url.QueryEscape(answer.Metadata.PageKey)
	}
}

// small loads a program on one core with small reads, each with a different key.
func small(binary, dir string, secrets []string, rounds int) error {
	log, err := os.Create(filepath.Join(dir, "bench.log"))
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	p, err := service.StartWith(binary, dir, log, "GOMAXPROCS=1") // with its usual log: a line for each request
	if err != nil {
		return err
	}
	defer p.Stop()
	fmt.Printf("| small read, one core, %d connections | requests a second | by processor time | p50, p99 |\n|---|---|---|---|\n", connections)
	for _, path := range []string{"/v2/corpora/c1", "/v2/encoders", "/v2/corpora?limit=1"} {
		for range rounds {
			if err := load(p, path, secrets); err != nil {
				return err
			}
		}
	}
	return nil
}

const (
	connections = 8
	perRound    = 1500 // requests of each connection
)

// load sends the same number of requests on every connection and prints a row.
func load(p *service.Process, path string, secrets []string) error {
	times := make([][]time.Duration, connections)
	errs := make([]error, connections)
	cpu, err := p.ProcessorTime()
	if err != nil {
		return err
	}
	began := time.Now()
	var done sync.WaitGroup
	for c := range connections {
		done.Go(func() { times[c], errs[c] = ask(p.Address(), path, secrets, c) })
	}
	done.Wait()
	took := time.Since(began)
	now, err := p.ProcessorTime()
	if err != nil {
		return err
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	all := slices.Concat(times...)
	slices.Sort(all)
	fmt.Printf("| GET %s | %.0f | %.0f | %v, %v |\n", path, float64(len(all))/took.Seconds(), float64(len(all))/(now-cpu).Seconds(),
		measure.Percentile(all, 0.5).Round(10*time.Microsecond), measure.Percentile(all, 0.99).Round(10*time.Microsecond))
	return nil
}

// ask sends requests on one connection and returns their times. It parses responses itself, since the client of net/http
// would use more processor time than the program that it measures.
func ask(address, path string, secrets []string, seed int) ([]time.Duration, error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	r := bufio.NewReader(conn)
	times := make([]time.Duration, 0, perRound)
	for i := range perRound {
		began := time.Now()
		_, err := io.WriteString(conn, "GET "+path+" HTTP/1.1\r\nHost: x\r\nX-Api-Key: "+secrets[(i*7919+seed*613)%len(secrets)]+"\r\n\r\n")
		if err != nil {
			return nil, err
		}
		if err := read(r); err != nil {
			return nil, fmt.Errorf("GET %s: %w", path, err)
		}
		times = append(times, time.Since(began))
	}
	return times, nil
}

// read reads a response with a Content-Length. Any status but 200 is an error.
func read(r *bufio.Reader) error {
	length := 0
	status, err := r.ReadString('\n')
	if err != nil {
		return err
	}
	if !strings.HasPrefix(status, "HTTP/1.1 200 ") {
		return fmt.Errorf("the answer is %q", strings.TrimSpace(status))
	}
	for {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return err
		}
		if len(line) <= 2 {
			break
		}
		if n, ok := strings.CutPrefix(string(line), "Content-Length: "); ok {
			if length, err = strconv.Atoi(strings.TrimSpace(n)); err != nil {
				return err
			}
		}
	}
	_, err = r.Discard(length)
	return err
}
