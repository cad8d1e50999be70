package identity

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
)

// InboxID derives the id of the inbox that owner creates with nonce: the
// lowercase hexadecimal SHA-256 of the owner's text followed directly by the
// nonce in decimal. No separator stands between the two, and zero is "0".
func InboxID(owner Identifier, nonce uint64) string {
	sum := sha256.Sum256([]byte(owner.Text() + strconv.FormatUint(nonce, 10)))
	return hex.EncodeToString(sum[:])
}
