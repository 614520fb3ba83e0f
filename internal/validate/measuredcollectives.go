package validate

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"railyard/internal/fidelity"
	"railyard/unit"
)

// measuredReduce is a published all-reduce of nccl-tests.
type measuredReduce struct {
	class, gpu    string
	servers, gpus int    // servers, and GPUs of a server
	domain        int    // GPUs that share NVLink; 0: those of a server
	choice        string // what the measurement sets of algorithm and protocol
	rows          []sized
}

// sized is a row: a size in bytes and the bus bandwidth in GB/s.
type sized struct{ bytes, busbw float64 }

const (
	kib = 1 << 10
	mib = 1 << 20
	gib = 1 << 30

	inServer   = "in one server"
	byTrees    = "by trees between servers"
	servers    = "between servers"
	oneRack    = "of 72 GPUs on one NVLink domain"
	notNVIDIA  = "of AMD's and Intel's GPUs"
	outside    = "of servers that no figure was chosen by"
	free       = "algorithm: auto, protocol: auto"
	byNVLS     = "algorithm: nvls, protocol: auto"
	byRing     = "algorithm: ring, protocol: auto"
	byNoNVLS   = "algorithm: auto, protocol: auto, without: [nvls, nvls-tree]"
	byTree     = "algorithm: tree, protocol: auto"
	bareOfRing = "algorithm: ring"
)

// measuredReduces are public measurements (docs/references.md, busbw), with the settings of a user who names cluster
// and size. The last class is Azure's tables of A100 and H100 servers, of an earlier NCCL, 2.18.5. Not among them are a
// rig with a fault (nccl issue 2409), means over trainings on a shared cluster (nanotron's playbook), and 20 racks of
// NVL72, whose 1,440 ranks have too many transfers to simulate.
var measuredReduces = []measuredReduce{
	{inServer, "h100", 1, 8, 0, free, []sized{{mib, 67}, {16 * mib, 237.2}, {128 * mib, 400.5}, {gib, 466.3},
		{8 * gib, 480.2}}},
	{inServer, "h200", 1, 8, 0, byNVLS, []sized{{mib, 53}, {4 * mib, 138.44}, {16 * mib, 240.4}, {64 * mib, 368.11},
		{8 * gib, 480}}},
	{inServer, "gb200", 1, 4, 0, byRing, []sized{{kib, 0.1}, {64 * kib, 5.71}, {256 * kib, 22.41}, {4 * mib, 146.27},
		{64 * mib, 550.73}, {gib, 646.9}, {8 * gib, 679.61}}},
	{oneRack, "gb200", 18, 4, 72, free, []sized{{512 * mib, 586.1}, {8 * gib, 834.6}}},
	{servers, "h100", 2, 8, 0, free, []sized{{8 * gib, 470}, {8 * gib, 430}}},
	{servers, "h100", 2, 8, 0, byNoNVLS, []sized{{8 * gib, 330}}},
	{servers, "h100", 4, 8, 0, free, []sized{{8 * gib, 365.8}, {8 * gib, 320}}},
	{servers, "b200", 2, 8, 0, byRing, []sized{{8 * gib, 344}}},
	{servers, "b300", 8, 8, 0, byRing, []sized{{8 * gib, 760}}},
	{byTrees, "gb200", 3, 4, 0, byTree, []sized{{16 * gib, 234.4}}},
	{servers, "gb200", 6, 4, 8, byRing, []sized{{16 * gib, 393.7}}},
	{notNVIDIA, "mi300x", 1, 8, 0, bareOfRing, []sized{{8 * gib, 304}}},
	{notNVIDIA, "mi355x", 1, 8, 0, bareOfRing, []sized{{8 * gib, 350}}}, // of a MI350X, whose links it has
	{notNVIDIA, "mi300x", 2, 8, 0, bareOfRing, []sized{{8 * gib, 330}, {16 * gib, 350}}},
	{notNVIDIA, "mi355x", 2, 8, 0, bareOfRing, []sized{{8 * gib, 390}, {16 * gib, 393}}},
	{notNVIDIA, "gaudi3", 1, 8, 0, bareOfRing, []sized{{256e6, 513}}},
	{outside, "h100", 1, 8, 0, byNVLS, []sized{{kib, 0.07}, {16 * kib, 0.95}, {256 * kib, 10.86}, {mib, 43.7},
		{4 * mib, 128.73}, {16 * mib, 234.45}, {64 * mib, 361.78}, {256 * mib, 423.38}, {gib, 466.35}}},
	{outside, "a100", 1, 8, 0, free, []sized{{16 * kib, 0.67}, {256 * kib, 10.11}, {mib, 36.22}, {4 * mib, 71.43},
		{16 * mib, 109.22}, {64 * mib, 166.63}, {256 * mib, 213.87}, {gib, 228.1}}},
}

// reduced is the bus bandwidth of a measurement in GB/s: measured, simulated and by NCCL's tuning model (0: none).
type reduced struct {
	class, name                string
	bytes                      float64
	measured, simulated, model float64
}

// run simulates a row: by packets, and as flows what would take minutes.
func (m *measuredReduce) run(row sized) (reduced, error) {
	rate, domain := "400Gbps", ""
	if m.gpu == "b300" {
		rate = "800Gbps"
	}
	if m.domain > 0 {
		domain = fmt.Sprintf(", nvlink_domain: %d", m.domain)
	}
	p := must(plan("measured", fmt.Appendf(nil, `
fabric: {kind: rail-only, hosts: %d, host_link: {rate: %s, cable: 3m}}
server: {gpu: %s, gpus: %d, nics: %[4]d%s}
workload: {traffic: {collective: {kind: all-reduce, bytes: %.0fB, %s}}}
`, m.servers, rate, m.gpu, m.gpus, domain, row.bytes, m.choice), nil, nil))
	how := "packet"
	if row.bytes > 64*mib && m.servers > 1 {
		how = "flow"
	}
	p.Totals = true
	r := must(fidelity.New(how, p, 0))
	do(r.Go(nil))
	s, _, _ := r.Outcome("")
	n := m.servers * m.gpus
	x := reduced{class: m.class, bytes: row.bytes, measured: row.busbw,
		name:      fmt.Sprintf("%d %s %v", n, m.gpu, unit.Bytes(row.bytes)),
		simulated: row.bytes / unit.Time(s.StepTime).Seconds() * busFactor(n) / 1e9}
	if p.Modelled != nil {
		x.model = p.Modelled.BusBW
	}
	return x, nil
}

// small reports whether latency decides a row.
func (x *reduced) small() bool { return x.bytes < 16*mib }

// off is the relative error of an engine: of the time of small rows, and of the bandwidth of others.
func (x *reduced) off(got float64) float64 {
	if x.small() {
		return x.measured/got - 1
	}
	return got/x.measured - 1
}

var (
	ofServers = reason("clusters between 320 and 470 GB/s",
		"Published rates of equal servers differ by 9 % (2 servers) and 14 % (4 servers), and 2 servers without NVLS are published at 330 (H100) and 344 GB/s (B200) where 4 servers have 366. The simulator's servers are healthy, and simulated NICs carry 98 % of their rate.",
		NoSetting, "what limited the slower clusters is not published")
	ofTrees = reason("trees above the model's bandwidth",
		"NCCL's tuning model gives trees 92 % of half of the NICs' rate; 3 servers exceed it, because a server sends at most 1.5 times the bytes and not twice. Where two servers send to one, simulated queues and DCQCN take a part of the rate.",
		NoSetting, "cc.algorithm=none brings the simulated 256 MiB to 87 % of line rate by packets; the measured cluster's congestion control is not published")
	ofRack = reason("NVSwitch of a rack of 72 GPUs",
		"Measured times of 0.5 to 8 GiB are about 500 us and 430 GB/s. The share of 0.74 is NCCL's for sums of 8 GPUs by 2 NVSwitches; that of 72 GPUs by 18 is not published.",
		NoSetting, "calibration.nvlink_share=82 brings the simulated 8 GiB to 831 GB/s, and would be fitted to one row")
	ofBars = reason("what acceptance tests of AMD require",
		"304 GB/s of a MI300X and 350 of a MI350X are the least that AMD's acceptance tests take; 75 % of seven links are 336 and 404. What RCCL reaches on a healthy server is not published.",
		NoSetting, "a lower share of the links would be fitted to bars")
	ofHosts = reason("start of kernels by host",
		"Azure's tables do not fall below 38 us (H100, NCCL 2.18.5), 42 us (A100) and 15 us (GB200), and hardly grow up to 256 KiB, where NCCL's tuning model has 10 to 25 us for any host. The host's time to start a kernel is in them and not in the model.",
		NoSetting, "calibration.launch is one time for all hosts; calibrate fits it to a table of one's own")
	ofA100 = reason("16 to 64 MiB on an A100 server",
		"Azure's A100 table rises from 109 GB/s at 16 MiB to 228 at 1 GiB. NCCL's tuning model has 169 at 16 MiB by ring with LL128; which protocol NCCL 2.18.5 ran is not published.",
		NoSetting, "a protocol chosen to fit would be a guess")
)

// measuredRows are errors of the simulator and of NCCL's tuning model by class, with nothing fitted to the rows. The
// class of trees takes most of the time.
func measuredRows(large bool) (rows []Row, err error) {
	var all []reduced
	for i := range measuredReduces {
		if measuredReduces[i].class == byTrees && !large {
			continue
		}
		for _, row := range measuredReduces[i].rows {
			all = append(all, must(measuredReduces[i].run(row)))
		}
	}
	for _, c := range []struct {
		class string
		small bool
		why   *Reason
	}{{inServer, false, nil}, {oneRack, false, ofRack}, {servers, false, ofServers}, {byTrees, false, ofTrees},
		{notNVIDIA, false, ofBars},
		{inServer, true, ofHosts}, {outside, false, ofA100}, {outside, true, ofHosts}} {
		for _, engine := range []struct {
			name string
			of   func(*reduced) float64
		}{{"simulated", func(x *reduced) float64 { return x.simulated }},
			{"by NCCL's tuning model", func(x *reduced) float64 { return x.model }}} {
			var errors []string
			sum, what, most := 0.0, "bus bandwidth from 16 MiB", 0.1
			if c.small {
				what, most = "time below 16 MiB", 0.25
			}
			for i := range all {
				x := &all[i]
				if got := engine.of(x); x.class == c.class && x.small() == c.small && got > 0 {
					e := x.off(got)
					errors, sum = append(errors, fmt.Sprintf("%s %+.0f %%", x.name, 100*e)), sum+e*e
				}
			}
			if len(errors) == 0 {
				continue
			}
			rms := math.Sqrt(sum / float64(len(errors)))
			rows = append(rows, Row{Claim: fmt.Sprintf("all-reduces %s, %s, %s: RMS of the error over %s", c.class, what,
				engine.name, unit.Plural(len(errors), "measurement")), Source: "docs/references.md, busbw",
				Expected: fmt.Sprintf("at most %.0f %%", 100*most), Ours: fmt.Sprintf("%.1f %%", 100*rms), Diff: "bound",
				OK: rms <= most, Note: strings.Join(slices.Clip(errors), ", ")}.because(c.why))
		}
	}
	return rows, nil
}
