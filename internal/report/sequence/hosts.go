package sequence

import (
	"fmt"
	"slices"

	"railyard/unit"
)

// kernel reports whether a run's messages use the kernel's TCP, and returns its settings in words.
func (r run) kernel() (set func(key string) string, ok bool) {
	set = func(key string) string {
		text := r.Manifest.Resolved["transport.tcp."+key]
		if t, err := unit.ParseTime(text); err == nil {
			return t.Show()
		}
		if rate, err := unit.ParseRate(text); err == nil {
			return rate.Show()
		}
		if b, err := unit.ParseBytes(text); err == nil {
			return b.Show()
		}
		return text
	}
	return set, r.Manifest.Resolved["transport.kind"] == "tcp"
}

// hosts is the path of a message's bytes inside both servers: through the kernel, or through NICs that access GPU
// memory.
func hosts(r run, s *Sequence) error {
	f, err := r.followed(func(f *packetOf) bool { return slices.ContainsFunc(f.Copies, whole) })
	if err != nil {
		return err
	}
	m := f.of
	at := slices.IndexFunc(f.Copies, whole)
	left, came := f.Copies[at].Hops[0].Left, f.Copies[at].EndAt
	wire := func() {
		s.add(left, came, f.From, f.To, Data, "through the fabric", fmt.Sprintf("packet %s, %s", f.Asked,
			bytes(int64(f.Copies[at].Bytes))))
	}
	s.lane(m.From)
	set, ok := r.kernel()
	if !ok {
		s.Title = fmt.Sprintf("%s from %s to %s: no copies in the hosts", bytes(m.Bytes), m.From, m.To)
		s.posted(f)
		s.add(left, left, m.From, f.From, Data, "NIC reads GPU memory", "by DMA")
		wire()
		s.add(came, came, f.To, m.To, Data, "NIC writes GPU memory", "by DMA, without a core")
		s.ends(m)
		return nil
	}
	a, b := server(m.From), server(m.To)
	direct := set("gpudirect") == "true"
	sender, receiver := a+" core", b+" core"
	if direct {
		s.add(m.Posted, m.Posted, m.From, sender, Here, "system calls", fmt.Sprintf("%s for each %s", set("system_call"),
			set("chunk")))
	} else {
		s.add(m.Posted, m.Posted, m.From, a+" memory", Data, "DMA to host memory", fmt.Sprintf("at %s after %s",
			set("stage"), set("stage_latency")))
		s.add(m.Posted, m.Posted, a+" memory", sender, Data, "copied to the socket", fmt.Sprintf(
			"at %s, a system call of %s for each %s", set("copy"), set("system_call"), set("chunk")))
	}
	s.add(left, left, sender, f.From, Data, "TCP segment", set("send_packet")+" of the core")
	wire()
	s.add(came, came, f.To, receiver, Data, "interrupt", fmt.Sprintf("within %s, then %s of the core for each packet",
		set("interrupt"), set("receive_packet")))
	if direct {
		s.add(came, came, receiver, m.To, Here, "wakes the program", "in "+set("wakeup"))
	} else {
		s.add(came, came, receiver, b+" memory", Data, "copied to the program", "at "+set("copy"))
		s.add(came, came, b+" memory", m.To, Data, "DMA to GPU memory", fmt.Sprintf("at %s after %s", set("stage"),
			set("stage_latency")))
	}
	s.ends(m)
	copies := int64(0)
	for i := range r.Summary.Control {
		copies += r.Summary.Control[i].Counted("copied_bytes")
	}
	times := 0.0
	if n := r.Summary.NetworkBytes; n > 0 {
		times = float64(copies) / float64(n)
	}
	s.Title = fmt.Sprintf("%s from %s to %s through the kernel: %.3g copies of each byte", bytes(m.Bytes), m.From, m.To,
		times)
	s.Notes = append(s.Notes,
		"Times are of posting, of the packet on the wire and of completion; hosts work in between.")
	return nil
}

// sockets describes how two ends of a TCP connection identify each other.
func sockets(s *Sequence, f *packetOf) {
	a, b := f.From, f.To
	s.Title = fmt.Sprintf("Connection %d, %s to %s: state of both ends before the first segment", f.QP, a, b)
	s.add(0, 0, b, b, Here, "listens", "a socket of the program")
	s.add(0, 0, a, b, Answer, "SYN", fmt.Sprintf("first sequence number %d", *f.FirstPSN))
	s.add(0, 0, b, a, Answer, "SYN, ACK", "")
	s.add(0, 0, a, b, Answer, "ACK", "connected")
	s.Notes = append(s.Notes,
		"A run begins with connected sockets: the handshake takes no simulated time. No memory is registered: the kernel copies each byte.")
}
