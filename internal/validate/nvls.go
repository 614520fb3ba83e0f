package validate

import (
	"fmt"

	"railyard/internal/coll"
	"railyard/unit"
)

// nvlsRows hold all-reduces by NVSwitch to what is measured. NVLink's rate is what kernels reach of a
// link's (HANDBOOK 9.3), n/(n+1) of it is the algorithm's, and NVSwitch's share is NCCL's own figure;
// nothing is fitted.
func nvlsRows() ([]Row, error) {
	const (
		usable   = "; NVLink at 20.6 of 25 GB/s a link (nccl tuning.cc)"
		usable5  = "; NVLink at 40.1 of 50 GB/s a link (nccl tuning.cc)"
		tests290 = "NVIDIA, nccl-tests issue 290 (HANDBOOK 9.4)" + usable
		nccl1455 = "nccl issue 1455, NCCL_ALGO=NVLS, 4 GB" + usable
		dgxc     = "dgxc-benchmarking, nccl README, 1 node of 8 B200 (HANDBOOK 24)" + usable5
	)
	var rows []Row
	for _, c := range []struct {
		gpu, source string
		gpus        int
		nvlink      float64 // GB/s
		bytes       string
		want, tol   float64
		note        string
	}{
		{"h100", tests290, 8, 370.8, "8GiB", 476, 0.05, ""},
		{"h100", "HANDBOOK 24" + usable, 8, 370.8, "1GiB", 466, 0.05, ""},
		{"h100", nccl1455, 7, 370.8, "4GB", 460, 0.05, ""},
		{"h100", nccl1455, 6, 370.8, "4GB", 440, 0.05, ""},
		{"h100", nccl1455, 5, 370.8, "4GB", 420, 0.05, ""},
		{"b200", dgxc, 8, 721.8, "8GiB", 834, 0.05, ""},
		{"h100", "HANDBOOK 24" + usable, 8, 370.8, "16MiB", 237, 0.05,
			"latency is the tuning model's 25 us; that pieces of a few MB fill NVSwitch's pipeline is not " +
				"modelled (NCCL's own model says 375)"},
	} {
		got, err := nvls(c.gpu, c.gpus, c.nvlink, c.bytes)
		if err != nil {
			return nil, err
		}
		r := within(fmt.Sprintf("%d x %s: NVLS all-reduce of %s, bus bandwidth", c.gpus, c.gpu, c.bytes),
			c.source,
			c.want, got, c.tol, "%.0f GB/s")
		r.Note = c.note
		rows = append(rows, r)
	}
	return rows, nil
}

// nvls is the bus bandwidth of an all-reduce by NVSwitch, as NCCL's protocol simple runs it, in GB/s.
func nvls(gpu string, gpus int, nvlink float64, bytes string) (float64, error) {
	r, err := finish(fmt.Sprintf(`
fabric: {kind: rail-only, hosts: 1, host_link: {rate: 400Gbps, cable: 3m}}
server: {gpu: %s, gpus: %d, nics: %[2]d, nvlink: %.1fGB/s}
workload: {traffic: {collective: {kind: all-reduce, bytes: %s, algorithm: nvls, protocol: simple}}}
`, gpu, gpus, nvlink, bytes))
	if err != nil {
		return 0, err
	}
	b, err := unit.ParseBytes(bytes)
	if err != nil {
		return 0, err
	}
	s, _, _ := r.Outcome("")
	return float64(b) / unit.Time(s.StepTime).Seconds() * coll.AllReduce.BusFactor(gpus) / 1e9, nil
}
