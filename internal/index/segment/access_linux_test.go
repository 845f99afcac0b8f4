package segment_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"quarry/internal/index/segment"
	"quarry/internal/testkit"
)

// access reads sections as their names say.
func access(name string, _ int64) segment.Access {
	return map[string]segment.Access{"hot": segment.Hot, "cold": segment.Cold, "apart": segment.Apart}[name]
}

// large writes a file of sections, of 2 MB each.
func large(t *testing.T, names ...string) (path string, content []byte) {
	t.Helper()
	path, content = filepath.Join(t.TempDir(), "1.seg"), make([]byte, 2_000_000)
	for rng, i := rand.NewChaCha8([32]byte{1}), 0; i < len(content); i++ {
		content[i] = byte(rng.Uint64())
	}
	var sections []segment.Section
	for _, name := range names {
		sections = append(sections, segment.Section{Name: name, Version: 1, Data: content})
	}
	if err := (segment.Files{}).Write(path, sections); err != nil {
		t.Fatal(err)
	}
	return path, content
}

// forget drops a file from memory.
func forget(t *testing.T, path string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, path string) *segment.File {
	t.Helper()
	f, err := segment.OpenFor(path, access)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// TestCold proves that the check at opening reads cold sections and leaves them out of memory, unless they were there before;
// that others stay; that a cold one is advised as random; and that all hold what was written.
func TestCold(t *testing.T) {
	t.Parallel()
	path, content := large(t, "hot", "usual", "cold")
	forget(t, path)
	f := open(t, path)
	if in, of := f.Resident("usual"); in < of/2 {
		testkit.Skip(t, "the file system of the test keeps nothing in memory")
	}
	if in, of := f.Resident("cold"); in == of {
		testkit.Skip(t, "the file system of the test keeps everything in memory")
	} else if in > of/4 {
		t.Errorf("%d of %d bytes of the cold section are in memory after the check", in, of)
	}
	if in, of := f.Resident("hot"); in < of/2 {
		t.Errorf("only %d of %d bytes of the hot section are in memory", in, of)
	}
	if flags := mapping(t, f.Section("cold").Data); !strings.Contains(flags, " rr") {
		t.Errorf("the cold section is mapped with %s", flags)
	}
	for _, name := range []string{"hot", "usual", "cold"} {
		if !bytes.Equal(f.Section(name).Data, content) {
			t.Errorf("%s: other bytes", name)
		}
	}
	if in, of := open(t, path).Resident("cold"); in < of/2 {
		t.Errorf("%d of %d bytes of the cold section stay in memory, where all were before", in, of)
	}
}

// TestColdIsChecked proves that no byte of a cold section is trusted unchecked.
func TestColdIsChecked(t *testing.T) {
	t.Parallel()
	path, _ := large(t, "hot", "usual", "cold")
	image, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	image[5_500_000] ^= 1
	if err := os.WriteFile(path, image, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := segment.OpenFor(path, access); err == nil || !strings.Contains(err.Error(), `"cold"`) {
		t.Errorf("a flipped byte: %v", err)
	}
}

// TestApart proves that a section apart gives what was written without its mapping being touched, and that reading what is no longer
// there is the damage of the place.
func TestApart(t *testing.T) {
	t.Parallel()
	path, content := large(t, "cold", "apart")
	f := open(t, path)
	part, got := f.Part("apart"), make([]byte, 1000)
	if part == nil || f.Part("cold") != nil {
		t.Fatalf("parts: apart %v, cold %v", part, f.Part("cold"))
	}
	part.Read(got, 1_234_567)
	if !bytes.Equal(got, content[1_234_567:][:1000]) {
		t.Error("other bytes than were written")
	}
	if n := mapped(t, f.Section("apart").Data); n > 0 {
		t.Errorf("%d kB of the mapping are in this process", n)
	}
	guarded := func(read func()) (err error) {
		defer segment.Guard(&err, true, func() []*segment.File { return []*segment.File{f} })()
		read()
		return nil
	}
	if err := os.Truncate(path, 3_000_000); err != nil {
		t.Fatal(err)
	}
	var damage *segment.Corrupt
	if err := guarded(func() { part.Read(got, 1_500_000) }); !errors.As(err, &damage) || damage.Section != "apart" || damage.Reason != "cut off" {
		t.Errorf("a file that was cut off: %v", err)
	}
}

// mapped returns how many kB of the mapping of data are in this process.
func mapped(t *testing.T, data []byte) (kilobytes int) {
	t.Helper()
	if _, err := fmt.Sscan(field(t, data, "Rss:"), &kilobytes); err != nil {
		t.Fatal(err)
	}
	return kilobytes
}

// mapping returns the flags of the mapping that the middle of data lies in.
func mapping(t *testing.T, data []byte) string {
	t.Helper()
	return field(t, data, "VmFlags:")
}

// field returns a field of the mapping that the middle of data lies in.
func field(t *testing.T, data []byte, name string) string {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		testkit.Skip(t, "the system does not list mappings")
	}
	at, within := uintptr(unsafe.Pointer(&data[len(data)/2])), false
	for line := range strings.Lines(string(maps)) {
		var from, to uintptr
		if n, _ := fmt.Sscanf(line, "%x-%x ", &from, &to); n == 2 {
			within = at >= from && at < to
		}
		if flags, ok := strings.CutPrefix(line, name); ok && within {
			return flags
		}
	}
	t.Fatal("no mapping of the section")
	return ""
}
