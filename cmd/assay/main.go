// Command assay holds a messaging backend against its specification. This
// package is flags, wiring and exit status: the list of suites is in suites.go,
// each subcommand in a file of its name, and [Main] is the whole program as a
// function, so that tests run it without a process. What a verdict is, and how
// it is reached, is not decided here.
package main

import (
	"context"
	"os"
)

func main() {
	ctx, stop := interruptible(context.Background(), os.Stderr)
	defer stop()
	os.Exit(Main(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.LookupEnv))
}
