package reader_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"quarry/internal/reader"
)

// confined are the arguments by which this program confines itself and then tries what workers must not do.
const (
	confined = "confined"
	landlock = "landlock"
	free     = "free"
)

// attempts are what a worker has no need for. They return what came of them.
var attempts = []struct {
	what     string
	try      func() error
	landlock bool // only Landlock keeps it from it
}{
	{"read a file", func() error { _, err := os.ReadFile("/etc/hostname"); return err }, false},
	{"list a folder", func() error { _, err := os.ReadDir("/"); return err }, false},
	{"write a file", func() error { return os.WriteFile(filepath.Join(os.Args[3], "file"), []byte("x"), 0o600) }, false},
	{"make a folder", func() error { return os.Mkdir(filepath.Join(os.Args[3], "folder"), 0o700) }, true},
	{"call", func() error { _, err := net.DialTimeout("tcp", os.Args[2], time.Minute); return err }, false},
	{"listen", func() error {
		var c net.ListenConfig
		c.SetMultipathTCP(false) // which Landlock doesn't know
		_, err := c.Listen(context.Background(), "tcp", "127.0.0.1:0")
		return err
	}, false},
	{"start a program", func() error { return syscall.Exec("/bin/true", []string{"true"}, nil) }, true}, // the last, since it would end this one
}

// tryAll prints what came of each attempt.
func tryAll(confine func() error) {
	if err := confine(); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	for _, a := range attempts {
		fmt.Printf("%s: %v\n", a.what, a.try())
	}
	os.Exit(0)
}

// TestConfined proves that a worker can open no file and no connection, by its limits alone, and by Landlock alone where the kernel has
// it; and that it can do all of it without them.
func TestConfined(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	version, _, errno := syscall.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	_, _, c := syscall.AllThreadsSyscall(unix.SYS_GETPID, 0, 0, 0) // which builds with C can't
	known := errno == 0 && version >= 4 && c == 0
	for _, how := range []string{confined, landlock, free} {
		if how == landlock && !known {
			t.Log("this kernel has no Landlock that knows of the network, or this is a build with C")
			continue
		}
		out, err := exec.Command(executable(t), how, l.Addr().String(), t.TempDir()).CombinedOutput()
		if err != nil && known {
			t.Errorf("%s: %v\n%s", how, err, out)
		}
		for _, a := range attempts {
			if a.landlock && !known {
				continue
			}
			denied := strings.Contains(string(out), a.what+": ") && !strings.Contains(string(out), a.what+": <nil>")
			started := how == free && a.what == "start a program" // and has printed nothing
			if denied == (how == free) && !started {
				t.Errorf("%s: it can %s: %t\n%s", how, a.what, !denied, out)
			}
		}
	}
}

func init() {
	programs[confined] = func() { tryAll(reader.Confine) }
	programs[landlock] = func() { tryAll(reader.RestrictFiles) }
	programs[free] = func() { tryAll(func() error { return nil }) }
}
