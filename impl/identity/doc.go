// Package identity decides identity updates: it answers whether one update
// applies cleanly to the updates an inbox already has, and what the lookup of
// inbox ids has to learn from it.
//
// Start at [Validator.Validate]. Behind it stand four stages, each a pure
// function of its arguments except for the question put to a smart contract
// wallet:
//
//	Decode   wire message -> Update                refuses as Malformed
//	Text     Update -> the text every signer signs
//	Verify   Update -> Verified: who signed what   refuses as InvalidSignature or Unavailable
//	Apply    State x Verified -> State             refuses as InvalidUpdate
//
// The rules of the last stage are tables of named preconditions ([Rules]): the
// table is the documentation, and an [Error] names the row that refused.
//
// The backend's specification asks that an update "apply cleanly to the
// inbox's current association state" and that a failed signature be told apart
// (API-043, API-044), but leaves the state machine to a companion document.
// Where the known implementations of that document disagree, this package
// keeps the long-standing behaviour, unless that behaviour lets a used
// signature be used again; every such choice is named where it is made.
//
// The package does not read a clock (no timestamp is ever refused), does not
// limit how many updates an inbox may hold (the publish pipeline does, API-148),
// and does not speak to a chain (package chain does, behind [WalletVerifier]).
package identity
