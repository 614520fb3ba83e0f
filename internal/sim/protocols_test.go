package sim

import (
	"cmp"
	"fmt"
	"testing"

	"railyard/cc"
	"railyard/internal/exec"
	"railyard/transport/protocols"
)

// Every protocol runs on random fabrics with cables that fail and bit errors. It makes progress, nothing is faster
// than possible, parts of a message's time add up, and a second run is identical.
func TestEveryProtocol(t *testing.T) {
	for _, p := range protocols.All {
		t.Run(p.Name, func(t *testing.T) {
			ran, again := 0, int64(0)
			for seed := *randomFrom; seed < *randomFrom+uint64(*randomRuns)/6; seed++ {
				d := drawProtocol(seed, p.Name, p.CC)
				r := d.start(t)
				if r == nil {
					continue
				}
				ran++
				d.runCarried(t, r)
				again += r.Hosts.Count.Retransmissions
				if t.Failed() {
					t.Fatalf("this was -random 6 -random.from %d:\n%s", seed, d)
				}
			}
			if ran == 0 || again == 0 {
				t.Errorf("%d scenarios were taken, %d packets went again", ran, again)
			}
		})
	}
}

// drawProtocol draws a scenario for a protocol with its congestion control.
func drawProtocol(seed uint64, kind, control string) *drawn {
	d := draw(seed)
	if control == "" {
		control = "none"
	}
	d.set("transport.kind=%s", kind)
	d.set("transport.mtu=%s", d.of("1024", "2048", "4096"))
	d.set("transport.acks=%s", d.of("data", "cnp"))
	d.set("transport.cnp_dscp=48")
	d.set("cc.algorithm=%s", control)
	d.set("lb=%s", d.of("ecmp", "ecmp", "spray", "spray-random", "flowlet"))
	if d.chance(0.5) {
		d.set("fabric.host_link.bit_error_rate=%s", d.of("0.00000001", "0.0000001"))
		d.errors = true
	}
	if d.chance(0.5) || protocols.All.Lookup(kind).Lossy {
		d.set("switch.pfc=false")
		d.set("switch.queues.3.limit=%s", d.of("100KB", "1MB"))
		d.lossless = false
		if d.chance(0.5) {
			d.set("switch.queues.3.trim=true")
			d.set("switch.trim.size=256B")
		}
	}
	d.fixed = false
	d.breakLinks(betweenSwitches(d))
	return d
}

// runCarried runs the scenario to its end.
func (d *drawn) runCarried(t *testing.T, r *Run) {
	err := r.Go(func(exec.Progress) bool {
		if err := r.Net.Audit(); err != nil {
			t.Fatal(err)
		}
		return r.Net.Q.Popped() < longEnough
	})
	if err != nil {
		t.Fatal(err)
	}
	s, tab, _ := r.Outcome("test")
	possible(t, r, s, tab)
	if r.Interrupted() || r.Failed() != nil && d.mayFail(r) {
		return
	}
	if f := r.Failed(); f != nil || !s.Complete {
		t.Fatalf("complete: %v, %v", s.Complete, f)
	}
	addsUp(t, r, s, tab)
	if d.seed%5 == 0 {
		d.again(t, s, tab)
	}
}

// With any transport and congestion control, the run reports its actions. Reductions of each queue pair add up to
// the service's, and windows or rates are recorded.
func TestProtocolsTell(t *testing.T) {
	for _, p := range protocols.All {
		r := load(t, fmt.Sprintf(`
fabric: {kind: rail, hosts: 9, spines: 2, uplinks: 2,
  host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}}
server: {gpus: 1, nics: 1}
transport: {kind: %s, qps: 2}
cc: {algorithm: %s}
switch: {pfc: false, queues: {3: {limit: 500KB, wred_min: 60KB, wred_max: 200KB, probability: 100}}}
workload: {traffic: {incast: {fan_in: 8, bytes: 2MB}}}
`, p.Name, cmp.Or(p.CC, "none")))
		if err := r.Go(func(exec.Progress) bool { return true }); err != nil {
			t.Fatal(err)
		}
		s, tab, _ := r.Outcome("test")
		all, cuts, acted := s.Control[0], int64(0), int64(0)
		for _, q := range tab.QPs {
			if cuts += q.Cuts; q.Cuts > 0 {
				acted++
			}
		}
		if cuts == 0 || cuts != all.Cuts() || acted != all.Acted || acted < 8 {
			t.Errorf("%s: %d cuts on %d queue pairs, in all %d on %d", p.Name, cuts, acted, all.Cuts(),
				all.Acted)
		}
		rates := map[int32]bool{}
		for _, x := range tab.Signals {
			rates[x.QP] = rates[x.QP] || x.Signal == cc.SignalRate && x.Value > 0
		}
		if int64(len(rates)) < acted {
			t.Errorf("%s: signals of %d queue pairs", p.Name, len(rates))
		}
	}
}
