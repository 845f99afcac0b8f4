// Command quarry is the whole product: server and client in one program.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"quarry/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	signal.Ignore(syscall.SIGPIPE)                                // a write to a closed pipe is an error like any other
	context.AfterFunc(ctx, func() { signal.Reset(os.Interrupt) }) // Ctrl-C again ends the program at once
	code := cli.Run(ctx, os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
	stop()
	os.Exit(code)
}
