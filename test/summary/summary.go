package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// event is a line of "go test -json"; see "go doc test2json" and, for the output of builds, "go help buildjson".
type event struct {
	Action, Package, Test, Output string
	ImportPath                    string // of the package that is built
	FailedBuild                   string // the ImportPath for which this package could not be built
}

// test is a test or subtest whose result is not known yet.
type test struct {
	name   string
	output []string
	failed bool
}

// summary counts results. A package that fails without a failed test counts as one failure.
type summary struct {
	w                       io.Writer
	running                 map[string][]*test // by package, in the order of their start; those that passed are removed
	output                  map[string][]string
	builds                  map[string][]string // output of the compiler by import path
	skips, failures         []string
	passed, failed, skipped int
}

func newSummary(w io.Writer) *summary {
	return &summary{w: w, running: map[string][]*test{}, output: map[string][]string{}, builds: map[string][]string{}}
}

// read reads the events until their end and prints packages as they finish.
func (s *summary) read(r io.Reader) error {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadString('\n')
		var e event
		switch {
		case line == "":
		case json.Unmarshal([]byte(line), &e) != nil:
			fmt.Fprint(s.w, line) // the go command itself
		case e.Action == "build-output":
			s.builds[e.ImportPath] = append(s.builds[e.ImportPath], e.Output)
		case e.Test != "":
			s.test(e)
		default:
			s.pkg(e)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the output of go test: %w", err)
		}
	}
}

func (s *summary) test(e event) {
	all := s.running[e.Package]
	i := slices.IndexFunc(all, func(t *test) bool { return t.name == e.Test && !t.failed })
	if i < 0 {
		all, i = append(all, &test{name: e.Test}), len(all)
		s.running[e.Package] = all
	}
	switch t := all[i]; e.Action {
	case "output":
		t.output = append(t.output, e.Output)
	case "fail":
		t.failed = true
	case "pass", "skip":
		if s.running[e.Package] = slices.Delete(all, i, i+1); e.Action == "pass" {
			s.passed++
			return
		}
		s.skipped++
		s.skips = append(s.skips, fmt.Sprintf("%s %s: %s", e.Package, e.Test, reason(t.output)))
	}
}

// reason returns what a skipped test printed, without the lines of the test framework.
func reason(output []string) string {
	var said []string
	for _, line := range output {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "=== ") && !strings.HasPrefix(line, "--- ") {
			said = append(said, line)
		}
	}
	if said == nil {
		return "no reason given"
	}
	return strings.Join(said, " ")
}

func (s *summary) pkg(e event) {
	switch e.Action {
	case "output":
		s.output[e.Package] = append(s.output[e.Package], e.Output)
		return
	case "fail":
		s.fail(e)
	case "pass":
		for _, line := range s.output[e.Package] {
			if strings.HasPrefix(line, "ok ") {
				fmt.Fprint(s.w, line)
			}
		}
	case "skip": // it has no tests
	default:
		return
	}
	delete(s.running, e.Package)
	delete(s.output, e.Package)
}

// fail prints what is known of a package that failed. Tests without a result were running when it ended.
func (s *summary) fail(e event) {
	unfinished := s.running[e.Package]
	for _, t := range unfinished {
		fmt.Fprint(s.w, strings.Join(t.output, ""))
		if !t.failed {
			t.name += " (did not finish)"
		}
		s.failures = append(s.failures, e.Package+" "+t.name)
	}
	if len(unfinished) == 0 {
		s.failures = append(s.failures, e.Package)
	}
	s.failed += max(1, len(unfinished))
	fmt.Fprint(s.w, strings.Join(s.builds[e.FailedBuild], ""), strings.Join(s.output[e.Package], ""))
}

// print writes the skipped tests, the failed ones and, as the last line, the counts.
func (s *summary) print() {
	fmt.Fprintln(s.w)
	for _, line := range s.skips {
		fmt.Fprintln(s.w, "skipped:", line)
	}
	for _, line := range s.failures {
		fmt.Fprintln(s.w, "failed:", line)
	}
	fmt.Fprintf(s.w, "%d passed, %d failed, %d skipped\n", s.passed, s.failed, s.skipped)
}

// verdict returns why the run does not count as a success, nil when it does.
func (s *summary) verdict(strict bool) error {
	switch {
	case s.failed > 0:
		return errors.New("tests failed")
	case s.passed+s.skipped == 0:
		return errors.New("no test ran")
	case strict && s.skipped > 0:
		return errors.New("QUARRY_TEST_STRICT=1 allows no skipped test")
	}
	return nil
}
