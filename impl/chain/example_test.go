package chain_test

import (
	"context"
	"fmt"
	"time"

	"assay/impl/chain"
)

// A chain without a route is an outage: the caller may add one and try again.
func ExampleVerifier_Verify() {
	verifier, err := chain.New(chain.Config{
		Routes:       map[string]string{"eip155:1": "http://127.0.0.1:8545/token"},
		Timeout:      5 * time.Second,
		CacheEntries: 10_000,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer verifier.Close()
	request, err := chain.NewRequest("eip155:999999:0x00000000000000000000000000000000000000aa", nil, make([]byte, 32), make([]byte, 65))
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = verifier.Verify(context.Background(), request)
	fmt.Println(verifier.Chains(), err)
	// Output:
	// [eip155:1] chain "eip155:999999": no node is configured for it
}
