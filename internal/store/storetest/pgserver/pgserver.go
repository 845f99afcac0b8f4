// Package pgserver runs PostgreSQL servers for tests, each in a temporary folder that goes with it. Only tests import it.
package pgserver

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
	"syscall"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // driver "pgx"
)

// Server is a running server.
type Server struct {
	Version int // the first number of it

	dir  string         // holds data, socket and log; the server removes it when it ends
	life io.WriteCloser // the guardian's standard input; kept, for a collected file is a closed one
}

// ErrMissing means that no PostgreSQL is installed.
var ErrMissing = errors.New("no program postgres is installed (Debian: apt-get install postgresql)")

// URL returns that of a database.
func (s *Server) URL(database string) string {
	return (&url.URL{Scheme: "postgres", User: url.User("quarry"), Path: "/" + database,
		RawQuery: url.Values{"host": {s.dir}, "sslmode": {"disable"}}.Encode()}).String()
}

// Exec runs a statement in the database postgres.
func (s *Server) Exec(ctx context.Context, query string) error {
	db, err := sql.Open("pgx", s.URL("postgres"))
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	_, err = db.ExecContext(ctx, query)
	return err
}

// began returns when the server was started.
func (s *Server) began() (at string, err error) {
	db, err := sql.Open("pgx", s.URL("postgres"))
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

// Start starts a server, which ends with Close or with this program. durable is whether it keeps every commit that it has confirmed when
// it is killed; it is faster without. The error wraps ErrMissing where there is none to start.
func Start(durable bool) (*Server, error) {
	bin := programs()
	if bin == "" {
		return nil, ErrMissing
	}
	dir, err := os.MkdirTemp("", "quarry-pg-")
	if err != nil {
		return nil, err
	}
	who, err := unprivileged(dir)
	if err != nil {
		return nil, err
	}
	if err := initialise(bin, dir, who); err != nil {
		return nil, err
	}
	version, err := os.ReadFile(filepath.Join(dir, "data", "PG_VERSION"))
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir}
	if s.Version, err = strconv.Atoi(strings.TrimSpace(string(version))); err != nil {
		return nil, fmt.Errorf("read the version of PostgreSQL: %w", err)
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }() // the server has its own handle
	commit := map[bool]string{true: "on", false: "off"}[durable]
	cmd := exec.Command("/bin/sh", "-c", guardian, "guardian", bin, dir, commit)
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = log, log, who // its own group: Ctrl-C must not end it before it can tidy up
	if s.life, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return s, s.await(func() error { return s.Exec(context.Background(), "SELECT 1") })
}

// Close ends the server and removes what it has written.
func (s *Server) Close() error { return s.life.Close() }

// Restart restarts the server: at once, with the connections cut, or, as a crash does, without a goodbye to any of them. It returns
// when the server answers again.
func (s *Server) Restart(crash bool) error {
	before, err := s.began()
	if err != nil {
		return err
	}
	signal := "INT"
	if crash {
		signal = "QUIT"
	}
	if _, err := fmt.Fprintln(s.life, signal); err != nil {
		return err
	}
	return s.await(func() error {
		if now, err := s.began(); err != nil || now == before {
			return errors.Join(err, errors.New("it has not restarted"))
		}
		return nil
	})
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
func (s *Server) await(ready func() error) error {
	for end := time.Now().Add(startTime); ; {
		err := ready()
		if err == nil {
			return nil
		}
		if time.Now().After(end) {
			log, _ := os.ReadFile(filepath.Join(s.dir, "log"))
			return fmt.Errorf("%w: %s", err, strings.TrimSpace(string(log)))
		}
		time.Sleep(20 * time.Millisecond) // another process: nothing to wait on
	}
}
