package sse_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/sse"
)

type read struct{ Name, ID, Data string }

func readAll(r io.Reader, l sse.Limits) (out []read, err error) {
	in := sse.NewReader(r, l)
	for {
		e, err := in.Next()
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		out = append(out, read{e.Name, e.ID, string(e.Data)})
	}
}

// TestReader proves that the variants of the format that servers send are read alike, whatever pieces they arrive in.
func TestReader(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, in string
		want     []read
	}{
		{"plain", "data: {}\n\n", []read{{Data: "{}"}}},
		{"no space", "event:end\ndata:{\"a\":1}\n\n", []read{{Name: "end", Data: `{"a":1}`}}},
		{"crlf", "event: x\r\ndata: 1\r\n\r\ndata: 2\r\n\r\n", []read{{Name: "x", Data: "1"}, {Data: "2"}}},
		{"cr", "data: 1\r\rdata: 2\r\r", []read{{Data: "1"}, {Data: "2"}}},
		{"several lines", "data: a\ndata: b\ndata\ndata:\n\n", []read{{Data: "a\nb\n\n"}}},
		{"comments", ": ping\n\n:\n\ndata: 1\n: between\n\n", []read{{Data: "1"}}},
		{"mark", "\uFEFFdata: 1\n\n", []read{{Data: "1"}}},
		{"names without data are dropped", "event: ping\n\ndata: 1\n\n", []read{{Data: "1"}}},
		{"id and unknown fields", "id: 7\nretry: 3\nwhat: x\ndata: 1\n\n", []read{{ID: "7", Data: "1"}}},
		{"only one space goes", "data:  1\n\n", []read{{Data: " 1"}}},
		{"last blank line left out", "data: 1\n\ndata: [DONE]", []read{{Data: "1"}, {Data: "[DONE]"}}},
		{"nothing", "", nil},
		{"blank lines", "\n\n\n", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for how, from := range map[string]io.Reader{"whole": strings.NewReader(c.in), "byte by byte": iotest.OneByteReader(strings.NewReader(c.in))} {
				got, err := readAll(from, sse.Limits{})
				if err != nil {
					t.Fatalf("%s: %v", how, err)
				}
				if d := cmp.Diff(c.want, got); d != "" {
					t.Errorf("%s: (-want +got)\n%s", how, d)
				}
			}
		})
	}
}

// TestReaderBounds proves that long lines and long events end the stream instead of filling memory.
func TestReaderBounds(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]string{
		"line":           "data: " + strings.Repeat("x", 100) + "\n\n",
		"line, no end":   strings.Repeat("x", 100),
		"event in lines": strings.Repeat("data: xxxxxxxx\n", 10) + "\n",
	} {
		if _, err := readAll(strings.NewReader(in), sse.Limits{Line: 50, Event: 50}); !errors.Is(err, sse.ErrTooLong) {
			t.Errorf("%s: got %v, want ErrTooLong", name, err)
		}
	}
}

// TestReaderCut proves that an event cut off by a failure of the stream is not returned.
func TestReaderCut(t *testing.T) {
	t.Parallel()
	cut := errors.New("cut")
	got, err := readAll(io.MultiReader(strings.NewReader("data: 1\n\ndata: 2\n"), iotest.ErrReader(cut)), sse.Limits{})
	if !errors.Is(err, cut) {
		t.Errorf("got error %v, want the cut", err)
	}
	if d := cmp.Diff([]read{{Data: "1"}}, got); d != "" {
		t.Error(d)
	}
}

// TestReaderDoesNotWait proves that an event is returned as soon as its blank line has arrived, even if that ends with
// CR.
func TestReaderDoesNotWait(t *testing.T) {
	t.Parallel()
	for _, in := range []string{"data: 1\n\n", "data: 1\r\r", "data: 1\r\n\r"} {
		out, w := io.Pipe()
		go func() { _, _ = io.WriteString(w, in) }()
		e, err := sse.NewReader(out, sse.Limits{}).Next()
		if err != nil || string(e.Data) != "1" {
			t.Errorf("%q: got %q, %v", in, e.Data, err)
		}
		_ = w.Close()
	}
}

// TestWriter proves the exact bytes of the framing that the contract's clients read.
func TestWriter(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	flushed := 0
	w := sse.NewWriter(&b, func() error { flushed++; return nil })
	for _, err := range []error{
		w.Send("search_results", map[string]any{"type": "search_results", "search_results": []int{}}),
		w.Send("generation_chunk", json.RawMessage("{\n  \"generation_chunk\": \"a<b\\n\u2028\u0085\"\n}")),
		w.Send("", "x"),
		w.Send("a\nb", 1),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	want := "event:search_results\ndata:{\"search_results\":[],\"type\":\"search_results\"}\n\n" +
		"event:generation_chunk\ndata:{\"generation_chunk\":\"a<b\\n\\u2028\\u0085\"}\n\n" +
		"data:\"x\"\n\n" + "event:a b\ndata:1\n\n"
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Error(d)
	}
	if flushed != 4 {
		t.Errorf("flushed %d times, want once for each of 4", flushed)
	}
}

// TestSoon proves that the events of a burst are flushed together in time, single ones and those of Send at once, and
// that nothing is flushed after Close.
func TestSoon(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		var flushed []string // what stood there at each flush
		w := sse.NewWriter(&b, func() error { flushed = append(flushed, b.String()); return nil })
		soon := func(texts ...string) {
			for _, text := range texts {
				if err := w.Soon("", text, 10*time.Millisecond); err != nil {
					t.Fatal(err)
				}
			}
		}
		soon("a", "b", "c")
		time.Sleep(time.Second)
		soon("d")
		time.Sleep(9 * time.Millisecond)
		soon("e")
		if err := w.Send("", "f"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		soon("g", "h")
		w.Close()
		time.Sleep(time.Second)
		events := func(texts string) (out string) {
			for _, letter := range texts {
				out += "data:\"" + string(letter) + "\"\n\n"
			}
			return out
		}
		want := []string{events("a"), events("abc"), events("abcd"), events("abcdef"), events("abcdefg")}
		if d := cmp.Diff(want, flushed); d != "" {
			t.Errorf("flushed (-want +got): %s", d)
		}
		if w.Soon("", "i", 0) == nil || b.String() != events("abcdefgh") {
			t.Errorf("written behind the end: %s", b.String())
		}
	})
}

// TestOpening proves that what opens a stream leaves with the event after it, and by itself when none comes in time.
func TestOpening(t *testing.T) {
	t.Parallel()
	for after, want := range map[time.Duration][]string{
		0:                     {"data: \"a\"\n\ndata: \"b\"\n\n"},
		50 * time.Millisecond: {"data: \"a\"\n\n", "data: \"b\"\n\n"},
	} {
		synctest.Test(t, func(t *testing.T) {
			var b bytes.Buffer
			var flushed []string
			w := sse.NewWriter(&b, func() error {
				flushed = append(flushed, b.String())
				b.Reset()
				return nil
			})
			if err := w.Opening("a", 10*time.Millisecond); err != nil {
				t.Fatal(err)
			}
			time.Sleep(after)
			if err := w.Chunk("b", 0); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, flushed); d != "" {
				t.Errorf("after %v (-want +got):\n%s", after, d)
			}
		})
	}
}

// TestWriterKeepsItsFailure proves that nothing is written after the client has disconnected, and that every call then
// returns the same error.
func TestWriterKeepsItsFailure(t *testing.T) {
	t.Parallel()
	gone := errors.New("gone")
	var b bytes.Buffer
	w := sse.NewWriter(&b, func() error { return gone })
	_ = w.Send("a", 1)
	before := b.Len()
	if err := w.Send("b", 2); !errors.Is(err, gone) || b.Len() != before {
		t.Errorf("got %v and %d more bytes, want the first failure and none", err, b.Len()-before)
	}
	if err := w.Send("c", func() {}); err == nil {
		t.Error("what has no JSON was written")
	}
}

// TestKeepAlive proves that comments are written only in silence, and none after stop.
func TestKeepAlive(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		w := sse.NewWriter(&b, nil)
		stop := w.KeepAlive(15 * time.Second)
		time.Sleep(10 * time.Second)
		_ = w.Send("", 1)
		time.Sleep(10 * time.Second) // 20 s: 10 s of silence
		_ = w.Send("", 2)
		time.Sleep(32 * time.Second) // two pings
		stop()
		stop()
		time.Sleep(time.Minute)
		if d := cmp.Diff("data:1\n\ndata:2\n\n: ping\n\n: ping\n\n", b.String()); d != "" {
			t.Error(d)
		}
	})
}

// FuzzReader proves that any input is read without a panic, within the limits, and with the same result byte by byte.
func FuzzReader(f *testing.F) {
	for _, s := range []string{"data: 1\n\n", "\uFEFFevent: a\r\ndata: b\r\r\n", ":\n\ndata\n\n", "data: x"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		l := sse.Limits{Line: 64, Event: 64}
		whole, err1 := readAll(bytes.NewReader(in), l)
		bytewise, err2 := readAll(iotest.OneByteReader(bytes.NewReader(in)), l)
		if d := cmp.Diff(whole, bytewise); d != "" || (err1 == nil) != (err2 == nil) {
			t.Fatalf("whole and byte by byte differ: %s %v %v", d, err1, err2)
		}
		for _, e := range whole {
			if len(e.Data) > 64+64 {
				t.Fatalf("%d bytes of data", len(e.Data))
			}
		}
	})
}

// FuzzRoundTrip proves that the Reader returns what the Writer has written.
func FuzzRoundTrip(f *testing.F) {
	f.Add("end", "text\nmore\u2028")
	f.Fuzz(func(t *testing.T, name, text string) {
		var b bytes.Buffer
		if err := sse.NewWriter(&b, nil).Send(name, text); err != nil {
			t.Fatal(err)
		}
		got, err := readAll(&b, sse.Limits{})
		if err != nil || len(got) != 1 {
			t.Fatalf("got %d events, %v", len(got), err)
		}
		want, _ := json.Marshal(text)
		var a, c string
		if json.Unmarshal(want, &a) != nil || json.Unmarshal([]byte(got[0].Data), &c) != nil || a != c {
			t.Fatalf("got %s, want %s", got[0].Data, want)
		}
	})
}
