package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // driver "pgx"
)

func openPostgres(ctx context.Context, text string) (*DB, error) {
	pool, err := sql.Open("pgx", text)
	if err != nil {
		return nil, fmt.Errorf("open database %s: %w", redact(text), err)
	}
	pool.SetMaxOpenConns(32)
	pool.SetMaxIdleConns(16)
	pool.SetConnMaxIdleTime(5 * time.Minute)
	if err := pool.PingContext(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("reach database %s: %w", redact(text), err), pool.Close())
	}
	if err := migrate(ctx, pool, postgresDialect); err != nil {
		return nil, errors.Join(fmt.Errorf("open database %s: %w", redact(text), err), pool.Close())
	}
	return &DB{read: pool, close: pool.Close}, nil
}

// redact returns a database URL without its password and its parameters, which may contain one as well.
func redact(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return "(unreadable URL)"
	}
	shown := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	if name := u.User.Username(); name != "" {
		shown.User = url.User(name)
	}
	return shown.String()
}
