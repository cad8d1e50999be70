package contract

import (
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"assay/model/backend"
)

// Magic is what isValidSignature answers for yes, and its own selector (ERC-1271).
func Magic() [4]byte { return [4]byte{0x16, 0x26, 0xba, 0x7e} }

// refusal is a well-formed no: any other four bytes, the rest of the word zero.
func refusal() [4]byte { return [4]byte{0xff, 0xff, 0xff, 0xff} }

// Wallet is a contract wallet, deployed or not.
type Wallet struct {
	Behaviour backend.Behaviour
	Owner     common.Address
	Address   common.Address
	// Salt and Init are what Factory makes it of.
	Salt [32]byte
	Init []byte
}

// New describes the wallet of an owner. Wallets that differ in owner, behaviour
// or salt have different addresses.
func New(b backend.Behaviour, owner common.Address, salt [32]byte) (Wallet, error) {
	code, err := runtime(b, owner)
	if err != nil {
		return Wallet{}, err
	}
	// Behaviour and owner are in the salt, for two behaviours share a program and
	// most programs do not know their owner.
	salt = [32]byte(crypto.Keccak256(salt[:], owner[:], []byte(b)))
	w := Wallet{Behaviour: b, Owner: owner, Salt: salt, Init: constructor(code)}
	w.Address = crypto.CreateAddress2(FactoryAddress(), salt, crypto.Keccak256(w.Init))
	return w, nil
}

// Deployment is the call to Factory that deploys the wallet. A second one fails,
// as nothing can be created where something is.
func (w Wallet) Deployment() []byte { return append(w.Salt[:], w.Init...) }

// FactoryAddress is where every simulated chain has Factory from the beginning.
// It is no address that a key leads to.
func FactoryAddress() common.Address {
	return common.BytesToAddress(crypto.Keccak256([]byte("assay wallet factory")))
}

// Factory is the program that creates a contract from its call data: 32 bytes of
// salt and then the code to run. It returns the address, and reverts when there
// is none.
func Factory() []byte {
	return assemble(func(p *program) {
		p.push(32).op(opCallDataSize, opSub)             // length of the code
		p.op(opDup1).push(32).push(0).op(opCallDataCopy) // code to memory
		p.push(0).op(opCallDataLoad, opSwap1)            // salt below length
		p.push(0).push(0).op(opCreate2)                  // offset, value
		p.op(opDup1).jumpIf("made")
		p.push(0).op(opDup1, opRevert)
		p.label("made").push(0).op(opMStore).push(32).push(0)
		p.op(opReturn)
	})
}

// constructor returns the code behind it as that of the new contract.
func constructor(code []byte) []byte {
	head := assemble(func(p *program) {
		const length = 11 // of this program
		p.push(byte(len(code))).op(opDup1).push(length).push(0).op(opCodeCopy)
		p.push(0).op(opReturn)
	})
	return append(head, code...)
}

// runtime is the program of a wallet.
func runtime(b backend.Behaviour, owner common.Address) ([]byte, error) {
	var write func(p *program)
	switch b {
	case backend.Plainly, backend.Counterfactual:
		write = func(p *program) { checkOwner(p, owner) }
	case backend.Always:
		write = func(p *program) { p.returnWord(Magic()) }
	case backend.Never:
		write = func(p *program) { p.returnWord(refusal()) }
	case backend.Toggled:
		write = func(p *program) {
			p.op(opCallDataSize).jumpIf("asked")
			p.push(1).push(0).op(opSStore, opStop)
			p.label("asked").push(0).op(opSLoad).jumpIf("switched")
			p.returnWord(Magic())
			p.label("switched").returnWord(refusal())
		}
	case backend.Reverts:
		write = func(p *program) { p.push(0).op(opDup1, opRevert) }
	case backend.Short:
		write = func(p *program) {
			m := Magic()
			p.push(m[:]...).push(0xe0).op(opShl).push(0).op(opMStore).push(4).push(0).op(opReturn)
		}
	case backend.Dirty:
		write = func(p *program) {
			m := Magic()
			dirty := [32]byte{0: m[0], 1: m[1], 2: m[2], 3: m[3], 31: 1}
			p.push(dirty[:]...).push(0).op(opMStore).push(32).push(0).op(opReturn)
		}
	default:
		return nil, fmt.Errorf("no program behaves as %q: use one of %q", b, backend.Behaviours())
	}
	return assemble(write), nil
}

// Where isValidSignature(bytes32 hash, bytes signature) has its arguments: the
// hash behind the selector, the signature behind its offset and length.
const (
	hashAt = 0x04
	rAt    = 0x64
	sAt    = 0x84
	vAt    = 0xa4
)

// checkOwner recovers who signed the hash with the signature's first 65 bytes,
// by the precompiled contract 1, and compares with the owner.
func checkOwner(p *program, owner common.Address) {
	const hash, v, r, s, out = 0, 0x20, 0x40, 0x60, 0x80
	p.push(hashAt).op(opCallDataLoad).push(hash).op(opMStore)
	p.push(vAt).op(opCallDataLoad).push(0).op(opByte).push(v).op(opMStore)
	p.push(rAt).op(opCallDataLoad).push(r).op(opMStore)
	p.push(sAt).op(opCallDataLoad).push(s).op(opMStore)
	p.push(32).push(out).push(0x80).push(hash).push(1).op(opGas, opStaticCall, opPop)
	p.push(owner[:]...).push(out).op(opMLoad, opEq).jumpIf("owner")
	p.returnWord(refusal())
	p.label("owner").returnWord(Magic())
}

// suffix marks a signature that carries a deployment (ERC-6492).
const suffix = 0x6492

// Wrap makes the signature of a wallet that may not be deployed yet: what deploys
// it, the signature it is then asked about, and the mark of ERC-6492.
func (w Wallet) Wrap(inner []byte) []byte {
	word := func(n int) []byte { return common.BigToHash(big.NewInt(int64(n))).Bytes() }
	padded := func(b []byte) []byte { return common.RightPadBytes(b, (len(b)+31)/32*32) }
	call := w.Deployment()
	head := 3 * 32 // address, and where the two byte strings are
	factory := FactoryAddress()

	var out []byte
	out = append(out, common.LeftPadBytes(factory[:], 32)...)
	out = append(out, word(head)...)
	out = append(out, word(head+32+len(padded(call)))...)
	out = append(append(out, word(len(call))...), padded(call)...)
	out = append(append(out, word(len(inner))...), padded(inner)...)
	for range 16 {
		out = append(out, suffix>>8, suffix&0xff)
	}
	return out
}
