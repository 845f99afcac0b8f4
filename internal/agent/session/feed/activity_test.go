package feed_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"quarry/internal/agent/session"
	"quarry/internal/agent/session/feed"
)

// TestActivity proves who is told what a call does while it runs, and when: those who read along, and whoever asks for it, between
// the call and its output.
func TestActivity(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		whole, acts bool
		want        string
	}{
		{false, false, "go|call|aev_inner of ase_other|message: half|output"},
		{true, true, "go|call|aev_inner of ase_other|message: half|output"},
		{true, false, "go|call|output"},
	} {
		r := &rows{run: &session.Run{Turn: 1}}
		h := feed.New(r)
		reader := h.Attach(1, c.whole)
		if c.acts {
			reader.Acts()
		}
		l := h.Begin(1, r.add(1, session.InputMessage, "aev_in", "go"))
		reader.From(0, feed.Until{Turn: 1})
		l.Stored(r.add(1, session.ToolInput, "aev_call", "call"))
		l.Note(
			feed.Note{Kind: feed.Activity, Acted: &feed.Acted{CallID: "c", Event: &feed.Inner{Event: session.Event{ID: "aev_inner"}, Session: "ase_other"}}},
			feed.Note{Kind: feed.Activity, Text: "half", Acted: &feed.Acted{CallID: "c"}},
		)
		l.Stored(r.add(1, session.ToolOutput, "aev_out", "output"))
		l.Note(feed.Note{Kind: feed.Over, Turn: 1})
		var got []string
		for {
			f, err := reader.Next(t.Context())
			if errors.Is(err, io.EOF) {
				break
			}
			switch {
			case err != nil:
				t.Fatal(err)
			case f.Shape == feed.Stored:
				got = append(got, f.Event.Text)
			case f.Note.Acted.Event != nil:
				got = append(got, fmt.Sprintf("%s of %s", f.Note.Acted.Event.ID, f.Note.Acted.Event.Session))
			default:
				got = append(got, "message: "+f.Note.Text)
			}
		}
		if all := strings.Join(got, "|"); all != c.want {
			t.Errorf("whole %v, acts %v: %s, want %s", c.whole, c.acts, all, c.want)
		}
		reader.Close()
		l.End()
	}
}
