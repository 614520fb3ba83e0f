package fitting

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"railyard/internal/calibrate"
	"railyard/unit"
)

const healthy = `name: cluster
fabric: {kind: rail, hosts: 2, spines: 1, host_link: {rate: 400Gbps}}
server: {gpu: h100, gpus: 4, nics: 4}
`

// TestExplain measures a cluster with a fault that the scenario does not have, with 2 % of noise. The fault must be
// the hypothesis that explains the gap best. No hypothesis has packets of 256 B, so nothing explains them.
func TestExplain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ fault, name, shape string }{
		{"events: [{nic: host-1/nic-1, rate_share: 0.5}]\n", "one NIC's link at 0.5 ", "sizes from 1 MiB on"},
		{"events: [{nic: host-2/nic-3, rate_share: 0.25}]\n", "one NIC's link at 0.25 ", "2.9 × at 32 MiB"},
		{"SERVER pcie: 110Gbps", "PCIe of the NICs carries 114 Gbit/s", "2.6 × at 32 MiB"},
		{"SERVER nics_used: [nic-2]", "1 of 4 NICs", " × at 32 MiB"},
		{"SERVER nvlink: 120Gbps", "GPUs of a server exchange over PCIe or host memory at 114 Gbit/s", " × at 32 MiB"},
		{"transport: tcp\n", "NCCL uses TCP sockets", "at most 9.3 ×"},
		{"calibration: {launch: 40us}\n", "each collective starts later by 38.5", "sizes up to 8 MiB"},
		{"calibration: {network_step: 9us}\n", "each transfer between hosts starts later by 8.9", "sizes up to 1 MiB"},
		{"transport: {mtu: 256}\n", "", "sizes from 8 MiB on"},
	} {
		faulty := healthy + c.fault
		if in, ok := strings.CutPrefix(c.fault, "SERVER "); ok {
			faulty = strings.Replace(healthy, "nics: 4}", "nics: 4, "+in+"}", 1)
		}
		q := &Question{Fabric: file(t, "s.yaml", healthy), Algorithm: "auto", Largest: 64 * unit.MiB,
			NCCLTests: []string{file(t, "nccl.txt", ncclTests(t, faulty, []int{1 << 16, 1 << 20, 1 << 23, 1 << 25}, 2))}}
		points, _, err := q.Compared(8, simulate, quiet)
		if err != nil {
			t.Fatal(err)
		}
		for i := range points {
			points[i].Measured *= 1 + 0.02*float64(i%2*2-1)
		}
		g, err := q.Explain(points, false, simulate, quiet)
		if err != nil {
			t.Fatal(err)
		}
		name, left := "", 0.0
		if len(g.Best) > 0 {
			name, left = g.Best[0].Name, g.Best[0].Error
		}
		if c.name == "" && name != "" || !strings.HasPrefix(name, c.name) || left > Expected ||
			!strings.Contains(g.Shape, c.shape) {
			t.Errorf("%s: %s, error %.3f, %d tried, %d not applicable, best %s, which leaves %.3f",
				c.fault, g.Shape, g.Error, g.Tried, g.Inapplicable, name, left)
		}
	}
}

// TestExplainAllToAll measures all-to-alls of two servers in which NCCL sends by the NIC on the receiver's rail (PXN,
// its default), or does not, unlike the scenario. That is the hypothesis, and no other concerns all-reduces.
func TestExplainAllToAll(t *testing.T) {
	t.Parallel()
	for _, pxn := range []bool{true, false} {
		with := func(on bool) string {
			return strings.Replace(healthy, "nics: 4}", fmt.Sprintf("nics: 4, pxn: %v}", on), 1)
		}
		var b strings.Builder
		fmt.Fprintln(&b, "# Collective test starting: alltoall_perf")
		for r := range 8 {
			fmt.Fprintf(&b, "#  Rank %2d Group  0 Pid %d on n%d device %d [0x00] NVIDIA H100\n", r, 100+r, r/4, r%4)
		}
		for _, n := range []int{1 << 20, 1 << 25} {
			us := timeOf(t, with(pxn), "all-to-all", n, 2)
			fmt.Fprintf(&b, "%d %d float none -1 %.2f %.3f %.3f 0\n", n, n/32, us, float64(n)/us/1e3, float64(n)/us/1e3*7/8)
		}
		q := &Question{Fabric: file(t, "s.yaml", with(!pxn)), Algorithm: "auto", Largest: 64 * unit.MiB,
			NCCLTests: []string{file(t, "nccl.txt", b.String())}}
		points, _, err := q.Compared(8, simulate, quiet)
		if err != nil {
			t.Fatal(err)
		}
		g, err := q.Explain(points, false, simulate, quiet)
		if err != nil || len(g.Best) == 0 {
			t.Fatal(g, err)
		}
		if h := &g.Best[0]; h.Scenario != fmt.Sprintf("--set server.pxn=%v", pxn) || h.Error > Expected {
			t.Errorf("pxn %v: %s, error %.3f of %.3f", pxn, h.Scenario, h.Error, g.Error)
		}
		for _, h := range g.Best {
			if strings.Contains(h.Name, "all-reduce") || strings.Contains(h.Confirm, "all_reduce") {
				t.Errorf("%s: %s", h.Name, h.Confirm)
			}
		}
	}
}

// TestExplainPairs reads a table of 2 servers of 8 GPUs: 60 µs plus size over 185 GB/s of bus bandwidth, half of
// the bandwidth of 8 NICs of 400G. With rings, half of the rate and a launch together explain what neither does
// alone.
func TestExplainPairs(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	fmt.Fprintln(&b, "# Collective test starting: all_reduce_perf")
	for r := range 16 {
		fmt.Fprintf(&b, "#  Rank %2d Group  0 Pid %d on n%d device %d [0x00] NVIDIA H100\n", r, 100+r, r/8, r%8)
	}
	b.WriteString(` 1048576   262144 float sum -1  70.63 14.85  27.84 0  70.63 14.85  27.84 0
 4194304  1048576 float sum -1 102.51 40.92  76.72 0 102.51 40.92  76.72 0
16777216  4194304 float sum -1 230.04 72.93 136.75 0 230.04 72.93 136.75 0
67108864 16777216 float sum -1 740.16 90.67 170.00 0 740.16 90.67 170.00 0
`)
	const rail = "fabric: {kind: rail, hosts: 2, spines: 2, host_link: {rate: 400Gbps}}\nserver: {gpu: h100, gpus: 8, nics: 8}\n"
	q := &Question{Fabric: file(t, "s.yaml", rail), Algorithm: "ring", Largest: 64 * unit.MiB,
		NCCLTests: []string{file(t, "nccl.txt", b.String())}}
	points, _, err := q.Compared(8, simulate, quiet)
	if err != nil {
		t.Fatal(err)
	}
	g, err := q.Explain(points, false, simulate, quiet)
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, h := range g.Best {
		half := strings.HasPrefix(h.Name, "every NIC's link at 0.5 of its rate, 200 Gbit/s, and each collective starts later by ")
		found = found || half && h.Pair && h.Error < Expected &&
			strings.HasPrefix(h.Scenario, "--set fabric.host_link.rate=200Gbps --set calibration.launch=")
		if !h.Pair && h.Error < Expected {
			t.Errorf("%s alone leaves %.3f", h.Name, h.Error)
		}
	}
	if !found {
		t.Errorf("%+v", g)
	}
}

// TestWarm reads a table of 4 servers of 8 H100. Two servers send to a third in NCCL's trees, so DCQCN halves rates
// for the first 300 us. nccl-tests times runs after warm-up runs: 32 MiB take the 282 us of NCCL's tuning model,
// not the 606 us of a first run.
func TestWarm(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	fmt.Fprintln(&b, "# Collective test starting: all_reduce_perf")
	for r := range 32 {
		fmt.Fprintf(&b, "#  Rank %2d Group  0 Pid %d on n%d device %d [0x00] NVIDIA H100\n", r, 100+r, r/8, r%8)
	}
	b.WriteString("33554432 8388608 float sum -1 282.0 118.99 230.54 0 282.0 118.99 230.54 0\n")
	const cluster = "name: a\nfabric: {kind: rail, hosts: 4, spines: 4, host_link: {rate: 400Gbps}, " +
		"fabric_link: {rate: 800Gbps}}\nserver: {gpu: h100, gpus: 8, nics: 8}\ntransport: {mtu: 4096}\n"
	q := &Question{Fabric: file(t, "s.yaml", cluster), Algorithm: "auto", Largest: 64 * unit.MiB,
		NCCLTests: []string{file(t, "nccl.txt", b.String())}}
	points, _, err := q.Compared(8, simulate, quiet)
	if err != nil || len(points) != 1 || points[0].Before > 1.25*282 || points[0].Before < 282/1.25 {
		t.Errorf("%+v, %v", points, err)
	}
}

// TestTimesGrow simulates sizes of a ring that meets ECMP collisions. Ranks begin a run while others end the previous
// one, so runs overlap, and no time is below that of fewer bytes.
func TestTimesGrow(t *testing.T) {
	t.Parallel()
	const cluster = "name: a\nfabric: {kind: pod, segments: 2, hosts: 2, spines: 2, host_link: {rate: 200Gbps, cable: 5m}, " +
		"fabric_link: {rate: 400Gbps, cable: 50m}}\nserver: {gpu: h100, gpus: 8, nics: 8, nic_ports: 2, bond: affinity}\n" +
		"transport: {qps: 2}\n"
	var b strings.Builder
	for mib := 4.0; mib <= 32; mib *= 2 { // 20 GB/s, and the bus bandwidth of 32 ranks
		fmt.Fprintf(&b, "%.0f %.0f float sum -1 %.1f 20.00 38.75 0\n", mib*(1<<20), mib*(1<<18), mib*(1<<20)/20e3)
	}
	q := &Question{Fabric: file(t, "s.yaml", cluster), Algorithm: "ring", Largest: 64 * unit.MiB,
		NCCLTests: []string{file(t, "nccl.txt", b.String())}}
	points, _, err := q.Compared(8, simulate, quiet)
	if err != nil || len(points) != 4 {
		t.Fatal(points, err)
	}
	for i, p := range points[1:] {
		if p.Before < points[i].Before {
			t.Errorf("%v takes %.0f us, %v %.0f us", p.Bytes, p.Before, points[i].Bytes, points[i].Before)
		}
	}
}

// TestSizesGrowSmoothly simulates all-to-alls that meet hash collisions: twice the bytes take about twice as long, also
// where fewer runs are simulated than of smaller sizes.
func TestSizesGrowSmoothly(t *testing.T) {
	t.Parallel()
	const cluster = "name: a\nfabric: {kind: rail, hosts: 2, spines: 2, host_link: {rate: 400Gbps}}\n" +
		"server: {gpu: h100, gpus: 4, nics: 4}\n"
	var b strings.Builder
	fmt.Fprintln(&b, "# Collective test starting: alltoall_perf")
	for r := range 8 {
		fmt.Fprintf(&b, "#  Rank %2d Group  0 Pid %d on n%d device %d [0x00] NVIDIA H100\n", r, 100+r, r/4, r%4)
	}
	for mib := 64.0; mib <= 512; mib *= 2 {
		fmt.Fprintf(&b, "%.0f %.0f float none -1 %.1f 40.00 35.00 0\n", mib*(1<<20), mib*(1<<15), mib*(1<<20)/40e3)
	}
	q := &Question{Fabric: file(t, "s.yaml", cluster), Algorithm: "auto", Largest: 64 * unit.MiB,
		NCCLTests: []string{file(t, "nccl.txt", b.String())}}
	points, _, err := q.Compared(8, simulate, quiet)
	if err != nil || len(points) != 4 {
		t.Fatal(points, err)
	}
	for i, p := range points[1:] {
		if x := p.Before / points[i].Before; x < 1.8 || x > 2.2 {
			t.Errorf("%v takes %.0f us, %v %.0f us: %.2f times", p.Bytes, p.Before, points[i].Bytes, points[i].Before, x)
		}
	}
}

// TestNoRemedy checks that the explanation of a table without a slow size has no remedy, and that of a table with
// one has.
func TestNoRemedy(t *testing.T) {
	t.Parallel()
	for _, times := range []float64{0.5, 2} {
		q := &Question{Fabric: file(t, "s.yaml", healthy), Algorithm: "auto", Largest: 64 * unit.MiB,
			NCCLTests: []string{file(t, "nccl.txt", ncclTests(t, healthy, []int{1 << 20, 1 << 25}, 2))}}
		points, _, err := q.Compared(8, simulate, quiet)
		if err != nil {
			t.Fatal(err)
		}
		for i := range points {
			points[i].Measured *= times
		}
		g, err := q.Explain(points, false, simulate, quiet)
		if err != nil || len(g.Best) == 0 {
			t.Fatalf("%g times: %+v, %v", times, g, err)
		}
		for _, h := range g.Best {
			if (h.Remedy == "") != (times < 1) {
				t.Errorf("%g times as long: %s: remedy %q", times, h.Name, h.Remedy)
			}
		}
	}
}

// TestFaultsBeforeChoices ranks faults and choices of NCCL that explain a table of 64 GPUs. Hypotheses that explain
// all sizes precede those that explain the bandwidth, even if middle sizes are measured faster than simulated. Of
// hypotheses with about equal fits, the fault is first.
func TestFaultsBeforeChoices(t *testing.T) {
	t.Parallel()
	points := func(middle float64) []Point {
		return []Point{{Bytes: 1 << 20, Measured: 80.8, Before: 70.8}, {Bytes: 1 << 25, Measured: middle, Before: 538},
			{Bytes: 1 << 29, Measured: 5420, Before: 3600}, {Bytes: 1 << 33, Measured: 87700, Before: 43100}}
	}
	protocol := Hypothesis{Name: "protocol", Confirm: debugTune}
	started := Hypothesis{Name: "protocol and launch", Confirm: debugTune + "; cpupower"}
	fault := Hypothesis{Name: "fault", Confirm: "ibstat; " + debugTune}
	var faults []Trial
	for range mostBest {
		faults = append(faults, Trial{Hypothesis: fault, Free: 1, Error: 0.3, Bandwidth: 0.05})
	}
	two := func(faulty, ofBandwidth, chosen, ofItsBandwidth float64) []Trial {
		return []Trial{{Hypothesis: protocol, Error: chosen, Bandwidth: ofItsBandwidth},
			{Hypothesis: fault, Error: faulty, Bandwidth: ofBandwidth}}
	}
	pair := Trial{Hypothesis: started, Pair: true, Free: 2, Error: 0.08, Bandwidth: 0.06}
	for _, c := range []struct {
		what        string
		middle      float64
		best        []Trial
		first, last string
	}{
		{"all sizes before the bandwidth", 700, append([]Trial{pair}, faults...), "protocol and launch", "fault"},
		{"also where a size is faster", 411, append([]Trial{pair}, faults...), "protocol and launch", "fault"},
		{"within noise", 700, two(0.04, 0.04, 0.03, 0.03), "fault", "protocol"},
		{"beyond noise", 700, two(0.09, 0.09, 0.03, 0.03), "protocol", "fault"},
		{"bandwidth alone, within noise", 700, two(0.3, 0.04, 0.3, 0.02), "fault", "protocol"},
	} {
		x := newSearch(points(c.middle))
		x.Best = c.best
		x.bench = func(*Hypothesis, []string) *byFidelity {
			return &byFidelity{bench: func(bool) (*calibrate.Bench, error) {
				return nil, errors.New("not simulated again")
			}}
		}
		if err := x.refine(); err != nil {
			t.Fatal(err)
		}
		n := min(len(c.best), mostBest)
		if len(x.Best) != n || x.Best[0].Name != c.first || x.Best[n-1].Name != c.last {
			t.Errorf("%s: %+v", c.what, x.Best)
		}
	}
}

// TestPathMTU reads a table of perftest with a path MTU of 1024. It is simulated with that MTU, and the sizes are those
// of the messages. A rate of two thirds is the PCIe's, and no setting of NCCL is a hypothesis.
func TestPathMTU(t *testing.T) {
	const two = "name: two\nfabric: {kind: single-rail, hosts: 2, host_link: {rate: 200Gbps, cable: 5m}}\n" +
		"server: {gpus: 1, nics: 1}\n"
	table := func(mtu int, rate float64) string {
		text := "                    RDMA_Write BW Test\n Mtu             : %d[B]\n" +
			" #bytes     #iterations    BW peak[MiB/sec]    BW average[MiB/sec]   MsgRate[Mpps]\n"
		for _, size := range []int{64 << 10, 1 << 20} {
			text += fmt.Sprintf(" %d      5000             %.2f            %.2f		   0.1\n", size, rate, rate)
		}
		return fmt.Sprintf(text, mtu)
	}
	times := map[int]float64{}
	for _, mtu := range []int{1024, 4096} {
		q := &Question{Fabric: file(t, "two.yaml", two), Algorithm: "auto", Largest: 64 * unit.MiB,
			Perftest: []string{file(t, "ib.txt", table(mtu, 14000))}}
		points, _, err := q.Compared(8, simulate, quiet)
		if err != nil {
			t.Fatal(err)
		}
		if points[0].Bytes != 64<<10 || points[1].Bytes != 1<<20 {
			t.Errorf("sizes %d and %d", points[0].Bytes, points[1].Bytes)
		}
		times[mtu] = points[1].Before
		g, err := q.Explain(points, false, simulate, quiet)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range g.Best {
			if strings.Contains(b.Name, "NCCL") || strings.Contains(b.Remedy, "NCCL") {
				t.Errorf("MTU %d: %s", mtu, b.Name)
			}
		}
	}
	// payload of a packet over its bytes on the wire: 66 B of headers, FCS, preamble and gap, and the RoCE headers
	if got := times[1024] / times[4096]; got < 1.04 || got > 1.09 {
		t.Errorf("MTU 1024 takes %.3f times as long as 4096", got)
	}
}
