package validate

import (
	"fmt"
	"math"

	"railyard/internal/result"
	"railyard/roce"
	"railyard/tcp"
	"railyard/unit"
)

// tcpRows compares kernel TCP with published windows, and its hosts with sums of their costs.
func tcpRows() ([]Row, error) {
	rows := cubicRows()
	rows = append(rows, steadyDCTCP()...)
	return append(rows, tcpHosts()...), nil
}

// cubicRows drives one window with a loss after every 1/p packets. It compares the mean of the window with RFC
// 9438.
func cubicRows() (rows []Row) {
	for _, c := range []struct {
		rtt  unit.Time
		p    float64
		reno bool // Reno's window is the larger one
	}{{200 * unit.Millisecond, 1e-3, false}, {400 * unit.Millisecond, 1e-3, false},
		{100 * unit.Millisecond, 1e-4, false}, {10 * unit.Millisecond, 1e-4, true},
		{10 * unit.Millisecond, 1e-5, true}} {
		settle := 800
		want := math.Pow(tcp.Scale*(3+tcp.Beta)/(4*(1-tcp.Beta)), 0.25) * math.Pow(c.rtt.Seconds()/c.p, 0.75)
		source, claim := "RFC 9438, section 5.1, equation 5", "Cubic"
		if c.reno {
			settle = 40
			want, claim = math.Sqrt(1.5/c.p), "Cubic, Reno-friendly"
			source = "RFC 9438, 4.3 and 5.1: as Reno, √(3 / 2p)"
		}
		rows = append(rows, within(fmt.Sprintf("%s, round trip %v, a loss in %.0f packets: mean window in packets", claim,
			c.rtt, 1/c.p), source, want, meanWindow(c.rtt, int(1/c.p+0.5), settle), 0.06, "%.0f"))
	}
	return rows
}

// meanWindow is the mean over time of a Cubic window that loses every n-th packet, after settle losses. Cubic
// settles slowly, because the window is nearly constant around its losses.
func meanWindow(rtt unit.Time, n, settle int) float64 {
	w := tcp.NewWindow(false, math.Inf(1))
	w.Alone = true
	now, sent, sum, trips := unit.Time(0), 0, 0.0, 0.0
	for cuts := 0; cuts < settle*3/2; {
		size := int(w.Size)
		lost := false
		for i := range size {
			if sent++; sent%n == 0 {
				lost = true
				continue
			}
			w.Acked(now+rtt*unit.Time(i)/unit.Time(size), rtt, 1)
		}
		if now += rtt; lost {
			w.Cut(now)
			cuts++
		}
		if cuts >= settle {
			sum, trips = sum+float64(size), trips+1
		}
	}
	return sum / trips
}

// steadyDCTCP is two flows that meet at a receiver whose switch marks from K packets on, with hosts that take no time.
func steadyDCTCP() []Row {
	const source = "Alizadeh et al., SIGCOMM 2010, section 3.3, equations 5 to 9"
	const n, k = 2, 100
	r := must(finish(`
name: dctcp
fabric: {kind: single-rail, hosts: 3, host_link: {rate: 100Gbps, cable: 3km}}
server: {gpus: 1, nics: 1, nic_latency: 0s}
transport: tcp
workload:
  traffic:
    flows:
      - {from: host-1/gpu-1, to: host-3/gpu-1, bytes: 400MB}
      - {from: host-2/gpu-1, to: host-3/gpu-1, bytes: 400MB}
`, append(freeHosts(), "transport.tcp.dctcp=true", "transport.tcp.ack_every=1", "transport.tcp.window=4096",
		"switch.queues.3.wred_min=409599B", "switch.queues.3.wred_max=409600B", "switch.queues.3.probability=100",
		"switch.queues.3.limit=30MB", "output.sample=1us")...))
	s, t, _ := r.Outcome("")
	frame := float64(4096 + roce.EthernetLen + roce.IPv4Len + 32 + roce.FCSLen)
	at, most, least := s.StepTime/2, int64(0), int64(math.MaxInt64)
	for _, x := range t.Links {
		if r.PortName(x.Port) == "rail-1:Eth3 → host-3" && x.Start > at && x.Start < s.StepTime*9/10 {
			most, least = max(most, x.Peak), min(least, x.Queued)
		}
	}
	rtt := 4 * 3000 * 5.05e-9 // headers and acknowledgements on the links take less than one per cent
	product := 100e9 / 8 * rtt / (frame + roce.PreambleIFG)
	// Equation 6, alpha^2 (1 - alpha/4) = (2W + 1) / (W + 1)^2, is of packets that are marked as they arrive, for a
	// round trip. Here they are marked as they depart, for a round trip without its time in the queue.
	w, alpha := (product+k)/n, 0.0
	for range 50 {
		alpha = math.Sqrt(product / (product + k) * (2*w + 1) / (w + 1) / (w + 1) / (1 - alpha/4))
	}
	amplitude := n * (w + 1) * alpha / 2
	kb := func(packets float64) float64 { return packets * frame / 1e3 }
	sum, samples := 0.0, 0.0
	for _, x := range t.Signals {
		if x.Signal == "alpha" && x.At > at && x.At < s.StepTime*9/10 {
			sum, samples = sum+x.Value, samples+1
		}
	}
	return []Row{
		within("DCTCP, 2 flows, marks from 100 packets on: longest queue in KB", source+": K + N", kb(k+n),
			float64(most)/1e3, 0.06, "%.0f"),
		within("the same: shortest queue in KB", source+": K + N − A", kb(k+n-amplitude), float64(least)/1e3, 0.06, "%.0f"),
		within("the same: mean share of marked packets that senders estimate", source+", marked at departure", alpha,
			sum/samples, 0.1, "%.3f"),
	}
}

// freeHosts are settings of hosts that take no time.
func freeHosts() []string {
	return []string{"transport.tcp.gpudirect=true", "transport.tcp.system_call=0ns", "transport.tcp.send_packet=0ns",
		"transport.tcp.receive_packet=0ns", "transport.tcp.interrupt=0ns", "transport.tcp.wakeup=0ns"}
}

// tcpHosts are rows of the time that hosts take, computed from sums of parameters.
func tcpHosts() (rows []Row) {
	text := func(bytes string) string {
		return `
name: tcp
fabric: {kind: single-rail, hosts: 2, host_link: {rate: 400Gbps, cable: 5m}}
server: {gpus: 1, nics: 1}
transport: tcp
workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-2/gpu-1, bytes: ` + bytes + `}]}}
`
	}
	run := func(bytes string, sets ...string) *result.Summary {
		s, _, _ := must(finish(text(bytes), sets...)).Outcome("")
		return s
	}
	const stage, copied, call, wire = 4096 * 8 / 200e9, 4096 * 8 / 86e9, 0.5e-6, 400e-9
	bare := float64(run("4KiB", freeHosts()...).StepTime) / 1e6
	want := bare + 1e6*(2*(20e-6+stage+copied+call)+8e-6+wire+5e-6-stage) + 1e6*stage
	rows = append(rows, within("one message of 4 KiB through host memory: µs",
		"sum of staging, copies, system calls, interrupt, wake-up and the network", want,
		float64(run("4KiB").StepTime)/1e6, 0.005, "%.2f"))
	took := func(s *result.Summary) float64 { return 64 << 20 * 8 / (float64(s.StepTime) / 1e12) / 1e9 }
	whole, direct := run("64MiB"), run("64MiB", "transport.tcp.gpudirect=true")
	rows = append(rows,
		within("64 MiB through host memory: Gbit/s of a core at the receiver",
			"packet, copy and a sixteenth of a system call per 4,096 B", 4096*8/(wire+copied+call/16)/1e9, took(whole), 0.03,
			"%.2f"),
		within("64 MiB with GPUDirect: Gbit/s", "packet and a sixteenth of a system call per 4,096 B",
			4096*8/(wire+call/16)/1e9, took(direct), 0.03, "%.2f"),
		exact("copies per byte through host memory", "GPU, program, socket at both ends: four", 4.0,
			float64(counterOf(whole, tcp.CounterCopied))/float64(whole.NetworkBytes)),
		exact("copies per byte with GPUDirect", "none", 0, counterOf(direct, tcp.CounterCopied)),
		within("core time of both ends per 4,096 B through host memory: ns", "sum of the parameters",
			1e9*(100e-9+wire+2*copied+2*call/16+wire/16),
			float64(counterOf(whole, tcp.CounterCPU))/float64(64<<20/4096), 0.02, "%.0f"))
	return append(rows, loopback(run)...)
}

// loopback compares a host with the keys that `railyard rdma bench` printed with its measurements. The host was a
// Xeon virtual machine with two cores in November 2026. It took 11.5 µs for 4 KiB and, in a stream, 390 ns of both
// cores per KiB.
func loopback(run func(string, ...string) *result.Summary) []Row {
	const source = "railyard rdma bench, bare TCP over loopback"
	sets := []string{"transport.tcp.stage_latency=0ns", "transport.tcp.stage=100Tbps", "transport.tcp.copy=139320Mbps",
		"transport.tcp.system_call=0ns", "transport.tcp.send_packet=528ns", "transport.tcp.receive_packet=528ns",
		"transport.tcp.interrupt=0ns", "transport.tcp.wakeup=10501ns"}
	one, long := run("4KiB", sets...), run("64MiB", sets...)
	network := float64(run("4KiB", freeHosts()...).StepTime) / 1e6
	return []Row{
		within("4 KiB on a host with the keys of a measurement, without the network: µs", source, 11.5,
			float64(one.StepTime)/1e6-network, 0.01, "%.2f"),
		within("core time of both ends per KiB of a stream on that host: ns", source, 390,
			float64(counterOf(long, tcp.CounterCPU))/(64<<10), 0.01, "%.0f")}
}

// counterOf is the sum of a counter of a run's transports.
func counterOf(s *result.Summary, name string) (n int64) {
	for i := range s.Control {
		for _, c := range s.Control[i].Counters {
			if c.Name == name {
				n += c.Count
			}
		}
	}
	return n
}
