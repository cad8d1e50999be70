// Command protogen writes spec/gen/xmtp from the protobuf sources under
// spec/backend/proto. Run it at the root of the module:
//
//	go run ./tools/protogen          # write
//	go run ./tools/protogen --check  # change nothing; fail when writing would
//
// It compiles the sources itself and hands them to protoc-gen-go and
// protoc-gen-go-grpc at the versions that go.mod pins, so that neither protoc
// nor anything else has to be installed. It checks nothing that the compiler
// and the plugins do not.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
)

func main() {
	check := flag.Bool("check", false, "write nothing; exit 1 when a generated file differs from its source")
	root := flag.String("root", ".", "root of the module")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *root, *check); err != nil {
		fmt.Fprintln(os.Stderr, "protogen:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, root string, check bool) error {
	files, err := generate(ctx, root)
	if err != nil {
		return err
	}
	if check {
		return compare(root, files)
	}
	return write(root, files)
}
