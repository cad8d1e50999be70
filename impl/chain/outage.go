package chain

import "fmt"

// Trouble says why there is no verdict. The zero value is no trouble.
type Trouble uint8

// The kinds of trouble. Each may be over when the same question is put again.
const (
	NoRoute     Trouble = iota + 1 // no node is configured for the chain
	TimedOut                       // no answer within the time allowed
	GivenUp                        // the caller stopped waiting
	Unreachable                    // the connection failed or broke
	HTTPFailure                    // the node's HTTP server refused
	CallFailed                     // the node answered with a JSON-RPC error, a revert among them
	BadAnswer                      // an answer that is none: garbage, foreign, or too long
)

// String says it in words.
func (t Trouble) String() string {
	switch t {
	case NoRoute:
		return "no node is configured for it"
	case TimedOut:
		return "its node did not answer in time"
	case GivenUp:
		return "the wait for its node was given up"
	case Unreachable:
		return "its node cannot be reached"
	case HTTPFailure:
		return "its node refused over HTTP"
	case CallFailed:
		return "its node could not carry out the call"
	case BadAnswer:
		return "its node gave an answer that is none"
	default:
		return fmt.Sprintf("unknown trouble %d", uint8(t))
	}
}

// Outage is the error of a question that got no verdict (API-044, API-123:
// UNAVAILABLE). Its text names the chain and the trouble and nothing that came
// from the node or its URL: both can hold the operator's access token.
type Outage struct {
	Chain   string
	Trouble Trouble
	// Code is the HTTP status of an HTTPFailure and the JSON-RPC error code
	// of a CallFailed, otherwise 0.
	Code int

	// cause is set for the caller's own deadline or cancellation only.
	cause error
}

// Error says which chain and what trouble.
func (o *Outage) Error() string {
	text := fmt.Sprintf("chain %+q: %v", o.Chain, o.Trouble)
	if o.Code != 0 {
		text += fmt.Sprintf(" (code %d)", o.Code)
	}
	return text
}

// Unwrap returns context.Canceled or context.DeadlineExceeded when the caller
// stopped waiting.
func (o *Outage) Unwrap() error { return o.cause }
