package validate

import (
	"fmt"
	"slices"

	"railyard/internal/coll"
	"railyard/unit"
)

var (
	nvlsStages = reason("stages of NCCL's pipeline",
		"The first and the last stage of NCCL's pipeline are assumed to last as long as the middle one, and the latency is the tuning model's 25 us. NVIDIA publishes neither.",
		"calibration.launch=8us", "238 GB/s")
	launches = reason("start of kernels on GB200",
		"Published times do not fall below 15 us, and up to 256 KiB they hardly grow. NCCL's tuning model has 6.6 us for the start of a ring and 0.6 us per hop, for every GPU; constants for GB200 are not published.",
		"calibration.launch=6us", "-12 to +2 %")
	simaiRing = reason("NVLink share of SimAI's ring",
		"SimAI's ring reaches 167.6 of the 180 GB/s that it has for NVLink, at any size (its times over bytes are a line). The simulator reaches all of it.",
		"calibration.nvlink_share=93.1", "+0.0 to +1.9 %")
	simaiNVLS = reason("start of SimAI's NVLS",
		"SimAI's times are a line of 65 us and 221 GB/s. Here the start is 37 us, and two rounds of 4 to 8 MiB fill NCCL's pipeline, as NVIDIA's measurements above show.",
		"workload.traffic.collective.protocol=none calibration.launch=55us", "-0.2 to +1.4 %")
)

// nvlsRows compare all-reduces by NVSwitch with measurements, with a user's default settings. NVLink's rate is the part
// of a link's that kernels reach (gpus.json), the algorithm's is n/(n+1) of it, NVSwitch's share is NCCL's own figure,
// and so are the chunks that fill the pipeline; nothing is fitted.
func nvlsRows() ([]Row, error) {
	const (
		usable   = "; NVLink at 20.6 of 25 GB/s a link (nccl tuning.cc)"
		usable5  = "; NVLink at 40.1 of 50 GB/s a link (nccl tuning.cc)"
		tests290 = "NVIDIA, nccl-tests issue 290 (docs/references.md, busbw)" + usable
		nccl1455 = "nccl issue 1455, NCCL_ALGO=NVLS, 4 GB" + usable
		dgxc     = "dgxc-benchmarking, nccl README, 1 node of 8 B200 (docs/references.md, published-runs)" + usable5
	)
	var rows []Row
	for _, c := range []struct {
		gpu, source string
		gpus        int
		bytes       string
		want, tol   float64
		why         *Reason
	}{
		{"h100", tests290, 8, "8GiB", 476, 0.05, nil},
		{"h100", "docs/references.md, published-runs" + usable, 8, "1GiB", 466, 0.05, nil},
		{"h100", nccl1455, 7, "4GB", 460, 0.05, nil},
		{"h100", nccl1455, 6, "4GB", 440, 0.05, nil},
		{"h100", nccl1455, 5, "4GB", 420, 0.05, nil},
		{"b200", dgxc, 8, "8GiB", 834, 0.05, nil},
		{"h100", "docs/references.md, published-runs" + usable, 8, "16MiB", 237, 0.05,
			nvlsStages},
	} {
		got := must(nvls(c.gpu, c.gpus, c.bytes))
		r := within(fmt.Sprintf("%d x %s: NVLS all-reduce of %s, bus bandwidth", c.gpus, c.gpu, c.bytes),
			c.source,
			c.want, got, c.tol, "%.0f GB/s")
		rows = append(rows, r.because(c.why))
	}
	more := must(nvlsTreeRows())
	simai, err := simaiRows()
	return slices.Concat(rows, must(smallRows()), more, simai), err
}

// smallRows compares the time of collectives on one server with measurements. Small collectives are dominated by
// latency, and large ones are not.
func smallRows() (rows []Row, err error) {
	const (
		azure   = "Azure/AI-benchmarking-guide, ND_H200_v5 (docs/references.md, busbw)"
		azure4  = "Azure/AI-benchmarking-guide, ND_GB200_v6 (docs/references.md, busbw)"
		dgxc    = "dgxc-benchmarking, nccl README, 1 node of 8 H100 (docs/references.md, busbw)"
		latency = 0.25 // below 16 MiB
	)
	for _, c := range []struct {
		gpu, source    string
		gpus           int
		by, protocol   string
		bytes          string
		published, tol float64 // bus bandwidth, GB/s
		why            *Reason
	}{
		{"h100", dgxc, 8, "auto", "auto", "1MiB", 67, latency, nil},
		{"h200", azure, 8, coll.ByNVLS, "auto", "1MiB", 53, latency, nil},
		{"h200", azure, 8, coll.ByNVLS, "auto", "4MiB", 138.44, latency, nil},
		{"h200", azure, 8, coll.ByNVLS, "auto", "16MiB", 240.4, 0.1, nil},
		{"h200", azure, 8, coll.ByNVLS, "auto", "64MiB", 368.11, 0.1, nil},
		{"h200", azure, 8, coll.ByNVLS, "auto", "8GiB", 480, 0.1, nil},
		{"gb200", azure4, 4, coll.ByRing, "auto", "1KiB", 0.1, latency, launches},
		{"gb200", azure4, 4, coll.ByRing, "auto", "64KiB", 5.71, latency, launches},
		{"gb200", azure4, 4, coll.ByRing, "auto", "256KiB", 22.41, latency, launches},
		{"gb200", azure4, 4, coll.ByRing, "auto", "4MiB", 146.27, latency, launches},
		{"gb200", azure4, 4, coll.ByRing, "auto", "64MiB", 550.73, 0.1, nil},
		{"gb200", azure4, 4, coll.ByRing, "auto", "8GiB", 679.61, 0.1, nil},
	} {
		bytes := float64(must(unit.ParseBytes(c.bytes)))
		got := must(nvlsRate(fmt.Sprintf(`
fabric: {kind: rail-only, hosts: 1, host_link: {rate: 400Gbps, cable: 3m}}
server: {gpu: %s, gpus: %d, nics: %[2]d}
workload: {traffic: {collective: {kind: all-reduce, bytes: %s, algorithm: %s, protocol: %s}}}
`, c.gpu, c.gpus, c.bytes, c.by, c.protocol), c.gpus, unit.Bytes(bytes)))
		micros := func(bus float64) float64 { return bytes * busFactor(c.gpus) / bus / 1e3 }
		r := within(fmt.Sprintf("%d x %s: all-reduce of %s, %s: us", c.gpus, c.gpu, c.bytes, c.by), c.source,
			micros(c.published), micros(got), c.tol, "%.1f")
		rows = append(rows, r.because(c.why))
	}
	return rows, nil
}

// nvlsTreeRows compare all-reduces by NVSwitches and trees between them with measurements on two servers, whose NICs a
// ring could not pass at that rate.
func nvlsTreeRows() ([]Row, error) {
	const issue = "nccl issue 2409 citing nccl-tests issue 309 (docs/references.md, busbw): 2 servers of 8 H100 and 8 NICs of 400G; NVLink at 20.6 of 25 GB/s a link (nccl tuning.cc)"
	got, err := nvlsRate(`
fabric: {kind: rail-only, hosts: 2, host_link: {rate: 400Gbps, cable: 3m}}
server: {gpu: h100, gpus: 8, nics: 8}
transport: {recovery: selective, write: only}
cc: {algorithm: none}
workload: {traffic: {collective: {kind: all-reduce, bytes: 512MiB, algorithm: nvls-tree, protocol: simple}}}
`, 16, 512*unit.MiB)
	return []Row{within("2 x 8 h100: NVLSTree all-reduce of 512MiB, bus bandwidth", issue, 470, got, 0.05,
		"%.0f GB/s")}, err
}

// simaiRows are SimAI's published all-reduces of eight GPUs by ring and by NVLS. Their latencies per message are
// those of its runs (AS_SEND_LAT: 2 us and 12 us).
func simaiRows() (rows []Row, err error) {
	const source = "SimAI, docs/Tutorial.md, RING VS NVLS: 8 of 32 GPUs, "
	for _, c := range []struct {
		mib        int64
		ring, nvls float64
	}{{16, 141.84, 148.88}, {32, 153.68, 178.04}, {64, 160.60, 197.38}, {128, 163.85, 208.70},
		{256, 165.72, 214.87}, {512, 166.68, 218.09}} {
		for _, by := range []struct {
			name, protocol, nvlink, latency string
			why                             *Reason
			want                            float64
		}{
			{coll.ByRing, "none", "1440Gbps", "2us", simaiRing, c.ring},
			{coll.ByNVLS, "simple", "1360Gbps", "12us", simaiNVLS, c.nvls},
		} {
			got := must(nvlsRate(fmt.Sprintf(`
fabric: {kind: rail-only, hosts: 1, host_link: {rate: 400Gbps, cable: 3m}}
server: {gpu: h100, gpus: 8, nics: 8, nvlink: %s, nvlink_latency: %s}
workload: {traffic: {collective: {kind: all-reduce, bytes: %dMiB, algorithm: %s, protocol: %s}}}
`, by.nvlink, by.latency, c.mib, by.name, by.protocol), 8, unit.Bytes(c.mib)*unit.MiB))
			r := within(fmt.Sprintf("SimAI's 8 GPUs: all-reduce of %dMiB by %s, bus bandwidth", c.mib,
				by.name), source+"NVLink of "+by.nvlink, by.want, got, 0.05, "%.1f GB/s")
			rows = append(rows, r.because(by.why))
		}
	}
	return rows, nil
}

// nvls is the bus bandwidth of an all-reduce by NVSwitch, as NCCL's protocol simple runs it, in GB/s.
func nvls(gpu string, gpus int, bytes string) (float64, error) {
	b := must(unit.ParseBytes(bytes))
	return nvlsRate(fmt.Sprintf(`
fabric: {kind: rail-only, hosts: 1, host_link: {rate: 400Gbps, cable: 3m}}
server: {gpu: %s, gpus: %d, nics: %[2]d}
workload: {traffic: {collective: {kind: all-reduce, bytes: %s, algorithm: nvls, protocol: simple}}}
`, gpu, gpus, bytes), gpus, b)
}

// nvlsRate is the bus bandwidth of a scenario's all-reduce, in GB/s.
func nvlsRate(text string, gpus int, bytes unit.Bytes) (float64, error) {
	r := must(finish(text))
	s, _, _ := r.Outcome("")
	return float64(bytes) / unit.Time(s.StepTime).Seconds() * busFactor(gpus) / 1e9, nil
}
