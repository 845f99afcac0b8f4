package cli

import "quarry/internal/reader"

// workerCmd is the command by which the service starts the processes that parse files.
type workerCmd struct {
	Args []string `arg:"" optional:"" help:"What the service says."`
}

func (workerCmd) Help() string { return "The service starts it, to parse files apart from itself." }

func (c *workerCmd) Run() error { return reader.Work(c.Args) }
