package gate

import (
	"bytes"
	"slices"
)

// Reason says how a statement is known to be a call's.
type Reason string

// The reasons.
const (
	// ByContent: a statement of the transaction carries bytes that only the
	// call sends.
	ByContent Reason = "content"
	// ByAdmission: the transaction was the first to begin while only this call
	// was let in.
	ByAdmission Reason = "admission"
	// ByApplication: the session said so with its application_name.
	ByApplication Reason = "application"
	// ByComment: the statement says so in a comment.
	ByComment Reason = "comment"
	// Disputed: two calls lay claim to it, so it is nobody's.
	Disputed Reason = "disputed"
)

// Claim says how the statements of one call are told from all others. What one
// statement of a transaction shows goes for the whole transaction from there on;
// outside of transactions each unit stands for itself.
type Claim struct {
	// Name of the call, for traces and messages.
	Name string
	// Content are bytes that no other call sends; one of them is enough.
	Content [][]byte
	// Application is the application_name of its sessions.
	Application string
	// Comment is what a comment in its statements says, key and value.
	Comment [2]string
	// Admission claims the next transaction that begins and is nobody else's,
	// once. It is for a call that is let in alone.
	Admission bool
}

// Call is somebody whose statements are told from others'.
type Call struct {
	gate  *Gate
	claim Claim

	// Under the gate's lock.
	admits bool
	ended  bool
}

// Call begins to tell a call's statements from others'. It costs every session
// a look at its statements until End.
func (g *Gate) Call(c Claim) *Call {
	c.Content = slices.Clone(c.Content)
	for i, needle := range c.Content {
		c.Content[i] = bytes.Clone(needle)
	}
	call := &Call{gate: g, claim: c, admits: c.Admission}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.calls = append(g.calls, call)
	g.watching.Add(1)
	return call
}

// Name is the claim's.
func (c *Call) Name() string { return c.claim.Name }

// End stops telling the call's statements from others'. What is known of a
// transaction stays.
func (c *Call) End() {
	c.gate.mu.Lock()
	defer c.gate.mu.Unlock()
	if c.ended {
		return
	}
	c.ended = true
	c.gate.calls = slices.DeleteFunc(c.gate.calls, func(o *Call) bool { return o == c })
	c.gate.watching.Add(-1)
}

// Admit claims the next transaction that begins, as Claim.Admission does.
func (c *Call) Admit() {
	c.gate.mu.Lock()
	defer c.gate.mu.Unlock()
	c.admits = true
}

// shown is what a statement itself says about whose it is, "" for nothing.
func (c *Call) shown(s Statement) Reason {
	for _, needle := range c.claim.Content {
		if s.Contains(needle) {
			return ByContent
		}
	}
	if key := c.claim.Comment[0]; key != "" && s.Tag(key) == c.claim.Comment[1] {
		return ByComment
	}
	if c.claim.Application != "" && s.Application == c.claim.Application {
		return ByApplication
	}
	return ""
}

// attribute finds out whose a statement's transaction is. The gate's lock is
// held.
func (g *Gate) attribute(tx *transaction, s Statement) {
	for _, c := range g.calls {
		reason := c.shown(s)
		switch {
		case reason == "" || tx.by == Disputed:
		case tx.call == nil, tx.call == c, tx.by == ByAdmission:
			// What a statement shows outweighs that it came at the right time.
			tx.call, tx.by = c, reason
		default:
			tx.call, tx.by = nil, Disputed
		}
	}
	if tx.call != nil || tx.by == Disputed || bounds(s.plain) != opens {
		return
	}
	for _, c := range g.calls {
		if c.admits {
			c.admits = false
			tx.call, tx.by = c, ByAdmission
			return
		}
	}
}
