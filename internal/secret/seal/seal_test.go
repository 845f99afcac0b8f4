package seal_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry/internal/secret/seal"
)

func ring(t testing.TB, keys ...seal.Key) *seal.Keyring {
	t.Helper()
	r, err := seal.NewKeyring(keys, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func sealed(t testing.TB, r *seal.Keyring, name, plain string) []byte {
	t.Helper()
	out, err := r.Seal(name, []byte(plain))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestSeal proves that what was sealed opens under its name, holds no trace of the text, and is another text each time.
func TestSeal(t *testing.T) {
	t.Parallel()
	r := ring(t, seal.NewKey())
	for _, plain := range []string{"", "a", "a secret of some length", strings.Repeat("long ", 1<<15)} {
		one, two := sealed(t, r, "signing/k1", plain), sealed(t, r, "signing/k1", plain)
		if bytes.Equal(one, two) {
			t.Error("the same text gives the same bytes twice")
		}
		if len(plain) > 1 && bytes.Contains(one, []byte(plain)) {
			t.Errorf("%q stands in the sealed value", plain)
		}
		got, err := r.Open("signing/k1", one)
		if err != nil || string(got) != plain {
			t.Errorf("open gives %.20q, %v; want %.20q", got, err, plain)
		}
		if id, err := seal.KeyID(one); err != nil || id != r.Current() {
			t.Errorf("key id %q, %v; want %q", id, err, r.Current())
		}
	}
}

// TestTooLarge proves that a value that is too large for the format is refused, not cut.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	r := ring(t, seal.NewKey())
	if _, err := r.Seal("llm/a", make([]byte, seal.MaxPlain+1)); err == nil {
		t.Error("a value above the limit is sealed")
	}
	whole, err := r.Seal("llm/a", make([]byte, seal.MaxPlain))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Open("llm/a", whole); err != nil {
		t.Error(err)
	}
}

// TestBound proves that a sealed value opens under no other name, whether of the same purpose or another, and with no
// bit changed.
func TestBound(t *testing.T) {
	t.Parallel()
	r := ring(t, seal.NewKey())
	value := sealed(t, r, "llm/a/auth", "credential")
	for _, name := range []string{"llm/b/auth", "llm/a", "tool/a/auth", "", "llm/a/auth/"} {
		if _, err := r.Open(name, value); !errors.Is(err, seal.ErrDamaged) {
			t.Errorf("open as %q: %v, want %v", name, err, seal.ErrDamaged)
		}
	}
	for i := range value {
		for bit := range 8 {
			bad := bytes.Clone(value)
			bad[i] ^= 1 << bit
			if got, err := r.Open("llm/a/auth", bad); err == nil {
				t.Fatalf("with bit %d of byte %d changed it opens as %q", bit, i, got)
			}
		}
	}
	for n := range value {
		if _, err := r.Open("llm/a/auth", value[:n]); err == nil {
			t.Fatalf("cut to %d bytes it opens", n)
		}
	}
}

// TestSeveralKeys proves that a ring opens what any of its keys sealed; a value of a foreign key names that key in the
// error.
func TestSeveralKeys(t *testing.T) {
	t.Parallel()
	older, newer, foreign := seal.NewKey(), seal.NewKey(), seal.NewKey()
	old := sealed(t, ring(t, older), "a/b", "old")
	r := ring(t, newer, older)
	if r.Current() != newer.ID() {
		t.Errorf("current is %s, want the first, %s", r.Current(), newer.ID())
	}
	if got, err := r.Open("a/b", old); err != nil || string(got) != "old" {
		t.Errorf("%q, %v", got, err)
	}
	_, err := r.Open("a/b", sealed(t, ring(t, foreign), "a/b", "x"))
	if !errors.Is(err, seal.ErrUnknownKey) || !strings.Contains(err.Error(), foreign.ID()) {
		t.Errorf("error %v, want one that names %s", err, foreign.ID())
	}
	if err := r.Use(older.ID()); err != nil || r.Current() != older.ID() {
		t.Errorf("use: %v, current %s", err, r.Current())
	}
	if err := r.Use(foreign.ID()); !errors.Is(err, seal.ErrUnknownKey) {
		t.Errorf("use of a foreign key: %v", err)
	}
}

// TestReload proves that keys are read again when a value names an unknown one, so a node notices that another rotated
// them.
func TestReload(t *testing.T) {
	t.Parallel()
	older, newer := seal.NewKey(), seal.NewKey()
	now := []seal.Key{older}
	r, err := seal.NewKeyring(now, func() ([]seal.Key, error) { return now, nil })
	if err != nil {
		t.Fatal(err)
	}
	before := sealed(t, r, "a/b", "before")
	now = []seal.Key{newer, older}
	if got, err := r.Open("a/b", sealed(t, ring(t, newer), "a/b", "theirs")); err != nil || string(got) != "theirs" {
		t.Errorf("%q, %v", got, err)
	}
	if r.Current() != older.ID() {
		t.Error("reading keys anew changed the key that seals")
	}
	now = []seal.Key{newer}
	if err := r.Reload(); err != nil || r.Current() != newer.ID() {
		t.Errorf("reload: %v, current %s, want %s", err, r.Current(), newer.ID())
	}
	if _, err := r.Open("a/b", before); !errors.Is(err, seal.ErrUnknownKey) {
		t.Errorf("a key that is gone still opens: %v", err)
	}
	now = nil
	if err := r.Reload(); err == nil {
		t.Error("no keys at all are accepted")
	}
	if got, err := r.Open("a/b", sealed(t, r, "a/b", "still")); err != nil || string(got) != "still" {
		t.Errorf("after a reload that failed: %q, %v", got, err)
	}
}

// TestKeyIsNotPrinted proves that no way of printing a key shows more than its id.
func TestKeyIsNotPrinted(t *testing.T) {
	t.Parallel()
	k := seal.NewKey()
	var log bytes.Buffer
	logger := slog.New(slog.NewJSONHandler(&log, nil))
	logger.Info("x", "key", k, "keys", []seal.Key{k}, "in", struct{ K seal.Key }{k}, "ring", ring(t, k))
	logger = slog.New(slog.NewTextHandler(&log, nil))
	logger.Info("x", "key", k, "keys", []seal.Key{k}, "in", struct{ K seal.Key }{k}, "ring", ring(t, k))
	raw, err := json.Marshal(map[string]any{"k": k, "p": &k, "r": ring(t, k)})
	if err != nil {
		t.Fatal(err)
	}
	out := log.String() + string(raw)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		out += fmt.Sprintf(verb, k) + fmt.Sprintf(verb, &k) + fmt.Sprintf(verb, struct{ K seal.Key }{k})
	}
	body := strings.TrimPrefix(k.Text(), "qsk_")
	for _, secret := range []string{k.Text(), body, body[4:24]} {
		if strings.Contains(out, secret) {
			t.Errorf("the key shows in %s", out)
		}
	}
	if !strings.Contains(out, k.ID()) {
		t.Error("not even the id is printed")
	}
}

// TestParseKeys proves that keys are read back from their text, and nothing else is taken for one; the refusal never
// repeats the text.
func TestParseKeys(t *testing.T) {
	t.Parallel()
	a, b := seal.NewKey(), seal.NewKey()
	for _, text := range []string{a.Text() + "," + b.Text(), a.Text() + "\n" + b.Text() + "\n", "# head\n\n " + a.Text() + " , " + b.Text() + "\r\n"} {
		got, err := seal.ParseKeys(text)
		if err != nil || len(got) != 2 || got[0].ID() != a.ID() || got[1].ID() != b.ID() {
			t.Errorf("%d keys, %v", len(got), err)
		}
	}
	body := strings.TrimPrefix(a.Text(), "qsk_")
	for name, text := range map[string]string{
		"empty": "", "only a comment": "# x\n", "no prefix": body, "other prefix": "zut_" + body, "short": a.Text()[:40],
		"long": a.Text() + "A", "space inside": "qsk_" + body[:20] + " " + body[21:], "plus": "qsk_+" + body[1:],
		"bits too many": "qsk_" + body[:42] + "_", "twice": a.Text() + "," + a.Text(), "empty part": a.Text() + ",",
		"NUL": "qsk_" + body[:42] + "\x00",
	} {
		_, err := seal.ParseKeys(text)
		if err == nil {
			t.Errorf("%s: accepted", name)
			continue
		}
		if strings.Contains(err.Error(), body[5:20]) {
			t.Errorf("%s: the error repeats the key: %v", name, err)
		}
	}
}

// TestFile proves that the key file is its owner's alone, survives being written again, and is refused when others can
// use it.
func TestFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := seal.NewFile(filepath.Join(dir, "secret.key"))
	if _, err := f.Read(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	if err := os.WriteFile(f.Path()+".new", []byte("half"), 0o644); err != nil { // a crash left it
		t.Fatal(err)
	}
	a, b := seal.NewKey(), seal.NewKey()
	for _, keys := range [][]seal.Key{{a}, {b, a}, {b}} {
		if err := f.Write(keys); err != nil {
			t.Fatal(err)
		}
		got, err := f.Read()
		if err != nil || len(got) != len(keys) || got[0].ID() != keys[0].ID() {
			t.Fatalf("read back %v, %v; want %v", got, err, keys)
		}
		if info, err := os.Stat(f.Path()); err != nil || info.Mode().Perm() != 0o600 {
			t.Fatalf("mode %v, %v", info.Mode(), err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("%v is left, %v", left, err)
	}
	for _, mode := range []os.FileMode{0o640, 0o604, 0o660, 0o777, 0o610} {
		if err := os.Chmod(f.Path(), mode); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Read(); err == nil || !strings.Contains(err.Error(), "chmod 600") {
			t.Errorf("mode %o: %v, want advice", mode, err)
		}
	}
}

// TestFileContent proves that a key file that holds something else is refused with advice; a folder or a link to a good
// file are told apart.
func TestFileContent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "secret.key")
	for _, text := range []string{"", "zut_x", "qsk_short", strings.Repeat("x", 1<<20)} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := seal.NewFile(path).Read(); err == nil || !strings.Contains(err.Error(), "backup") {
			t.Errorf("%.10q: %v, want advice", text, err)
		}
	}
	if _, err := seal.NewFile(dir).Read(); err == nil {
		t.Error("a folder is read as a key file")
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	k := seal.NewKey()
	if err := seal.NewFile(link).Write([]seal.Key{k}); err != nil {
		t.Fatal(err)
	}
	if got, err := seal.NewFile(path).Read(); err != nil || got[0].ID() != k.ID() {
		t.Errorf("through the link %v, %v", got, err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link was replaced: %v, %v", info.Mode(), err)
	}
}

// FuzzOpen proves that opening never panics, and nothing but what was sealed opens.
func FuzzOpen(f *testing.F) {
	raw := seal.NewKey()
	r := ring(f, raw)
	good := sealed(f, r, "a/b", "value")
	f.Add(good)
	f.Add(good[:20])
	f.Add([]byte{})
	f.Add([]byte{1})
	f.Add(append(bytes.Clone(good), 0))
	f.Fuzz(func(t *testing.T, in []byte) {
		plain, err := r.Open("a/b", in)
		if (err == nil) != bytes.Equal(in, good) {
			t.Fatalf("%x opens as %q, %v", in, plain, err)
		}
		if err != nil && !errors.Is(err, seal.ErrDamaged) && !errors.Is(err, seal.ErrUnknownKey) {
			t.Fatalf("an error of no known kind: %v", err)
		}
	})
}

// FuzzParseKeys proves that whatever text is given, reading keys doesn't panic, and what it accepts is written back as
// the same keys.
func FuzzParseKeys(f *testing.F) {
	f.Add(seal.NewKey().Text() + "," + seal.NewKey().Text())
	f.Add("# x\n" + seal.NewKey().Text() + "\n")
	f.Add("qsk_")
	f.Fuzz(func(t *testing.T, text string) {
		keys, err := seal.ParseKeys(text)
		if err != nil {
			return
		}
		for _, k := range keys {
			again, err := seal.ParseKey(k.Text())
			if err != nil || again.ID() != k.ID() || !strings.Contains(text, k.Text()) {
				t.Fatalf("%s comes back as %s, %v", k, again, err)
			}
		}
	})
}
