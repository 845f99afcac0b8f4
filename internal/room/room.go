// Package room marks the calls that free space on a disk. When it is full, the store goes on with what they write and
// refuses everything else. Package httpapi marks deletions, the store what it removes by itself. Expire
// removes at intervals what has expired.
package room

import "context"

type key struct{}

// Freeing returns a context for a call that frees space.
func Freeing(ctx context.Context) context.Context { return context.WithValue(ctx, key{}, true) }

// Frees reports whether a call frees space.
func Frees(ctx context.Context) bool { return ctx.Value(key{}) != nil }
