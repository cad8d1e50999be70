package identity

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/ethereum/go-ethereum/crypto"
	"google.golang.org/protobuf/proto"

	"assay/spec/gen/xmtp/messagecontents"
)

// DelegatedSignature is the legacy form: a wallet once vouched for a secp256k1
// key, and that key signs the update. The signer is the wallet.
type DelegatedSignature struct {
	Bytes    []byte // by the delegated key, over the signed text
	KeyBytes []byte // the delegated key, serialized; what the wallet vouched for
	Voucher  []byte // by the wallet, R, S, V
}

// verify remembers the signature by its voucher. The voucher is over the key
// alone, so one delegated key works for a single update.
func (s DelegatedSignature) verify(_ context.Context, m message, _ WalletVerifier) (Signed, *Error) {
	wallet, used, err := s.check(m.eip191)
	if err != nil {
		return Signed{}, refuse(InvalidSignature, RuleDelegatedSignature, "%v", err)
	}
	return Signed{By: EthereumAddress(wallet), Scheme: ByDelegatedKey, Used: used}, nil
}

func (s DelegatedSignature) check(hash [32]byte) (wallet, used string, err error) {
	var key messagecontents.UnsignedPublicKey
	if proto.Unmarshal(s.KeyBytes, &key) != nil {
		return "", "", errors.New("the delegated key does not parse")
	}
	point, err := crypto.UnmarshalPubkey(key.GetSecp256K1Uncompressed().GetBytes())
	if err != nil {
		return "", "", errors.New("the delegated key is no uncompressed point of secp256k1")
	}
	signer, _, err := recoverAddress(hash, s.Bytes)
	if err != nil {
		return "", "", fmt.Errorf("signature by the delegated key: %w", err)
	}
	if delegate := addressOf(crypto.FromECDSAPub(point)); signer != delegate {
		return "", "", fmt.Errorf("the delegated key is %s, but %s signed the text", delegate, signer)
	}
	wallet, used, err = recoverAddress(personalHash(voucherText(s.KeyBytes)), s.Voucher)
	if err != nil {
		return "", "", fmt.Errorf("voucher of the wallet: %w", err)
	}
	return wallet, used, nil
}

// voucherText is what a wallet signed to vouch for a key. Unlike the text of
// an update its footer ends in a slash.
func voucherText(keyBytes []byte) string {
	return "XMTP : Create Identity\n" + hex.EncodeToString(keyBytes) + "\n\n" + textFooter + "/"
}
