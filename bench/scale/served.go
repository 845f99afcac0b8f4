package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"time"

	"quarry/bench/service"
	"quarry/internal/index/compact"
)

// serve starts the program with a data folder. A minute without a write is rest enough for its indexes.
func (b *bench) serve(dir string) (*service.Process, error) {
	return service.StartWith(b.binary, dir, os.Stderr, "QUARRY_LOG_LEVEL=warn", "QUARRY_INDEX_REST_MINUTES=1")
}

// patience is how long merges may take.
const patience = time.Hour

// rested is what it took until an index was at rest, without the waiting.
type rested struct {
	worked              time.Duration // while a merge ran, to a second
	spent               time.Duration // processor time
	anonymous, resident int64         // most memory, as seen each second
}

// rest waits until the index of a corpus is at rest with as few segments as it can have, where the program tells.
func (b *bench) rest(p *service.Process, key string) (out rested, err error) {
	before, err := p.ProcessorTime()
	if err != nil {
		return out, err
	}
	const pause = time.Second
	for began := time.Now(); time.Since(began) < patience; {
		now, err := indexState(p, key)
		if err != nil || now.known && now.atRest() {
			return out, err
		}
		if !now.known {
			return out, nil
		}
		if now.State != "resting" {
			out.worked += pause
		}
		spent, err := p.ProcessorTime()
		if err != nil {
			return out, err
		}
		out.spent = spent - before
		out.anonymous, out.resident = max(out.anonymous, p.Anonymous()), max(out.resident, p.Resident())
		fmt.Fprintf(os.Stderr, "\rthe index of %s is %s with %d segments after %v   ", key, now.State, len(now.Segments), time.Since(began).Round(time.Second))
		select {
		case <-b.ctx.Done():
			return out, b.ctx.Err()
		case <-time.After(pause):
		}
	}
	return out, fmt.Errorf("the index of %s does not come to rest", key)
}

// state is what an index is doing; not known where the program does not tell.
type state struct {
	known    bool
	State    string
	Segments []struct{ Rows int }
}

// atRest reports that nothing is left to merge.
func (s state) atRest() bool {
	rows := 0
	for _, one := range s.Segments {
		rows += one.Rows
	}
	return s.State == "resting" && len(s.Segments) <= (rows+compact.MaxRows-1)/compact.MaxRows
}

// indexState asks what an index is doing.
func indexState(p *service.Process, key string) (out state, err error) {
	status, raw, err := p.Call("GET", "/v2/corpora/"+key+"/index", nil)
	if err != nil || status != http.StatusOK {
		return out, err
	}
	out.known = true
	return out, json.Unmarshal(raw, &out)
}
