package contract

// The instructions that the programs use, by their numbers in the Ethereum
// yellow paper, appendix H.
const (
	opStop           = 0x00
	opSub            = 0x03
	opEq             = 0x14
	opByte           = 0x1a
	opShl            = 0x1b
	opCallDataLoad   = 0x35
	opCallDataSize   = 0x36
	opCallDataCopy   = 0x37
	opCodeCopy       = 0x39
	opPop            = 0x50
	opMLoad          = 0x51
	opMStore         = 0x52
	opSLoad          = 0x54
	opSStore         = 0x55
	opJumpI          = 0x57
	opGas            = 0x5a
	opJumpDest       = 0x5b
	opPush1          = 0x60
	opDup1           = 0x80
	opSwap1          = 0x90
	opReturn         = 0xf3
	opCreate2        = 0xf5
	opStaticCall     = 0xfa
	opRevert         = 0xfd
	unresolvedTarget = 0
)

// program is code being written. Its errors are programming errors of this
// package, so its methods have none: a test runs every program there is.
type program struct {
	code   []byte
	labels map[string]byte
	jumps  map[int]string // where a target stands, and its label
}

func assemble(write func(p *program)) []byte {
	p := &program{labels: make(map[string]byte), jumps: make(map[int]string)}
	write(p)
	for at, label := range p.jumps {
		p.code[at] = p.labels[label]
	}
	return p.code
}

func (p *program) op(codes ...byte) *program {
	p.code = append(p.code, codes...)
	return p
}

// push puts a number of 1 to 32 bytes on the stack.
func (p *program) push(b ...byte) *program {
	p.code = append(p.code, opPush1-1+byte(len(b)))
	p.code = append(p.code, b...)
	return p
}

// jumpIf goes to the label if the top of the stack is not zero.
func (p *program) jumpIf(label string) *program {
	p.code = append(p.code, opPush1)
	p.jumps[len(p.code)] = label
	p.code = append(p.code, unresolvedTarget, opJumpI)
	return p
}

func (p *program) label(name string) *program {
	p.labels[name] = byte(len(p.code))
	return p.op(opJumpDest)
}

// returnWord ends with a word whose first four bytes are the given ones.
func (p *program) returnWord(first [4]byte) *program {
	p.push(first[:]...).push(0xe0).op(opShl).push(0).op(opMStore)
	return p.push(32).push(0).op(opReturn)
}
