// Command quarry is the whole product: server and client in one program.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	_ "quarry/cmd/quarry/heap" // sets when memory is first collected
	"quarry/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	signal.Ignore(syscall.SIGPIPE) // a write to a closed pipe is an error like any other
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	code := cli.Run(ctx, os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Interrupts: interrupts})
	stop()
	os.Exit(code)
}
