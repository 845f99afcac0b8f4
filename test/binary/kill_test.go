package binary

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"quarry/internal/testkit"
)

// TestKillAfterCreated proves that a document whose 201 has come is found in every way after a kill right then.
func TestKillAfterCreated(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := testkit.StartBinary(t, dir)
	createCorpus(t, p.Client(), "c")
	for i := range 5 {
		id, term := fmt.Sprintf("d%d", i), fmt.Sprintf("uniform%dq", i)
		p.Client().Must(t, http.StatusCreated, "POST", "/v2/corpora/c/documents", core(id, i, "Close the "+term+" gate."))
		p.Kill()
		p = testkit.StartBinary(t, dir)
		for j := range i + 1 {
			mustFind(t, p.Client(), "c", fmt.Sprintf("d%d", j), fmt.Sprintf("uniform%dq", j), j, true)
		}
	}
	p.Client().Must(t, http.StatusNoContent, "DELETE", "/v2/corpora/c/documents/d0", nil)
	p.Kill()
	p = testkit.StartBinary(t, dir)
	mustFind(t, p.Client(), "c", "d0", "uniform0q", 0, false)
}

// TestKillDuringUpload proves that a file whose upload was cut by a kill is not there, not even in part, and can be
// uploaded again; and that one which was sent whole is there whole or not at all.
func TestKillDuringUpload(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := testkit.StartBinary(t, dir)
	createCorpus(t, p.Client(), "c")
	half, big := form(t, "half.txt", strings.Repeat("Tango is a dance. ", 500_000))
	c := dial(t, p)
	c.begin(t, "POST", "/v2/corpora/c/upload_file", big, len(half))
	c.send(t, half[:len(half)/2])
	p.Kill()

	p = testkit.StartBinary(t, dir)
	if all := listed(t, p.Client(), "c"); len(all) != 0 {
		t.Errorf("half an upload left %v", all)
	}
	whole, kind := form(t, "whole.txt", strings.Repeat("Sierra is a range. ", 50))
	c = dial(t, p)
	c.begin(t, "POST", "/v2/corpora/c/upload_file", kind, len(whole))
	c.send(t, whole)
	p.Kill()

	p = testkit.StartBinary(t, dir)
	for id := range listed(t, p.Client(), "c") {
		got := p.Client().Must(t, http.StatusOK, "GET", "/v2/corpora/c/documents/"+id, nil)
		if n := strings.Count(fmt.Sprint(got["parts"]), "Sierra"); id != "whole.txt" || n != 50 {
			t.Errorf("document %s holds %d sentences, want all 50 of whole.txt", id, n)
		}
	}
	again, kind := form(t, "half.txt", "Tango is a dance.")
	c = dial(t, p)
	c.begin(t, "POST", "/v2/corpora/c/upload_file", kind, len(again))
	c.send(t, again)
	if status, body := c.answer(t); status != http.StatusCreated {
		t.Errorf("uploading again answers %d, want 201: %s", status, body)
	}
	if ids := foundIDs(ask(t, p.Client(), "c", "tango", byTerm, "")); len(ids) != 1 || ids[0] != "half.txt" {
		t.Errorf("the file is found as %q, want half.txt", ids)
	}
}

// TestTerminate proves that SIGTERM takes no more connections, lets a request in flight finish, and ends with 0 and
// without an address file; what it answered is kept.
func TestTerminate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := testkit.StartBinary(t, dir)
	createCorpus(t, p.Client(), "c")
	address := filepath.Join(dir, "address")
	if got := strings.TrimSpace(string(read(t, address))); got != p.URL {
		t.Errorf("the address file says %q, want %q", got, p.URL)
	}
	body, err := json.Marshal(core("late", 1, "The romeo1q request was in flight."))
	if err != nil {
		t.Fatal(err)
	}
	c := dial(t, p)
	c.begin(t, "POST", "/v2/corpora/c/documents", "application/json", len(body)) // the handler reads now
	if err := syscall.Kill(p.PID(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	awaitClosed(t, strings.TrimPrefix(p.URL, "http://"))
	c.send(t, body)
	if status, text := c.answer(t); status != http.StatusCreated {
		t.Errorf("the request in flight is answered %d, want 201: %s", status, text)
	}
	if err := p.Stop(); err != nil {
		t.Errorf("the server ends with %v, want exit code 0\n%s", err, p.Log())
	}
	if _, err := os.Stat(address); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the address file is still there: %v", err)
	}
	p = testkit.StartBinary(t, dir)
	mustFind(t, p.Client(), "c", "late", "romeo1q", 1, true)
}

// TestInterrupt proves that SIGINT, as from a terminal, ends an idle server in the same way.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := testkit.StartBinary(t, dir)
	if err := syscall.Kill(p.PID(), syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := p.Wait(); err != nil {
		t.Errorf("the server ends with %v, want exit code 0\n%s", err, p.Log())
	}
	if _, err := os.Stat(filepath.Join(dir, "address")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the address file is still there: %v", err)
	}
}

// TestKillDuringFirstStart proves that a first start that is killed, at whatever point, is completed by the next one: the
// key in the file is valid.
func TestKillDuringFirstStart(t *testing.T) {
	t.Parallel()
	for _, sign := range []string{"quarry.lock", "quarry.db", "quarry.db-wal", "secret.key.new", "secret.key", "owner.key.new", "owner.key", "address"} {
		t.Run(sign, func(t *testing.T) {
			dir := t.TempDir()
			killWhen(t, dir, sign)
			p := testkit.StartBinary(t, dir)
			p.Client().Must(t, http.StatusOK, "GET", "/v2/corpora", nil)
			if left, err := filepath.Glob(filepath.Join(dir, "owner.key?*")); err != nil || len(left) > 0 {
				t.Errorf("%q is left (%v)", left, err)
			}
		})
	}
}

// killWhen starts a server and kills it when a file appears, or a later one, which shows that the file came and went.
func killWhen(t *testing.T, dir, name string) {
	t.Helper()
	cmd := exec.Command(testkit.Binary(t), append([]string{"serve"}, on(dir)...)...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	there := func(name string) bool {
		_, err := os.Stat(filepath.Join(dir, name))
		return err == nil
	}
	deadline := time.Now().Add(patience)
	for !there(name) && !there("address") && time.Now().Before(deadline) {
		runtime.Gosched()
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed
	if !there(name) && !there("address") {
		t.Fatalf("the server never made %s", name)
	}
}

// TestCreateAtOnce proves that of many creates of one name at once exactly one wins.
func TestCreateAtOnce(t *testing.T) {
	t.Parallel()
	p := testkit.StartBinary(t, t.TempDir())
	createCorpus(t, p.Client(), "c")
	const clients = 16
	for _, tc := range []struct {
		name, path string
		body       func(i int) map[string]any
	}{
		{"documents with other texts", "/v2/corpora/c/documents", func(i int) map[string]any {
			return core("one", i, fmt.Sprintf("This is quebec%dq.", i))
		}},
		{"documents with the same text", "/v2/corpora/c/documents", func(int) map[string]any { return core("two", 99, "This is papaq.") }},
		{"corpora", "/v2/corpora", func(i int) map[string]any { return map[string]any{"key": "d", "name": fmt.Sprint(i)} }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var group sync.WaitGroup
			start := make(chan struct{})
			statuses := make([]int, clients)
			for i := range clients {
				c := p.Client()
				group.Go(func() {
					<-start
					statuses[i], _, _ = c.Do("POST", tc.path, tc.body(i))
				})
			}
			close(start)
			group.Wait()
			count := map[int]int{}
			winner := 0
			for i, s := range statuses {
				count[s]++
				if s == http.StatusCreated {
					winner = i
				}
			}
			if count[http.StatusCreated] != 1 || count[http.StatusConflict] != clients-1 {
				t.Fatalf("statuses %v, want one 201 and %d 409", count, clients-1)
			}
			if tc.name == "corpora" {
				if got := p.Client().Must(t, http.StatusOK, "GET", "/v2/corpora/d", nil)["name"]; got != fmt.Sprint(winner) {
					t.Errorf("the corpus is named %v, want the winner's %d", got, winner)
				}
			}
			if tc.body(0)["id"] == "one" {
				for i := range clients {
					ids := foundIDs(ask(t, p.Client(), "c", fmt.Sprintf("quebec%dq", i), byTerm, ""))
					if (len(ids) == 1) != (i == winner) {
						t.Errorf("the text of client %d gives %q; the winner was %d", i, ids, winner)
					}
				}
			}
		})
	}
}

// form returns a multipart body that uploads one file, and its content type.
func form(t *testing.T, name, text string) (body []byte, contentType string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	part, err := w.CreateFormFile("file", name)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(part, text) // into memory
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), w.FormDataContentType()
}

// wire is a connection on which a test writes what it likes.
type wire struct {
	net.Conn
	in  *bufio.Reader
	key string
}

func dial(t *testing.T, p *testkit.Process) *wire {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(p.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() }) // closed already where that is the test
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	return &wire{conn, bufio.NewReader(conn), p.Key}
}

// begin sends the head of a request and returns when the server has asked for its body: then a handler is at work.
func (w *wire) begin(t *testing.T, method, path, contentType string, length int) {
	t.Helper()
	w.send(t, fmt.Appendf(nil, "%s %s HTTP/1.1\r\nHost: q\r\nx-api-key: %s\r\nContent-Type: %s\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n",
		method, path, w.key, contentType, length))
	line, err := w.in.ReadString('\n')
	if err != nil || !strings.Contains(line, " 100 ") {
		t.Fatalf("the server answers %q (%v), want 100 Continue", line, err)
	}
	if _, err := w.in.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
}

func (w *wire) send(t *testing.T, raw []byte) {
	t.Helper()
	if _, err := w.Write(raw); err != nil {
		t.Fatal(err)
	}
}

// answer reads one whole answer.
func (w *wire) answer(t *testing.T) (status int, body string) {
	t.Helper()
	res, err := http.ReadResponse(w.in, nil)
	if err != nil {
		t.Fatalf("no answer: %v", err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatalf("half an answer: %v", err)
	}
	return res.StatusCode, string(raw)
}

// awaitClosed returns when nothing listens at address any more.
func awaitClosed(t *testing.T, address string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for ctx.Err() == nil {
		conn, err := net.DialTimeout("tcp", address, time.Second)
		if err != nil {
			return
		}
		_ = conn.Close() // it was only to see
	}
	t.Fatal("the server goes on taking connections")
}
