package testkit

import "context"

// AtOnce calls fn n times concurrently and returns the results in order of i.
func AtOnce[T any](ctx context.Context, n int, fn func(ctx context.Context, i int) T) []T {
	out := make([]T, n)
	start := make(chan struct{})
	done := make(chan struct{})
	for i := range n {
		go func() {
			<-start
			out[i] = fn(ctx, i)
			done <- struct{}{}
		}()
	}
	close(start)
	for range n {
		<-done
	}
	return out
}
