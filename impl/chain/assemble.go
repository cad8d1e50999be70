package chain

import (
	"encoding/binary"
	"fmt"
	"math/big"
	"strings"
)

// assemble turns the text of a program into bytes. A token is an operation's
// name, a number to push, NAME: for a jump target, @NAME to push a target, or
// .size to push the length of the whole program; a semicolon starts a comment.
func assemble(text string) ([]byte, error) {
	ops := operations()
	labels := make(map[string]int)
	type patch struct {
		at    int
		label string
	}
	var patches []patch
	var code []byte

	for number, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, ";")
		for _, token := range strings.Fields(line) {
			if name, ok := strings.CutSuffix(token, ":"); ok {
				if _, twice := labels[name]; twice {
					return nil, fmt.Errorf("line %d: label %s is set twice", number+1, name)
				}
				labels[name] = len(code)
				code = append(code, ops["JUMPDEST"])
				continue
			}
			if token == ".size" || token[0] == '@' {
				patches = append(patches, patch{len(code) + 1, token})
				code = append(code, ops["PUSH1"]+1, 0, 0)
				continue
			}
			if op, ok := ops[token]; ok {
				code = append(code, op)
				continue
			}
			n, ok := new(big.Int).SetString(token, 0)
			if !ok || n.Sign() < 0 || n.BitLen() > 256 {
				return nil, fmt.Errorf("line %d: %q is no operation, number or label", number+1, token)
			}
			b := n.Bytes()
			if len(b) == 0 {
				b = []byte{0} // PUSH1 0: PUSH0 is younger than some chains
			}
			code = append(append(code, ops["PUSH1"]+byte(len(b)-1)), b...)
		}
	}
	labels["size"] = len(code)
	for _, p := range patches {
		at, ok := labels[p.label[1:]]
		if !ok {
			return nil, fmt.Errorf("label %s is never set", p.label)
		}
		binary.BigEndian.PutUint16(code[p.at:], uint16(at))
	}
	return code, nil
}

// operations are the ones that programs here use, by their yellow paper names.
func operations() map[string]byte {
	return map[string]byte{
		"STOP": 0x00, "ADD": 0x01, "SUB": 0x03, "LT": 0x10, "GT": 0x11, "EQ": 0x14, "ISZERO": 0x15,
		"AND": 0x16, "OR": 0x17, "NOT": 0x19, "BYTE": 0x1a, "SHL": 0x1b, "SHR": 0x1c,
		"CALLDATALOAD": 0x35, "CALLDATASIZE": 0x36, "CALLDATACOPY": 0x37, "CODESIZE": 0x38, "CODECOPY": 0x39,
		"EXTCODESIZE": 0x3b, "RETURNDATASIZE": 0x3d,
		"POP": 0x50, "MLOAD": 0x51, "MSTORE": 0x52, "MSTORE8": 0x53, "SLOAD": 0x54, "SSTORE": 0x55,
		"JUMP": 0x56, "JUMPI": 0x57, "GAS": 0x5a, "JUMPDEST": 0x5b, "PUSH1": 0x60,
		"DUP1": 0x80, "DUP2": 0x81, "DUP3": 0x82, "SWAP1": 0x90,
		"CALL": 0xf1, "RETURN": 0xf3, "CREATE2": 0xf5, "STATICCALL": 0xfa, "REVERT": 0xfd,
	}
}
