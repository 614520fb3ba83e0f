package sequence

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/result"
	"railyard/unit"
)

// errNoneFollowed describes how a run traces packets.
var errNoneFollowed = errors.New("the run followed no such packet: run its scenario with --follow 0/+400 (the packet of queue pair 0 behind its first 400)")

// packetOf is a traced packet, with its position in its message.
type packetOf struct {
	*result.Followed
	of   *result.FlowRow
	last bool // of its message
}

// followed returns the first traced packet that matches.
func (r run) followed(want func(*packetOf) bool) (*packetOf, error) {
	all, err := result.ReadFollowed(r.Dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, errNoneFollowed
	}
	if err != nil {
		return nil, err
	}
	flows, err := table[result.FlowRow](r, "flows")
	if err != nil {
		return nil, err
	}
	for i := range all {
		p := &packetOf{Followed: &all[i]}
		if p.From == "" || len(p.Copies) == 0 || p.FirstPSN == nil {
			continue // the packet was never sent
		}
		for _, c := range p.Copies {
			if len(c.Hops) == 0 {
				return nil, errors.New("followed.json is damaged: a packet left no port")
			}
		}
		if err := r.place(p, flows); err != nil {
			return nil, err
		}
		if want(p) {
			return p, nil
		}
	}
	return nil, errNoneFollowed
}

// place finds the message of a packet. The MTU determines the number of packets of each message of a queue pair.
func (r run) place(p *packetOf, flows []result.FlowRow) error {
	mtu, err := strconv.ParseInt(r.Manifest.Resolved["transport.mtu"], 10, 64)
	if err != nil || mtu <= 0 {
		return errors.New("run.json has no transport.mtu")
	}
	var own []*result.FlowRow
	for i := range flows {
		if m := &flows[i]; m.QP == p.QP {
			own = append(own, m)
		}
	}
	slices.SortStableFunc(own, func(a, b *result.FlowRow) int { return cmp.Compare(a.Posted, b.Posted) })
	n := int64((p.PSN - *p.FirstPSN) & psnMask)
	for _, m := range own {
		packets := max(1, (m.Bytes+mtu-1)/mtu)
		if n < packets {
			p.of, p.last = m, n == packets-1
			return nil
		}
		n -= packets
	}
	return fmt.Errorf("packet %s is of no message in flows.parquet", p.Asked)
}

// psnMask is of the 24 bits of a PSN (IBTA 9.2.1).
const psnMask = 1<<24 - 1

// node returns the source of a port, and peer its far end: "rail-1:Eth5 → spine-1".
func node(port string) string { name, _, _ := strings.Cut(port, ":"); return name }
func peer(port string) string { _, name, _ := strings.Cut(port, " → "); return name }

// nicOr returns a NIC's name in place of its server's.
func nicOr(f *packetOf, node string) string {
	switch node {
	case server(f.From):
		return f.From
	case server(f.To):
		return f.To
	}
	return node
}

// between adds the lanes of a traced packet: those of its sender, the switches on its paths, and its receiver.
func (s *Sequence) between(f *packetOf) {
	s.QP = f.QP
	s.lane(f.From)
	for _, answers := range []bool{false, true} {
		for i := range f.Copies {
			if c := &f.Copies[i]; c.Data != answers {
				for _, h := range c.Hops {
					for _, name := range []string{node(h.Name), peer(h.Name)} {
						if nicOr(f, name) == name {
							s.lane(name)
						}
					}
				}
			}
		}
	}
	s.lane(f.To)
}

// copied adds a copy of a packet, hop by hop.
func (s *Sequence) copied(f *packetOf, c *result.Copy, kind Kind) {
	label := c.Kind
	if c.Again {
		label += ", retransmitted"
	}
	for i, h := range c.Hops {
		from, to := nicOr(f, node(h.Name)), nicOr(f, peer(h.Name))
		detail := ""
		switch {
		case i == 0 && c.Data:
			detail = fmt.Sprintf("PSN %d, %s", f.PSN, bytes(int64(c.Bytes)))
		case i == 0:
			detail = fmt.Sprintf("for PSN %d, %s", f.PSN, bytes(int64(c.Bytes)))
		case h.Left > h.Ready:
			detail = fmt.Sprintf("waits %s behind %s", dur(h.Left-h.Ready), bytes(h.Found))
		}
		if h.Paused {
			detail = strings.TrimPrefix(detail+", paused", ", ")
		}
		if h.Marked && (i == 0 || !c.Hops[i-1].Marked) {
			detail = strings.TrimPrefix(detail+", marked CE", ", ")
		}
		if h.Trimmed && (i == 0 || !c.Hops[i-1].Trimmed) {
			detail = strings.TrimPrefix(detail+", trimmed to its headers", ", ")
		}
		arrives := c.EndAt
		if i+1 < len(c.Hops) {
			arrives = c.Hops[i+1].Came
		} else if c.End != "arrived" {
			arrives = h.Left
		}
		s.add(h.Left, arrives, from, to, kind, label, detail)
	}
	switch c.End {
	case "dropped":
		at := nicOr(f, node(c.EndedAt))
		s.add(c.EndAt, c.EndAt, at, at, Lost, "dropped", "at "+c.EndedAt)
	case "under way":
		s.Notes = append(s.Notes, fmt.Sprintf("The %s was in flight when the run ended.", c.Kind))
	}
}

// packet is one packet from the GPU that posted its message to the GPU that receives it.
func packet(r run, s *Sequence) error {
	f, err := r.followed(func(f *packetOf) bool { return slices.ContainsFunc(f.Copies, whole) })
	if err != nil {
		return err
	}
	m := f.of
	s.Title = fmt.Sprintf("Packet %s of queue pair %d, %s to %s", f.Asked, f.QP, m.From, m.To)
	s.lane(m.From)
	s.between(f)
	s.posted(f)
	for i := range f.Copies {
		c := &f.Copies[i]
		if !c.Data {
			s.copied(f, c, Answer)
			continue
		}
		s.copied(f, c, Data)
		if whole(*c) {
			s.add(c.EndAt, c.EndAt, f.To, m.To, Here, "writes to memory", fmt.Sprintf("%s later than it left its NIC",
				dur(c.EndAt-c.Hops[0].Left)))
		}
	}
	s.ends(m)
	return nil
}

// posted adds the start of a message.
func (s *Sequence) posted(f *packetOf) {
	s.QP = f.QP
	s.add(f.of.Posted, f.of.Posted, f.of.From, f.From, Here, "posts "+bytes(f.of.Bytes),
		fmt.Sprintf("queue pair %d", f.QP))
}

// ends adds the end of a message, and sorts the steps.
func (s *Sequence) ends(m *result.FlowRow) {
	if m.Done >= 0 {
		s.add(m.Done, m.Done, m.To, m.To, Here, "message complete", fmt.Sprintf("%s after it was posted; %s alone",
			dur(m.Done-m.Posted), dur(m.Ideal)))
	}
	s.sort()
}

func (s *Sequence) sort() {
	slices.SortStableFunc(s.Steps, func(a, b Step) int { return int(min(1, max(-1, a.At-b.At))) })
}

// naks is a packet that was retransmitted.
func naks(r run, s *Sequence) error {
	lost := false
	f, err := r.followed(func(f *packetOf) bool {
		n := 0
		lost = false
		for _, c := range f.Copies {
			lost = lost || c.Data && (c.End == "dropped" || slices.ContainsFunc(c.Hops, trimmed))
			if c.Data {
				n++
			}
		}
		return n > 1
	})
	if errors.Is(err, errNoneFollowed) {
		if d := r.Summary.FirstDrop; d != nil {
			return fmt.Errorf("the run followed no retransmitted packet; the first that was lost, at %s, is followed by a run with --follow %s", d.Port, d.Packet)
		}
		return errors.New("no packet of this run was dropped")
	}
	if err != nil {
		return err
	}
	s.Title = fmt.Sprintf("Packet %s of queue pair %d is lost and retransmitted", f.Asked, f.QP)
	if !lost {
		s.Title = fmt.Sprintf("Packet %s of queue pair %d is retransmitted, though not lost", f.Asked, f.QP)
	}
	s.between(f)
	for i := range f.Copies {
		k := Answer
		if f.Copies[i].Data {
			k = Data
		}
		s.copied(f, &f.Copies[i], k)
	}
	s.ends(f.of)
	return nil
}

// trimmed reports whether a packet left a port without its payload.
func trimmed(h result.Hop) bool { return h.Trimmed }

// whole reports whether a copy of a packet arrived with its payload.
func whole(c result.Copy) bool {
	return c.Data && c.End == "arrived" && !slices.ContainsFunc(c.Hops, trimmed)
}

// acks reports whether a copy is an acknowledgement that arrived.
func acks(c result.Copy) bool {
	return !c.Data && c.End == "arrived" && !strings.HasPrefix(c.Kind, "N") && !strings.HasPrefix(c.Kind, "RNR")
}

// completion is a message's last packet, its ACK, and its sender's next action.
func completion(r run, s *Sequence) error {
	f, err := r.followed(func(f *packetOf) bool {
		came, acked := false, false
		for _, c := range f.Copies {
			came, acked = came || whole(c), acked || acks(c)
		}
		return f.last && came && acked
	})
	if errors.Is(err, errNoneFollowed) {
		return errors.New("the run followed no last packet of a message with an answer: run its scenario with --follow 0/+N, N one less than the packets of the first message of queue pair 0")
	}
	if err != nil {
		return err
	}
	m := f.of
	s.Title = fmt.Sprintf("%s from %s to %s complete", bytes(m.Bytes), m.From, m.To)
	s.posted(f)
	var acked int64
	for _, c := range f.Copies {
		if c.End != "arrived" {
			continue
		}
		wait := int64(0)
		for _, h := range c.Hops[1:] {
			wait += h.Left - h.Ready
		}
		detail := fmt.Sprintf("PSN %d, %s, %s in queues", f.PSN, unit.Plural(len(c.Hops)-1, "switch"), dur(wait))
		if c.Data {
			s.add(c.Hops[0].Left, c.EndAt, f.From, f.To, Data, c.Kind, detail)
			if whole(c) {
				s.add(c.EndAt, c.EndAt, f.To, m.To, Here, "writes to memory", "the last packet of "+bytes(m.Bytes))
			}
			continue
		}
		s.add(c.Hops[0].Left, c.EndAt, f.To, f.From, Answer, c.Kind, "for "+detail)
		if acks(c) && acked == 0 {
			acked = c.EndAt
		}
	}
	s.add(acked, acked, f.From, m.From, Here, "completion", "the answer is in: the sender may use its buffer again")
	flows, err := table[result.FlowRow](r, "flows")
	if err != nil {
		return err
	}
	var next *result.FlowRow
	for i := range flows {
		n := &flows[i]
		if n.From == m.To && n.Posted >= m.Done && (next == nil || n.Posted < next.Posted) {
			next = n
		}
	}
	if next != nil {
		s.add(next.Posted, next.Posted, next.From, next.From, Here, "posts "+bytes(next.Bytes),
			"the next transfer, to "+next.To)
	}
	s.ends(m)
	return nil
}

// setup returns the connection data of a traced queue pair's ends.
func setup(r run, s *Sequence) error {
	f, err := r.followed(func(*packetOf) bool { return true })
	if err != nil {
		return err
	}
	s.Timeless = true
	if _, tcp := r.kernel(); tcp {
		sockets(s, f)
		return nil
	}
	s.Title = fmt.Sprintf("Queue pair %d, %s to %s: state of both ends before the first packet", f.QP,
		f.From, f.To)
	s.Notes = append(s.Notes, "A run begins with connected queue pairs: the exchange itself takes no simulated time. railyard rdma allreduce does it over sockets.")
	a, b := f.From, f.To
	s.add(0, 0, a, a, Here, "creates queue pair", fmt.Sprintf("QPN 0x%06x, first PSN %d", f.RequesterQPN, *f.FirstPSN))
	s.add(0, 0, b, b, Here, "creates queue pair", fmt.Sprintf("QPN 0x%06x", f.ResponderQPN))
	s.add(0, 0, b, b, Here, "registers memory", fmt.Sprintf("of %s, rkey 0x%08x", f.of.To, f.RKey))
	s.add(0, 0, a, b, Answer, fmt.Sprintf("QPN 0x%06x, PSN %d", f.RequesterQPN, *f.FirstPSN), "out of band")
	s.add(0, 0, b, a, Answer, fmt.Sprintf("QPN 0x%06x, rkey 0x%08x", f.ResponderQPN, f.RKey), "out of band")
	s.add(0, 0, b, b, Here, "ready to receive (RTR)", fmt.Sprintf("from QPN 0x%06x, PSN %d on", f.RequesterQPN,
		*f.FirstPSN))
	s.add(0, 0, a, a, Here, "ready to receive (RTR)", fmt.Sprintf("from QPN 0x%06x", f.ResponderQPN))
	s.add(0, 0, b, b, Here, "ready to send (RTS)", fmt.Sprintf("ACKs to QPN 0x%06x", f.RequesterQPN))
	s.add(0, 0, a, a, Here, "ready to send (RTS)", fmt.Sprintf("to QPN 0x%06x of %s", f.ResponderQPN, b))
	return nil
}
