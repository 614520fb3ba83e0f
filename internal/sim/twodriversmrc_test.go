package sim

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"railyard/cc"
	"railyard/entropy"
	"railyard/internal/fabric"
	"railyard/internal/rng"
	"railyard/mrc"
	"railyard/param"
	"railyard/rc"
	"railyard/rcudp"
	"railyard/roce"
	"railyard/transport"
	"railyard/unit"
)

// mrcHeaders is the size of a trimmed WRITE: up to its RETH.
const mrcHeaders = roce.BTHLen + 24

// mrcPlan is one MRC connection: its load and its parameters.
type mrcPlan struct {
	faultPlan
	values   param.Values
	mtu      unit.Bytes
	ports    []uint16 // the entropy values
	messages []unit.Bytes
	seed     uint64
	psn      uint32
}

// common returns the settings that both drivers pass to the protocol.
func (f *mrcPlan) common() transport.Common {
	c := transport.Common{MTU: f.mtu, Planes: 1, CC: func(cc.Path) cc.Controller { return f.controller() }}
	for _, p := range f.ports {
		c.EVs = append(c.EVs, uint32(p))
	}
	return c
}

// wired limits the ends of simulated NICs to what the wire format carries, as for the sockets' ends, and to the
// same knowledge of the path.
type wired struct {
	transport.Maker
	f *mrcPlan
}

func (w wired) Peer(cc.Path, uint64) transport.Peer {
	return wiredPeer{w.Maker.Peer(cc.Path{Line: lineRate, MTU: w.f.mtu}, w.f.seed), w.f}
}

func (w wired) Receiver(cc.Path, uint64) transport.Receiver {
	return wiredReceiver{w.Maker.Receiver(cc.Path{Line: lineRate, MTU: w.f.mtu}, w.f.seed)}
}

type wiredPeer struct {
	transport.Peer
	f *mrcPlan
}

func (w wiredPeer) Sender(uint64) transport.Sender { return wiredSender{w.Peer.Sender(w.f.seed)} }

type wiredSender struct{ transport.Sender }

func (w wiredSender) Take(now unit.Time, p *transport.Packet) bool {
	return w.Sender.Take(now, overWire(now, p))
}

type wiredReceiver struct{ transport.Receiver }

func (w wiredReceiver) Take(now unit.Time, p *transport.Packet) bool {
	return w.Receiver.Take(now, overWire(now, p))
}

// overWire returns a packet as decoded from its headers.
func overWire(now unit.Time, p *transport.Packet) *transport.Packet {
	var h, h2 roce.Header
	var m, m2 roce.MRC
	mrc.Encode(p, &h, &m, 1, 2)
	if _, err := m2.Decode(&h2, m.Append(&h, nil)); err != nil {
		panic(err)
	}
	q, ip := new(transport.Packet), transport.Marked|transport.Trimmed|transport.LastHop
	if !mrc.Decode(now, &h2, &m2, int(p.Payload), q) {
		panic(m2.Text(&h2))
	}
	q.EV, q.Plane, q.Flags = p.EV, p.Plane, q.Flags|p.Flags&ip
	return q
}

// sayMRC is a datagram in words. Endpoint operations are numbered by their sender.
func sayMRC(b []byte) string {
	var h roce.Header
	var m roce.MRC
	if _, err := m.Decode(&h, b); err != nil {
		panic(err)
	}
	return textMRC(&h, &m)
}

func textMRC(h *roce.Header, m *roce.MRC) string {
	if h.DestQP == roce.MRCEndpointQP {
		h.PSN = 0
	}
	return m.Text(h)
}

// spelled returns a simulated packet as on the wire, from queue pair 17 to 18 or back. PSNs begin as the sockets'
// ends have agreed.
func (f *mrcPlan) spelled(p transport.Packet, out bool) string {
	from, to := uint16(18), uint16(17)
	if out {
		from, to = to, from
	}
	switch p.Kind {
	case transport.Data:
		p.PSN += f.psn
	case transport.Ack, transport.Nack:
		p.PSN, p.Expect, p.Base = p.PSN+f.psn, p.Expect+f.psn, p.Base+f.psn
	case transport.Answer:
		p.Expect, p.Base = p.Expect+f.psn, p.Base+f.psn
	}
	h := roce.Header{DestQP: uint32(to)}
	var m roce.MRC
	mrc.Encode(&p, &h, &m, from, to)
	if p.Kind == transport.Data { // as in the sockets' request
		h.RKey = 9
		for _, bytes := range f.messages[:p.Message] {
			h.VA += uint64(bytes)
		}
	}
	return textMRC(&h, &m)
}

// simulatedMRC runs the plan in the simulator: two NICs and a switch.
func simulatedMRC(t *testing.T, f *mrcPlan) (log []step) {
	r := load(t, fmt.Sprintf(`
fabric: {kind: rail, hosts: 2, spines: 1, uplinks: 1, pipeline: 300ns,
  host_link: {rate: 100Gbps, delay: %dps}, fabric_link: {rate: 100Gbps, cable: 3m}}
server: {gpus: 1, nics: 1, nic_latency: 0s}
transport: {kind: mrc, mtu: %d}
cc: {algorithm: nscc}
workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-2/gpu-1, bytes: 1B}]}}
`, cable, f.mtu))
	service := &r.Setup.Host.Services[0]
	service.Protocol, service.AcksFirst = wired{mrc.Protocol.New(f.values, f.common()), f}, false
	ports := [2]int32{}
	for i, nic := range r.Graph.NICs {
		ports[i] = r.Port(nic.Links[0], r.Graph.Hosts[nic.Host])
		r.Net.FaultPort(ports[i])
	}
	r.Net.TapPort(ports[0], true)
	r.Net.Tap = func(at unit.Time, port int32, out bool, p *fabric.Packet) {
		if port == ports[0] {
			h := *r.Net.CarriedHeaders()
			log = append(log, step{at, out, f.spelled(h, out), f.port(h.EV)})
		}
	}
	sent := map[int32]int{}
	r.Net.Fault = func(port int32, p *fabric.Packet) fabric.Fate {
		if sent[port]++; port == ports[0] {
			return f.data[sent[port]]
		}
		return f.acks[sent[port]]
	}
	r.Hosts.OnDeliver = func(int32) {}
	r.Hosts.OnFail = func(int32, rc.Status) { t.Error("the simulated connection failed") }
	c := r.Hosts.Connect(0, 0, 1, []int32{ports[0]}, 0, tupleHash, f.psn)
	for _, bytes := range f.messages {
		r.Hosts.Send(c, bytes, 0)
	}
	r.RunUntil(new(bool), 1<<40, nil) // until no event is left
	slices.SortStableFunc(log, func(x, y step) int { return int(min(1, max(-1, x.at-y.at))) })
	return log
}

// port returns the source port of a value: its own, or one of the receiver's random values.
func (f *mrcPlan) port(ev uint32) uint16 {
	if slices.Contains(f.ports, uint16(ev)) {
		return uint16(ev)
	}
	return f.ports[int(ev%uint32(len(f.ports)))]
}

// datagramsMRC runs it through the endpoints of the sockets, with real bytes, over a path with the simulator's
// timing.
func datagramsMRC(t *testing.T, f *mrcPlan) []step {
	var ends [2]*rcudp.Endpoint
	var conns [2]*rcudp.Conn
	all := unit.Bytes(0)
	for _, bytes := range f.messages {
		all += bytes
	}
	data, region := make([]byte, all), make([]byte, all)
	for i := range data {
		data[i] = byte(i * 3)
	}
	mem := rc.NewMemory(1)
	if err := mem.RegisterBuffer(9, 0, region, rc.LocalWrite|rc.RemoteWrite); err != nil {
		t.Fatal(err)
	}
	addr := func(i int) netip.Addr { return netip.AddrFrom4([4]byte{10, 0, 0, byte(i + 1)}) }
	cfg := rc.Config{MTU: int(f.mtu), AckEvery: 1}
	rates := 0
	for i := range ends {
		ends[i] = rcudp.NewEndpoint(rcudp.Config{Addr: addr(i), Carrier: &mrc.Protocol, Trim: &trimmed})
		c := rcudp.NewConn(&cfg, mem, cc.None{Line: lineRate}, lineRate, 1<<40)
		c.QPN, c.DestQPN, c.Peer, c.Paced, c.Ports = uint32(17+i), uint32(18-i), addr(1-i), true, f.ports
		if err := ends[i].Add(c); err != nil {
			t.Fatal(err)
		}
		for _, s := range []rc.State{rc.Init, rc.ReadyToReceive, rc.ReadyToSend} {
			if err := c.Modify(s, f.psn); err != nil {
				t.Fatal(err)
			}
		}
		if i == 1 { // the requester's controller is listened to
			f.heard = nil
		}
		o := rcudp.MRCOptions{Values: f.values, CC: f.common().CC, MTU: int(f.mtu), Theirs: f.psn,
			Seed: f.seed}
		if err := ends[i].CarryMRC(c, &o); err != nil {
			t.Fatal(err)
		}
		c.BeginMRC(f.psn)
		conns[i] = c
	}
	conns[0].OnRate = func(unit.Time, unit.Rate) { rates++ }
	at, done := unit.Bytes(0), 0
	conns[0].OnComplete = func(x rc.Completion) {
		if done++; x.Status != rc.Success || x.ID != uint64(done) {
			t.Errorf("completion %d is %+v", done, x)
		}
	}
	for i, bytes := range f.messages {
		if err := conns[0].Post(&rc.Request{ID: uint64(i + 1), RKey: 9, VA: uint64(at), Len: int64(bytes),
			Data: data[at : at+bytes]}); err != nil {
			t.Fatal(err)
		}
		at += bytes
	}
	p := &path{ends: ends, addr: addr, faults: f.faultPlan}
	for p.step() {
	}
	if !slices.Equal(region, data) || done != len(f.messages) {
		t.Errorf("the bytes differ, or %d of %d messages are complete", done, len(f.messages))
	}
	if rates == 0 {
		t.Error("no rate is told")
	}
	return p.log
}

// drawMRC draws a plan: parameters, congestion control and the fate of each packet.
func drawMRC(seed uint64) *mrcPlan {
	r := rng.New(seed, "two drivers of MRC")
	f := &mrcPlan{values: param.Values{}, mtu: 256 << r.Intn(5), seed: seed,
		psn: uint32(roce.PSNMask - r.Intn(100))}
	for name, v := range mrc.Protocol.Defaults {
		f.values[name] = v
	}
	evs := 4 << r.Intn(5)
	for i := range evs {
		f.ports = append(f.ports, entropy.Port(tupleHash, i))
	}
	f.values["evs"], f.values["active_evs"], f.values["ev_burst"] = evs, 1+r.Intn(evs), 1+r.Intn(4)
	f.values["ack_every"], f.values["ack_delay"] = 1+r.Intn(8), unit.Time(r.Intn(100)*101)*unit.Nanosecond
	f.values["dynamic_range"], f.values["exponential"] = r.Intn(2) > 0, r.Intn(2) > 0
	f.values["retries"], f.values["penalty"] = 64, r.Intn(2)*64
	f.values["psn_range"] = 128 << r.Intn(4)
	if r.Intn(2) > 0 {
		f.values["probe_every"] = unit.Time(5+r.Intn(50)) * unit.Microsecond
	}
	name := mrc.Protocol.Controls[r.Intn(len(mrc.Protocol.Controls))]
	f.control, f.path = cc.Lookup(name).Use("", lineRate), cc.Path{Line: lineRate, MTU: f.mtu}
	f.data, f.acks = map[int]fabric.Fate{}, map[int]fabric.Fate{}
	for i := range 1000 {
		d, a := fate(&r, 4), fate(&r, 10)
		d.Marks, a.Marks = r.Intn(100) < 5, r.Intn(100) < 20 // no end answers the second
		// Answers keep the distance of their packets. Otherwise many would arrive exactly when the port has sent a
		// packet, where drivers may order events differently.
		a.Late += unit.Time(r.Intn(5000)) * 2
		f.data[i], f.acks[i] = d, a
	}
	for range 1 + r.Intn(4) {
		f.messages = append(f.messages, unit.Bytes(1+r.Intn(60_000)))
	}
	return f
}

// MRC under random schedules of loss, trimming, repetition, marks, delay and thus reordering, in both directions,
// with random parameters and every congestion control. The simulated NICs and the sockets' endpoint send equal
// packets at the same picosecond, with equal verdicts, stamps and source ports. The congestion controls have equal
// inputs. One plane only, because the NIC or the kernel decides which of several is free.
func TestTwoDriversOfMRC(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(220) {
		f := drawMRC(seed)
		var told, heard []string
		f.heard = &told
		a := simulatedMRC(t, f)
		f.heard = &heard
		b := datagramsMRC(t, f)
		for i := range min(len(a), len(b)) {
			if !a[i].out { // for either driver
				a[i].port, b[i].port = 0, 0
			}
			if a[i] != b[i] {
				t.Fatalf("seed %d, step %d: the simulator has %+v, the sockets' endpoint %+v", seed, i,
					a[i], b[i])
			}
			words := strings.Fields(a[i].text)
			seen[words[0]+" "+words[1]]++
			for _, w := range []string{"again", "TRIMMED", "SKIP_ONCE"} {
				if strings.Contains(a[i].text, w) {
					seen[w]++
				}
			}
		}
		if len(a) != len(b) || len(a) == 0 {
			t.Fatalf("seed %d: %d and %d steps", seed, len(a), len(b))
		}
		if !slices.Equal(told, heard) {
			i := 0
			for i < min(len(told), len(heard)) && told[i] == heard[i] {
				i++
			}
			t.Fatalf("seed %d: the simulator tells the controller %q, the sockets' endpoint %q", seed,
				told[max(0, i-3):min(i+1, len(told))], heard[max(0, i-3):min(i+1, len(heard))])
		}
	}
	for what, least := range map[string]int{"MRC WRITE": 10000, "MRC SACK": 5000, "MRC NACK": 300,
		"MRC Probe": 300, "MRC Endpoint": 900, "again": 1000, "TRIMMED": 300, "SKIP_ONCE": 500} {
		if seen[what] < least {
			t.Errorf("%d times %s: the schedules are too tame", seen[what], what)
		}
	}
}
