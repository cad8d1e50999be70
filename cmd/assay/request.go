package main

import "assay/harness/history"

// requester is a suite that can say which bytes a call of a history sent, and
// with which command its owner sends them without this program. A suite need
// not be one.
type requester interface {
	Request(h *history.History, call int) (request []byte, line string)
}
