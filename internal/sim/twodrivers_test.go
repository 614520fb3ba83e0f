package sim

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"railyard/cc"
	"railyard/entropy"
	"railyard/internal/fabric"
	"railyard/internal/host"
	"railyard/internal/long"
	"railyard/internal/rng"
	"railyard/internal/story"
	"railyard/rc"
	"railyard/rcudp"
	"railyard/roce"
	"railyard/unit"
)

// step is one packet at the requester's port, sent or received.
type step struct {
	at   unit.Time
	out  bool
	text string
	port uint16 // UDP source port
}

func say(op roce.Opcode, psn uint32, s roce.Syndrome) string {
	if op == roce.Acknowledge {
		return fmt.Sprintf("%v %d", s, psn)
	}
	return fmt.Sprintf("%v %d", op, psn)
}

// faultPlan sets the path's faults of data packets and acknowledgements, by the order of sending.
type faultPlan struct {
	data, acks map[int]fabric.Fate
	control    cc.Make  // nil: no congestion control
	credit     cc.Terms // of receivers, if it needs credit
	path       cc.Path
	cnps       bool
	every      int // interval of packets that request an acknowledgement; 0: unchanged
	cnpGap     unit.Time
	heard      *[]string    // inputs of the controller; nil: not recorded
	ports      int          // number of UDP source ports that either end uses in turn; 0: one
	choice     entropy.Make // choice of source ports; nil: in turn
}

// trimmed are the DSCPs of packets that the path trims.
var trimmed = rcudp.TrimDSCP{DSCP: 46, LastHop: 47}

// controller returns a sender's congestion control.
func (f *faultPlan) controller() cc.Controller {
	ctl := cc.Controller(cc.None{Line: lineRate})
	if f.control != nil {
		ctl = f.control(f.path)
	}
	if f.heard == nil {
		return ctl
	}
	return &listener{Controller: ctl, heard: f.heard, every: f.every}
}

const (
	tupleHash = 7 // hash of both ends' 5-tuples
	lineRate  = 100 * unit.Gbps
	cable     = 1_000_700 * unit.Picosecond // no multiple of a packet time: no ties
)

// simulated runs one WRITE in the simulator, with two NICs and a switch.
func simulated(t *testing.T, cfg rc.Config, psn uint32, bytes unit.Bytes, f faultPlan) []step {
	text := fmt.Sprintf(`
fabric: {kind: rail, hosts: 2, spines: 1, uplinks: 1, pipeline: 300ns,
  host_link: {rate: 100Gbps, delay: %dps}, fabric_link: {rate: 100Gbps, cable: 3m}}
server: {gpus: 1, nics: 1, nic_latency: 0s}
cc: {algorithm: none}
workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-2/gpu-1, bytes: 1B}]}}
`, cable)
	r := load(t, text)
	r.Setup.Host.RC = cfg
	r.Setup.Host.RC.AlwaysReady = true
	service := &r.Setup.Host.Services[0]
	service.CC = func(cc.Path) cc.Controller { return f.controller() }
	service.Marks = true
	r.Setup.Host.SourcePorts, r.Setup.Host.Choose = f.ports, f.choice
	if f.cnps { // CNPs stay after the ACKs sent before them, as on the other path
		service.CNPs, service.CNPGap = true, f.cnpGap
	}
	service.CNPClass, service.CNPDSCP = service.Class, service.DSCP // also at the switch
	service.Credit = f.credit
	var log []step
	ports := [2]int32{}
	for i, nic := range r.Graph.NICs {
		ports[i] = r.Port(nic.Links[0], r.Graph.Hosts[nic.Host])
		r.Net.FaultPort(ports[i])
	}
	r.Net.TapPort(ports[0], true)
	r.Net.Tap = func(at unit.Time, port int32, out bool, p *fabric.Packet) {
		if port == ports[0] {
			log = append(log, step{at, out, say(p.Opcode, p.PSN, p.Synd), host.SourcePort(p.Hash)})
		}
	}
	sent := map[int32]int{}
	r.Net.Fault = func(port int32, p *fabric.Packet) fabric.Fate {
		sent[port]++
		if port == ports[0] {
			return f.data[sent[port]]
		}
		return f.acks[sent[port]]
	}
	done := false
	r.Hosts.OnDeliver = func(int32) {}
	r.Hosts.OnFail = func(int32, rc.Status) { done = true }
	c := r.Hosts.Connect(0, 0, 1, []int32{ports[0]}, 0, tupleHash, psn)
	r.Hosts.Send(c, bytes, 0)
	r.RunUntil(&done, 1<<40, nil) // until no event is left
	// Arrivals are logged when they leave the switch, with the later time.
	slices.SortStableFunc(log, func(x, y step) int { return int(min(1, max(-1, x.at-y.at))) })
	return log
}

// datagrams runs the same WRITE through the endpoints of the sockets, with real bytes and ICRCs, over a path with
// the simulator's timing.
func datagrams(t *testing.T, cfg rc.Config, psn uint32, bytes unit.Bytes, f faultPlan) []step {
	var ends [2]*rcudp.Endpoint
	var conns [2]*rcudp.Conn
	mem := rc.NewMemory(1)
	region := make([]byte, bytes)
	if err := mem.RegisterBuffer(9, 0, region, rc.LocalWrite|rc.RemoteWrite); err != nil {
		t.Fatal(err)
	}
	addr := func(i int) netip.Addr { return netip.AddrFrom4([4]byte{10, 0, 0, byte(i + 1)}) }
	for i := range ends {
		ends[i] = rcudp.NewEndpoint(rcudp.Config{Addr: addr(i), CNPGap: f.cnpGap, Trim: &trimmed,
			Credit: f.credit})
		if i == 1 { // the requester's controller is listened to
			f.heard = nil
		}
		c := rcudp.NewConn(&cfg, mem, f.controller(), lineRate, 1<<40)
		c.QPN, c.DestQPN, c.Peer, c.Paced = uint32(17+i), uint32(18-i), addr(1-i), true
		if f.choice != nil { // the seed is the 5-tuple in the simulator, and the queue pair's number here
			c.Choose = func(ports int, _ uint32) entropy.Chooser { return f.choice(ports, tupleHash) }
		}
		for i := range max(1, f.ports) {
			c.Ports = append(c.Ports, entropy.Port(tupleHash, i))
		}
		if err := ends[i].Add(c); err != nil {
			t.Fatal(err)
		}
		for _, s := range []rc.State{rc.Init, rc.ReadyToReceive, rc.ReadyToSend} {
			if err := c.Modify(s, psn); err != nil {
				t.Fatal(err)
			}
		}
		conns[i] = c
	}
	data := make([]byte, bytes)
	for i := range data {
		data[i] = byte(i * 3)
	}
	if err := conns[0].Post(&rc.Request{ID: 1, RKey: 9, Len: int64(bytes), Data: data}); err != nil {
		t.Fatal(err)
	}
	p := &path{ends: ends, addr: addr, faults: f}
	for p.step() {
	}
	if conns[0].QP.State() == rc.ReadyToSend && !slices.Equal(region, data) {
		t.Error("the bytes differ")
	}
	return p.log
}

// transcript writes steps as a transcript, with runs of consecutive PSNs as one line.
func transcript(log []step) string {
	var b strings.Builder
	for i := 0; i < len(log); {
		j := i
		op, psn, _ := cutPSN(log[i].text)
		for log[i].out && j+1 < len(log) && log[j+1].out {
			_, next, _ := cutPSN(log[j+1].text)
			if next != psn+uint32(j+1-i) {
				break
			}
			j++
		}
		arrow := "<"
		if log[i].out {
			arrow = ">"
		}
		if j > i {
			lastOp, last, _ := cutPSN(log[j].text)
			fmt.Fprintf(&b, "%s %s %d … %s %d (%d packets)\n", arrow, op, psn, lastOp, last, j-i+1)
		} else {
			fmt.Fprintf(&b, "%s %s\n", arrow, log[i].text)
		}
		i = j + 1
	}
	return b.String()
}

func cutPSN(s string) (op string, psn uint32, err error) {
	i := strings.LastIndexByte(s, ' ')
	_, err = fmt.Sscan(s[i+1:], &psn)
	return s[:i], psn, err
}

// The source documents' example (24 MiB from PSN 5000, packet 7200 dropped) has an equal transcript with both
// drivers.
func TestSeedTranscript(t *testing.T) {
	cfg := rc.Config{MTU: 4096, AckEvery: 512, Timeout: rc.LocalAckTimeout(10), Retries: 7}
	f := faultPlan{data: map[int]fabric.Fate{7200 - 5000 + 1: {Lost: true}}}
	a, b := simulated(t, cfg, 5000, 24<<20, f), datagrams(t, cfg, 5000, 24<<20, f)
	told := transcript(a)
	if other := transcript(b); other != told {
		t.Errorf("the simulator says\n%s\nthe sockets' endpoint says\n%s", told, other)
	}
	story.Check(t, "seed-24MiB", "# 24 MiB of which one packet is lost, by both drivers.\n\n"+told)
	for _, part := range []string{"< NAK PSN sequence error 7200\n> WRITE Middle 7200 … ",
		"< ACK 11143\n"} {
		if !strings.Contains(told, part) {
			t.Errorf("the story lacks %q", part)
		}
	}
}

// fate draws the fate of a packet, with a given loss in percent.
func fate(r *rng.Stream, loss int) (f fabric.Fate) {
	f.Lost, f.Twice = r.Intn(100) < loss, r.Intn(100) < 3
	f.Cut, f.Last = r.Intn(100) < loss, r.Intn(2) > 0
	if r.Intn(100) < 5 { // odd picoseconds, so that no two events coincide
		f.Late = unit.Time(r.Intn(8_000_000))*2 + 1
	}
	return f
}

// anyChoice draws a policy of source ports: in turn, with or without ports set aside, or another.
func anyChoice(r *rng.Stream, which int) entropy.Make {
	p := entropy.Policies()[max(0, which-1)]
	v := maps.Clone(p.Defaults)
	switch {
	case which == 1:
		v["set_aside"] = 1 + r.Intn(60)
	case p.Name == "reps":
		v["freeze"] = unit.Time(1+r.Intn(100)) * unit.Microsecond
	}
	return p.New(v)
}

// answered are the algorithms besides DCQCN that acknowledgements drive, or grants; sockets do not pull.
func answered() (all []*cc.Algorithm) {
	for _, name := range cc.Names() {
		if a := cc.Lookup(name); a.CNPGap == nil && name != "none" && name != "ndp" {
			all = append(all, a)
		}
	}
	return all
}

// choose draws the congestion control: none, DCQCN in either form, with pacing, or one driven by acknowledgements.
// Its round trip is set below or above the real one, so that its window opens in some runs and falls below one
// packet in others.
func (f *faultPlan) choose(r *rng.Stream, mtu int) {
	f.path = cc.Path{Line: lineRate, MTU: unit.Bytes(mtu)}
	switch which := r.Intn(6); which {
	case 0:
	case 1, 2:
		f.cnps = true
		profile := [...]string{1: "nic", 2: "paper"}[which]
		f.control = cc.Lookup("dcqcn").Use(profile, lineRate)
		f.cnpGap = cc.Lookup("dcqcn").CNPGap(cc.Lookup("dcqcn").Profile(profile).Values(lineRate))
	default:
		algorithms := answered()
		a := algorithms[r.Intn(len(algorithms))]
		values := a.Profile("").Values(lineRate)
		if a.Credit != nil {
			f.credit = a.Credit(values)
		}
		f.control = a.New(values)
		if r.Intn(4) > 0 {
			f.path.RTT, f.path.Hops = unit.Time(1+r.Intn(12))*unit.Microsecond, r.Intn(4)
		}
	}
}

// Random schedules give equal results in both drivers, to the picosecond: the sequence of PSNs, ACKs, NAKs and
// grants, the source ports, and the controllers' inputs and decisions. They have loss, trimming, repetition, delay
// and thus reordering of data, acknowledgements, credit requests and grants. They vary the congestion control,
// marks (also on acknowledgements and CNPs, which neither driver answers), up to four source ports with any policy,
// and the interval of acknowledgement requests. (Damage counts as loss, because both drivers drop damaged packets.)
func TestTwoDrivers(t *testing.T) {
	naks, cuts, again, cnps, paced, timed, echoed, grants := 0, 0, 0, 0, 0, 0, 0, 0
	n := long.N(200, 1000)
	for seed := range uint64(n) {
		r := rng.New(seed, "two drivers")
		cfg := rc.Config{MTU: 256 << r.Intn(5), AckEvery: 1 + r.Intn(32),
			Timeout: rc.LocalAckTimeout(4 + r.Intn(4)), Retries: 7}
		if seed%2 == 1 {
			cfg.Recovery, cfg.Window, cfg.NakAfter = rc.Selective, 256, r.Intn(1<<r.Intn(7))
			cfg.Named = seed%4 == 1                          // and acknowledgements name their packets
			cfg.Timeout = rc.LocalAckTimeout(4 + r.Intn(10)) // up to 34 ms, so silence is detected earlier
		}
		f := faultPlan{data: map[int]fabric.Fate{}, acks: map[int]fabric.Fate{}, ports: int(seed % 5),
			choice: anyChoice(&r, int(seed/5%6))}
		f.cnpGap = unit.Never
		f.choose(&r, cfg.MTU)
		f.every = int(seed / 6 % 4)
		marks := f.cnps || f.every > 0
		for i := range 400 {
			f.data[i], f.acks[i] = fate(&r, 4), fate(&r, 10)
			if m := f.data[i]; marks && r.Intn(100) < 5 {
				m.Marks = true
				f.data[i] = m
			}
			if m := f.acks[i]; marks && r.Intn(100) < 20 { // to which no end responds
				m.Marks = true
				f.acks[i] = m
			}
		}
		psn := uint32(roce.PSNMask - r.Intn(100))
		bytes := unit.Bytes(1 + r.Intn(150_000))
		var told, heard []string
		f.heard = &told
		a := simulated(t, cfg, psn, bytes, f)
		f.heard = &heard
		b := datagrams(t, cfg, psn, bytes, f)
		for i := range min(len(a), len(b)) {
			if a[i] != b[i] {
				t.Fatalf("seed %d, step %d: the simulator has %+v, the sockets' endpoint %+v", seed, i,
					a[i], b[i])
			}
		}
		if len(a) != len(b) || len(a) == 0 {
			t.Fatalf("seed %d: %d and %d steps", seed, len(a), len(b))
		}
		for i := range max(len(told), len(heard)) { // and the controller's inputs
			if i >= len(told) || i >= len(heard) || told[i] != heard[i] {
				before := func(log []string) []string { return log[max(0, min(i-6, len(log))):] }
				t.Fatalf("seed %d: the simulator tells the controller %q, the sockets' endpoint %q", seed,
					before(told), before(heard))
			}
		}
		for _, s := range told {
			if strings.Contains(s, "below a packet") {
				paced++
			}
			if strings.Contains(s, "round trip") && !strings.HasSuffix(s, "round trip 0ps") {
				timed++
			}
			if strings.Contains(s, "marked, ") {
				echoed++
			}
		}
		seen := map[string]bool{}
		for _, s := range a {
			if strings.HasPrefix(s.text, "NAK") {
				naks++
			}
			if strings.HasPrefix(s.text, "CREDIT grant") {
				grants++
			}
			if strings.HasPrefix(s.text, "NAK trimmed") {
				cuts++
			}
			if strings.HasPrefix(s.text, "CNP") {
				if cnps++; s.out {
					t.Fatalf("seed %d: a marked acknowledgement was answered with a CNP", seed)
				}
			}
			if s.out && seen[s.text] {
				again++
			}
			seen[s.text] = true
		}
	}
	if naks < n || cuts < n/2 || again < n || cnps < n*2/5 || paced < n*3/50 || timed < n || echoed < n/2 ||
		grants < n {
		t.Errorf("%d NAKs, %d of trimmed packets, %d packets retransmitted, %d CNPs, %d paces below a packet, "+
			"%d round trips, %d marks echoed, %d grants: the schedules are too tame", naks, cuts, again, cnps,
			paced, timed, echoed, grants)
	}
}
