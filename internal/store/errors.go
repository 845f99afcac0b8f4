package store

import (
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"time"

	"database/sql"
	"database/sql/driver"

	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"quarry/internal/fault"
)

// The reasons for which Open fails. The text of each wrapping error advises what to do.
var (
	ErrDamaged  = errors.New("the database is damaged")
	ErrReadOnly = errors.New("the data folder cannot be written")
	ErrFull     = errors.New("the disk is full")
	ErrNewer    = errors.New("the database was written by a newer version")
)

// retryAfter is how long a client should wait after the storage refused a request.
const retryAfter = 5 * time.Second

// Translate returns the error of a driver as the layers above know it: a fault of fault.KindUnavailable when the storage
// cannot do it now, an error that wraps ErrDamaged when the file is broken, and err itself otherwise.
func Translate(err error) error {
	if err == nil || errors.Is(err, ErrDamaged) {
		return err
	}
	if _, ok := fault.As(err); ok {
		return err
	}
	switch reason := reasonOf(err); {
	case reason == nil:
		return err
	case errors.Is(reason, ErrDamaged):
		return fmt.Errorf("%w: stop the server and restore the newest backup: %w", ErrDamaged, err)
	case errors.Is(reason, ErrFull) && errors.As(err, new(*pgconn.PgError)):
		return unavailable("the disk of the database is full; free some space, writes then go on by themselves").Because(err)
	case errors.Is(reason, ErrFull):
		return fullFolder().Because(err)
	case errors.Is(reason, ErrReadOnly):
		return unavailable("the database cannot be written; check the permissions and the disk of the data folder").Because(err)
	default:
		return unavailable("%s", reason.Error()).Because(err)
	}
}

// Wrap puts what failed in front of an error, such as "write user", and translates it; nil stays nil.
func Wrap(err error, doing string) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", doing, Translate(err))
}

// OrNone is Wrap for reading one row: it returns none when there is no such row.
func OrNone(err, none error, doing string) error {
	if errors.Is(err, sql.ErrNoRows) {
		return none
	}
	return Wrap(err, doing)
}

func unavailable(format string, args ...any) *fault.Fault {
	return fault.Unavailable("storage_unavailable", format, args...).After(retryAfter)
}

var (
	errIO      = errors.New("the disk of the database reports an error; see the log and check the disk")
	errBusy    = errors.New("the database is locked by another program; try again")
	errNoReach = errors.New("the database server is not reached; try again")
)

// reasonOf returns why the storage failed, nil when the storage is not to blame.
func reasonOf(err error) error {
	var lite *sqlite.Error
	if errors.As(err, &lite) {
		return sqliteReason(lite.Code())
	}
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return postgresReason(pg.Code)
	}
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return ErrFull
	case errors.Is(err, syscall.EROFS), errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
		return ErrReadOnly
	}
	var network net.Error
	var connect *pgconn.ConnectError
	if errors.As(err, &connect) || errors.As(err, &network) && !network.Timeout() ||
		errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, driver.ErrBadConn) ||
		errors.Is(err, sql.ErrConnDone) || errors.Is(err, pgconn.ErrConnClosed) { // a connection that broke before
		return errNoReach
	}
	return nil
}

func sqliteReason(code int) error {
	if code == sqlite3.SQLITE_IOERR_SHMSIZE { // no room for the few pages that the log's index takes
		return ErrFull
	}
	switch code & 0xff {
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return ErrDamaged
	case sqlite3.SQLITE_FULL:
		return ErrFull
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN:
		return ErrReadOnly
	case sqlite3.SQLITE_IOERR:
		return errIO
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return errBusy
	}
	return nil
}

// postgresReason returns the reason behind an SQLSTATE; see appendix A of the PostgreSQL manual.
func postgresReason(state string) error {
	switch {
	case state == "53100":
		return ErrFull
	case state == "25006": // read_only_sql_transaction: a standby
		return ErrReadOnly
	case state == "XX001", state == "XX002":
		return ErrDamaged
	case len(state) == 5 && (state[:2] == "08" || state[:2] == "53" || state[:2] == "57" && state != "57014"): // 57014: cancelled by us
		return errNoReach
	}
	return nil
}

// conflicted reports whether PostgreSQL ended a transaction because of another one: serialization failure or deadlock.
func conflicted(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code == "40001" || pg.Code == "40P01")
}
