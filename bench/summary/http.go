package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"quarry/bench/service"
)

// runs is how often a long document is summarised.
const runs = 9

// timed prints how long the program takes to summarise a document of so many parts whose vectors are stored.
func timed(binary string, parts int) error {
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
	if _, err := p.Must(http.StatusCreated, http.MethodPost, "/v2/corpora", map[string]any{"key": "b"}); err != nil {
		return err
	}
	document := map[string]any{"type": "structured", "id": "long", "title": "Manual of the hall", "sections": sections(parts)}
	if _, err := p.Must(http.StatusCreated, http.MethodPost, "/v2/corpora/b/documents", document); err != nil {
		return err
	}
	raw, err := p.Must(http.StatusOK, http.MethodGet, "/v2/corpora/b/documents/long", nil)
	if err != nil {
		return err
	}
	var stored struct{ Parts []struct{ Text string } }
	if err := json.Unmarshal(raw, &stored); err != nil {
		return err
	}
	used, err := p.ProcessorTime()
	if err != nil {
		return err
	}
	var taken []time.Duration
	for range runs {
		began := time.Now()
		if _, err := p.Must(http.StatusOK, http.MethodPost, "/v2/corpora/b/documents/long/summarize", map[string]any{"llm_name": "extractive-1.0"}); err != nil {
			return err
		}
		taken = append(taken, time.Since(began))
	}
	after, err := p.ProcessorTime()
	if err != nil {
		return err
	}
	first := taken[0]
	slices.Sort(taken)
	fmt.Printf("| parts | bytes as JSON | first | p50 | slowest | processor time of each | highest resident |\n|---|---|---|---|---|---|---|\n| %d | %d | %d ms | %d ms | %d ms | %d ms | %d MB |\n",
		len(stored.Parts), len(raw), first.Milliseconds(), taken[len(taken)/2].Milliseconds(), taken[len(taken)-1].Milliseconds(), ((after - used) / runs).Milliseconds(), p.HighestResident()>>20)
	return nil
}

// sections returns sections that come to about so many parts, a sentence each: of every twenty-one, one is the title.
func sections(parts int) []map[string]any {
	things := []string{"pump", "filter", "valve", "motor", "bearing", "gasket", "sensor", "hose", "tank", "crane"}
	acts := []string{"replaced", "cleaned", "measured", "lubricated", "inspected", "tightened", "calibrated"}
	whys := []string{"after a loss of pressure", "before the winter", "when the alarm sounds", "if the oil is dark", "once the line stands still", "by two people of the service team"}
	var out []map[string]any
	for n := 0; n < parts; {
		text := ""
		for range 20 {
			n++
			text += fmt.Sprintf("The %s of line %d is %s every %d hours %s, as the %s of the same line is. ",
				things[n%len(things)], n%97, acts[n*3%len(acts)], 100+n%900, whys[n*5%len(whys)], things[(n*7+3)%len(things)])
		}
		n++
		out = append(out, map[string]any{"title": fmt.Sprintf("Line %d, care of the %s", n%97, things[n/21%len(things)]), "text": text})
	}
	return out
}
