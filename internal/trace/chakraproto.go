package trace

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"

	"railyard/unit"

	"google.golang.org/protobuf/encoding/protowire"
)

// A protobuf trace is a row of messages, each after its length as a varint: GlobalMetadata, then Nodes. Before
// 0.0.1 there was no metadata, and a Node had its own fields in place of today's attributes, whose numbers start at
// 10. Its times were nanoseconds; now they are microseconds.

// maxInflated is the maximum uncompressed size of a trace.
const maxInflated = 1 << 30

// inflated returns a file's contents, decompressed if it is gzipped.
func inflated(f File) ([]byte, error) {
	if !bytes.HasPrefix(f.Text, []byte{0x1f, 0x8b}) {
		return f.Text, nil
	}
	r, err := gzip.NewReader(bytes.NewReader(f.Text))
	if err != nil {
		return nil, at(f.Name, 0, "is not what gzip packs: %v", err)
	}
	text, err := io.ReadAll(io.LimitReader(r, maxInflated+1))
	switch {
	case err != nil:
		return nil, at(f.Name, 0, "ends early, or gzip did not pack it: %v", err)
	case len(text) > maxInflated:
		return nil, at(f.Name, 0, "unpacks to more than %d bytes", maxInflated)
	}
	return text, nil
}

// isChakraProto recognizes a trace by its name, or by a first message that is metadata or a node.
func isChakraProto(name string, head []byte) bool {
	if bytes.HasPrefix(head, []byte{0x1f, 0x8b}) {
		return chakraRank.MatchString(name)
	}
	size, n := protowire.ConsumeVarint(head)
	text := !bytes.ContainsFunc(head, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' && r != '\r' })
	if n < 0 || text {
		return false
	}
	body := head[n:]
	if uint64(len(body)) < size {
		return strings.HasSuffix(name, ".et") && size < 1<<24
	}
	fields := 0
	_, err := messageFields(body[:size], func(num protowire.Number, _ protowire.Type, _ []byte, _ uint64) {
		if num <= 22 {
			fields++
		}
	})
	return err == nil && (fields > 0 || strings.HasSuffix(name, ".et"))
}

// messageFields calls with each field of a message: with bytes for a field that has a length, otherwise with its
// number. It returns their number.
func messageFields(b []byte, visit func(num protowire.Number, t protowire.Type, bytes []byte,
	x uint64)) (n int,
	err error) {
	for len(b) > 0 {
		num, t, k := protowire.ConsumeTag(b)
		if k < 0 {
			return n, protowire.ParseError(k)
		}
		b = b[k:]
		var x uint64
		var body []byte
		switch t {
		case protowire.VarintType:
			x, k = protowire.ConsumeVarint(b)
		case protowire.Fixed64Type:
			x, k = protowire.ConsumeFixed64(b)
		case protowire.Fixed32Type:
			var y uint32
			y, k = protowire.ConsumeFixed32(b)
			x = uint64(y)
		case protowire.BytesType:
			body, k = protowire.ConsumeBytes(b)
		default:
			k = protowire.ConsumeFieldValue(num, t, b)
		}
		if k < 0 {
			return n, protowire.ParseError(k)
		}
		visit(num, t, body, x)
		n, b = n+1, b[k:]
	}
	return n, nil
}

// readProto reads the messages of a file.
func (c *chakra) readProto(file string, b []byte, add func(saidNode) error) error {
	read := protoNode
	if beforeMetadata(b) {
		read = oldNode
	}
	return eachMessage(b, func(number, from int, body []byte) error {
		n, is, err := read(body)
		if err != nil {
			return at(file, 0, "message %d, at byte %d, is not a Chakra node: %v", number, from, err)
		}
		if why := n.impossible(); is && why != "" {
			return at(file, 0, "node %d, at byte %d, %s", n.id, from, why)
		}
		switch {
		case is:
			return add(n)
		case number > 0:
			note(&c.report.Left, "messages other than nodes", file, 0)
			if c.nodes++; c.nodes > maxChakra {
				return at(file, 0, "with this file there are more than %d messages", maxChakra)
			}
		}
		return nil
	}, func(number, from int) error {
		return at(file, 0, "ends within message %d, which begins at byte %d", number, from)
	})
}

// eachMessage visits the messages of a file, up to a truncated one.
func eachMessage(b []byte, visit func(number, from int, body []byte) error, cut func(number, from int) error) error {
	rest := b
	for number := 0; len(rest) > 0; number++ {
		from := len(b) - len(rest)
		size, k := protowire.ConsumeVarint(rest)
		if k < 0 || size > uint64(len(rest)-k) {
			return cut(number, from)
		}
		if err := visit(number, from, rest[k:k+int(size)]); err != nil {
			return err
		}
		rest = rest[k+int(size):]
	}
	return nil
}

// errStop ends a visit early.
var errStop = errors.New("enough is seen")

// beforeMetadata reports whether a file uses the first schema: its first message is a node, and no node has
// attributes.
func beforeMetadata(b []byte) bool {
	old := false
	eachMessage(b, func(number, _ int, body []byte) error {
		node, attributes := false, false
		messageFields(body, func(num protowire.Number, t protowire.Type, _ []byte, _ uint64) {
			node = node || num == 1 && t == protowire.VarintType || num > 2
			attributes = attributes || num == 10 && t == protowire.BytesType
		})
		if number == 0 {
			old = node
		}
		if old = old && !attributes; !old {
			return errStop
		}
		return nil
	}, func(int, int) error { return nil })
	return old
}

// protoNode reads a node; false: it is none, but metadata. Node 0's number is not written down, nor is a type
// of 0.
func protoNode(b []byte) (n saidNode, is bool, err error) {
	n = newChakraNode()
	var bad error
	meta, more := false, false
	_, err = messageFields(b, func(num protowire.Number, t protowire.Type, body []byte, x uint64) {
		more = more || num > 2
		switch {
		case num == 1 && t == protowire.VarintType:
			n.id, more = x, true
		case num == 1:
			meta = true
		case num == 2:
			n.name = string(body)
		case num == 3:
			n.kind = chakraKind(min(x, 255))
		case num == 4:
			n.ctrl = protoNumbers(n.ctrl, t, body, x)
		case num == 5:
			n.data = protoNumbers(n.data, t, body, x)
		case num == 7:
			n.dur = lasting(x, unit.Microsecond)
		case num == 8:
			n.values = protoText(body)
		case num == 10:
			if e := n.attribute(body); e != nil {
				bad = e
			}
		}
	})
	if is = more && !meta; err == nil && is {
		err = bad
	}
	return n, is, err
}

// oldNode reads a node of the first schema.
func oldNode(b []byte) (n saidNode, is bool, err error) {
	n, is = newChakraNode(), true
	_, err = messageFields(b, func(num protowire.Number, t protowire.Type, body []byte, x uint64) {
		switch num {
		case 1:
			n.id = x
		case 2:
			n.name = string(body)
		case 3:
			if n.kind = chakraKind(min(x, 255)); x >= 1 && x <= 3 {
				n.kind = chakraLoad
			}
		case 4:
			n.data = protoNumbers(n.data, t, body, x)
		case 7:
			n.dur = lasting(x, unit.Nanosecond)
		case 13:
			if x >= 1 && x <= 4 {
				n.op = []int16{chakraAllReduce, chakraAllToAll, chakraAllGather, chakraReduceScatter}[x-1]
			}
		case 14:
			for _, x := range protoNumbers(nil, t, body, x) {
				n.some = n.some || x == 0
			}
		case 15:
			n.group = strconv.FormatUint(x, 10)
		case 16:
			n.src = int64(x)
		case 17:
			n.dst = int64(x)
		case 18:
			n.bytes = int64(x)
		case 19:
			n.tag = int64(x)
		}
	})
	return n, is, err
}

// lasting is a time in units; -1: longer than time can be.
func lasting(x uint64, u unit.Time) unit.Time {
	if x > uint64(unit.Never/u)/4 {
		return -1
	}
	return unit.Time(x) * u
}

// protoNumbers reads a repeated number, packed or unpacked.
func protoNumbers(to []uint64, t protowire.Type, body []byte, x uint64) []uint64 {
	if t == protowire.VarintType {
		return append(to, x)
	}
	for len(body) > 0 {
		x, k := protowire.ConsumeVarint(body)
		if k < 0 {
			break
		}
		to, body = append(to, x), body[k:]
	}
	return to
}

// protoText returns the first field of a message, as a string.
func protoText(b []byte) (s string) {
	messageFields(b, func(num protowire.Number, _ protowire.Type, body []byte, _ uint64) {
		if num == 1 {
			s = string(body)
		}
	})
	return s
}

// attribute reads one attribute: its name, and a value of any kind.
func (n *saidNode) attribute(b []byte) error {
	name := ""
	var v chakraValue
	_, err := messageFields(b, func(num protowire.Number, t protowire.Type, body []byte, x uint64) {
		switch num {
		case 1:
			name = string(body)
		case 3:
			v.num = int64(math.Float64frombits(x))
		case 5:
			v.num = int64(math.Float32frombits(uint32(x)))
		case 15, 17:
			v.num = protowire.DecodeZigZag(x)
		case 28:
			for _, x := range protoNumbers(nil, protowire.BytesType, firstBytes(body), 0) {
				v.bools = append(v.bools, x != 0)
			}
		case 29, 31:
			v.text = string(body)
		default:
			if t != protowire.BytesType {
				v.num = int64(x)
			}
		}
	})
	n.put(name, v)
	return err
}

// firstBytes returns the bytes of field 1.
func firstBytes(b []byte) (first []byte) {
	messageFields(b, func(num protowire.Number, t protowire.Type, body []byte, x uint64) {
		switch {
		case num == 1 && t == protowire.BytesType:
			first = append(first, body...)
		case num == 1:
			first = protowire.AppendVarint(first, x)
		}
	})
	return first
}
