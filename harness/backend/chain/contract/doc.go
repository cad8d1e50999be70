// Package contract holds the contract wallets of the simulated chain as values:
// for each behaviour the program that shows it, and where a wallet of an owner
// lives. Start with New; Factory is what deploys wallets.
//
// Addresses follow from owner, behaviour and salt alone (CREATE2, EIP-1014), so
// whoever builds a signature knows the wallet's address before the wallet exists,
// and needs no chain for it. Programs are assembled here, by hand; each answers
// isValidSignature of ERC-1271 and nothing else.
//
// The package knows no chain and sends nothing; package chain does.
package contract
