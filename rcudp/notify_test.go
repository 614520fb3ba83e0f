package rcudp

import (
	"net/netip"
	"testing"

	"railyard/cc"
	"railyard/internal/rng"
	"railyard/rc"
	"railyard/roce"
	"railyard/unit"
)

// notifyWorld is two connected ends whose memory under key holds 16 KiB.
func notifyWorld(t *testing.T) *world {
	cfg := &rc.Config{MTU: 1024, AckEvery: 1, Timeout: rc.LocalAckTimeout(14), Retries: 7, Reads: 4,
		ReadsIn: 4, RNRRetries: 7}
	stream := rng.New(1, "notify")
	mem := [2]*rc.Memory{rc.NewMemory(1), rc.NewMemory(1)}
	if err := mem[1].RegisterBuffer(key, base, make([]byte, regionSize),
		rc.LocalWrite|rc.RemoteWrite|rc.RemoteRead); err != nil {
		t.Fatal(err)
	}
	return newWorld(cfg, &stream, faults{}, 1<<20, [2]uint32{5, 5}, mem)
}

// CE on data in either direction is answered with a CNP. On an acknowledgement or a CNP it is only counted, as in
// the simulated NIC.
func TestNotificationsAreForData(t *testing.T) {
	for _, c := range []struct {
		what string
		verb rc.Verb
		op   roce.Opcode // the packet that is marked in flight
		from int         // its sender
		cnps int64       // from the other end
	}{
		{"a WRITE", rc.Write, roce.WriteOnly, 0, 1},
		{"READ data", rc.Read, roce.ReadRespOnly, 1, 1},
		{"a READ request", rc.Read, roce.ReadRequest, 0, 1},
		{"an ACK", rc.Write, roce.Acknowledge, 1, 0},
		{"a CNP", rc.Write, roce.CNP, 1, 0},
	} {
		w := notifyWorld(t)
		w.now = unit.Second
		w.spy = func(from int, d *Datagram) bool {
			op := roce.Opcode(d.Head[0])
			// a CNP needs a reason
			if from == c.from && op == c.op || c.op == roce.CNP && op == roce.WriteOnly {
				d.TOS |= ce
			}
			return false
		}
		if err := w.conns[0].Post(&rc.Request{Verb: c.verb, VA: base, RKey: key, Len: 100,
			Data: make([]byte, 100)}); err != nil {
			t.Fatal(err)
		}
		for w.step() {
		}
		to := w.ends[1-c.from]
		if to.Count.CE != 1 || to.Count.CNPsSent != c.cnps || to.Count.BadICRC != 0 {
			t.Errorf("CE on %s: %d marks, %d CNPs, want 1 and %d", c.what, to.Count.CE,
				to.Count.CNPsSent, c.cnps)
		}
	}
}

// A connection that restarts keeps nothing of the earlier one: neither its rate, nor its pacing debt, nor its
// destination address.
func TestRestart(t *testing.T) {
	line := 100 * unit.Gbps
	dcqcn := func() cc.Controller {
		p := cc.DCQCNPaper(line)
		return cc.NewDCQCN(&p, line)
	}
	cfg := &rc.Config{MTU: 1024, AckEvery: 1}
	c := NewConn(cfg, rc.NewMemory(1), dcqcn(), line, 4096)
	c.SetPeer(netip.MustParseAddr("10.0.0.1"))
	if first := c.addr(0).String(); first != "10.0.0.1:4791" {
		t.Fatal(first)
	}
	var seen []unit.Rate
	c.OnRate = func(_ unit.Time, r unit.Rate) { seen = append(seen, r) }
	c.CNPs, c.CE, c.Timeouts = 1, 2, 3
	c.notified(unit.Millisecond)
	c.sent(unit.Millisecond, 1<<20)
	if c.Rate() >= line || c.pace.NextAt <= unit.Millisecond || c.pace.Timer == unit.Never {
		t.Fatalf("a CNP left %v, next at %v", c.Rate(), c.pace.NextAt)
	}
	c.Restart(2*unit.Millisecond, dcqcn(), 8192)
	c.SetPeer(netip.MustParseAddr("10.0.0.2"))
	if c.Rate() != line || c.pace.NextAt != 0 || c.pace.Timer != unit.Never || c.maxInFlight != 8192 ||
		c.CNPs+c.CE+c.Timeouts != 0 {
		t.Errorf("after a restart %v, next at %v, timer %v, %d under way", c.Rate(), c.pace.NextAt,
			c.pace.Timer, c.maxInFlight)
	}
	if a := c.addr(0).String(); a != "10.0.0.2:4791" {
		t.Errorf("it still sends to %s", a)
	}
	if len(seen) != 2 || seen[1] != line {
		t.Errorf("rates seen: %v", seen)
	}
}
