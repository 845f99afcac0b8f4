package transcript_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/png"
	"log/slog"
	"strings"
	"testing"

	"quarry/internal/agent/artifact"
	"quarry/internal/agent/session"
	"quarry/internal/agent/transcript"
	"quarry/internal/blobstore/file"
	"quarry/internal/llm"
	"quarry/internal/store"
	"quarry/internal/store/blobs"
	"quarry/internal/store/sessions"
	"quarry/internal/store/storetest"
)

// shelf is the files of a session.
func shelf(t *testing.T) *artifact.Workspace {
	t.Helper()
	db := storetest.Open(t, store.Config{Dir: t.TempDir()})
	kept, err := file.Open(t.Context(), t.TempDir(), blobs.NewRows(db))
	if err != nil {
		t.Fatal(err)
	}
	rows := sessions.New(db, storetest.Secrets(t, db))
	files := artifact.NewService(artifact.Config{Store: rows, Blobs: kept, Most: 50 << 20, Log: slog.New(slog.DiscardHandler)})
	return files.Workspace(1, t.Name())
}

// keep makes a file and returns its id.
func keep(t *testing.T, files *artifact.Workspace, data []byte) string {
	t.Helper()
	a, err := files.Create(t.Context(), artifact.New{Filename: "a.png"}, bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return a.ID
}

// picture is an image of about so many bytes, no two of which are alike.
func picture(t *testing.T, size int, n uint32) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 2, 2))); err != nil {
		t.Fatal(err)
	}
	filler := binary.BigEndian.AppendUint32(append([]byte("teXt"), make([]byte, size)...), n)
	chunk := binary.BigEndian.AppendUint32(append(binary.BigEndian.AppendUint32(nil, uint32(len(filler)-4)), filler...), crc32.ChecksumIEEE(filler))
	end := b.Len() - 12
	return append(append(b.Bytes()[:end:end], chunk...), b.Bytes()[end:]...)
}

func looked(ids ...string) []session.Event {
	shown := make([]artifact.Shown, len(ids))
	for i, id := range ids {
		shown[i] = artifact.Shown{ID: id, Detail: "low"}
	}
	return numbered(session.Looks(shown)...)
}

// TestWhereImagesStand proves that an image stands behind the results of all calls of its reply, by itself where its call is hidden, and
// that the embedded generator reads none.
func TestWhereImagesStand(t *testing.T) {
	t.Parallel()
	call := func(id string) session.Event {
		return session.Event{Type: session.ToolInput, Body: session.Body{CallID: id, Tool: "look"}}
	}
	output := func(id string) session.Event {
		return session.Event{Type: session.ToolOutput, Body: session.Body{CallID: id, Tool: "look", Output: []byte(id)}}
	}
	look := looked("art_x")[0]
	events := numbered(input(session.Part{Text: "q"}), call("a"), call("b"), output("a"), look, output("b"), session.Event{Type: session.AgentOutput, Body: session.Body{Text: "r"}})
	const stands = "The image with the artifact_id art_x:"
	if got := plain(transcript.Messages(events)); got != "u:q | a: | t:a | t:b | u:"+stands+" | a:r" {
		t.Error(got)
	}
	if got := plain(transcript.Messages(numbered(events[0], events[4], events[6]))); got != "u:q | u:"+stands+" | a:r" {
		t.Error(got)
	}
	if got := plain(transcript.Messages(transcript.Quotable(events))); strings.Contains(got, "art_x") {
		t.Error(got)
	}
}

// TestFill proves what becomes of images as a call of a model is made: their bytes, or the reason why they can't be shown.
func TestFill(t *testing.T) {
	t.Parallel()
	files := shelf(t)
	whole := picture(t, 10, 0)
	good, broken := keep(t, files, whole), keep(t, files, whole[:30])
	messages := append([]llm.Message{llm.Text(llm.User, "q")}, transcript.Messages(looked(good, "art_gone", broken, good))...)
	got, err := transcript.Images{Files: files, Read: true}.Fill(t.Context(), messages)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"", "", "the file is gone", "damaged image", ""} {
		last := got[i].Parts[len(got[i].Parts)-1]
		switch {
		case i == 0:
		case want == "" && (last.Image == nil || last.Image.MimeType != "image/png" || last.Image.Detail != "low" || last.Image.URL != "" || !bytes.Equal(last.Image.Data, whole)):
			t.Errorf("message %d: %+v", i, last)
		case want != "" && (last.Image != nil || !strings.Contains(last.Text, want)):
			t.Errorf("message %d: %+v, want %q", i, last, want)
		}
	}
	if messages[1].Parts[1].Image.Data != nil {
		t.Error("the messages given were changed")
	}
	for want, images := range map[string]transcript.Images{"reads no images": {Files: files}, "has no files": {Read: true}} {
		got, err := images.Fill(t.Context(), messages)
		if err != nil || !strings.Contains(got[1].Plain(), want) || !strings.Contains(got[1].Plain(), good) {
			t.Errorf("%+v, %v; want %q", got, err, want)
		}
	}
}

// TestFillBounds proves that one call takes the images that were read last, up to a number and up to a size.
func TestFillBounds(t *testing.T) {
	t.Parallel()
	files := shelf(t)
	for name, c := range map[string]struct{ files, size, taken int }{"many": {103, 0, 100}, "large": {9, 1<<21 - 200, 6}} {
		var ids []string
		for i := range c.files {
			ids = append(ids, keep(t, files, picture(t, c.size, uint32(i))))
		}
		ids[0] = keep(t, files, picture(t, 0, 1<<20)) // a small one before does not come back
		got, err := transcript.Images{Files: files, Read: true}.Fill(t.Context(), transcript.Messages(looked(ids...)))
		if err != nil {
			t.Fatal(err)
		}
		taken := ""
		for _, m := range got {
			taken += fmt.Sprint(m.Parts[1].Image != nil)[:1]
		}
		if want := strings.Repeat("f", c.files-c.taken) + strings.Repeat("t", c.taken); taken != want {
			t.Errorf("%s: %s, want %s", name, taken, want)
		}
		if !strings.Contains(got[0].Plain(), "take all the room") {
			t.Errorf("%s: %s", name, got[0].Plain())
		}
	}
}
