package agent

import (
	"bytes"
	"testing"

	"quarry/internal/cli/command"
)

// TestImageShown proves how an image that the model looks at is shown, in a list of events and while a turn goes on, and that a stream goes on
// behind it.
func TestImageShown(t *testing.T) {
	t.Parallel()
	f := parse("image_read", []byte(`{"type":"image_read","id":"aev_1","artifact_id":"art_chart_png_x7k2m9","detail":"low"}`))
	if got := f.line(); got != "art_chart_png_x7k2m9" {
		t.Errorf("in a list: %q", got)
	}
	if got := f.last("aev_0"); got != "aev_1" {
		t.Errorf("the stream goes on behind %q", got)
	}
	var out, errs bytes.Buffer
	newScreen(&command.Env{Streams: command.Streams{Out: &out, Err: &errs}}, "").show(&f)
	if out.Len() > 0 || errs.String() != "looks at art_chart_png_x7k2m9\n" {
		t.Errorf("shown as %q and %q", out.String(), errs.String())
	}
}
