// Command ledgermd writes docs/reference/operations.md from the evidence that
// a run of the scenarios left, and exits 1 where a built operation lacks a
// scenario. `make ledger` runs it.
//
//	ledgermd -evidence FILE -built FILE [-out FILE] [-check]
//
// The evidence is a JSON array as package ledger reads it; the file of built
// operations holds one id per line. With -check nothing is written, and a text
// that differs from the file is a fault too.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"

	"quarry/test/ledger"
)

func main() {
	evidence := flag.String("evidence", "", "what the scenarios saw, as JSON")
	built := flag.String("built", "", "ids of the built operations, one per line")
	out := flag.String("out", "docs/reference/operations.md", "the file to write")
	check := flag.Bool("check", false, "compare with the file and write nothing")
	flag.Parse()
	if err := run(*evidence, *built, *out, *check); err != nil {
		fmt.Fprintln(os.Stderr, "ledgermd:", err)
		os.Exit(1)
	}
}

func run(evidence, built, out string, check bool) error {
	f, err := os.Open(evidence)
	if err != nil {
		return fmt.Errorf("open evidence: %w", err)
	}
	defer f.Close()
	seen, err := ledger.ReadEvidence(f)
	if err != nil {
		return err
	}
	ids, err := os.ReadFile(built)
	if err != nil {
		return fmt.Errorf("read built operations: %w", err)
	}
	l, err := ledger.New(strings.Fields(string(ids)), seen)
	if err != nil {
		return err
	}
	return errors.Join(place(l.Markdown(), out, check), gaps(l))
}

// place writes the text, or with check compares it with the file.
func place(text, out string, check bool) error {
	if !check {
		return os.WriteFile(out, []byte(text), 0o644)
	}
	have, err := os.ReadFile(out)
	if err != nil {
		return fmt.Errorf("read ledger: %w", err)
	}
	if string(have) != text {
		return fmt.Errorf("%s is not current: run make ledger", out)
	}
	return nil
}

func gaps(l *ledger.Ledger) error {
	var faults []error
	for _, g := range l.Missing() {
		faults = append(faults, errors.New(g.String()))
	}
	return errors.Join(faults...)
}
