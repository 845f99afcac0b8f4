package storetest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // driver "pgx"

	"quarry/internal/store"
	"quarry/internal/testkit"
)

// Postgres returns the URL of a fresh database that has the schema and no rows, on a server that this test program runs for itself
// in a temporary folder. Without a PostgreSQL on the machine it skips the test.
func Postgres(t testing.TB) string {
	t.Helper()
	s := running(t)
	if err := migrated(); err != nil {
		t.Fatalf("write the schema: %v", err)
	}
	return s.database(t, " TEMPLATE "+template)
}

// Empty is Postgres for a test of the schema itself: its database has none.
func Empty(t testing.TB) string {
	t.Helper()
	return running(t).database(t, "")
}

// running returns the server of the test program.
func running(t testing.TB) postgres {
	t.Helper()
	s := server()
	if s.skip != "" {
		testkit.Skip(t, s.skip)
	}
	if s.err != nil {
		t.Fatalf("start PostgreSQL: %v", s.err)
	}
	return s
}

// template is the database that those with a schema are copied from, which takes a fifth of the time of its migrations.
const template = "migrated"

// migrated writes template, once.
var migrated = sync.OnceValue(func() error {
	s := server()
	if err := s.exec(context.Background(), "CREATE DATABASE "+template); err != nil {
		return err
	}
	return begin(store.Config{URL: s.url(template)})
})

// database creates a database for a test.
func (p postgres) database(t testing.TB, how string) string {
	t.Helper()
	name := fmt.Sprintf("q%d", databases.Add(1))
	if err := p.exec(t.Context(), "CREATE DATABASE "+name+how); err != nil {
		t.Fatalf("create database: %v", err)
	}
	t.Cleanup(func() {
		if err := p.exec(context.Background(), "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			t.Errorf("drop database: %v", err)
		}
	})
	return p.url(name)
}

// Restartable returns the URL of an empty database on a server of the test's own, and what restarts the server: at once, with the
// connections cut, or, as a crash does, without a goodbye to any of them. It returns when the server answers again.
func Restartable(t testing.TB) (text string, restart func(crash bool)) {
	t.Helper()
	s := startServer("on")
	if s.skip != "" {
		testkit.Skip(t, s.skip)
	}
	if s.err != nil {
		t.Fatalf("start PostgreSQL: %v", s.err)
	}
	t.Cleanup(func() { _ = s.life.Close() })
	return s.url("postgres"), func(crash bool) {
		t.Helper()
		before, err := s.began()
		if err != nil {
			t.Fatalf("restart PostgreSQL: %v", err)
		}
		signal := "INT"
		if crash {
			signal = "QUIT"
		}
		if _, err := fmt.Fprintln(s.life, signal); err != nil {
			t.Fatalf("restart PostgreSQL: %v", err)
		}
		if err := s.await(func() error {
			if now, err := s.began(); err != nil || now == before {
				return errors.Join(err, errors.New("it has not restarted"))
			}
			return nil
		}); err != nil {
			t.Fatalf("restart PostgreSQL: %v", err)
		}
	}
}

var (
	server    = sync.OnceValue(func() postgres { return startServer("off") })
	databases atomic.Int64
)

type postgres struct {
	dir  string         // holds data, socket and log; the server removes it when it ends
	skip string         // why there is no server
	life io.WriteCloser // the guardian's standard input; kept, for a collected file is a closed one
	err  error
}

func (p postgres) url(database string) string {
	return (&url.URL{Scheme: "postgres", User: url.User("quarry"), Path: "/" + database,
		RawQuery: url.Values{"host": {p.dir}, "sslmode": {"disable"}}.Encode()}).String()
}

func (p postgres) exec(ctx context.Context, query string) error {
	db, err := sql.Open("pgx", p.url("postgres"))
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	_, err = db.ExecContext(ctx, query)
	return err
}

// began returns when the server was started.
func (p postgres) began() (at string, err error) {
	db, err := sql.Open("pgx", p.url("postgres"))
	if err != nil {
		return "", err
	}
	defer func() { _ = db.Close() }()
	err = db.QueryRow("SELECT pg_postmaster_start_time()::text").Scan(&at)
	return at, err
}

// programs finds the folder of initdb and postgres: on the path, or where Debian keeps them.
func programs() string {
	if p, err := exec.LookPath("postgres"); err == nil {
		if real, err := filepath.EvalSymlinks(p); err == nil {
			return filepath.Dir(real)
		}
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres") // a fixed pattern is well formed
	if len(found) == 0 {
		return ""
	}
	return filepath.Dir(found[len(found)-1])
}

// guardian runs the server as long as its standard input is open, that is until this test program ends in whatever
// way, then removes everything. A line of the input is a signal, by which it ends the server and starts it again.
const guardian = `run() { "$1/postgres" -D "$2/data" -k "$2" -c listen_addresses= -c fsync=off -c "synchronous_commit=$3" \
	-c full_page_writes=off -c max_connections=400 -c shared_buffers=32MB & }
	run "$@"; while read -r signal; do kill "-$signal" $!; wait $!; run "$@"; done; kill -INT $!; wait $!; rm -rf "$2"`

// startServer starts a server. commit is its synchronous_commit: off is faster, and loses the last commits that it has confirmed when
// the server is killed.
func startServer(commit string) (p postgres) {
	bin := programs()
	if bin == "" {
		p.skip = "no program postgres is installed (Debian: apt-get install postgresql)"
		return p
	}
	if p.dir, p.err = os.MkdirTemp("", "quarry-pg-"); p.err != nil {
		return p
	}
	who, err := unprivileged(p.dir)
	if err != nil {
		p.err = err
		return p
	}
	if p.err = initialise(bin, p.dir, who); p.err != nil {
		return p
	}
	log, err := os.Create(filepath.Join(p.dir, "log"))
	if err != nil {
		p.err = err
		return p
	}
	defer func() { _ = log.Close() }() // the server has its own handle
	cmd := exec.Command("/bin/sh", "-c", guardian, "guardian", bin, p.dir, commit)
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = log, log, who // its own group: Ctrl-C must not end it before it can tidy up
	if p.life, p.err = cmd.StdinPipe(); p.err != nil {
		return p
	}
	if p.err = cmd.Start(); p.err != nil {
		return p
	}
	p.err = p.await(func() error { return p.exec(context.Background(), "SELECT 1") })
	return p
}

// unprivileged returns what a process needs to run as another user when we are root, as PostgreSQL refuses to be root,
// and hands the folder to that user.
func unprivileged(dir string) (*syscall.SysProcAttr, error) {
	attr := &syscall.SysProcAttr{Setpgid: true}
	if os.Geteuid() != 0 {
		return attr, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		if u, err = user.Lookup("nobody"); err != nil {
			return nil, fmt.Errorf("find a user to run as: %w", err)
		}
	}
	uid, err := strconv.Atoi(u.Uid)
	if err != nil {
		return nil, fmt.Errorf("read user id: %w", err)
	}
	gid, err := strconv.Atoi(u.Gid)
	if err != nil {
		return nil, fmt.Errorf("read group id: %w", err)
	}
	attr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return attr, os.Chown(dir, uid, gid)
}

// initialise creates the cluster with a linguistic collation where the server has ICU, so that an order that forgets to
// ask for bytes shows; else with the plain one.
func initialise(bin, dir string, who *syscall.SysProcAttr) error {
	var out []byte
	var err error
	for _, locale := range [][]string{{"--locale-provider=icu", "--icu-locale=en-US", "--locale=C.UTF-8"}, {"--locale=C"}} {
		args := append([]string{"-D", filepath.Join(dir, "data"), "-U", "quarry", "-A", "trust", "-E", "UTF8", "--no-sync"}, locale...)
		cmd := exec.Command(filepath.Join(bin, "initdb"), args...)
		cmd.Dir, cmd.SysProcAttr = dir, who
		if out, err = cmd.CombinedOutput(); err == nil {
			return nil
		}
	}
	return fmt.Errorf("initdb: %w: %s", err, out)
}

// startTime is how long a server may take to answer; on two busy cores it takes about a second.
const startTime = time.Minute

// await waits until ready returns no error.
func (p postgres) await(ready func() error) error {
	for end := time.Now().Add(startTime); ; {
		err := ready()
		if err == nil {
			return nil
		}
		if time.Now().After(end) {
			log, _ := os.ReadFile(filepath.Join(p.dir, "log"))
			return fmt.Errorf("%w: %s", err, strings.TrimSpace(string(log)))
		}
		time.Sleep(20 * time.Millisecond) // another process: nothing to wait on
	}
}
