package main

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"time"

	"quarry/bench/service"
	"quarry/internal/trace"
)

// overHTTP asks a running service for the same lists and pages. It keeps traces for as long as it can, since those here are old.
func (b *bench) overHTTP(binary string) error {
	p, err := service.StartWith(binary, b.dir, os.Stderr, "QUARRY_LOG_LEVEL=warn", "QUARRY_TRACE_DAYS=36500", "QUARRY_DATABASE="+b.database)
	if err != nil {
		return err
	}
	defer p.Stop()
	const path = "/v2/agent_analytics/traces"
	fmt.Printf("Over HTTP:\n\n| request | p50, p95 |\n|---|---|\n")
	ask := func(name, path string) error {
		var times []time.Duration
		for range b.rounds {
			began := time.Now()
			if _, err := p.Must(http.StatusOK, http.MethodGet, path, nil); err != nil {
				return err
			}
			times = append(times, time.Since(began))
		}
		fmt.Printf("| %s | %s |\n", name, quantiles(times))
		return nil
	}
	for _, c := range filters() {
		if c.list.Reader.Agents == nil {
			if err := ask(c.name+", limit 100", path+"?"+query(&c.list).Encode()); err != nil {
				return err
			}
		}
	}
	for _, limit := range []string{"100", "500"} {
		if err := ask("spans of the largest trace, limit "+limit, path+"/"+b.largest+"/spans?limit="+limit); err != nil {
			return err
		}
	}
	return nil
}

// query returns the parameters of a list.
func query(l *trace.List) url.Values {
	out := url.Values{"limit": {"100"}}
	set := func(name, v string) {
		if v != "" {
			out.Set(name, v)
		}
	}
	set("agent_key", l.Agent)
	set("session_key", l.Session)
	set("error_type", string(l.Class))
	set("operation", string(l.Operation))
	set("tool_name", l.Tool)
	set("tool_error_type", string(l.ToolClass))
	if l.Failed != nil {
		out.Set("status", map[bool]string{true: "error", false: "ok"}[*l.Failed])
	}
	for name, at := range map[string]time.Time{"started_after": l.StartedAfter, "started_before": l.StartedBefore} {
		if !at.IsZero() {
			out.Set(name, at.Format(time.RFC3339))
		}
	}
	for name, ms := range map[string]*int64{"min_duration_ms": l.Shortest, "max_duration_ms": l.Longest} {
		if ms != nil {
			out.Set(name, strconv.FormatInt(*ms, 10))
		}
	}
	return out
}
