package cli

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"quarry/internal/cli/command"
)

// TestJobWait proves that waiting shows how far a job is, prints how it ended, and fails with it.
func TestJobWait(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		end  string
		code int
		err  string
	}{
		{"completed", command.ExitDone, ""},
		{"failed", command.ExitSomeFailed, "job job_1 failed: the reason"},
		{"aborted", command.ExitSomeFailed, "job job_1 aborted: the reason"},
	} {
		t.Run(c.end, func(t *testing.T) {
			t.Parallel()
			answers := []string{
				`{"id":"job_1","state":"queued"}`,
				`{"id":"job_1","state":"started","comment":"256 of 1,500 documents"}`,
				`{"id":"job_1","state":"failed_will_retry","comment":"again"}`,
				`{"id":"job_1","state":"` + c.end + `","comment":"the reason"}`,
			}
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/v2/jobs/job_1" || r.Header.Get("x-api-key") != "secret" {
					t.Errorf("asked for %s", r.URL)
				}
				_, _ = w.Write([]byte(answers[0]))
				answers = answers[1:]
			}))
			defer s.Close()
			var out, errs bytes.Buffer
			code := Run(t.Context(), []string{"job", "wait", "job_1", "--url", s.URL, "--key", "secret"}, Streams{Out: &out, Err: &errs})
			if code != c.code || len(answers) != 0 {
				t.Errorf("exit code %d, want %d; %d answers left", code, c.code, len(answers))
			}
			if !strings.Contains(out.String(), c.end) || !strings.Contains(errs.String(), "queued") || !strings.Contains(errs.String(), c.err) {
				t.Errorf("printed %q and %q", out.String(), errs.String())
			}
		})
	}
}
