package sessions_test

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"quarry/internal/agent/artifact"
	"quarry/internal/agent/session"
	"quarry/internal/blob"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/store"
	"quarry/internal/store/sessions"
)

// contents are the few contents of all files, so that many share one.
func contents(n int) []byte { return bytes.Repeat([]byte{byte('a' + n)}, 1000+n) }

// put keeps and holds the bytes of one to three files.
func (p *player) put() (out []artifact.Artifact) {
	for i := range 1 + p.r.IntN(3) {
		kind := p.r.IntN(6)
		b, err := p.blobs.Put(p.t.Context(), bytes.NewReader(contents(kind)), 1<<20)
		p.same("put", nil, err)
		out = append(out, artifact.Artifact{
			Filename: fmt.Sprintf("%s-%d.txt", p.at, i), MIME: "text/plain", Size: b.Size, Sum: b.Sum, Metadata: []byte(fmt.Sprintf(`{"kind":%d}`, kind)),
			TTLDays: []int{1, 30}[p.r.IntN(2)], Created: p.now, Updated: p.now,
		})
	}
	return out
}

func (p *player) release(files []artifact.Artifact) {
	for i := range files {
		p.same("release", nil, p.blobs.Release(p.t.Context(), files[i].Blob()))
	}
}

// named returns files with the ids that the store has given them.
func (p *player) named(m *memory, files []artifact.Artifact) []artifact.Artifact {
	files = slices.Clone(files)
	for _, a := range p.listed(m.no) {
		if i := slices.IndexFunc(files, func(f artifact.Artifact) bool { return f.Filename == a.Filename }); i >= 0 {
			files[i].ID = a.ID
		}
	}
	return files
}

func (p *player) listed(no int64) []artifact.Artifact {
	found, _, err := p.b.Artifacts(p.t.Context(), artifact.List{Session: no, Limit: 100_000})
	p.same("list artifacts", nil, err)
	return found
}

// at returns the event at a place.
func (m *memory) at(ord int64) *session.Event {
	return &m.events[slices.IndexFunc(m.events, func(e session.Event) bool { return e.Ord == ord })]
}

// sweep removes what nobody needs, and now and then files whose time has passed.
func (p *player) sweep(*memory) {
	if p.r.IntN(4) == 0 {
		_, err := p.b.Expire(p.t.Context(), p.now.Add(36*time.Hour), 100_000)
		p.same("expire", nil, err)
		for _, m := range p.all {
			for id, f := range m.files {
				if f.TTLDays == 1 {
					delete(m.files, id)
				}
			}
		}
	}
	sweepSessions(p.t, p.b)
	_, err := p.blobs.Sweep(p.t.Context(), p.now)
	p.same("sweep", nil, err)
	p.wantBytes()
}

func sweepSessions(t *testing.T, b bench) {
	t.Helper()
	for more := true; more; {
		err := b.db.Write(t.Context(), func(tx *store.Tx) (err error) {
			more, err = sessions.Sweeper{}.Sweep(tx)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// wantFiles fails unless the session has the files that it has in memory, each with its bytes.
func (p *player) wantFiles(m *memory) {
	got := map[string]artifact.Artifact{}
	for _, a := range p.listed(m.no) {
		got[a.ID] = a
		content, err := p.blobs.Open(p.t.Context(), a.Blob())
		p.same("open "+a.ID, nil, err)
		raw, err := io.ReadAll(content)
		p.same("read "+a.ID, nil, err)
		p.same("close "+a.ID, nil, content.Close())
		if !bytes.Equal(raw, contents(int(raw[0]-'a'))) || string(a.Metadata) != fmt.Sprintf(`{"kind":%d}`, raw[0]-'a') {
			p.t.Fatalf("%s: %s has other bytes", p.at, a.ID)
		}
	}
	p.equal("files", m.files, got)
	for _, other := range p.all {
		if other == m {
			continue
		}
		for id := range other.files {
			if _, own := m.files[id]; own {
				continue
			}
			if a, err := p.b.Artifact(p.t.Context(), m.no, id); !fault.Is(err, fault.KindNotFound) {
				p.t.Fatalf("%s: a session sees %s of another: %v, %v", p.at, id, a, err)
			}
		}
	}
}

// wantBytes sweeps and fails unless the bytes that are kept are those of the files of the sessions that there are.
func (p *player) wantBytes() {
	sweepSessions(p.t, p.b)
	_, err := p.blobs.Sweep(p.t.Context(), p.now)
	p.same("sweep", nil, err)
	want := map[string]bool{}
	for _, m := range p.all {
		for _, f := range m.files {
			if !m.deleted {
				want[f.Sum] = true
			}
		}
	}
	rows, err := store.Select(p.b.db.Reader(p.t.Context()), "read", store.One[string], `SELECT sum FROM blobs`)
	p.same("read contents", nil, err)
	kept := map[string]bool{}
	err = filepath.WalkDir(p.dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			kept[d.Name()] = true
		}
		return err
	})
	p.same("read the folder", nil, err)
	known := map[string]bool{}
	for _, sum := range rows {
		known[sum] = true
	}
	p.equal("rows of contents", want, known)
	p.equal("contents", want, kept)
}

// stub returns a file whose bytes have a row and are held.
func (b bench) stub(t *testing.T, name string) artifact.Artifact {
	t.Helper()
	a := artifact.Artifact{Filename: name, MIME: "text/plain", Size: 3, Sum: fmt.Sprintf("%064x", []byte(name)), TTLDays: 30, Created: time.Now(), Updated: time.Now()}
	if err := b.rows().Hold(t.Context(), blob.Blob{Sum: a.Sum, Size: a.Size}, time.Now()); err != nil {
		t.Fatal(err)
	}
	return a
}

// testFileLists proves the orders and pages of a list of files, and that the id of a file is its session's alone.
func testFileLists(t *testing.T, b bench) {
	s := b.open(t)
	in := input(s.No, "x")
	now := time.UnixMicro(1_900_000_000_000_000).UTC()
	for i, name := range []string{"a.txt", "b.txt", "c.txt"} {
		f := b.stub(t, name)
		f.Created, f.Updated = now.Add(time.Duration(i)*time.Second), now.Add(-time.Duration(i)*time.Second)
		in.Files = append(in.Files, f)
	}
	in.Upload = id.NewEvent()
	b.send(t, in, session.Began)
	for _, c := range []struct {
		list artifact.List
		want string
	}{
		{artifact.List{}, "c.txt b.txt a.txt"}, {artifact.List{Oldest: true}, "a.txt b.txt c.txt"},
		{artifact.List{ByChange: true}, "a.txt b.txt c.txt"}, {artifact.List{ByChange: true, Oldest: true}, "c.txt b.txt a.txt"},
	} {
		c.list.Session, c.list.Limit = s.No, 1
		got := ""
		for more := true; more; {
			var page []artifact.Artifact
			var err error
			if page, more, err = b.Artifacts(t.Context(), c.list); err != nil || len(page) != 1 {
				t.Fatalf("%+v: %d files, %v", c.list, len(page), err)
			}
			if got += page[0].Filename; more {
				got += " "
			}
			c.list.After = page[0].Place(c.list.ByChange)
		}
		if got != c.want {
			t.Errorf("%+v: %q, want %q", c.list, got, c.want)
		}
	}
	if found, _, err := b.Artifacts(t.Context(), artifact.List{Session: b.open(t).No, Limit: 10}); err != nil || len(found) > 0 {
		t.Errorf("another session has %d files, %v", len(found), err)
	}
}

// testFilesOnce proves that files of a turn whose bytes are not held any more, or whose ids are taken, are not written, nor the
// event that names them; and that an upload of which a file was given up is refused whole.
func testFilesOnce(t *testing.T, b bench) {
	s := b.open(t)
	begun := b.send(t, input(s.No, "x"), session.Began)
	l := begun.Run.Lease
	a := b.stub(t, "a.txt")
	a.ID = artifact.NewID(a.Filename)
	b.commit(t, l, session.Commit{Events: []session.Event{says("made")}, Artifacts: []artifact.Artifact{a}})
	gone := b.stub(t, "gone.txt")
	gone.ID, gone.Sum = artifact.NewID("gone.txt"), fmt.Sprintf("%064x", "nothing")
	for _, again := range []artifact.Artifact{a, gone} {
		_, err := b.Commit(t.Context(), l, session.Commit{Events: []session.Event{says("twice")}, Artifacts: []artifact.Artifact{again}}, time.Now())
		if err != session.ErrLost {
			t.Errorf("%s: %v", again.Filename, err)
		}
	}
	in := input(b.open(t).No, "y")
	in.Upload, in.Files = id.NewEvent(), []artifact.Artifact{a, gone}
	if _, err := b.Accept(t.Context(), in, lease(in.Session, "a"), time.Now()); !fault.Is(err, fault.KindUnavailable) {
		t.Errorf("an upload of which a file is gone: %v", err)
	}
	if found, _, err := b.Artifacts(t.Context(), artifact.List{Session: in.Session, Limit: 10}); err != nil || len(found) > 0 {
		t.Errorf("it has left %d files, %v", len(found), err)
	}
	if log := b.log(t, s.No); len(log) != 2 {
		t.Errorf("the log has %d events, want 2", len(log))
	}
	var refs int
	if err := b.db.Reader(t.Context()).QueryRow(`SELECT refs FROM blobs WHERE sum = $1`, a.Sum).Scan(&refs); err != nil || refs != 1 {
		t.Errorf("%d references, %v; want 1", refs, err)
	}
}
