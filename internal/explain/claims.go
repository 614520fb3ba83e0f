package explain

import (
	"fmt"

	"railyard/internal/cause"
	"railyard/unit"
)

// claims divides times further among the causes of extensions. Each of them claims a part of a built-in cause's
// time in a message, and receives at most the available time. A step or collective has the claims of the messages
// on its chain, the last one of each operation. No time counts twice, and the sum stays.
type claims struct {
	b     *blamer
	known *cause.Facts
	can   map[cause.ID]bool // a run without the cause exists
	paths map[int32]hopsOf  // by connection
	wrong map[cause.ID]bool // causes with a claim that no message can have lost
	notes []string
}

// hopsOf is a connection's path, and the port of each hop.
type hopsOf struct {
	hops  []cause.Hop
	ports []int32
}

// newClaims returns the claims of the causes that extensions have added, nil without any.
func (b *blamer) newClaims(known *cause.Facts) *claims {
	if len(cause.FromOutside()) == 0 {
		return nil
	}
	k := &claims{b: b, known: known, can: map[cause.ID]bool{}, paths: map[int32]hopsOf{}, wrong: map[cause.ID]bool{}}
	for _, c := range cause.FromOutside() {
		w := c.Without(known)
		k.can[c.ID] = w.IsPossible()
	}
	return k
}

// path divides the time of a chain that ends with an operation, and records claims above the available time.
func (k *claims) path(to *cause.Account, last int32, from unit.Time) {
	if k == nil {
		return
	}
	messages := k.along(last, from, -1)
	for _, c := range cause.FromOutside() {
		of := c.From.Get().Name
		there, claimed := unit.Time(to.Own[c.From]), k.sum(c, messages)
		if got := to.Take(c, claimed, k.can[c.ID]); got < claimed {
			k.notes = append(k.notes, fmt.Sprintf(
				"%s: %s claimed out of %s on the critical path, which has %s: the claim is cut to that", c.Name, claimed.Show(),
				of, there.Show()))
		}
	}
}

// collective divides the time of a collective that ends with an operation.
func (k *claims) collective(to *cause.Account, last int32, from unit.Time, c int32) {
	if k != nil {
		k.take(to, k.along(last, from, c))
	}
}

// message divides the time of a message.
func (k *claims) message(to *cause.Account, x int32) {
	if k != nil {
		k.take(to, []int32{x})
	}
}

func (k *claims) take(to *cause.Account, messages []int32) {
	for _, c := range cause.FromOutside() {
		to.Take(c, k.sum(c, messages), k.can[c.ID])
	}
}

func (k *claims) sum(c *cause.Cause, messages []int32) (sum unit.Time) {
	for _, x := range messages {
		lost, _ := k.of(c, x)
		sum += lost
	}
	return sum
}

// along lists the last message of each operation that one waited for, back to a time; of a collective alone unless only
// is -1.
func (k *claims) along(last int32, from unit.Time, only int32) (messages []int32) {
	x, next := k.b.r.exec, only
	for op, t := last, unit.Never; op >= 0 && t > from; op = x.Cause[op] {
		o := &k.b.r.dag.Ops[op]
		if only >= 0 && o.Coll != only && !synchronises(k.b.r.dag, o, next) {
			break
		}
		if m := k.b.lastMessage(op); m >= 0 {
			messages = append(messages, m)
		}
		t, next = x.Start[op], o.Coll
	}
	return messages
}

// of returns the time that a message lost to a cause, and the port, -1 for none. A claim below 0 or above the message's
// time is cut, and noted once.
func (k *claims) of(c *cause.Cause, x int32) (lost unit.Time, port int32) {
	m := k.seen(x)
	lost, hop := c.Claim(k.known, &m)
	took := m.Done - m.Posted
	if (lost < 0 || lost > took) && !k.wrong[c.ID] {
		k.wrong[c.ID] = true
		k.notes = append(k.notes, fmt.Sprintf("%s: %s claimed of a message from %s to %s that took %s: such claims are cut",
			c.Name, lost.Show(), m.From, m.To, took.Show()))
	}
	if port = -1; hop >= 0 && hop < len(m.Hops) {
		port = k.paths[k.b.r.seen.Messages[x].Conn].ports[hop]
	}
	return min(max(lost, 0), max(took, 0)), port
}

// evidence describes a message's loss to a cause.
func (k *claims) evidence(c *cause.Cause, x int32) string {
	text := c.Name
	if x < 0 {
		return text
	}
	m := k.seen(x)
	_, hop := c.Claim(k.known, &m)
	if hop >= len(m.Hops) {
		hop = -1
	}
	if c.Evidence != nil {
		return text + ": " + c.Evidence(&m, hop)
	}
	if hop >= 0 {
		text += " at " + k.b.r.portName(k.paths[k.b.r.seen.Messages[x].Conn].ports[hop])
	}
	return text
}

// seen returns the view of a message for a cause of an extension.
func (k *claims) seen(x int32) cause.Message {
	r := k.b.r
	m := &r.seen.Messages[x]
	p, ok := k.paths[m.Conn]
	if !ok {
		p = k.crosses(m.Conn)
		k.paths[m.Conn] = p
	}
	op := &r.dag.Ops[m.Op]
	return cause.Message{From: r.graph.GPUName(int(op.Rank)), To: r.graph.GPUName(int(op.Peer)), Bytes: m.Bytes,
		Posted: m.Posted, Done: k.b.share.done(x), Retransmitted: int64(r.trouble(x).Again), Hops: p.hops}
}

// crosses returns the path of a connection: the ports that hashing gave it, or hop by hop those among which its packets
// choose.
func (k *claims) crosses(conn int32) (p hopsOf) {
	r := k.b.r
	add := func(ports []int32) {
		for _, port := range ports {
			at := &r.seen.Ports[port]
			l, from, to := &r.graph.Links[at.Link], &r.graph.Nodes[at.Node], r.peer(port)
			p.ports = append(p.ports, port)
			p.hops = append(p.hops, cause.Hop{From: from.Name, To: to.Name, FromTier: from.Tier, ToTier: to.Tier,
				Share: 1 / float64(len(ports)),
				Cable: cause.Cable{Rate: l.Rate, LengthMM: l.LengthMM, Delay: l.Propagation()}})
		}
	}
	if r.seen.Rules.Hashed && !r.seen.Rules.SpreadsNIC {
		for _, port := range r.seen.Ways.Path(conn) {
			add([]int32{port})
		}
		return p
	}
	src, _ := r.seen.peers(conn)
	if r.seen.Rules.SpreadsNIC {
		add(k.b.share.nicPorts(src, true))
	} else {
		add([]int32{r.seen.Conns[conn].Port})
	}
	for _, ports := range r.seen.Ways.Choices(conn) {
		add(ports)
	}
	return p
}
