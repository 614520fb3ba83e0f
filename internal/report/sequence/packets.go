package sequence

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"railyard/internal/result"
	"railyard/unit"
)

// errNoneFollowed says how a run follows packets.
var errNoneFollowed = errors.New("the run followed no such packet: run its scenario with --follow 0/+400 " +
	"(the packet of queue pair 0 behind its first 400)")

// followed returns the first followed packet that is wanted, and the message of its queue pair that it is of.
func (r run) followed(want func(*result.Followed) bool) (*result.Followed, *result.FlowRow, error) {
	all, err := result.ReadFollowed(r.Dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil, errNoneFollowed
	}
	if err != nil {
		return nil, nil, err
	}
	i := slices.IndexFunc(all, func(f result.Followed) bool { return f.From != "" && len(f.Copies) > 0 && want(&f) })
	if i < 0 {
		return nil, nil, errNoneFollowed
	}
	f := &all[i]
	if err := r.sound(f); err != nil {
		return nil, nil, err
	}
	flows, err := table[result.FlowRow](r, "flows")
	if err != nil {
		return nil, nil, err
	}
	var of *result.FlowRow // the last message that was posted before the packet left
	for i := range flows {
		m := &flows[i]
		if m.QP == f.QP && m.Posted <= f.Copies[0].Hops[0].Left && (of == nil || m.Posted >= of.Posted) {
			of = m
		}
	}
	if of == nil {
		return nil, nil, fmt.Errorf("flows.parquet has no message of queue pair %d: it is of another run", f.QP)
	}
	return f, of, nil
}

// sound refuses a followed packet whose ports the run does not have.
func (r run) sound(f *result.Followed) error {
	for _, c := range f.Copies {
		if len(c.Hops) == 0 {
			return errors.New("followed.json is damaged: a packet left no port")
		}
	}
	return nil
}

// data reports whether a copy is of the packet itself, not of an answer to it.
func data(f *result.Followed, c *result.Copy) bool {
	return c.Hops[0].Name[:strings.IndexByte(c.Hops[0].Name+":", ':')] == server(f.From)
}

// node is where a port sends from, and peer where to: "rail-1:Eth5 → spine-1".
func node(port string) string { name, _, _ := strings.Cut(port, ":"); return name }
func peer(port string) string { _, name, _ := strings.Cut(port, " → "); return name }

// nicOr is a NIC's name in place of its server's.
func nicOr(f *result.Followed, node string) string {
	switch node {
	case server(f.From):
		return f.From
	case server(f.To):
		return f.To
	}
	return node
}

// between adds the lanes of a followed packet: its sender's, the switches on its ways, its receiver's.
func (s *Sequence) between(f *result.Followed) {
	s.lane(f.From)
	for _, answers := range []bool{false, true} {
		for i := range f.Copies {
			if c := &f.Copies[i]; data(f, c) != answers {
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
func (s *Sequence) copied(f *result.Followed, c *result.Copy, kind Kind) {
	label := c.Kind
	if c.Again {
		label += ", retransmitted"
	}
	for i, h := range c.Hops {
		from, to := nicOr(f, node(h.Name)), nicOr(f, peer(h.Name))
		detail := ""
		switch {
		case i == 0:
			detail = fmt.Sprintf("PSN %d, %s", f.PSN, bytes(int64(c.Bytes)))
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

// packet is one packet from the GPU that posted its message to the GPU that has it.
func packet(r run, s *Sequence) error {
	f, m, err := r.followed(func(f *result.Followed) bool {
		return slices.ContainsFunc(f.Copies, func(c result.Copy) bool { return c.End == "arrived" && data(f, &c) })
	})
	if err != nil {
		return err
	}
	s.Title = fmt.Sprintf("Packet %s of queue pair %d, %s to %s", f.Asked, f.QP, m.From, m.To)
	s.lane(m.From)
	s.between(f)
	s.add(m.Posted, m.Posted, m.From, f.From, Here, "posts "+bytes(m.Bytes), fmt.Sprintf("queue pair %d", f.QP))
	for i := range f.Copies {
		c := &f.Copies[i]
		if !data(f, c) {
			s.copied(f, c, Answer)
			continue
		}
		s.copied(f, c, Data)
		if c.End == "arrived" {
			s.add(c.EndAt, c.EndAt, f.To, m.To, Here, "writes to memory", fmt.Sprintf("%s later than it left its NIC",
				dur(c.EndAt-c.Hops[0].Left)))
		}
	}
	s.ends(m)
	return nil
}

// ends adds the end of a message, and puts steps in order.
func (s *Sequence) ends(m *result.FlowRow) {
	if m.Done >= 0 {
		s.add(m.Done, m.Done, m.To, m.To, Here, "message complete", fmt.Sprintf("%s after it was posted; %s at line rate",
			dur(m.Done-m.Posted), dur(m.Ideal)))
	}
	s.sort()
}

func (s *Sequence) sort() {
	slices.SortStableFunc(s.Steps, func(a, b Step) int { return int(min(1, max(-1, a.At-b.At))) })
}

// naks is a packet that was retransmitted.
func naks(r run, s *Sequence) error {
	f, m, err := r.followed(func(f *result.Followed) bool {
		n := 0
		for i := range f.Copies {
			if data(f, &f.Copies[i]) {
				n++
			}
		}
		return n > 1
	})
	if errors.Is(err, errNoneFollowed) {
		if d := r.Summary.FirstDrop; d != nil {
			return fmt.Errorf("the run followed no retransmitted packet; the first that was lost, at %s, is followed by "+
				"a run with --follow %s", d.Port, d.Packet)
		}
		return errors.New("no packet of this run was lost")
	}
	if err != nil {
		return err
	}
	s.Title = fmt.Sprintf("Packet %s of queue pair %d is lost and retransmitted", f.Asked, f.QP)
	s.between(f)
	for i := range f.Copies {
		k := Data
		if !data(f, &f.Copies[i]) {
			k = Answer
		}
		s.copied(f, &f.Copies[i], k)
	}
	s.ends(m)
	return nil
}

// completion is a message's last packet, its ACK, and what its sender does next.
func completion(r run, s *Sequence) error {
	f, m, err := r.followed(func(f *result.Followed) bool {
		last, acked := false, false
		for _, c := range f.Copies {
			done := c.End == "arrived"
			last = last || done && (strings.HasSuffix(c.Kind, "Last") || strings.HasSuffix(c.Kind, "Only"))
			acked = acked || done && !data(f, &c)
		}
		return last && acked
	})
	if errors.Is(err, errNoneFollowed) {
		return errors.New("the run followed no last packet of a message to its ACK: run its scenario with --follow 0/+N, " +
			"N one less than the packets of the first message of queue pair 0")
	}
	if err != nil {
		return err
	}
	s.Title = fmt.Sprintf("%s from %s to %s complete", bytes(m.Bytes), m.From, m.To)
	s.add(m.Posted, m.Posted, m.From, f.From, Here, "posts "+bytes(m.Bytes), fmt.Sprintf("queue pair %d", f.QP))
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
		if data(f, &c) {
			s.add(c.Hops[0].Left, c.EndAt, f.From, f.To, Data, c.Kind, detail)
			s.add(c.EndAt, c.EndAt, f.To, m.To, Here, "writes to memory", "the last of "+bytes(m.Bytes))
			continue
		}
		s.add(c.Hops[0].Left, c.EndAt, f.To, f.From, Answer, c.Kind, detail)
		acked = c.EndAt
	}
	s.add(acked, acked, f.From, m.From, Here, "completion", "the ACK is in: the sender may use its buffer again")
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

// setup is what the ends of a followed queue pair know of each other.
func setup(r run, s *Sequence) error {
	f, m, err := r.followed(func(f *result.Followed) bool { return f.FirstPSN > 0 })
	if err != nil {
		return err
	}
	s.Title, s.Timeless = fmt.Sprintf("Queue pair %d, %s to %s: what both ends know before the first packet", f.QP,
		f.From, f.To), true
	s.Notes = append(s.Notes, "A run begins with connected queue pairs: the exchange itself takes no simulated time. "+
		"railyard rdma allreduce does it over sockets.")
	a, b := f.From, f.To
	s.add(0, 0, a, a, Here, "creates queue pair", fmt.Sprintf("QPN 0x%06x, first PSN %d", f.RequesterQPN, f.FirstPSN))
	s.add(0, 0, b, b, Here, "creates queue pair", fmt.Sprintf("QPN 0x%06x", f.ResponderQPN))
	s.add(0, 0, b, b, Here, "registers memory", fmt.Sprintf("of %s, rkey 0x%08x", m.To, f.RKey))
	s.add(0, 0, a, b, Answer, fmt.Sprintf("QPN 0x%06x, PSN %d", f.RequesterQPN, f.FirstPSN), "out of band")
	s.add(0, 0, b, a, Answer, fmt.Sprintf("QPN 0x%06x, rkey 0x%08x", f.ResponderQPN, f.RKey), "out of band")
	s.add(0, 0, a, a, Here, "ready to send", fmt.Sprintf("to QPN 0x%06x of %s", f.ResponderQPN, b))
	s.add(0, 0, b, b, Here, "ready to receive", fmt.Sprintf("from QPN 0x%06x of %s", f.RequesterQPN, a))
	return nil
}
