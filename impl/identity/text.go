package identity

import (
	"strings"
	"time"
)

// The fixed parts of the signed text. A signer's device shows them, so each
// byte is protocol: no line ends in a space, and the footer has no slash.
const (
	textHeader = "XMTP : Authenticate to inbox"
	textFooter = "For more info: https://xmtp.org/signatures"
)

// Text builds the one text that every signature of the update signs, from the
// update's own fields. Lines end in a single LF and the last line in none.
//
// The text leaves out the nonce, relying parties, the part of the timestamp
// below a second, and who adds whom: two updates that differ only there have
// the same text, which is why used signatures are remembered (see [State]).
func Text(u Update) string {
	var b strings.Builder
	b.WriteString(textHeader + "\n\n")
	b.WriteString("Inbox ID: " + u.InboxID + "\n")
	b.WriteString("Current time: " + textTime(u.TimestampNS) + "\n\n")
	for _, a := range u.Actions {
		phrase, label := words(a.Verb, a.Subject.Kind)
		b.WriteString("- " + phrase + "\n")
		b.WriteString("  (" + label + ": " + a.Subject.Text() + ")\n")
	}
	b.WriteString("\n" + textFooter)
	return b.String()
}

// textTime shows a timestamp in whole seconds of UTC. The 64 bits are read as
// a signed number, so the upper half of the range lies before 1970, and the
// fraction is cut towards the past.
func textTime(ns uint64) string {
	return time.Unix(0, int64(ns)).UTC().Format("2006-01-02T15:04:05Z")
}

// words are the phrase and the label under which a signer reads one action.
func words(v Verb, subject Kind) (phrase, label string) {
	type row struct {
		verb    Verb
		subject Kind
	}
	switch (row{v, subject}) {
	case row{Add, Ethereum}:
		return "Link address to inbox", "Address"
	case row{Add, Passkey}:
		return "Link passkey to inbox", "Passkey"
	case row{Add, Installation}:
		return "Grant messaging access to app", "ID"
	case row{Revoke, Ethereum}:
		return "Unlink address from inbox", "Address"
	case row{Revoke, Passkey}:
		return "Unlink passkey from inbox", "Passkey"
	case row{Revoke, Installation}:
		return "Revoke messaging access from app", "ID"
	}
	if v == ChangeRecovery {
		// Address for a passkey too: that is how it has always been signed.
		return "Change inbox recovery address", "Address"
	}
	return "Create inbox", "Owner"
}
