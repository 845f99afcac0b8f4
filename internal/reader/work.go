package reader

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"sync"
	"syscall"
	"time"

	"quarry/internal/background"
	"quarry/internal/extract"
	"quarry/internal/fault"
)

// watchSelf is the argument behind the memory of a worker that is to see for itself how much it holds.
const watchSelf = "watch"

// exitMemory is the exit code of a worker that has seen itself hold too much.
const exitMemory = 86

// fingerprint names the build of this program. A service whose program file was replaced while it runs must not talk to the new one.
var fingerprint = sync.OnceValue(func() string {
	info, _ := debug.ReadBuildInfo()
	return fmt.Sprint(info)
})

// errReplaced is the error of a service whose program file was replaced.
var errReplaced = fault.Unavailable("replaced", "the program file was replaced while the service runs: whoever runs it has to restart it")

// Work is the whole of a worker: it parses the files that come on standard input, until it ends, and answers on standard output. args are
// those that a Pool adds to its command.
func Work(args []string) error {
	if len(args) == 0 || len(args) > 2 {
		return errors.New("this command is started by the service, to read files for it")
	}
	memory, err := strconv.ParseInt(args[0], 10, 64)
	if err != nil {
		return fmt.Errorf("memory: %w", err)
	}
	signal.Ignore(os.Interrupt, syscall.SIGTERM) // Ctrl-C reaches all processes of a terminal; the service ends its workers itself
	runtime.GOMAXPROCS(1)                        // there are as many workers as processors
	rename()
	background.Lower(os.Getpid()) // searches come before files that are read
	debug.SetGCPercent(100)       // whatever the program does at its start
	debug.SetMemoryLimit(memory / 4 * 3)
	if err := confine(); err != nil {
		return err
	}
	if len(args) == 2 {
		go watchMemory(memory)
	}
	return serve(os.Stdin, os.Stdout)
}

// serve answers each file of in on out. In is read all the time, so that its end is noticed while a file is parsed: then the
// service is gone, and nobody waits for the answer.
func serve(in io.Reader, out io.Writer) error {
	if err := send(out, hello, fingerprint()); err != nil {
		return err
	}
	files := make(chan task)
	go func() {
		for {
			f, err := next(in)
			if errors.Is(err, io.EOF) {
				os.Exit(0)
			}
			if err != nil {
				fmt.Fprintln(os.Stderr, "worker:", err)
				os.Exit(1)
			}
			files <- f
		}
	}()
	for f := range files {
		if err := answer(out, f); err != nil {
			return err
		}
		giveBack()
	}
	return nil
}

// next reads a task.
func next(in io.Reader) (t task, err error) {
	const most = 1 << 40 // the service sends what it has in memory
	k, text, err := receive(in, most)
	if err != nil {
		return t, err
	}
	switch k {
	case file:
		return t, decode(text, &t.file)
	case page:
		var p paged
		err := decode(text, &p)
		return task{p.File, &p.Page}, err
	}
	return t, errMessage
}

// parse is what becomes of a file. Tests have it do worse.
var parse = extract.Choice.Read

// answer does one task.
func answer(out io.Writer, t task) error {
	c, err := extract.Choose(t.file)
	if err != nil {
		return send(out, failure, failedWith(err))
	}
	if err := send(out, stage, c.Stage()); err != nil {
		return err
	}
	if t.page != nil {
		r, err := c.Scanned(*t.page)
		if err != nil {
			return send(out, failure, failedWith(err))
		}
		return send(out, raster, *r)
	}
	doc, err := parse(c)
	if err != nil {
		return send(out, failure, failedWith(err))
	}
	return send(out, tree, *doc)
}

// held returns how much memory this process holds, as far as the runtime knows.
func held() int64 {
	all := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(all)
	return int64(all[0].Value.Uint64() - all[1].Value.Uint64())
}

// giveBack returns memory to the system that a large file has needed.
func giveBack() {
	const kept = 64 << 20
	if held() > kept {
		debug.FreeOSMemory()
	}
}

// watchMemory ends the process when it holds more than it may.
func watchMemory(most int64) {
	for range time.Tick(look) {
		if held() > most {
			os.Exit(exitMemory)
		}
	}
}
