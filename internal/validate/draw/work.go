package draw

import (
	"fmt"
	"math"
	"strings"

	"railyard/internal/cause"
)

// length draws how long a NIC sends at line rate, in seconds.
func (d *drawing) length() float64 {
	least, most := 30e-6, 1e-3
	switch {
	case d.is(cause.Latency):
		least, most = 100e-9, 10e-6
	case d.is(cause.Credit) && d.chance(0.3):
		least, most = 5e-6, 60e-6
	case d.is(cause.Credit):
		least = 100e-6
	case d.is(cause.Recovering):
		least, most = 200e-6, 2e-3
	case d.is(cause.Trimmed): // shorter than the round trip that each trimmed packet costs
		least, most = 15e-6, 90e-6
	}
	return least * math.Pow(most/least, d.Float64()) / float64(int(1)<<d.shrink)
}

// bytes draws a NIC's bytes for that time.
func (d *drawing) bytes() int { return max(1, int(d.length()*float64(d.rate*max(d.ports, 1))*1e9/8)) }

// ranks returns how many GPUs there are.
func (d *drawing) ranks() int { return d.graph.TotalGPUs() }

// work draws one job or several.
func (d *drawing) work() {
	n := d.ranks()
	if n >= 6 && !d.is(cause.Pause) && d.chance(0.15) {
		first := n / 2
		second := d.pattern(n - first)
		if d.chance(0.4) {
			second = fmt.Sprintf("traffic: {background: {load: %d, sizes: %dKB, for: %.0fus}}", d.between(10, 80),
				d.one(16, 64, 256, 1024), d.length()*2e6+1)
		}
		d.blocks = append(d.blocks, fmt.Sprintf("jobs:\n  - {name: first, gpus: %d, %s}\n  - {name: second, gpus: %d, %s}\n",
			first, d.pattern(first), n-first, second), "placement: "+d.of("packed", "spread", "random")+"\n")
		return
	}
	d.blocks = append(d.blocks, "workload: {"+d.pattern(n)+"}\n")
}

// pattern draws the work of a job on n GPUs.
func (d *drawing) pattern(n int) string {
	type way struct {
		weight int
		make   func(n int) string
	}
	ways := []way{{3, d.permutation}, {2, d.allToAll}, {2, d.ring}, {2, d.collective}, {1, d.flows}, {1, d.trace},
		{1, d.training}, {1, d.incast}}
	switch {
	case d.is(cause.Incast):
		ways = []way{{4, d.incast}, {2, d.hotspot}, {1, d.trace}}
	case d.is(cause.Pause):
		ways = []way{{5, d.victims}, {1, d.hotspot}}
	case d.is(cause.Recovering):
		ways = []way{{8, d.bursts}, {1, d.hotspot}, {1, d.permutation}, {1, d.collective}}
	case d.is(cause.Credit):
		ways = []way{{2, d.fans}, {3, d.crossing}, {4, d.ring}, {1, d.hotspot}, {3, d.permutation}}
	case d.is(cause.Trimmed):
		ways = []way{{3, d.crossing}, {3, d.hotspot}, {3, d.incast}, {1, d.permutation}}
	case d.is(cause.Latency):
		ways = []way{{4, d.ring}, {5, d.collective}, {1, d.trace}, {1, d.training}, {1, d.allToAll}}
	case d.is(cause.Collision, cause.Reordering, cause.SprayImbalance, cause.OnePort):
		ways = []way{{3, d.permutation}, {3, d.crossing}, {1, d.flows}, {1, d.ring}, {1, d.collective}}
	case d.is(cause.FailedCapacity, cause.SlowLink, cause.Oversubscription):
		ways = []way{{3, d.permutation}, {3, d.crossing}, {3, d.allToAll}, {1, d.collective}, {1, d.ring}}
	case d.is(cause.Window):
		ways = []way{{4, d.crossing}, {1, d.permutation}, {1, d.ring}}
	}
	sum := 0
	for _, w := range ways {
		sum += w.weight
	}
	at := d.Intn(sum)
	for _, w := range ways {
		if at -= w.weight; at < 0 {
			return w.make(n)
		}
	}
	panic("draw: weights do not add up")
}

// groups confines a pattern to rails where these do not meet, mostly.
func (d *drawing) groups(n int) string {
	if d.gpus > 1 && n == d.ranks() && d.hosts > 1 && (d.isolated && d.chance(0.8) || d.chance(0.3)) {
		return ", groups: rail"
	}
	return ""
}

func (d *drawing) permutation(n int) string {
	return fmt.Sprintf("traffic: {permutation: {bytes: %dB%s}}", d.bytes(), d.groups(n))
}

func (d *drawing) allToAll(n int) string {
	return fmt.Sprintf("traffic: {alltoall: {bytes: %dB%s}}", d.bytes(), d.groups(n))
}

func (d *drawing) ring(n int) string {
	return fmt.Sprintf("traffic: {ring-allreduce: {bytes: %dB%s}}", d.bytes(), d.groups(n))
}

func (d *drawing) collective(n int) string {
	kind := d.of("all-reduce", "all-reduce", "all-gather", "reduce-scatter", "all-to-all", "broadcast")
	algorithm := "auto"
	switch kind {
	case "all-reduce":
		algorithm = d.of("auto", "ring", "tree", "ring")
	case "all-to-all":
		algorithm = d.of("direct", "pairwise")
	case "broadcast":
		algorithm = d.of("chain", "tree")
	}
	bytes := d.bytes()
	if kind == "all-gather" || kind == "reduce-scatter" {
		bytes *= n
	}
	return fmt.Sprintf("traffic: {collective: {kind: %s, bytes: %dB, algorithm: %s, protocol: %s%s}}", kind, bytes,
		algorithm, d.of("none", "none", "none", "auto"), d.groups(n))
}

func (d *drawing) incast(n int) string {
	return fmt.Sprintf("traffic: {incast: {bytes: %dB, fan_in: %d}}", max(1, d.bytes()/2), d.between(2, max(2, min(n-1, 12))))
}

// flow is a transfer between two servers; a job of several must not name GPUs, so these are patterns of a whole run.
func (d *drawing) flow(from, to, bytes int) string {
	start := ""
	if d.chance(0.08) {
		start = fmt.Sprintf(", start: %dus", d.between(0, 20))
	}
	return fmt.Sprintf("{from: %s, to: %s, bytes: %dB%s}", d.graph.GPUName(from), d.graph.GPUName(to), bytes, start)
}

// apart draws two GPUs of different servers.
func (d *drawing) apart() (from, to int) {
	for {
		from, to = d.Intn(d.ranks()), d.Intn(d.ranks())
		if d.graph.HostOf(from) != d.graph.HostOf(to) {
			return from, to
		}
	}
}

// flows are transfers of single GPUs.
func (d *drawing) flows(n int) string {
	if n < d.ranks() {
		return d.permutation(n)
	}
	var all []string
	bytes := d.bytes()
	for range d.between(1, min(12, n)) {
		from, to := d.apart()
		if d.isolated {
			to = to - d.graph.LocalOf(to) + d.graph.LocalOf(from)
		}
		all = append(all, d.flow(from, to, max(1, int(float64(bytes)*(0.3+1.4*d.Float64())))))
	}
	return list(all)
}

// hotspot is an incast with other transfers that share links with it.
func (d *drawing) hotspot(n int) string {
	if n < d.ranks() {
		return d.incast(n)
	}
	var all []string
	bytes := d.bytes()
	hot, _ := d.apart()
	for range d.between(2, 5) {
		if from, _ := d.apart(); d.graph.HostOf(from) != d.graph.HostOf(hot) {
			all = append(all, d.flow(from, hot, bytes/2+1))
		}
	}
	for range d.between(1, 5) {
		from, to := d.apart()
		all = append(all, d.flow(from, to, max(1, int(float64(bytes)*(0.5+2*d.Float64())))))
	}
	return list(all)
}

// across returns a GPU in another half of the fabric, on the same rail: another rack, if there are several.
func (d *drawing) across(gpu int) int { return (gpu + d.ranks()/2/d.gpus*d.gpus) % d.ranks() }

// list is a workload of transfers.
func list(flows []string) string { return "traffic: {flows: [" + strings.Join(flows, ", ") + "]}" }

// crossing is a transfer from each GPU of one half to one of the other.
func (d *drawing) crossing(n int) string {
	if n < d.ranks() {
		return d.permutation(n)
	}
	var all []string
	both := d.chance(0.3)
	for gpu := range n {
		if (both || gpu < n/2) && d.across(gpu) != gpu && d.chance(0.9) {
			all = append(all, d.flow(gpu, d.across(gpu), d.size))
		}
	}
	if len(all) == 0 {
		return d.permutation(n)
	}
	return list(all)
}

// victims share links with an incast, and have more to send than one of its senders.
func (d *drawing) victims(n int) string {
	half := n / 2
	if half < 3 {
		return d.incast(n)
	}
	var all []string
	hot, fan := half, d.between(2, half-1)
	for from := range fan {
		all = append(all, d.flow(from, hot, d.size/fan+1))
	}
	for from := fan; from < min(half, fan+1+d.Intn(2)); from++ {
		if to := half + 1 + d.Intn(n-half-1); d.graph.HostOf(to) != d.graph.HostOf(hot) {
			all = append(all, d.flow(from, to, int(float64(d.size)*(0.9+0.8*d.Float64()))+1))
		}
	}
	return list(all)
}

// bursts are short incasts on transfers that continue after them.
func (d *drawing) bursts(n int) string {
	if n < d.ranks() || n < 4 {
		return d.incast(n)
	}
	var all []string
	for range d.between(1, 3) {
		from, to := d.apart()
		all = append(all, d.flow(from, to, d.size))
		for range d.between(1, 4) {
			if other, _ := d.apart(); d.graph.HostOf(other) != d.graph.HostOf(to) && other != from {
				all = append(all, d.flow(other, to, int(float64(d.size)*(0.02+0.15*d.Float64()))+1))
			}
		}
	}
	return list(all)
}

// fans are senders with several receivers that have several senders: credit is granted to senders that are busy
// elsewhere.
func (d *drawing) fans(n int) string {
	if n < d.ranks() || n < 4 {
		return d.permutation(n)
	}
	var all []string
	for range d.between(1, 3) {
		from, _ := d.apart()
		for range d.between(2, 5) {
			_, to := d.apart()
			if d.graph.HostOf(to) == d.graph.HostOf(from) {
				continue
			}
			all = append(all, d.flow(from, to, d.size/3+1))
			if other, _ := d.apart(); d.graph.HostOf(other) != d.graph.HostOf(to) {
				all = append(all, d.flow(other, to, d.size/2+1))
			}
		}
	}
	if len(all) == 0 {
		return d.permutation(n)
	}
	return list(all)
}

// trace is a GOAL schedule: each rank computes and exchanges with others in turn.
func (d *drawing) trace(n int) string {
	n = min(n, 16)
	var b strings.Builder
	fmt.Fprintf(&b, "num_ranks %d\n", n)
	bytes, rounds := d.bytes(), d.between(1, 3)
	shift, calc := make([]int, rounds), make([]int, rounds)
	for r := range rounds {
		shift[r], calc[r] = d.between(1, n-1), d.between(0, 40_000)
	}
	share := max(1, bytes/rounds)
	into := d.is(cause.Incast)
	for rank := range n {
		fmt.Fprintf(&b, "\nrank %d {\n", rank)
		last, label := "", 0
		op := func(format string, args ...any) string {
			label++
			fmt.Fprintf(&b, "l%d: "+format+"\n", append([]any{label}, args...)...)
			return fmt.Sprintf("l%d", label)
		}
		for r := range rounds {
			before := last
			if last = op("calc %d", 1+calc[r]*(1+rank%3)); before != "" {
				fmt.Fprintf(&b, "%s requires %s\n", last, before)
			}
			if into {
				if rank > 0 {
					s := op("send %db to 0 tag %d", share, r)
					fmt.Fprintf(&b, "%s requires %s\n", s, last)
					last = s
					continue
				}
				for from := 1; from < n; from++ {
					s := op("recv %db from %d tag %d", share, from, r)
					fmt.Fprintf(&b, "%s requires %s\n", s, last)
					last = s
				}
				continue
			}
			s := op("send %db to %d tag %d", share, (rank+shift[r])%n, r)
			fmt.Fprintf(&b, "%s requires %s\n", s, last)
			last = op("recv %db from %d tag %d", share, (rank+n-shift[r])%n, r)
		}
		b.WriteString("}\n")
	}
	name := fmt.Sprintf("ranks-%d.goal", len(d.files))
	d.files[name] = b.String()
	return "trace: {files: [" + name + "], format: goal}"
}

// training is a step of a small model: tensor parallel in servers, data parallel between them.
func (d *drawing) training(n int) string {
	tp := 1
	if n == d.ranks() {
		tp = d.gpus
	}
	dp := n / tp
	if dp < 2 {
		return d.ring(n)
	}
	hidden := max(64, 512>>(d.shrink/2))
	d.files["small.json"] = fmt.Sprintf(`{"model_type": "llama", "hidden_size": %d, "num_hidden_layers": %d,
  "num_attention_heads": 8, "intermediate_size": %d, "vocab_size": 1000}`, hidden, d.between(2, 4), 4*hidden)
	return fmt.Sprintf("training: {model: small.json, sequence: 256, efficiency: 50, tp: %d, dp: %d, global_batch: %d, bucket: %s}", tp, dp, dp*d.one(1, 2), d.of("1MB", "5MB", "25MB"))
}
