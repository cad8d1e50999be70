package craft

import (
	"crypto/ed25519"
	"encoding/hex"

	"google.golang.org/protobuf/encoding/protowire"

	"assay/model/backend"
)

// vary applies a variant: what is odd about a package whose signatures hold.
func (p *parts) vary(intent backend.KeyPackageIntent) {
	lastResort := extension{kind: extLastResort}
	// WelcomePointeeEncryptionAeadTypesExtension with ChaCha20-Poly1305, and
	// WelcomeWrapperEncryption with a Curve25519 key.
	pointee := extension{extPointee, protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 3)}
	wrapper := extension{extWrapper, writer{}.append(nil, []field{bytesOf(1, p.initKey), number(2, 1)})}
	listed := func(es ...extension) {
		p.packageExts = es
		for _, e := range es {
			p.extensions = append(p.extensions, e.kind)
		}
	}
	suite := func(n uint16) { p.suite, p.suites = n, []uint16{n} }
	switch intent.Variant {
	case backend.Version0:
		p.version = 0
	case backend.Version2:
		p.version = 2
	case backend.SuiteZero:
		suite(0)
	case backend.SuiteUnknown:
		suite(extUnknown)
	case backend.SuiteGrease:
		suite(grease)
	case backend.SuiteXWing:
		suite(xWing)
	case backend.SourceZero:
		p.source = 0
	case backend.SourceFour:
		p.source = 4

	case backend.XMTPShape:
		p.leafExts = []extension{{extApplicationID, tls(nil).vector([]byte(hexOf(p.identity)))}}
		p.packageExts = []extension{lastResort, pointee}
		p.extensions = []uint16{extLastResort, extApplicationID, 0x0006, 0xff02, 0xff00, 0xff01, extWrapper, extPointee}
		p.proposals = []uint16{7, 8}
	case backend.PackageExtTwice:
		listed(pointee)
		p.packageExts = append(p.packageExts, pointee)
	case backend.LeafExtTwice:
		e := extension{extUnknown, []byte{1}}
		p.extensions, p.leafExts = []uint16{extUnknown}, []extension{e, e}
	case backend.LeafLastResort:
		p.extensions, p.leafExts = []uint16{extLastResort}, []extension{lastResort}
	case backend.LeafRatchetTree:
		p.leafExts = []extension{{extRatchetTree, tls(nil).vector(nil)}}
	case backend.LeafExtUnlisted:
		p.leafExts = []extension{{extUnknown, []byte{1}}}
	case backend.LastResortUnlisted:
		p.packageExts = []extension{lastResort}
	case backend.WrapperUnlisted:
		p.packageExts = []extension{wrapper}
	case backend.UnknownUnlisted:
		p.packageExts = []extension{{extUnknown, []byte{1}}}
	case backend.UnknownListed:
		listed(extension{extUnknown, []byte{1}})
	case backend.WrapperGarbage:
		listed(extension{extWrapper, []byte{0xff, 0xfe, 0xfd}})
	case backend.ExtApplicationID:
		p.packageExts = []extension{{extApplicationID, tls(nil).vector([]byte("assay"))}}
	case backend.ExtRequired:
		p.packageExts = []extension{{extRequired, tls(nil).vector(nil).vector(nil).vector(nil)}}
	case backend.ExtExternalPub:
		p.packageExts = []extension{{extExternalPub, tls(nil).vector(p.encryptionKey)}}
	case backend.ExtGrease:
		listed(extension{grease, nil})
	case backend.CapabilitiesEmpty:
		p.versions, p.suites, p.extensions, p.proposals, p.credentials = nil, nil, nil, nil, nil
	case backend.CapabilitiesGrease:
		p.suites = append(p.suites, grease)
		p.extensions = append(p.extensions, grease)
		p.proposals = append(p.proposals, grease)
		p.credentials = append(p.credentials, grease)
	case backend.SuiteUnlisted:
		p.suites = []uint16{suite1 + suite3 - p.suite}
	case backend.CredentialUnlisted:
		p.credentials = []uint16{credentialX509}

	case backend.CredentialX509:
		// One certificate of one byte; upstream reads any vector here.
		p.credential, p.identity = credentialX509, tls(nil).vector([]byte{0x30})
		p.credentials = []uint16{credentialX509}
	case backend.CredentialUnknown:
		p.credential, p.credentials = extUnknown, []uint16{extUnknown}
	case backend.IdentityCut:
		p.identity = p.identity[:len(p.identity)-1]
	case backend.IdentityWireType:
		p.identity = protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 5)
	case backend.IdentityUTF8:
		p.identity = mlsCredential([]byte{0xff, 0xfe})
	case backend.IdentityAddress:
		p.identity = []byte("0x1234567890abcdef1234567890abcdef12345678")
	case backend.IdentityEmpty:
		p.identity = nil
	case backend.IdentityNotHex:
		p.identity = mlsCredential([]byte("not an inbox id"))
	case backend.IdentityShort:
		p.identity = mlsCredential([]byte("abcdef"))

	case backend.SmallOrderKey:
		// The neutral element: S = 0 and R = the key satisfy the equation of
		// Ed25519 for any message (RFC 8032, 5.1.7), so anybody can sign as it.
		p.signatureKey = append([]byte{1}, make([]byte, ed25519.PublicKeySize-1)...)
		forged := append(append([]byte(nil), p.signatureKey...), make([]byte, 32)...)
		p.signLeaf = func([]byte) ([]byte, error) { return forged, nil }
		p.signPackage = p.signLeaf
	}
}

// hexOf is the inbox id inside a credential that mlsCredential made.
func hexOf(credential []byte) string {
	_, _, n := protowire.ConsumeTag(credential)
	if b, m := protowire.ConsumeBytes(credential[max(n, 0):]); m > 0 {
		return string(b)
	}
	return hex.EncodeToString(credential)
}
