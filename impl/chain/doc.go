// Package chain asks smart contract wallets, over the JSON-RPC of the chains
// they live on, whether a signature is theirs.
//
// Start at [New] and [Verifier.Verify]; [Verifier.VerifyAll] answers a batch
// (API-123), and [Verifier.VerifyWallet] makes a Verifier fit for package
// identity (API-044).
//
// The question is a single eth_call without a recipient: the node runs the
// program of validator.easm, which follows ERC-6492 and ERC-1271, and returns
// one byte. So a wallet that is not deployed yet is deployed, asked and
// forgotten within the call, and the node needs no contract of ours.
//
// There are three outcomes and they must not be mixed up: the wallet says yes,
// the wallet says no, and there is no verdict ([Outage]). A call that reverts
// is the third: a revert cannot be told from a node that lacks the state, so
// it may pass later.
//
// The package trusts a node for its verdicts and for nothing else: answers are
// bounded in size and time, must match their request, and none of their text
// is passed on. It does not compare the node's chain id with the route's: the
// route alone says which chain a URL stands for.
package chain
