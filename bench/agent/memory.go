package main

import (
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
	"sync"
	"time"

	"quarry/internal/provider/scripted"
)

// fileSize is the most that a file of a session may have, in bytes.
const fileSize = 50 << 20

// files measures a file of 50 MiB through HTTP, in and out, and the memory that it takes beside what the program has anyway.
func (b *bench) files() error {
	b.provider.Model("quick", scripted.Reply{Text: "I have it."})
	var in, out []time.Duration
	var peak int64
	for range 5 {
		b.Stop()
		if err := b.start(); err != nil {
			return err
		}
		path, err := b.session("quick")
		if err != nil {
			return err
		}
		if err := b.post(path, strings.NewReader("a note")); err != nil { // so that all that a turn needs is there
			return err
		}
		before := b.HighestResident()
		began := time.Now()
		if err := b.post(path, io.LimitReader(noise{}, fileSize)); err != nil {
			return err
		}
		in = append(in, time.Since(began))
		began = time.Now()
		if err := b.read(strings.TrimSuffix(path, "/events") + "/artifacts"); err != nil {
			return err
		}
		out = append(out, time.Since(began))
		peak = max(peak, b.HighestResident()-before)
	}
	fmt.Printf("A file of 50 MiB, with the turn that it begins, and read:\n\n| | p50 | p95 | most |\n|---|---|---|---|\n")
	most("in", in)
	most("out", out)
	fmt.Printf("\nMore resident at the most (bar: 64 MB): %d MB.\n\n", peak/1_000_000)
	return nil
}

// noise is bytes that look different everywhere.
type noise struct{}

func (noise) Read(p []byte) (int, error) {
	x := uint64(time.Now().UnixNano()) | 1
	for i := range p {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		p[i] = byte(x)
	}
	return len(p), nil
}

// post sends a file, written as it is sent, and waits for the answer.
func (b *bench) post(path string, file io.Reader) error {
	r, w := io.Pipe()
	form := multipart.NewWriter(w)
	go func() {
		part, err := form.CreateFormFile("files", "noise.bin")
		if err == nil {
			_, err = io.Copy(part, file)
		}
		if err == nil {
			err = form.Close()
		}
		w.CloseWithError(err)
	}()
	req, err := http.NewRequest(http.MethodPost, "http://"+b.Address()+path, r)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", form.FormDataContentType())
	return b.do(req, http.StatusCreated)
}

// read reads the newest file of a session.
func (b *bench) read(path string) error {
	raw, err := b.Must(http.StatusOK, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	var list struct {
		Artifacts []struct {
			ID string `json:"artifact_id"`
		} `json:"artifacts"`
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return err
	}
	req, err := http.NewRequest(http.MethodGet, "http://"+b.Address()+path+"/"+list.Artifacts[0].ID, nil)
	if err != nil {
		return err
	}
	return b.do(req, http.StatusOK)
}

// do sends a request and reads the answer to its end.
func (b *bench) do(req *http.Request, want int) error {
	req.Header.Set("x-api-key", b.Key())
	res, err := b.client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		return err
	}
	if res.StatusCode != want {
		return fmt.Errorf("%s is answered %d", req.URL.Path, res.StatusCode)
	}
	return nil
}

// parked measures the memory of sessions that wait for their client: with as many that have ended their turn beside.
func (b *bench) parked() error {
	tool, err := b.Must(http.StatusCreated, http.MethodPost, "/v2/tools", map[string]any{"type": "client", "name": "ask_person", "description": "Asks the person."})
	if err != nil {
		return err
	}
	var made struct{ ID string }
	if err := json.Unmarshal(tool, &made); err != nil {
		return err
	}
	b.provider.Model("asks", scripted.Reply{Calls: []scripted.Call{{Name: "ask", Pieces: []string{"{}"}}}})
	if err := b.agent("asks"); err != nil {
		return err
	}
	if _, err := b.Must(http.StatusOK, http.MethodPatch, "/v2/agents/asks", map[string]any{
		"tool_configurations": map[string]any{"ask": map[string]any{"type": "client", "tool_id": made.ID}}}); err != nil {
		return err
	}
	b.provider.Model("quick", scripted.Reply{Text: "Every year."})
	fmt.Printf("%d sessions, each after one turn, in a process that was started before them (bar: 20 MB between the two):\n\n| | more resident |\n|---|---|\n", b.waiting)
	for _, agent := range []string{"quick", "asks"} {
		b.Stop()
		if err := b.start(); err != nil {
			return err
		}
		before := b.Resident()
		if err := b.turns(agent); err != nil {
			return err
		}
		fmt.Printf("| %s | %d MB |\n", map[string]string{"quick": "answered", "asks": "waiting for their client"}[agent], (b.Resident()-before)/1_000_000)
	}
	b.Stop()
	if err := b.start(); err != nil {
		return err
	}
	fmt.Printf("\nA start with all of them there has %d MB resident.\n\n", b.Resident()/1_000_000)
	return nil
}

// turns sends an input to each of many sessions, eight at once.
func (b *bench) turns(agent string) error {
	var group sync.WaitGroup
	var mu sync.Mutex
	var failed error
	for range 8 {
		group.Go(func() {
			for range b.waiting / 8 {
				path, err := b.session(agent)
				if err == nil {
					_, err = b.Must(http.StatusCreated, http.MethodPost, path, input("", "", false))
				}
				if err != nil {
					mu.Lock()
					failed = err
					mu.Unlock()
					return
				}
			}
		})
	}
	group.Wait()
	return failed
}
