// Command summary runs "go test" with the arguments given and prints a line for each package, the failures in full, and
// at the end how many tests passed, failed and were skipped, and why. Under QUARRY_TEST_STRICT=1 a skipped test is a
// failure.
package main

import (
	"fmt"
	"os"
	"os/exec"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	cmd := exec.Command("go", append([]string{"test", "-json"}, args...)...)
	cmd.Stderr = os.Stderr
	events, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	s := newSummary(os.Stdout)
	readErr := s.read(events)
	if err := cmd.Wait(); err != nil && s.failed == 0 { // it explained itself on stderr
		return fmt.Errorf("go test: %w", err)
	}
	s.print()
	if readErr != nil {
		return readErr
	}
	return s.verdict(os.Getenv("QUARRY_TEST_STRICT") == "1")
}
