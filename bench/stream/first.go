package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// first measures the time to the first token, alternately of the provider, called directly, and of a query.
func (b *bench) first() error {
	const script = "say:It is serviced every 100 hours [1] and the filter after 50."
	if err := b.model("quick", script); err != nil {
		return err
	}
	var direct, whole, behind []time.Duration
	for i := range b.rounds + b.rounds/10 {
		d, err := b.direct(script)
		if err != nil {
			return err
		}
		results, token, err := b.streamed("quick")
		if err != nil {
			return err
		}
		if i < b.rounds/10 {
			continue // warm-up
		}
		direct, whole, behind = append(direct, d), append(whole, token), append(behind, token-results)
	}
	fmt.Printf("Time to the first token, %d rounds, one after another:\n\n| | p50 | p95 |\n|---|---|---|\n", b.rounds)
	for _, row := range []struct {
		name string
		all  []time.Duration
	}{{"the provider, called directly", direct}, {"a query, from its start", whole}, {"a query, from its results", behind}} {
		fmt.Printf("| %s | %s | %s |\n", row.name, ms(at(row.all, 0.5)), ms(at(row.all, 0.95)))
	}
	own := at(direct, 0.5)
	fmt.Printf("\nOur own: %s p50 from the results on, %s with encoding and searching\n\n", ms(at(behind, 0.5)-own), ms(at(whole, 0.5)-own))
	return nil
}

// direct returns the time to the first token of the provider.
func (b *bench) direct(script string) (time.Duration, error) {
	body := fmt.Sprintf(`{"model":%q,"stream":true,"messages":[{"role":"user","content":%q}]}`, script, strings.Repeat("a passage of the prompt ", 60))
	started := time.Now()
	res, err := b.client.Post(b.at+"/v1/chat/completions", "application/json", strings.NewReader(body))
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
		if strings.Contains(line, `"content":"It `) {
			took := time.Since(started)
			_, err = io.Copy(io.Discard, lines)
			return took, err
		}
	}
}

// streamed returns the times to the results and to the first token of a query.
func (b *bench) streamed(model string) (results, token time.Duration, err error) {
	started := time.Now()
	res, err := b.ask(model)
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
		case strings.HasPrefix(line, "event:search_results"):
			results = time.Since(started)
		case strings.HasPrefix(line, "event:generation_chunk"):
			token = time.Since(started)
			_, err = io.Copy(io.Discard, lines)
			return results, token, err
		}
	}
}

// leave measures the time from a client's disconnect to the cancellation of the call to the provider.
func (b *bench) leave() error {
	if err := b.model("patient", "stamp:50:2000"); err != nil {
		return err
	}
	const rounds = 100
	took := make([]time.Duration, 0, rounds)
	for range rounds {
		res, err := b.ask("patient")
		if err != nil {
			return err
		}
		if err := skipTo(res, "event:generation_chunk"); err != nil {
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
	fmt.Printf("A client leaves, the provider is told: p50 %s, p95 %s, most %s (%d rounds)\n\n", ms(at(took, 0.5)), ms(at(took, 0.95)), ms(at(took, 1)), rounds)
	return nil
}

func skipTo(res *http.Response, prefix string) error {
	for lines := bufio.NewReader(res.Body); ; {
		line, err := lines.ReadString('\n')
		if err != nil {
			return errShort
		}
		if strings.HasPrefix(line, prefix) {
			return nil
		}
	}
}
