package turn_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"quarry/internal/agent"
	"quarry/internal/agent/artifact"
	"quarry/internal/agent/session"
	"quarry/internal/agent/turn"
	"quarry/internal/id"
)

var errKilled = errors.New("killed")

// doorway is a log whose process is killed at an input: before or after it is written.
type doorway struct{ *cut }

func (d doorway) Accept(ctx context.Context, in session.Input, l session.Lease, now time.Time) (session.Accepted, error) {
	d.left = 0 // nothing is written from here on
	if d.after {
		if _, err := d.Log.Accept(ctx, in, l, now); err != nil {
			return session.Accepted{}, err
		}
	}
	return session.Accepted{}, errKilled
}

// TestUploadKilled proves that an input with files whose process is killed between their bytes and the rows leaves neither, and that
// one behind the rows is answered by the next process, with its files and both events once; also without a text, and killed at the
// answer.
func TestUploadKilled(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		at    string
		after bool
		want  string // the log, without the texts of uploads
	}{
		{"accept", false, ""}, {"accept", true, "artifact_upload|input_message: go|agent_output: yes"},
		{"answer", false, "artifact_upload|input_message: go|agent_output: yes"}, {"answer", true, "artifact_upload|input_message: go|agent_output: yes"},
	} {
		for _, text := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s after %v, text %v", tc.at, tc.after, text), func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				b := prepare(t)
				files := b.shelve(t, dir)
				killed := &cut{left: 1, after: tc.after, dead: make(chan struct{})}
				b.open(t, says("yes"), func(c *turn.Config, _ *agent.Agent) {
					c.Files = files.Service
					if killed.Log, c.Log = c.Log, killed; tc.at == "accept" {
						c.Log = doorway{killed}
					}
				})
				in := turn.Input{Whole: true, Input: session.Input{Session: b.no, Event: id.NewEvent(), Upload: id.NewEvent()}}
				if text {
					in.Parts = []session.Part{{Text: "go"}}
				}
				a, err := files.Put(t.Context(), artifact.New{Filename: "stock.csv"}, strings.NewReader("lamp,12"))
				if err != nil {
					t.Fatal(err)
				}
				in.Files = []artifact.Artifact{a} // whose hold nobody releases
				sent, err := b.Send(t.Context(), in)
				if (err != nil) != (tc.at == "accept") {
					t.Fatal(err)
				}
				if err == nil {
					<-killed.dead
					sent.Close()
				}
				b.stop()
				files = b.shelve(t, dir)
				b.open(t, says("yes"), func(c *turn.Config, _ *agent.Agent) { c.Files = files.Service })
				b.idle(t)
				b.stop()
				var got []string
				for _, line := range b.log(t) {
					kind, _, _ := strings.Cut(line, ":")
					if kind == "artifact_upload" {
						line = kind
					}
					got = append(got, line)
				}
				want := tc.want
				if !text {
					want = strings.Replace(want, "input_message: go|", "", 1)
				}
				if log := strings.Join(got, "|"); log != want {
					t.Errorf("the log is %q, want %q", log, want)
				}
				kept, sums := b.left(t, files)
				if n := strings.Count(want, "artifact_upload"); len(kept) != n || len(sums) != n {
					t.Errorf("%d files of %d contents, want %d", len(kept), len(sums), n)
				}
			})
		}
	}
}
