package binary

import (
	"bytes"
	"fmt"
	"net/http"
	"path/filepath"
	"testing"

	"quarry/internal/testkit"
)

// TestDamagedDatabase proves that a damaged database stops the start with what to do, and is left as it was found.
func TestDamagedDatabase(t *testing.T) {
	t.Parallel()
	h := tell(t)
	noise := bytes.Repeat([]byte{0xa5, 0x5a, 0x00, 0xff}, 4096)
	over := func(at func(size int) int) func([]byte) []byte {
		return func(raw []byte) []byte { copy(raw[at(len(raw)):], noise); return raw }
	}
	for _, tc := range []struct {
		name   string
		damage func([]byte) []byte
	}{
		{"header", over(func(int) int { return 0 })},
		{"schema", over(func(int) int { return 100 })},
		{"middle", over(func(n int) int { return n / 2 / 8192 * 8192 })},
		{"end", over(func(n int) int { return n - len(noise) })},
		{"cut", func(raw []byte) []byte { return raw[:len(raw)/2] }},
		{"cut inside a page", func(raw []byte) []byte { return raw[:len(raw)-1] }},
		{"another file", func([]byte) []byte { return []byte("id,name\n1,one\n") }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := copyFolder(t, h.first)
			name := filepath.Join(dir, "quarry.db")
			damaged := tc.damage(read(t, name))
			write(t, name, damaged)
			refused(t, serve(t, nil, on(dir)...), 5, name, "damaged", "restore the newest backup")
			if !bytes.Equal(read(t, name), damaged) {
				t.Error("the file was changed")
			}
		})
	}
}

// TestDatabaseWithoutItsLog proves that what is acknowledged and still in the log alone is there after a crash, and that
// a log without its database is no new installation.
func TestDatabaseWithoutItsLog(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	p := testkit.StartBinary(t, dir)
	createCorpus(t, p.Client(), "c")
	for i := range 5 {
		p.Client().Must(t, http.StatusCreated, "POST", "/v2/corpora/c/documents", core(fmt.Sprint(i), i, fmt.Sprintf("word%dq", i)))
	}
	p.Kill()
	lost := copyFolder(t, dir)
	remove(t, filepath.Join(lost, "quarry.db"))
	refused(t, serve(t, nil, on(lost)...), 5, "damaged", "quarry.db-wal")
	p = testkit.StartBinary(t, dir)
	for i := range 5 {
		mustFind(t, p.Client(), "c", fmt.Sprint(i), fmt.Sprintf("word%dq", i), i, true)
	}
}
