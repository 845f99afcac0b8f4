package token_test

import (
	"testing"

	"quarry/internal/identity/token"
	"quarry/internal/identity/token/tokentest"
)

// BenchmarkCheck is what checking a token costs a request, without reading its holder.
func BenchmarkCheck(b *testing.B) {
	s := token.New(token.Config{Store: new(tokentest.Memory), Installation: installation})
	if err := s.Prepare(b.Context()); err != nil {
		b.Fatal(err)
	}
	out, _, err := s.Issue(b.Context(), client)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("again", func(b *testing.B) {
		for b.Loop() {
			if _, err := s.Check(b.Context(), out); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			fresh, _, err := s.Issue(b.Context(), client)
			if err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
			if _, err := s.Check(b.Context(), fresh); err != nil {
				b.Fatal(err)
			}
		}
	})
}
