// Package craft makes intents real: it turns what an envelope or a read means
// into the bytes that go on the wire, and says which topic, identity and lengths
// those bytes have. Start with New, then Crafter.PublishRequest, QueryRequest,
// NewestRequest, Crafter.LookupRequest and Crafter.VerifyRequest; Identity is the equality by which everything else compares
// payloads.
//
// All bytes follow from the seed, the nonce, the scope and the symbolic names of
// an intent, so the same run makes the same requests and two runs never meet on
// a topic. Two things come from outside: the clock by which a key package is
// valid, and the chain on which contract wallets live.
//
// Craft writes protobuf and MLS framing by hand: only so can it write an absent
// message, a cursor above INT64_MAX, or a length that is one byte too long, and
// say of each artefact that it is wrong in one way and in no other. Whoever signs
// an identity update or a key package really signs it, with keys of the run. The
// bytes inside ciphertexts, tags and signatures of group messages are
// random-looking: no backend can check them (API-041).
//
// It does not check what a subject should answer, and it does not read what one
// answered; that is for the model and for package wire.
package craft
