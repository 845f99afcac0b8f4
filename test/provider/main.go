// Command provider serves the scripted provider of language models for benchmarks, scenarios and trying things out by
// hand: `go run ./test/provider -listen 127.0.0.1:9090`. The name of a model selects what it does (scripted.Named). It
// is no part of the product.
package main

import (
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"

	"quarry/internal/provider/scripted"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:0", "address to listen on")
	flag.Parse()
	l, err := net.Listen("tcp", *listen)
	if err != nil {
		fmt.Fprintln(os.Stderr, "provider:", err)
		os.Exit(1)
	}
	fmt.Printf("http://%s\n", l.Addr())
	fmt.Fprintln(os.Stderr, "provider:", http.Serve(l, scripted.New()))
	os.Exit(1)
}
