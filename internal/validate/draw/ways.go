package draw

import (
	"fmt"
	"strings"

	"railyard/internal/cause"
)

// preset reports whether the transport is one word, which sets balancing, control and queues too.
func (d *drawing) preset() bool { return d.transport != "roce" && !d.trims() && !d.spelled() }

// trims reports whether connections are RC's over switches that trim, spelled out.
func (d *drawing) trims() bool {
	return d.transport == "trims" || strings.HasPrefix(d.transport, "own-") && !d.carried()
}

// spelled reports whether the transport is another than RC and has a parameter of its own.
func (d *drawing) spelled() bool { return d.transport == "own-srd" || d.transport == "own-falcon" }

// perPacket are the policies under which packets of a flow overtake one another.
var perPacket = []string{"spray", "spray-random", "spray-least", "dlb", "glb"}

// balance draws how packets choose among paths.
func (d *drawing) balance() {
	lb := ""
	switch {
	case d.preset() && !d.carried():
		return // set by the word
	case d.carried():
		lb = d.of("ecmp", "ecmp", "ecmp", "spray")
	case d.is(cause.Reordering):
		lb, d.gbn = d.of(perPacket...), true
	case d.is(cause.SprayImbalance):
		lb = d.of(perPacket...)
	case d.is(cause.Collision, cause.Trimmed):
		lb = d.of("ecmp", "ecmp", "ecmp", "ecmp", "flowlet")
	case d.chance(0.5):
		lb = "ecmp"
	case d.chance(0.2):
		lb = "flowlet"
	default:
		lb = d.of(perPacket...)
	}
	d.ordered = lb == "ecmp" || lb == "flowlet"
	if !d.preset() && !d.spelled() && !d.is(cause.Reordering) {
		if d.transport == "trims" {
			d.gbn = d.ordered && d.chance(0.15)
		}
		d.gbn = d.gbn || !d.trims() && d.chance(map[bool]float64{true: 0.6, false: 0.08}[d.ordered])
	}
	if !d.preset() && !d.spelled() {
		if d.gbn {
			d.set("transport", "recovery: go-back-n")
		} else {
			d.set("transport", "recovery: selective")
			d.set("transport", "write: only")
		}
		if d.chance(0.2) {
			d.set("transport", "mtu: %d", d.one(1024, 2048))
		}
	}
	d.blocks = append(d.blocks, "lb: "+lb+"\n")
}

// control draws congestion control.
func (d *drawing) control() {
	switch {
	case d.preset():
		d.blocks = append(d.blocks, "transport: "+d.transport+"\n")
		delete(d.sets, "transport") // a scalar cannot hold a block
		return
	case d.spelled():
		name := strings.TrimPrefix(d.transport, "own-")
		d.set("transport", "kind: %s, acks: cnp, %s: {window: %d}", name, name, d.one(64, 128, 256))
		d.set("switch", "pfc: false")
		return
	case strings.HasPrefix(d.transport, "own-"):
		d.credit(strings.TrimPrefix(d.transport, "own-"))
		return
	}
	of := func(names ...string) {
		name := d.of(names...)
		if name == "hpcc" && !d.ordered {
			name = "swift" // HPCC compares one port's telemetry of two packets
		}
		d.set("cc", "algorithm: %s", name)
		switch {
		case name == "dcqcn":
			d.set("cc", "dcqcn: {profile: %s}", d.of("nic", "nic", "paper"))
		case d.is(cause.Window) && name == "nscc":
			d.set("cc", "nscc: {max_window: %.2f}", 0.1+0.7*d.Float64())
		case d.is(cause.Window):
			d.set("cc", "%s: {start_window: %d}", name, d.one(4, 10, 10, 30))
		}
	}
	switch {
	case d.transport == "trims":
		of("none", "none", "none", "none", "none", "nscc")
	case d.is(cause.Recovering):
		of("dcqcn", "dcqcn", "dcqcn", "dcqcn", "timely", "swift", "hpcc")
	case d.is(cause.Window):
		of("swift", "swift", "nscc", "nscc", "dctcp")
	case d.is(cause.Reordering, cause.PCIe, cause.Retransmission, cause.Pause):
		of("none", "none", "none", "none", "dcqcn", "swift")
	case d.is(cause.Latency):
		of("none", "dcqcn", "dcqcn")
	case d.chance(0.5):
		of("none")
	default:
		of("dcqcn", "dcqcn", "swift", "hpcc", "timely", "dctcp", "nscc")
	}
}

// credit draws an algorithm whose receivers grant less than their line, or whose senders may request little.
func (d *drawing) credit(name string) {
	share := 1.0
	if d.chance(0.8) {
		share = 0.4 + 0.5*d.Float64()
	}
	own := fmt.Sprintf("share: %.2f", share)
	switch {
	case name == "ndp":
		own += fmt.Sprintf(", initial: %.2f", 0.3+d.Float64())
	case d.chance(0.5):
		own += fmt.Sprintf(", window: %.2f, unasked: %.2f", 0.5+d.Float64(), 0.5*d.Float64())
	}
	d.set("cc", "algorithm: %s, %s: {%s}", name, name, own)
}

// switches draws the queue of data.
func (d *drawing) switches() {
	queue := ""
	key := func(format string, args ...any) {
		if queue != "" {
			queue += ", "
		}
		queue += fmt.Sprintf(format, args...)
	}
	switch {
	case d.preset(), d.spelled():
	case d.trims():
		limit := d.between(40, 300)
		if d.set("switch", "pfc: false"); d.is(cause.Trimmed) {
			limit = d.between(16, 80)
		}
		key("trim: true, limit: %dKB", limit)
		key("wred_min: %dKB, wred_max: %dKB, probability: 100, ecn: true", limit/5, limit*4/5)
	case d.is(cause.Pause):
		xoff := d.between(40, 400)
		key("xoff: %dKB, xon: %dKB", xoff, xoff/2)
	case d.is(cause.Retransmission) && d.chance(0.3):
		d.set("switch", "pfc: false")
		key("limit: %dKB", d.between(60, 800))
	case d.chance(0.25):
		xoff := d.between(100, 2000)
		key("xoff: %dKB, xon: %dKB", xoff, xoff/3)
		if d.chance(0.5) {
			least := d.between(10, 300)
			key("wred_min: %dKB, wred_max: %dKB, probability: %d", least, least*d.between(2, 8), d.one(5, 20, 100))
		}
	}
	if queue != "" {
		d.set("switch", "queues: {3: {%s}}", queue)
	}
	if d.chance(0.1) {
		d.set("switch", "hash_seed: same")
	}
}
