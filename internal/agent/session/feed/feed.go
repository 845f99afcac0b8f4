// Package feed serves those who read a session while it is written: what is stored, then what comes, each piece once and in
// order, however slow the reader is.
package feed
