package chain_test

import (
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"assay/harness/backend/chain"
	"assay/harness/backend/chain/contract"
	"assay/model/backend"
)

func BenchmarkDeploy(b *testing.B) {
	c, err := chain.Start(b.Context(), "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := c.Close(); err != nil {
			b.Error(err)
		}
	}()
	b.ResetTimer()
	for i := range b.N {
		w, err := contract.New(backend.Plainly, common.Address{1}, [32]byte{byte(i), byte(i >> 8), byte(i >> 16)})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := c.Deploy(w); err != nil {
			b.Fatal(err)
		}
	}
}
