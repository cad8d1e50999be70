// Package chain runs an Ethereum chain of its own on a loopback address, for
// subjects that ask contract wallets about signatures (API-044, API-123). Start
// with Start; Serve is the same for a command line.
//
// The chain is go-ethereum's, with its simulated beacon: blocks come when this
// package makes them and never by themselves, so a test knows which block it is
// in. It has the wallets of package contract, deployed when somebody first needs
// one, and keeps the state of every block. Cut makes it look down in one of four
// ways, and Restore brings it back with everything it had.
//
// It promises nothing about time: every block is at least a second after the one
// before, so many blocks run ahead of the clock. It is no node of any network and
// holds no secret: its one account's key is in this source.
package chain
