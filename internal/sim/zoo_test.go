package sim

import (
	"testing"

	"railyard/cc"
	"railyard/internal/exec"
	"railyard/unit"
)

// Every registered congestion control runs on random fabrics with random loss. It makes progress, conserves bytes,
// never exceeds line rate, and allows from a packet up to the line. A second run is identical. A missing feature of
// the drawn scenario is an accepted reason for a rejection.
func TestEveryAlgorithm(t *testing.T) {
	for _, name := range cc.Names() {
		t.Run(name, func(t *testing.T) {
			ran := 0
			for seed := *randomFrom; seed < *randomFrom+uint64(*randomRuns)/10; seed++ {
				d := drawWith(seed, name)
				r := d.start(t)
				if r == nil {
					continue
				}
				ran++
				d.runWith(t, r)
				if t.Failed() {
					t.Fatalf("this was -random 10 -random.from %d:\n%s", seed, d)
				}
			}
			if ran == 0 {
				t.Error("no scenario was taken")
			}
		})
	}
}

// drawWith draws a scenario for an algorithm: half of them with its required features, half with bit errors.
func drawWith(seed uint64, algorithm string) *drawn {
	d := draw(seed)
	d.set("cc.algorithm=%s", algorithm)
	if d.chance(0.5) {
		d.set("fabric.host_link.bit_error_rate=%s", d.of("0.00000001", "0.0000001"))
		d.errors = true
	}
	if cc.Lookup(algorithm).Telemetry != nil { // stamps support some rates, and ports by their order
		d.set("lb=ecmp")
		d.set("fabric.host_link.rate=%s", d.of("10Gbps", "100Gbps", "400Gbps"))
		d.set("fabric.fabric_link.rate=%s", d.of("25Gbps", "100Gbps", "800Gbps"))
	}
	if trims := cc.Lookup(algorithm).Missing(^cc.Trimming) != ""; trims || d.chance(0.3) {
		d.trimming()
	}
	d.breakLinks(betweenSwitches(d))
	return d
}

// trimming makes the data queue trim, with losses as cheap as possible.
func (d *drawn) trimming() {
	d.set("switch.pfc=false")
	for _, s := range []string{"switch.queues.3.trim=true", "switch.queues.3.limit=100KB",
		"transport.recovery=selective", "transport.write=only", "transport.nak_after=32",
		"transport.window=4096"} {
		d.set("%s", s)
	}
	d.lossless, d.selective, d.nak, d.window = false, true, 32, 4096
}

// runWith is run, and checks every decision during the run.
func (d *drawn) runWith(t *testing.T, r *Run) {
	within := func() {
		for c := range int32(r.Hosts.Conns()) {
			x, mtu := r.Hosts.Controller(c).Decision(), unit.Bytes(r.Setup.Host.RC.MTU)
			if x.Rate <= 0 || x.Rate > r.Hosts.Line(c) || x.Window != 0 && x.Window < mtu {
				t.Fatalf("queue pair %d is allowed %+v on a line of %v with packets of %v", c, x,
					r.Hosts.Line(c), mtu)
			}
		}
	}
	err := r.Go(func(exec.Progress) bool {
		within()
		if err := r.Net.Audit(); err != nil {
			t.Fatal(err)
		}
		return r.Net.Q.Popped() < longEnough
	})
	if err != nil {
		t.Fatal(err)
	}
	within()
	s, tab, _ := r.Outcome("test")
	possible(t, r, s, tab)
	if r.Interrupted() || r.Failed() != nil && d.mayFail(r) {
		return
	}
	if f := r.Failed(); f != nil || !s.Complete {
		t.Fatalf("complete: %v, %v", s.Complete, f)
	}
	addsUp(t, r, s, tab)
	invariants(t, r)
	if d.seed%5 == 0 {
		d.again(t, s, tab)
	}
}
