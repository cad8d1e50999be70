package mls_test

import "encoding/binary"

// A form takes its encoding off the front of in and returns what is left; ok is false when the front of in is not its
// encoding. Forms are built from forms, so the structures below read like the presentation language of RFC 9420.
type form func(in []byte) (rest []byte, ok bool)

func nothing(in []byte) ([]byte, bool) { return in, true }

func raw(n int) form {
	return func(in []byte) ([]byte, bool) {
		if len(in) < n {
			return nil, false
		}
		return in[n:], true
	}
}

// exactly takes the given bytes.
func exactly(want ...byte) form {
	return func(in []byte) ([]byte, bool) {
		if len(in) < len(want) || string(in[:len(want)]) != string(want) {
			return nil, false
		}
		return in[len(want):], true
	}
}

func seq(forms ...form) form {
	return func(in []byte) ([]byte, bool) {
		ok := true
		for _, f := range forms {
			if in, ok = f(in); !ok {
				return nil, false
			}
		}
		return in, true
	}
}

// either takes the first of the alternatives that fits. No two below fit the same front.
func either(forms ...form) form {
	return func(in []byte) ([]byte, bool) {
		for _, f := range forms {
			if rest, ok := f(in); ok {
				return rest, true
			}
		}
		return nil, false
	}
}

// within takes a vector whose body the inner function accepts as a whole.
func within(inner func(body []byte) bool) form {
	return func(in []byte) ([]byte, bool) {
		if len(in) == 0 || in[0] >= 0xc0 {
			return nil, false
		}
		header := 1 << (in[0] >> 6)
		if len(in) < header {
			return nil, false
		}
		n := uint64(in[0] & 0x3f)
		for _, b := range in[1:header] {
			n = n<<8 + uint64(b)
		}
		shortest := 1
		if n >= 1<<6 {
			shortest = 2
		}
		if n >= 1<<14 {
			shortest = 4
		}
		if header != shortest || n > uint64(len(in)-header) {
			return nil, false
		}
		end := header + int(n)
		return in[end:], inner(in[header:end])
	}
}

var opaque = within(func([]byte) bool { return true })

// many takes a vector of elements.
func many(element form) form {
	return within(func(body []byte) bool {
		ok := true
		for len(body) > 0 && ok {
			body, ok = element(body)
		}
		return ok
	})
}

// kept takes a form and remembers which bytes it took.
func kept(into *[]byte, f form) form {
	return func(in []byte) ([]byte, bool) {
		rest, ok := f(in)
		if ok {
			*into = in[:len(in)-len(rest)]
		}
		return rest, ok
	}
}

// body takes a vector and remembers what is in it.
func body(into *[]byte, f form) form {
	return func(in []byte) ([]byte, bool) {
		rest, ok := f(in)
		if ok {
			taken := in[:len(in)-len(rest)]
			*into = taken[1<<(taken[0]>>6):]
		}
		return rest, ok
	}
}

// fields is what a key package says, as this grammar reads it.
type fields struct {
	version, suite, initKey, encryptionKey, signatureKey  []byte
	credentialType, identity, listed, source, from, until []byte
	leaf, leafSignature, extensions, signature            []byte
}

var numbers = within(func(body []byte) bool { return len(body)%2 == 0 })

var suite = either(exactly(0, 1), exactly(0, 2), exactly(0, 3), exactly(0, 4), exactly(0, 5), exactly(0, 6), exactly(0, 7), exactly(0, 0x4d))

func leafNode(f *fields) form {
	return seq(
		kept(&f.leaf, seq(
			body(&f.encryptionKey, opaque), body(&f.signatureKey, opaque),
			kept(&f.credentialType, raw(2)), body(&f.identity, opaque),
			numbers, numbers, body(&f.listed, numbers), numbers, numbers,
			kept(&f.source, either(
				seq(exactly(1), kept(&f.from, raw(8)), kept(&f.until, raw(8))),
				exactly(2),
				seq(exactly(3), opaque))),
			extensionList(func(t uint16) bool { return t < 2 || t > 5 && t != 0x0a && t != 0xf000 }))),
		body(&f.leafSignature, opaque))
}

func keyPackage(f *fields) form {
	return seq(
		kept(&f.version, raw(2)), kept(&f.suite, suite), body(&f.initKey, opaque), leafNode(f),
		body(&f.extensions, extensionList(func(uint16) bool { return true })),
		body(&f.signature, opaque))
}

// extensionList takes a list in which every type is allowed, no type stands twice, and known data fits its layout.
func extensionList(allowed func(uint16) bool) form {
	return within(func(list []byte) bool {
		seen := map[uint16]bool{}
		for len(list) > 0 {
			var number, data []byte
			rest, ok := seq(kept(&number, raw(2)), body(&data, opaque))(list)
			if !ok {
				return false
			}
			t := binary.BigEndian.Uint16(number)
			if seen[t] || !allowed(t) || !extensionData(t, data) {
				return false
			}
			seen[t], list = true, rest
		}
		return true
	})
}

func extensionData(t uint16, data []byte) bool {
	layout := map[uint16]form{
		0x0001: opaque,
		0x0002: many(either(exactly(0), seq(exactly(1, 1), anyLeaf), seq(exactly(1, 2), opaque, opaque, many(raw(4))))),
		0x0003: seq(numbers, numbers, numbers),
		0x0004: opaque,
		0x0005: many(seq(opaque, raw(2), opaque)),
		0x000a: nothing,
	}[t]
	if layout == nil {
		return true
	}
	rest, ok := layout(data)
	return ok && len(rest) == 0
}

func anyLeaf(in []byte) ([]byte, bool)       { return leafNode(new(fields))(in) }
func anyKeyPackage(in []byte) ([]byte, bool) { return keyPackage(new(fields))(in) }

// proposal takes a known type with its layout or an unknown one with one vector.
func proposal(in []byte) ([]byte, bool) {
	list := extensionList(func(uint16) bool { return true })
	if len(in) < 2 {
		return nil, false
	}
	t, in := binary.BigEndian.Uint16(in), in[2:]
	layout := map[uint16]form{
		1: anyKeyPackage,
		2: anyLeaf,
		3: raw(4),
		4: seq(either(
			seq(exactly(1), opaque),
			seq(exactly(2), either(exactly(1), exactly(2), exactly(3)), opaque, raw(8))), opaque),
		5:  seq(opaque, raw(2), suite, list),
		6:  opaque,
		7:  list,
		10: nothing,
	}[t]
	if layout == nil {
		layout = opaque
	}
	return layout(in)
}

var commit = seq(
	many(either(seq(exactly(1), proposal), seq(exactly(2), opaque))),
	either(exactly(0), seq(exactly(1), anyLeaf, many(seq(opaque, many(seq(opaque, opaque)))))))

// reading is what a group message says, as this grammar reads it.
type reading struct {
	groupID []byte
	epoch   []byte
	content byte
	length  int
}

// groupMessage tries each kind of message there is: private ones by content, public ones by sender and content.
func groupMessage(in []byte) (reading, bool) {
	var r reading
	try := func(format, content byte, behindEpoch ...form) bool {
		header := seq(exactly(0, 1, 0, format), body(&r.groupID, opaque), kept(&r.epoch, raw(8)))
		rest, ok := seq(header, seq(behindEpoch...))(in)
		if ok {
			r.content, r.length = content, len(in)-len(rest)
		}
		return ok
	}
	content := map[byte]form{1: opaque, 2: proposal, 3: commit}
	for c, layout := range content {
		if try(2, c, exactly(c), opaque, opaque, opaque) {
			return r, true
		}
		tags := opaque
		if c == 3 {
			tags = seq(opaque, opaque)
		}
		signed := seq(opaque, exactly(c), layout, tags)
		if try(1, c, exactly(1), raw(4), signed, opaque) || try(1, c, exactly(2), raw(4), signed) ||
			try(1, c, either(exactly(3), exactly(4)), signed) {
			return r, true
		}
	}
	return reading{}, false
}
