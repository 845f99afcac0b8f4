// Command identity measures the cost of authentication and authorisation: both in process, listing pages of users and keys,
// and small authenticated reads from a program on one core. It needs a built binary. The results are for
// docs/benchmarks.md.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"sync"

	"quarry/bench/service"
)

func main() {
	binary := flag.String("binary", "./quarry", "the program")
	keys := flag.Int("keys", 5000, "number of API keys")
	users := flag.Int("users", 1000, "number of users")
	rounds := flag.Int("rounds", 5, "rounds of each load")
	flag.Parse()
	if err := run(*binary, *keys, *users, *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "identity:", err)
		os.Exit(1)
	}
}

func run(binary string, keys, users, rounds int) error {
	dir, remove, err := service.Folder("")
	if err != nil {
		return err
	}
	defer remove()
	p, err := service.Start(binary, dir)
	if err != nil {
		return err
	}
	defer p.Stop()
	secrets, err := fill(p, keys, users)
	if err != nil {
		return err
	}
	if err := pages(p); err != nil {
		return err
	}
	p.Stop()
	if err := authenticate(dir, secrets); err != nil {
		return err
	}
	return small(binary, dir, secrets, rounds)
}

// corpora is the number of corpora on which the keys have roles.
const corpora = 50

// fill creates users and keys through the HTTP interface and returns the secrets of the keys. Each has up to three roles on
// corpora.
func fill(p *service.Process, keys, users int) ([]string, error) {
	for i := range corpora {
		if _, err := p.Must(http.StatusCreated, http.MethodPost, "/v2/corpora", map[string]any{"key": fmt.Sprint("c", i), "name": fmt.Sprint("Corpus ", i)}); err != nil {
			return nil, err
		}
	}
	grants := func(i int) []map[string]any {
		out := []map[string]any{}
		for j := range i % 5 % 4 {
			out = append(out, map[string]any{"corpus_key": fmt.Sprint("c", (i*7+j)%corpora), "role": "viewer"})
		}
		return out
	}
	err := each(users, func(i int) error {
		_, err := p.Must(http.StatusCreated, http.MethodPost, "/v2/users", map[string]any{
			"email": fmt.Sprintf("user%d@example.test", i), "description": "One of many", "api_roles": []string{"viewer"},
			"corpus_roles": grants(i), "metadata": map[string]any{"department": i % 10}, "groups": []string{"all", fmt.Sprint("g", i%10)},
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	secrets := make([]string, keys)
	err = each(keys, func(i int) error {
		raw, err := p.Must(http.StatusCreated, http.MethodPost, "/v2/api_keys", map[string]any{
			"name": fmt.Sprint("key ", i), "api_roles": []string{"viewer"}, "corpus_roles": grants(i),
		})
		if err != nil {
			return err
		}
		var k struct {
			Secret string `json:"secret_key"`
		}
		err = json.Unmarshal(raw, &k)
		secrets[i] = k.Secret
		return err
	})
	return secrets, err
}

// each calls fn for 0 to n-1 on sixteen goroutines, so that writes share commits.
func each(n int, fn func(i int) error) error {
	const at = 16
	errs := make([]error, at)
	var done sync.WaitGroup
	for w := range at {
		done.Go(func() {
			for i := w; i < n && errs[w] == nil; i += at {
				errs[w] = fn(i)
			}
		})
	}
	done.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
