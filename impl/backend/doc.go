// Package backend is a backend of xmtp.backend.v1, written to be read: a reader
// should learn the protocol from it.
//
// Start with [Publisher.Commit], which is section 5 of the specification in the
// order in which it happens, and with [Reader] for sections 6 and 7. [New] puts
// a server together.
//
// The package is made of stages. Those that look at one request alone come
// first and are pure: they parse, derive topics, encode, hash and count
// ([Publisher.Prepare], [Parts.PlanQuery], [Parts.PlanNewest]). What they return
// never changes, so it can be remembered. The stages that meet other requests
// are a straight line of calls to a [Store]: no goroutine, no lock held in this
// process, no clock. Everything that two requests can do to each other happens
// between two of those calls, each of which has a name ([Point]).
//
// A [Parts] value holds the pieces. A faulty server, for testing a test, is this
// one with one piece replaced; the pieces themselves know nothing of that.
//
// The package does not check membership, message signatures or client rules;
// the specification leaves those to clients. It does not speak HTTP (package
// front does) or SQL (package store does).
package backend
