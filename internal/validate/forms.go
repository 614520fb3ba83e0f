package validate

import (
	"fmt"

	"railyard/internal/model"
	"railyard/rc"
	"railyard/roce"
	"railyard/unit"
)

// line is two hosts on one switch: no pipeline, no NIC latency, 1 us of cable
// delay each, no congestion control.
const line = `
name: line
fabric: {kind: rail-only, hosts: %d, host_link: {rate: 400Gbps, delay: 1us}}
server: {gpus: 1, nics: 1, nic_latency: 0s}
cc: {algorithm: none}
`

func closedForms() ([]Row, error) {
	var rows []Row
	for _, c := range []struct {
		bytes unit.Bytes
		mtu   int
	}{{4096, 4096}, {24 << 20, 4096}, {1_000_001, 1024}, {1, 256}} {
		r := must(finish(fmt.Sprintf(line, 2) + fmt.Sprintf("transport: {mtu: %d}\n", c.mtu) +
			fmt.Sprintf("workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-2/gpu-1, bytes: %dB}]}}",
				int64(c.bytes))))
		s, t, _ := r.Outcome("")
		want := aloneTime(c.bytes, c.mtu, 2)
		rows = append(rows, exact(fmt.Sprintf("%v at MTU %d alone over two 400G links, ps", c.bytes, c.mtu),
			"closed form: wire bytes / rate + path latency", int64(want), s.StepTime),
			exact("its ideal_ps in flows.parquet", "the same closed form", int64(want), t.Flows[0].Ideal))
	}
	rows = append(rows, must(overIPv6())...)
	big := must(finish(fmt.Sprintf(line, 2) +
		"workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-2/gpu-1, bytes: 8GB}]}}"))
	s, _, _ := big.Outcome("")
	rows = append(rows, Row{Claim: "8 GB over one 400 Gbit/s queue pair",
		Source:   "seed, GPU fabrics: a flow of more than 160 ms",
		Expected: ">= 160ms", Ours: unit.Time(s.StepTime).String(),
		Diff: fmt.Sprintf("%+.2f %% (headers)", 100*(float64(s.StepTime)/160e9-1)),
		OK:   s.StepTime >= int64(160*unit.Millisecond) && s.StepTime < int64(166*unit.Millisecond)})
	return rows, nil
}

// overIPv6 returns what 20 bytes more of each packet take, of a message over two links and of its ideal time.
func overIPv6() (rows []Row, err error) {
	const bytes, mtu, hops = 24 << 20, 4096, 2
	for _, kind := range []string{"roce", "mrc"} {
		var ideal [2]int64
		for i, ip := range []int{4, 6} {
			r := must(finish(fmt.Sprintf(line, 2)+fmt.Sprintf("switch: {pfc: false}\ntransport: {kind: %s}\n"+
				"workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-2/gpu-1, bytes: %dB}]}}", kind,
				bytes), fmt.Sprintf("fabric.ip=%d", ip)))
			s, t, _ := r.Outcome("")
			ideal[i] = t.Flows[0].Ideal
			if kind == "roce" && s.StepTime != ideal[i] {
				return nil, fmt.Errorf("alone over IPv%d: %d ps, ideal %d", ip, s.StepTime, ideal[i])
			}
		}
		want := on400((ipv6 - ipv4) * (bytes/mtu + hops - 1))
		rows = append(rows, exact("24 MiB alone by "+kind+", IPv6 beyond IPv4, ps",
			"closed form: 20 bytes per packet, and once more per further link", want, ideal[1]-ideal[0]))
	}
	return rows, nil
}

// aloneTime is the closed form of a message over hops equal 400G links of 1 us
// each (store and forward): all packets back to back, and the longest one once
// more for every further link.
func aloneTime(bytes unit.Bytes, mtu, hops int) unit.Time {
	n := (int64(bytes) + int64(mtu) - 1) / int64(mtu)
	last := int(int64(bytes) - (n-1)*int64(mtu))
	ser := func(around, payload int) unit.Time { // IBTA 9.2.3: padded to four bytes
		return unit.Time(on400(int64(around + (payload+3)/4*4 + wireGap)))
	}
	prop := unit.Time(hops) * unit.Microsecond
	if n == 1 {
		return unit.Time(hops)*ser(firstFrame, last) + prop
	}
	first := ser(firstFrame, mtu)
	middle := ser(middleFrame, mtu)
	tail := ser(middleFrame, last)
	// Each further link adds the longest packet once: it is busy without a gap
	// from that packet on. The First packet is the longest, it has the RETH.
	return first + unit.Time(n-2)*middle + tail + unit.Time(hops-1)*max(first, middle, tail) + prop
}

func sharing() ([]Row, error) {
	var rows []Row
	for _, n := range []int{2, 4, 8} {
		text := fmt.Sprintf(line, n+1) + fmt.Sprintf("workload: {traffic: {incast: {bytes: 16MB, fan_in: %d}}}", n)
		r := must(finish(text))
		s, t, _ := r.Outcome("")
		wire := float64(16e6) * 4178 / 4096
		want := float64(n)*wire*8/400e9*1e6 + 2.2
		rows = append(rows, within(fmt.Sprintf("%d senders into one port end at N x bytes / rate, us", n),
			"closed form", want, float64(s.StepTime)/1e6, 0.005, "%.2f"))
		lo, hi := t.Flows[0].Done, t.Flows[0].Done
		for _, f := range t.Flows {
			lo, hi = min(lo, f.Done), max(hi, f.Done)
		}
		rows = append(rows, within(fmt.Sprintf("%d senders share the port: first to last end, ratio", n),
			"closed form: equal shares", 1, float64(hi)/float64(lo), 0.02, "%.4f"))
		if s.Drops != 0 {
			rows = append(rows, exact("drops with PFC", "lossless", 0, int(s.Drops)))
		}
	}
	return rows, nil
}

func collectives() ([]Row, error) {
	var rows []Row
	for _, n := range []int{2, 4, 8, 16} {
		text := fmt.Sprintf(line, n) + "workload: {traffic: {ring-allreduce: {bytes: 64MB}}}"
		r := must(finish(text))
		s, _, _ := r.Outcome("")
		// 2(N-1) rounds of 64 MB / N, each with headers and the latency of two
		// links and one more packet.
		chunk := unit.Bytes(64e6 / n)
		want := float64(2*(n-1)) * float64(aloneTime(chunk, 4096, 2)) / 1e6
		rows = append(rows, within(fmt.Sprintf("ring all-reduce of 64 MB over %d ranks, us", n),
			"closed form: 2(N-1) rounds of S/N", want, float64(s.StepTime)/1e6, 0.001, "%.3f"))
		c := s.Collectives[0]
		rows = append(rows,
			Row{Claim: fmt.Sprintf("its bus bandwidth over %d ranks stays below line rate, GB/s", n),
				Source:   "nccl-tests PERFORMANCE.md",
				Expected: "<= 50.00", Ours: fmt.Sprintf("%.2f", c.BusBW/1e9),
				Diff: fmt.Sprintf("%.1f %% of it", 100*c.BusBW/50e9), OK: c.BusBW <= 50e9 && c.BusBW > 0.9*50e9})
	}
	r := must(finish(`
name: channels
fabric: {kind: rail-only, hosts: 2, host_link: {rate: 400Gbps, cable: 3m}}
server: {gpus: 8, nics: 8}
cc: {algorithm: none}
workload: {traffic: {collective: {kind: all-reduce, bytes: 64MB, algorithm: ring, channels: 8}}}
`))
	s, _, _ := r.Outcome("")
	c := s.Collectives[0]
	rows = append(rows, within("bound of an all-reduce over 2 x 8 GPUs with 8 channels, GB/s",
		"nccl-tests PERFORMANCE.md: 8 NICs of 50 GB/s", 400, c.Bound/1e9, 0.001, "%.2f"),
		Row{Claim: "its bus bandwidth stays below that, GB/s", Source: "nccl-tests PERFORMANCE.md",
			Expected: "<= 400.00", Ours: fmt.Sprintf("%.2f", c.BusBW/1e9),
			Diff: fmt.Sprintf("%.1f %% of it", 100*c.BusBW/400e9), OK: c.BusBW <= 400e9})
	more, err := rounds()
	return append(rows, more...), err
}

func transportRows() ([]Row, error) {
	cfg := rc.Config{MTU: 4096, AckEvery: 64, Timeout: rc.LocalAckTimeout(14), Retries: 7}
	mem := rc.NewMemory(0x1234)
	key := mem.Register(0x7f800000, 24<<20, rc.LocalWrite|rc.RemoteWrite)
	a, b := rc.NewQP(&cfg, nil), rc.NewQP(&cfg, mem)
	for _, s := range []rc.State{rc.Init, rc.ReadyToReceive, rc.ReadyToSend} {
		do(a.Modify(s, 5000))
		do(b.Modify(s, 5000))
	}
	do(a.Write(1, 0x7f800000, key, 24<<20))
	var p rc.Packet
	var ans rc.Answer
	packets, last := 0, uint32(0)
	for a.Next(0, &p) {
		packets++
		b.Data(&p, &ans)
		if ans.Reply {
			last = ans.Packet.PSN
		}
	}
	return []Row{
		exact("packets of 24 MiB at MTU 4096", "seed, life of a training job", 6144, packets),
		exact("the cumulative ACK closes at PSN 5000 + 6143", "seed, life of a training job", uint32(11143), last),
		exact("full pause at 400 Gbit/s, ps", "IEEE 802.1Qbb: 65535 x 1.28 ns", unit.Time(65535*1280),
			roce.PauseTime(roce.MaxQuanta, 400*unit.Gbps)),
	}, nil
}

func models() ([]Row, error) {
	var rows []Row
	for _, m := range []struct {
		name string
		want int64
	}{{"llama-2-7b", 6_738_415_616}, {"llama-2-70b", 68_976_648_192}, {"llama-3.1-8b", 8_030_261_248},
		{"mixtral-8x7b", 46_702_792_704},
		{"llama-3.1-70b", 70_553_706_496}, {"llama-3.1-405b", 405_853_388_800}} {
		c := must(model.Builtin(m.name))
		rows = append(rows, exact("parameters of "+m.name, "released checkpoint", m.want, c.Params()))
	}
	gpt := must(model.Builtin("gpt3-175b"))
	rows = append(rows, within("parameters of GPT-3, billions", "Brown et al. 2020, table 2.1", 175,
		float64(gpt.Params())/1e9, 0.005, "%.2f"))
	return rows, nil
}

// logScenario is a network as LogGOPSim's LogGP model has it: 8 GPUs, each with a NIC, on one switch, 1 us
// and 400 Gbit/s between any two, and nothing else that takes time.
const logScenario = `
name: loggp
fabric: {kind: rail, hosts: 8, spines: 1, pipeline: 0s, host_link: {rate: 400Gbps, delay: 500ns}}
server: {gpus: 1, nics: 1, nic_latency: 0s, gpu: h100}
cc: {algorithm: none}
workload: `

// logRows hold executing and exporting to LogGOPSim of spcl/atlahs, which was built and run on what "railyard export
// --as goal-binary" writes of these scenarios: -L 1000 -o 0 -g 0 -G 0.020400391 -S 65535. G is a byte of payload at 400
// Gbit/s with its share of headers, preamble and gap (4,178 bytes for 4,096). The rest is the switch, which receives a
// packet completely before it forwards it.
func logRows() ([]Row, error) {
	const source = "LogGOPSim (spcl/atlahs), run on our export"
	var rows []Row
	for _, c := range []struct {
		claim, work string
		want        float64 // us
	}{
		{"ring all-reduce of 8 MB over 8 ranks, us", "{traffic: {ring-allreduce: {bytes: 8MB}}}", 299.600},
		{"the same by halving and doubling, us",
			"{traffic: {collective: {kind: all-reduce, algorithm: halving-doubling, bytes: 8MB}}}", 291.602},
		{"step of a GPT-3 125M, tp 2, pp 2, us", "{training: {model: gpt3-125m, tp: 2, pp: 2, global_batch: 8}}",
			25_923.586},
	} {
		r := must(finish(logScenario + c.work))
		s, _, _ := r.Outcome("")
		rows = append(rows, within("GOAL: "+c.claim, source, c.want, unit.Time(s.Step.StepTime).Micros(),
			0.01, "%.1f"))
	}
	return rows, nil
}

// Bytes of packets on the wire, for closed forms. They are written out from the standards: a form based on the code
// under test would have the code's errors.
const (
	wireGap  = 7 + 1 + 96/8  // preamble, start delimiter (IEEE 802.3, 3.1.1), 96 bit times of gap (4.4.2)
	ethernet = 6 + 6 + 2 + 4 // addresses, type and FCS (IEEE 802.3, 3.1.1)
	ipv4     = 20            // without options (RFC 791, 3.1)
	ipv6     = 40            // RFC 8200, 3
	udp      = 8             // RFC 768
	bth      = 12            // IBTA, 9.2
	reth     = 16            // IBTA, 9.3.3
	aeth     = 4             // IBTA, 9.3.5
	immDt    = 4             // IBTA, 9.3.6
	icrc     = 4             // IBTA, 7.8.1

	middleFrame = ethernet + ipv4 + udp + bth + icrc // around the payload of WRITE Middle and Last: 62
	firstFrame  = middleFrame + reth                 // frame of WRITE First and Only: 78
	ackFrame    = middleFrame + aeth                 // 66, above Ethernet's least of 64

	intHeader = 2 + 5*8 // HPCC's, figure 7: path ID and hop count, and five hops of 64 bits
)

// on400 returns what bytes take at 400 Gbit/s, in ps.
func on400(bytes int64) int64 { return bytes * 8 * 1000 / 400 }

// busFactor returns the bytes that an all-reduce of n ranks sends per rank, relative to its size (nccl-tests,
// PERFORMANCE.md).
func busFactor(n int) float64 { return 2 * float64(n-1) / float64(n) }
