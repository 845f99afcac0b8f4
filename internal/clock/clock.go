// Package clock is the time as the databases keep it: microseconds since 1970, in UTC. What a use case returns after a
// write must equal what is read back later, so every instant that is stored comes from here.
package clock

import "time"

// Now returns the present as it can be stored.
func Now() time.Time { return Stored(time.Now()) }

// Stored returns t as it comes back from a database: in UTC, cut to microseconds, without the monotonic clock.
func Stored(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }
