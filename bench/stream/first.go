package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// first measures the time to the first token, alternately of the provider, called directly, and of the operation.
func (b *bench) first() error {
	const script = "pace:50:3" // a first piece that is held back is seen, since no other follows soon
	model, err := b.model("quick", script)
	if err != nil {
		return err
	}
	var direct, whole, behind []time.Duration
	for i := range b.rounds + b.rounds/10 {
		d, err := b.direct(script)
		if err != nil {
			return err
		}
		results, token, err := b.streamed(model)
		if err != nil {
			return err
		}
		if i < b.rounds/10 {
			continue // warm-up
		}
		direct, whole, behind = append(direct, d), append(whole, token), append(behind, token-results)
	}
	fmt.Printf("Time to the first token, %d rounds, one after another:\n\n| | p50 | p95 |\n|---|---|---|\n", b.rounds)
	row := func(name string, all []time.Duration) {
		fmt.Printf("| %s | %s | %s |\n", name, ms(at(all, 0.5)), ms(at(all, 0.95)))
	}
	row("the provider, called directly", direct)
	row("a "+b.noun+", from its start", whole)
	if b.found != "" {
		row("a "+b.noun+", from its results", behind)
	}
	own := at(direct, 0.5)
	fmt.Printf("\nOur own: %s p50 (bar: %s)", ms(at(behind, 0.5)-own), b.bar)
	if b.found != "" {
		fmt.Printf(" from the results on, %s with encoding and searching", ms(at(whole, 0.5)-own))
	}
	fmt.Print("\n\n")
	return nil
}

// direct returns the time to the first token of the provider.
func (b *bench) direct(script string) (time.Duration, error) {
	started := time.Now()
	res, err := b.client.Post(b.at+"/v1/chat/completions", "application/json", strings.NewReader(completion(script)))
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	lines := bufio.NewReader(res.Body)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return 0, errShort
		}
		if strings.Contains(line, `"content":"word `) {
			took := time.Since(started)
			_, err = io.Copy(io.Discard, lines)
			return took, err
		}
	}
}

// streamed returns the times to the results, 0 where there are none, and to the first token.
func (b *bench) streamed(model string) (results, token time.Duration, err error) {
	path, err := b.place(model)
	if err != nil {
		return 0, 0, err
	}
	started := time.Now()
	res, err := b.askAt(path, model)
	if err != nil {
		return 0, 0, err
	}
	defer res.Body.Close()
	lines := bufio.NewReaderSize(res.Body, 1<<16)
	for {
		line, err := lines.ReadString('\n')
		switch {
		case err != nil:
			return 0, 0, errShort
		case b.found != "" && strings.HasPrefix(line, b.found):
			results = time.Since(started)
		case strings.Contains(line, b.token+"word"):
			token = time.Since(started)
			_, err = io.Copy(io.Discard, lines)
			return results, token, err
		}
	}
}

// leave measures the time from a client's disconnect to the cancellation of the call to the provider.
func (b *bench) leave() error {
	model, err := b.model("patient", "stamp:50:2000")
	if err != nil {
		return err
	}
	const rounds = 100
	took := make([]time.Duration, 0, rounds)
	for range rounds {
		res, err := b.ask(model)
		if err != nil {
			return err
		}
		if err := skipTo(res, b.token+"1"); err != nil {
			return err
		}
		call := b.provider.Last()
		left := time.Now()
		if err := res.Body.Close(); err != nil {
			return err
		}
		select {
		case <-call.Gone:
			took = append(took, time.Since(left))
		case <-time.After(10 * time.Second):
			return fmt.Errorf("the call to the provider was not cancelled within ten seconds")
		}
	}
	fmt.Printf("The client of a "+b.noun+" leaves, the provider is told: p50 %s, p95 %s, most %s (%d rounds)\n\n", ms(at(took, 0.5)), ms(at(took, 0.95)), ms(at(took, 1)), rounds)
	return nil
}

// skipTo reads a stream to the first line that holds text: the nanoseconds of now begin with a 1.
func skipTo(res *http.Response, text string) error {
	for lines := bufio.NewReader(res.Body); ; {
		line, err := lines.ReadString('\n')
		if err != nil {
			return errShort
		}
		if strings.Contains(line, text) {
			return nil
		}
	}
}
