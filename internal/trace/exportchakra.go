package trace

import (
	"fmt"

	"railyard/internal/field"
	"railyard/unit"

	"google.golang.org/protobuf/encoding/protowire"
)

// pbMessage is a protobuf message that grows.
type pbMessage []byte

func (m *pbMessage) number(n protowire.Number, x uint64) {
	*m = protowire.AppendVarint(protowire.AppendTag(*m, n, protowire.VarintType), x)
}

func (m *pbMessage) bytes(n protowire.Number, b []byte) {
	*m = protowire.AppendBytes(protowire.AppendTag(*m, n, protowire.BytesType), b)
}

// attr adds an attribute whose value is in a field of AttributeProto: 7 int32, 9 int64, 27 bool.
func (m *pbMessage) attr(name string, in protowire.Number, x int64) {
	var a pbMessage
	a.bytes(1, []byte(name))
	a.number(in, uint64(x))
	m.bytes(10, a)
}

// writeChakra writes a graph as one file per rank, in the schema of version 0.0.4. Nodes are in topological order,
// as ASTRA-sim reads them.
func writeChakra(x *export) error {
	p := x.place()
	if len(x.d.Ops) > 0 && p.ranks > maxRanks {
		return field.New("", "has %d ranks, a file each for %d at most are written", p.ranks, maxRanks)
	}
	deps := make([][]int32, len(p.steps))
	for _, e := range p.edges {
		deps[e.to] = append(deps[e.to], e.from)
	}
	us := &rounding{to: unit.Microsecond, short: make([]unit.Time, p.ranks)}
	for r := range p.ranks {
		first := p.of[r]
		var meta pbMessage
		meta.bytes(1, []byte("0.0.4"))
		b := protowire.AppendBytes(nil, meta)
		for _, i := range p.inOrder(r, deps) {
			b = protowire.AppendBytes(b, p.node(i, first, deps[i], us))
		}
		x.files = append(x.files, File{fmt.Sprintf("%s.%d.et", x.name, r), b})
	}
	x.mapped(p)
	x.rounded(us)
	return nil
}

// node returns a step as a node; its number is its position among its rank's nodes.
func (p *placed) node(i, first int32, deps []int32, us *rounding) []byte {
	s := &p.steps[i]
	var n pbMessage
	if i > first {
		n.number(1, uint64(i-first))
	}
	n.bytes(2, fmt.Appendf(nil, "%v_%d", s.kind, i-first))
	n.number(3, uint64(map[kind]chakraKind{calc: chakraCompute, send: chakraSend, recv: chakraRecv}[s.kind]))
	if len(deps) > 0 {
		var list []byte
		for _, d := range deps {
			list = protowire.AppendVarint(list, uint64(d-first))
		}
		n.bytes(5, list)
	}
	if s.kind == calc {
		n.number(7, uint64(us.of(s.rank, s.dur)))
	}
	n.attr("is_cpu_op", 27, 0)
	if s.kind == calc {
		return n
	}
	n.attr("comm_size", 9, int64(s.bytes))
	from, to := s.rank, s.peer
	if s.kind == recv {
		from, to = to, from
	}
	n.attr("comm_src", 7, int64(from))
	n.attr("comm_dst", 7, int64(to))
	n.attr("comm_tag", 7, s.tag)
	return n
}

// inOrder sorts a rank's steps topologically.
func (p *placed) inOrder(r int, deps [][]int32) []int32 {
	first, end := p.of[r], p.of[r+1]
	waits, succ := make([]int32, end-first), make([][]int32, end-first)
	order := make([]int32, 0, end-first)
	for i := first; i < end; i++ {
		if waits[i-first] = int32(len(deps[i])); len(deps[i]) == 0 {
			order = append(order, i)
		}
		for _, d := range deps[i] {
			succ[d-first] = append(succ[d-first], i)
		}
	}
	for k := 0; k < len(order); k++ {
		for _, s := range succ[order[k]-first] {
			if waits[s-first]--; waits[s-first] == 0 {
				order = append(order, s)
			}
		}
	}
	return order
}
