package gnmi

import (
	"fmt"
	"sync/atomic"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// codec decodes messages of a bounded number of elements: two bytes of a message may be an element of 80 in memory.
type codec struct {
	target string
	over   atomic.Pointer[excess] // the first message that had too many
}

// Name is the content subtype of gRPC's own codec.
func (c *codec) Name() string { return "proto" }

// Marshal encodes a request.
func (c *codec) Marshal(v any) ([]byte, error) { return proto.Marshal(v.(proto.Message)) }

// Unmarshal decodes a response.
func (c *codec) Unmarshal(data []byte, v any) error {
	m := v.(proto.Message)
	if elements(data, m.ProtoReflect().Descriptor(), maxElements) < 0 {
		over := &excess{c.target, fmt.Sprintf("%d elements in one message", maxElements)}
		c.over.CompareAndSwap(nil, over)
		return over
	}
	return proto.Unmarshal(data, m)
}

// elements returns how many more elements than an encoded message has are left, below 0 if it has too many. Data that
// cannot be decoded are left to the decoder.
func elements(data []byte, of protoreflect.MessageDescriptor, left int) int {
	for len(data) > 0 && left >= 0 {
		number, kind, n := protowire.ConsumeTag(data)
		if n < 0 {
			return left
		}
		data = data[n:]
		if n = protowire.ConsumeFieldValue(number, kind, data); n < 0 {
			return left
		}
		left--
		if f := of.Fields().ByNumber(number); f != nil && f.Message() != nil && kind == protowire.BytesType {
			inner, _ := protowire.ConsumeBytes(data)
			left = elements(inner, f.Message(), left)
		}
		data = data[n:]
	}
	return left
}

// values returns an upper limit of the number of values in JSON: whatever opens or divides a list or an object, also
// within strings.
func values(text []byte) (n int) {
	for _, c := range text {
		if c == ',' || c == '[' || c == '{' {
			n++
		}
	}
	return n + 1
}
