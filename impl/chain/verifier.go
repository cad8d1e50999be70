package chain

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/lru"

	"assay/impl/identity"
)

// Config says which chains there are and how long to wait for them.
type Config struct {
	// Routes gives the RPC URL (http or https) of each chain by its CAIP-2
	// name, for example eip155:1. URLs may hold tokens: nothing of this
	// package repeats one.
	Routes map[string]string
	// Timeout bounds one call to a node.
	Timeout time.Duration
	// CacheEntries is how many verdicts are kept; none if it is zero.
	CacheEntries int
}

// Verifier asks wallets. Several goroutines may use it. Close it in the end.
type Verifier struct {
	nodes    map[string]*node
	question questioner
	cache    *lru.Cache[cacheKey, bool] // nil: nothing is kept
}

// cacheKey is everything a verdict depends on. What a wallet said at a numbered
// block stays said, so such verdicts are kept. What it says at the newest block
// does not: those questions neither read nor fill the cache. Outages are never
// kept.
type cacheKey struct {
	chain     string
	wallet    common.Address
	hash      [32]byte
	signature [sha256.Size]byte // a digest, or an entry could have a megabyte
	block     uint64
}

// New makes a Verifier. Nothing is dialled before the first question.
func New(c Config) (*Verifier, error) {
	if c.Timeout <= 0 {
		return nil, errors.New("the timeout of a chain call must be positive")
	}
	if c.CacheEntries < 0 {
		return nil, errors.New("the number of cached wallet verdicts must not be negative")
	}
	question, err := newQuestioner()
	if err != nil {
		return nil, err
	}
	v := &Verifier{nodes: make(map[string]*node), question: question}
	if c.CacheEntries > 0 {
		v.cache = lru.NewCache[cacheKey, bool](c.CacheEntries)
	}
	for chain, address := range c.Routes {
		n, err := newNode(chain, address, c.Timeout)
		if err != nil {
			v.Close()
			return nil, err
		}
		v.nodes[chain] = n
	}
	return v, nil
}

// Close gives up the connections. Questions still under way fail.
func (v *Verifier) Close() {
	for _, n := range v.nodes {
		n.close()
	}
}

// Chains lists the chains that have a route, sorted.
func (v *Verifier) Chains() []string { return slices.Sorted(maps.Keys(v.nodes)) }

// Verify asks one wallet. The error is an *[Outage] when there is no verdict,
// and [ErrNotAnAddress] when there can be none.
func (v *Verifier) Verify(ctx context.Context, r Request) (Verdict, error) {
	n, ok := v.nodes[r.Account.Chain]
	if !ok {
		return Verdict{}, &Outage{Chain: r.Account.Chain, Trouble: NoRoute}
	}
	wallet, err := parseAddress(r.Account.Address)
	if err != nil {
		return Verdict{}, err
	}
	data, err := v.question.data(wallet, r.Hash, r.Signature)
	if err != nil {
		return Verdict{}, err
	}
	if r.Block == nil {
		// The number is fetched first and the call made at that number: asking
		// at "latest" would leave open which block the verdict belongs to.
		block, err := n.newest(ctx)
		if err != nil {
			return Verdict{}, err
		}
		valid, err := n.ask(ctx, data, block)
		if err != nil {
			return Verdict{}, err
		}
		return Verdict{valid, block}, nil
	}
	key := cacheKey{r.Account.Chain, wallet, r.Hash, sha256.Sum256(r.Signature), *r.Block}
	if v.cache != nil {
		if valid, ok := v.cache.Get(key); ok {
			return Verdict{valid, *r.Block}, nil
		}
	}
	valid, err := n.ask(ctx, data, *r.Block)
	if err != nil {
		return Verdict{}, err
	}
	if v.cache != nil {
		v.cache.Add(key, valid)
	}
	return Verdict{valid, *r.Block}, nil
}

// VerifyAll asks one wallet after the other and returns one verdict for each
// request, in order (API-123). The first error ends it; see Verify.
func (v *Verifier) VerifyAll(ctx context.Context, requests []Request) ([]Verdict, error) {
	verdicts := make([]Verdict, len(requests))
	for i, r := range requests {
		verdict, err := v.Verify(ctx, r)
		if err != nil {
			return nil, fmt.Errorf("signature %d: %w", i, err)
		}
		verdicts[i] = verdict
	}
	return verdicts, nil
}

// VerifyWallet implements identity.WalletVerifier.
func (v *Verifier) VerifyWallet(ctx context.Context, claim identity.WalletClaim) (bool, error) {
	verdict, err := v.Verify(ctx, Request{Account: claim.Account, Hash: claim.Hash, Signature: claim.Signature, Block: &claim.Block})
	if errors.Is(err, ErrNotAnAddress) {
		return false, nil
	}
	return verdict.Valid, err
}
