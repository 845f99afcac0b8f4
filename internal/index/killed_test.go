package index_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"quarry/internal/index/segment"
)

// rounds is how often TestKilled goes through its seeds, with others each time; make soak raises it.
var rounds = flag.Uint64("rounds", 1, "rounds of killed merges")

// killed is set for the process that is to be killed: folder, seed, step, and how many steps of that kind before.
const killed = "QUARRY_TEST_KILLED"

// TestKilled proves that kill -9 at any write, sync or rename of a merge loses nothing: the next start finds a whole index,
// which has at least what was in files before, no file too many, and with the later changes the same answers.
func TestKilled(t *testing.T) {
	if at := os.Getenv(killed); at != "" {
		die(t, strings.Split(at, "|"))
		return
	}
	t.Parallel()
	tried := map[segment.Step]int{}
	for seed := range *rounds * scenes {
		s := newScene(t, seed)
		for step, all := range s.points(t) {
			for _, n := range all {
				tried[step]++
				dir := s.copy(t)
				c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKilled$")
				c.Env = append(os.Environ(), fmt.Sprintf("%s=%s|%d|%s|%d", killed, dir, seed, step, n))
				if out, err := c.CombinedOutput(); err == nil || len(out) > 0 {
					t.Fatalf("seed %d, %s %d: %v %s", seed, step, n, err, out)
				}
				s.reopened(t, fmt.Sprintf("killed at %s %d", step, n), dir)
			}
		}
	}
	enough(t, tried)
}

// die merges and kills the process half-way.
func die(t *testing.T, at []string) {
	seed, err := strconv.ParseUint(at[1], 10, 64)
	must(t, err)
	left, err := strconv.Atoi(at[3])
	must(t, err)
	s := planned(t, seed)
	_, err = s.run(at[0], func(step segment.Step, _ string) error {
		if string(step) == at[2] {
			if left--; left == -1 {
				p, err := os.FindProcess(os.Getpid())
				if err == nil {
					err = p.Kill()
				}
				if err != nil {
					return err
				}
				select {} // until it has come
			}
		}
		return nil
	})
	t.Fatalf("lives on: %v", err)
}
