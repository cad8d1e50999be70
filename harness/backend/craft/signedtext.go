package craft

import (
	"fmt"
	"strings"
	"time"

	"assay/model/backend"
)

// block is the part of a signed text that stands for one action.
type block struct {
	kind backend.ActionKind
	// subject is the kind of whom the action is about, name the text of its identifier.
	subject backend.PartyKind
	name    string
}

// lines are the block's two lines. The specification fixes phrase and label for
// every pair that an update can hold.
func (b block) lines(flaw backend.UpdateFlaw) string {
	phrase, label := "", ""
	type pair struct {
		kind    backend.ActionKind
		subject backend.PartyKind
	}
	subject := b.subject
	if subject == backend.Contract {
		subject = backend.Wallet
	}
	switch (pair{b.kind, subject}) {
	case pair{backend.CreateInbox, backend.Wallet}, pair{backend.CreateInbox, backend.Passkey}, pair{backend.CreateInbox, backend.Installation}:
		phrase, label = "Create inbox", "Owner"
	case pair{backend.AddAssociation, backend.Wallet}:
		phrase, label = "Link address to inbox", "Address"
	case pair{backend.AddAssociation, backend.Installation}:
		phrase, label = "Grant messaging access to app", "ID"
	case pair{backend.AddAssociation, backend.Passkey}:
		phrase, label = "Link passkey to inbox", "Passkey"
	case pair{backend.RevokeAssociation, backend.Wallet}:
		phrase, label = "Unlink address from inbox", "Address"
	case pair{backend.RevokeAssociation, backend.Installation}:
		phrase, label = "Revoke messaging access from app", "ID"
	case pair{backend.RevokeAssociation, backend.Passkey}:
		phrase, label = "Unlink passkey from inbox", "Passkey"
	default:
		phrase, label = "Change inbox recovery address", "Address"
		if flaw == backend.TextPasskeyLabel && subject == backend.Passkey {
			label = "Passkey"
		}
	}
	name := b.name
	if subject == backend.Installation {
		switch flaw {
		case backend.TextPrefixedID:
			name = "0x" + name
		case backend.TextUpperID:
			name = strings.ToUpper(name)
		}
	}
	return "- " + phrase + "\n  (" + label + ": " + name + ")"
}

// timestamp is an update's time as its field has it: nanoseconds since 1970 in
// 64 bits, in which a time before 1970 takes the upper half.
func timestamp(second int64, nanosecond uint32) uint64 {
	return uint64(second)*uint64(time.Second) + uint64(nanosecond)
}

// signedText is what every signature of an update signs, or what a flaw makes of it.
func signedText(inbox string, second int64, nanosecond uint32, blocks []block, flaw backend.UpdateFlaw) string {
	at, layout := time.Unix(second, 0).UTC(), "2006-01-02T15:04:05Z"
	header, link := "XMTP : Authenticate to inbox", "https://xmtp.org/signatures"
	between := "\n"
	switch flaw {
	case backend.TextRoundedUp:
		at = at.Add(time.Second)
	case backend.TextUnsignedYear:
		at = time.Unix(int64(timestamp(second, nanosecond)/uint64(time.Second)), 0).UTC()
	case backend.TextFraction:
		at, layout = at.Add(time.Duration(nanosecond)), "2006-01-02T15:04:05.000000000Z"
	case backend.TextOffset:
		layout = "2006-01-02T15:04:05+00:00"
	case backend.TextOtherHeader:
		header = "XMTP: Authenticate to inbox"
	case backend.TextFooterSlash:
		link += "/"
	case backend.TextBlankLine:
		between = "\n\n"
	case backend.TextOtherOrder:
		// Turned by one, any list of blocks that are not all the same is another.
		blocks = append(blocks[1:len(blocks):len(blocks)], blocks[0])
	}
	lines := make([]string, len(blocks))
	for i, b := range blocks {
		lines[i] = b.lines(flaw)
	}
	text := fmt.Sprintf("%s\n\nInbox ID: %s\nCurrent time: %s\n\n%s\n\nFor more info: %s", header, inbox, at.Format(layout), strings.Join(lines, between), link)
	switch flaw {
	case backend.TextNewline:
		text += "\n"
	case backend.TextCRLF:
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return text
}
