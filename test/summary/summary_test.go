package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSummary proves what is printed of recorded runs: tests that pass, fail, are skipped, panic or hang, a package
// that does not compile, one without tests, results from the cache, and several packages at once.
func TestSummary(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		runs    []string // names of files in testdata, read one after another
		want    []string // lines, all of them with the blank line before the summary
		verdict string
		strict  string
	}{
		{runs: []string{"good"}, want: []string{
			"ok  \tsample/good\t0.006s", "", "skipped: sample/good TestOne/b: good_test.go:3: no database on this machine",
			"3 passed, 0 failed, 1 skipped",
		}, strict: "QUARRY_TEST_STRICT=1 allows no skipped test"},
		{runs: []string{"cached"}, want: []string{
			"ok  \tsample/good\t(cached)", "", "skipped: sample/good TestOne/b: good_test.go:3: no database on this machine",
			"3 passed, 0 failed, 1 skipped",
		}, strict: "QUARRY_TEST_STRICT=1 allows no skipped test"},
		{runs: []string{"bad"}, want: []string{
			"=== RUN   TestWrong", "--- FAIL: TestWrong (0.00s)", "=== RUN   TestWrong/a", "    bad_test.go:3: got 1, want 2",
			"--- FAIL: TestWrong/a (0.00s)", "FAIL", "FAIL\tsample/bad\t0.004s", "",
			"skipped: sample/bad TestRight: no reason given", "failed: sample/bad TestWrong", "failed: sample/bad TestWrong/a",
			"1 passed, 2 failed, 1 skipped",
		}, verdict: "tests failed", strict: "tests failed"},
		{runs: []string{"build"}, want: []string{
			"# sample/build [sample/build.test]", "build/build_test.go:3:28: undefined: undefined", "FAIL\tsample/build [build failed]", "",
			"failed: sample/build", "0 passed, 1 failed, 0 skipped",
		}, verdict: "tests failed", strict: "tests failed"},
		{runs: []string{"panics"}, want: []string{
			"=== RUN   TestPanic", "--- FAIL: TestPanic (0.00s)", "panic: boom [recovered, repanicked]", "", "goroutine 5 [running]:",
			"sample/panics.TestPanic(0x256c6c6be488?)", "\tsample/panics/panics_test.go:4 +0x25", "FAIL\tsample/panics\t0.009s", "",
			"failed: sample/panics TestPanic", "1 passed, 1 failed, 0 skipped",
		}, verdict: "tests failed", strict: "tests failed"},
		{runs: []string{"hangs"}, want: []string{
			"=== RUN   TestHang", "panic: test timed out after 1s", "\trunning tests:", "\t\tTestHang (1s)", "", "goroutine 3 [running]:", "",
			"goroutine 1 [chan receive]:", "", "goroutine 21 [select (no cases)]:", "sample/hangs.TestHang(0x2dbe7f656248?)",
			"\tsample/hangs/hangs_test.go:3 +0xf", "FAIL\tsample/hangs\t1.010s", "",
			"failed: sample/hangs TestHang (did not finish)", "0 passed, 1 failed, 0 skipped",
		}, verdict: "tests failed", strict: "tests failed"},
		{runs: []string{"empty"}, want: []string{"", "0 passed, 0 failed, 0 skipped"}, verdict: "no test ran", strict: "no test ran"},
		{runs: []string{"empty", "build", "good"}, want: []string{
			"# sample/build [sample/build.test]", "build/build_test.go:3:28: undefined: undefined", "FAIL\tsample/build [build failed]",
			"ok  \tsample/good\t0.006s", "", "skipped: sample/good TestOne/b: good_test.go:3: no database on this machine",
			"failed: sample/build", "3 passed, 1 failed, 1 skipped",
		}, verdict: "tests failed", strict: "tests failed"},
	} {
		var out strings.Builder
		s := newSummary(&out)
		for _, name := range tc.runs {
			stream, err := os.Open(filepath.Join("testdata", name+".json"))
			if err != nil {
				t.Fatal(err)
			}
			if err := s.read(stream); err != nil {
				t.Error(err)
			}
			_ = stream.Close()
		}
		s.print()
		if want := strings.Join(tc.want, "\n") + "\n"; out.String() != want {
			t.Errorf("%v: printed\n%s\nwant\n%s", tc.runs, out.String(), want)
		}
		for strict, want := range map[bool]string{false: tc.verdict, true: tc.strict} {
			got := ""
			if err := s.verdict(strict); err != nil {
				got = err.Error()
			}
			if got != want {
				t.Errorf("%v: strict %t: %q, want %q", tc.runs, strict, got, want)
			}
		}
	}
}
