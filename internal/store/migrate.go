package store

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

//go:embed migrations/*.sql
var migrations embed.FS

// dialect is how the engines differ in migrations: words of DDL, passages of DDL for one engine alone, and whether
// migrations need a lock.
type dialect struct {
	name    goose.Dialect
	words   *strings.Replacer
	foreign *regexp.Regexp // passages for the other engine
	lock    bool           // other nodes may start at the same moment
}

var (
	sqliteDialect = dialect{goose.DialectSQLite3, strings.NewReplacer(
		"{{row_number}}", "INTEGER PRIMARY KEY AUTOINCREMENT", "{{bytes}}", "BLOB", "{{text_by_bytes}}", "TEXT", "{{sqlite}}", "", "{{/sqlite}}", ""), passages("postgres"), false}
	postgresDialect = dialect{goose.DialectPostgres, strings.NewReplacer(
		"{{row_number}}", "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY", "{{bytes}}", "BYTEA", "{{text_by_bytes}}", `TEXT COLLATE "C"`,
		"{{postgres}}", "", "{{/postgres}}", ""), passages("sqlite"), true}
)

// passages returns the pattern of the text between {{engine}} and {{/engine}}.
func passages(engine string) *regexp.Regexp {
	return regexp.MustCompile(`(?s){{` + engine + `}}.*?{{/` + engine + `}}`)
}

// migrate brings the schema up to date, each file of migrations in a transaction of its own.
func migrate(ctx context.Context, db *sql.DB, d dialect) error {
	steps, newest, err := d.steps()
	if err != nil {
		return err
	}
	opts := []goose.ProviderOption{goose.WithGoMigrations(steps...), goose.WithDisableGlobalRegistry(true)}
	if d.lock {
		l, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 120))
		if err != nil {
			return fmt.Errorf("prepare migration lock: %w", err)
		}
		opts = append(opts, goose.WithSessionLocker(l))
	}
	p, err := goose.NewProvider(d.name, db, nil, opts...)
	if err != nil {
		return fmt.Errorf("prepare migrations: %w", err)
	}
	now, err := p.GetDBVersion(ctx)
	if err != nil {
		return fmt.Errorf("read schema version: %w", err)
	}
	if now > newest {
		return fmt.Errorf("%w: its schema is number %d and this program knows up to %d; start the newer program again, or restore a backup made by this one", ErrNewer, now, newest)
	}
	if now == newest {
		return nil
	}
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("migrate database: %w", err)
	}
	return nil
}

// steps returns the migrations in files migrations/<number>_<name>.sql, translated to this dialect, and the newest number.
func (d dialect) steps() (all []*goose.Migration, newest int64, err error) {
	files, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return nil, 0, fmt.Errorf("list migrations: %w", err)
	}
	for _, name := range files {
		number, _, _ := strings.Cut(path.Base(name), "_")
		version, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return nil, 0, fmt.Errorf("read number of %s: %w", name, err)
		}
		text, err := migrations.ReadFile(name)
		if err != nil {
			return nil, 0, fmt.Errorf("read %s: %w", name, err)
		}
		ddl := d.words.Replace(d.foreign.ReplaceAllString(string(text), ""))
		run := func(ctx context.Context, tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, ddl)
			return err
		}
		all = append(all, goose.NewGoMigration(version, &goose.GoFunc{RunTx: run}, nil))
		newest = max(newest, version)
	}
	return all, newest, nil
}
