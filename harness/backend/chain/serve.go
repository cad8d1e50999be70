package chain

import (
	"context"
	"fmt"
	"io"

	"assay/harness/backend/chain/contract"
)

// Serve runs a chain at the address until the context ends, and says on log
// where it is. A context that ends is no error.
func Serve(ctx context.Context, listen string, log io.Writer) error {
	c, err := Start(ctx, listen)
	if err != nil {
		return err
	}
	fmt.Fprintf(log, "chain eip155:%d at %s\n", c.ID(), c.URL())
	fmt.Fprintf(log, "wallet factory (32 bytes of salt, then code) at %s\n", contract.FactoryAddress())
	<-ctx.Done()
	return c.Close()
}
