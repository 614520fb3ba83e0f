package host

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"railyard/cc"
	"railyard/internal/fabric"
	"railyard/internal/queue"
	"railyard/rc"
	"railyard/roce"
	"railyard/unit"
)

// watched is a lab that checks every packet leaving a NIC. No packet is in a paused class, packets of a queue pair
// are in order, and strict classes are first. A weighted class waits for at most the shares of the others.
type watched struct {
	*lab
	*rapid.T
	next   []uint32                // by connection: PSN of its next new packet
	passed map[[2]int32]unit.Bytes // by ring and class: bytes that others have sent while it waited
}

// draw makes random NICs with services, classes, weights, bundles, PCIe and recovery.
func draw(t *testing.T, rt *rapid.T) *watched {
	between := func(what string, low, high int) int { return rapid.IntRange(low, high).Draw(rt, what) }
	paper := cc.DCQCNPaper(rate)
	cables := rapid.SliceOfN(rapid.IntRange(1, 2), 2, 4).Draw(rt, "cables")
	w := &watched{T: rt, passed: map[[2]int32]unit.Bytes{}}
	w.lab = newLab(t, func(c *Config, s *queue.Spec) {
		c.RC.Timeout, c.RC.Retries = rc.LocalAckTimeout(16), 7
		c.RC.AckEvery, c.Bond = between("ack every", 1, 32), Bond(between("bond", 0, 2))
		if c.Bond == BondSpray || between("selective", 0, 1) == 1 {
			c.RC.Recovery, c.RC.Window, c.RC.NakAfter, c.RC.WriteOnly = rc.Selective, 512, 64, true
		}
		if between("slow PCIe", 0, 3) == 0 {
			c.PCIe, c.RxXOff, c.RxXOn = rate/2, 100*unit.KB, 50*unit.KB
		}
		c.Strict = uint8(between("strict", 0, 255)) & uint8(between("and", 0, 255)) &^ 0x81
		c.Services = nil
		for i := range between("services", 1, 4) {
			class := between("class", 1, 5) // class 6 has grants and CNPs, which a marking queue would drop
			sv := Service{Name: fmt.Sprint(i), DSCP: uint8(8*class + i), Class: uint8(class)}
			sv.CNPDSCP, sv.CNPClass = 48, 7
			s.DSCP[sv.DSCP], s.Queues[class] = sv.Class, s.Queues[3]
			switch between("congestion control", 0, 2) {
			case 1:
				a := cc.Lookup("eqds")
				profile := rapid.SampledFrom([]string{"trimming", "request"}).Draw(rt, "profile")
				v := a.Profile(profile).Values(rate)
				sv.CC, sv.Credit = a.New(v), a.Credit(v)
			case 2:
				sv.CNPs, sv.CNPGap = true, 50*unit.Microsecond
				sv.CC = func(p cc.Path) cc.Controller { return cc.NewDCQCN(&paper, p.Line) }
				q := &s.Queues[class].WRED
				q.Min, q.Max, q.Probability, q.ECN = 50*unit.KB, 200*unit.KB, 0.2, true
			}
			c.Services = append(c.Services, sv)
		}
		for class := range c.Weights {
			c.Weights[class] = between("weight", 0, 5) * between("times", 1, 20)
		}
	}, cables...)
	w.Net.Tap = w.look
	for i := range w.nics {
		for _, p := range w.nics[i].ports {
			w.Net.TapPort(p, true)
		}
	}
	w.Net.TapPFC = func(unit.Time, int32, bool, int, int) {}
	return w
}

// look processes a packet that leaves or enters a NIC.
func (w *watched) look(at unit.Time, port int32, out bool, p *fabric.Packet) {
	if !out {
		return
	}
	paused := w.Net.Ports[port].Paused
	if p.Opcode == roce.Acknowledge || p.Opcode == roce.CNP || p.Opcode >= roce.CreditGrant {
		if paused&(1<<p.Class) != 0 {
			w.Fatalf("%v: %v goes by port %d in class %d, which is paused", at, p.Opcode, port, p.Class)
		}
		return
	}
	class := w.Service(p.QP).Class
	if paused&(1<<class) != 0 {
		w.Fatalf("%v: data of queue pair %d goes by port %d, whose class %d is paused", at, p.QP, port, class)
	}
	if p.Flags&fabric.FlagAgain == 0 {
		if p.PSN != w.next[p.QP] {
			w.Fatalf("%v: queue pair %d sends %d, its next is %d", at, p.QP, p.PSN, w.next[p.QP])
		}
		w.next[p.QP]++
	}
	own := w.rings.owner[port]
	delete(w.passed, [2]int32{own, int32(class)})
	for c := range uint8(classes) {
		if c != class && w.rings.waiting[own]&^paused&(1<<c) != 0 {
			w.passes(at, own, class, c, unit.Bytes(p.Size))
		}
	}
}

// passes is called when a packet of one class is sent while another class waits and is not paused.
func (w *watched) passes(at unit.Time, ring int32, class, waits uint8, size unit.Bytes) {
	strict := func(c uint8) bool { return w.cfg.Strict&(1<<c) != 0 }
	weight := func(c uint8) unit.Bytes { return 256 * unit.Bytes(w.cfg.Weights[c]) }
	switch {
	case strict(waits) && (!strict(class) || class < waits),
		!strict(class) && !strict(waits) && weight(class) == 0 && (weight(waits) > 0 || class < waits):
		w.Fatalf("%v: class %d goes while class %d waits", at, class, waits)
	case strict(class) || strict(waits) || weight(waits) == 0:
		return // strict priority and weight 0 may starve a class
	}
	const largest = 4200
	rounds, most := largest/weight(waits)+1, unit.Bytes(0) // until it has no debt
	for c := range uint8(classes) {
		if c != waits && !strict(c) && weight(c) > 0 && w.rings.base[c] >= 0 {
			most += (rounds+1)*weight(c) + largest
		}
	}
	key := [2]int32{ring, int32(waits)}
	if w.passed[key] += size; w.passed[key] > most {
		w.Fatalf("%v: %v have gone while class %d waits, its share leaves %v", at, w.passed[key], waits, most)
	}
}

// For random services, weights, bundles, PCIe and pauses, the rules of watched hold, every byte arrives once, and
// nothing is left over.
func TestAnyNIC(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := draw(t, rt)
		between := func(what string, low, high int) int { return rapid.IntRange(low, high).Draw(rt, what) }
		var sent []unit.Bytes
		for i := range between("queue pairs", 1, 8) {
			src := int32(between("from", 0, len(w.nics)-1))
			dst := (src + int32(between("to", 1, len(w.nics)-1))) % int32(len(w.nics))
			service := between("service", 0, len(w.cfg.Services)-1)
			w.next = append(w.next, 100)
			w.Connect(service, src, dst, w.nics[src].ports, int32(i), uint32(i)*2654435761, 100)
			sent = append(sent, 0)
		}
		messages, now := 0, unit.Time(0)
		for range between("steps", 1, 12) {
			c := between("which", 0, len(sent)-1)
			bytes := unit.Bytes(between("bytes", 0, 300_000))
			w.Send(int32(c), bytes, 0)
			sent[c] += bytes
			messages++
			now += unit.Time(between("then", 0, 20_000)) * unit.Nanosecond
			w.run(now)
			if between("pause", 0, 2) == 0 {
				ports := w.nics[between("whom", 0, len(w.nics)-1)].ports
				far := w.Net.Ports[ports[between("port", 0, len(ports)-1)]].Peer
				class := between("priority", 1, 7)
				w.Net.SendPause(far, class)
				now += unit.Time(between("for", 1, 20_000)) * unit.Nanosecond
				w.run(now)
				w.Net.SendResume(far, class)
			}
		}
		for range 100 {
			if now += 10 * unit.Millisecond; len(w.ends) < messages {
				w.run(now)
			}
		}
		w.run(now + unit.Millisecond)
		for c, bytes := range sent {
			if w.Placed(int32(c)) != bytes {
				rt.Errorf("queue pair %d has placed %v of %v", c, w.Placed(int32(c)), bytes)
			}
		}
		if len(w.ends) != messages || len(w.lost) > 0 || w.Net.InUse() != 0 || w.Net.Drops != 0 {
			rt.Fatalf("%d of %d messages ended, %d queue pairs failed; %d packets are left, %d lost",
				len(w.ends), messages, len(w.lost), w.Net.InUse(), w.Net.Drops)
		}
		for p, waiting := range w.rings.waiting {
			if waiting != 0 {
				rt.Errorf("classes %#x of port %d still wait", waiting, p)
			}
		}
	})
}
