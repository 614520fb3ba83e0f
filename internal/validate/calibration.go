package validate

import (
	"fmt"
	"math"
	"strings"

	"railyard/internal/calibrate"
	"railyard/internal/measured"
	"railyard/internal/result"
	"railyard/internal/scenario"
	"railyard/internal/sim"
	"railyard/unit"
)

// published is a published measurement with nccl-tests: rows of size in bytes and times in us, out of place and in
// place.
type published struct {
	claim, source string
	cluster       string // scenario
	gpu           string
	algorithm     string
	per           int // GPUs of a server that take part
	rows          [][4]float64
	most          float64 // error of points kept aside after calibration
	note          string
	why           *Reason // reason if the error is larger
}

var onePoint = reason("points that constrain one parameter",
	"0.5 GB reach half of the bandwidth of 4 GB. Two rounds of 48 to 96 MiB that fill NCCL's pipeline explain half of that.",
	NoSetting, "the three fitted points constrain the NVLink share alone, and a second parameter would be a guess")

// measurements are public outputs of nccl-tests; the fourth column is the number of servers.
var measurements = []published{
	{"2 x 4 A100, 4 NICs of 200G, ring, 0.5 to 8 GB", "nccl-tests issue 252, 24 September 2024", `
name: measured
fabric: {kind: rail, hosts: 2, spines: 1, host_link: {rate: 200Gbps}}
server: {gpu: a100, gpus: 4, nics: 4}
`, "NVIDIA A100", "ring", 4, [][4]float64{{536870912, 10052, 9676.9, 2}, {1073741824, 20079, 19265, 2},
		{2147483648, 39871, 39357, 2}, {4294967296, 77194, 79688, 2}, {8589934592, 158070, 158561, 2}},
		0.05, "", nil},
	{"72 GB200 of one NVLink domain, NVLS, 0.5 to 8 GB", "coreweave/nccl-tests pull request 43, 20 February 2025", `
name: measured
fabric: {kind: rail, hosts: 18, spines: 1, host_link: {rate: 400Gbps}}
server: {gpu: gb200, gpus: 4, nics: 4, nvlink_domain: 72}
`, "NVIDIA GB200", "nvls", 4, [][4]float64{{536870912, 1806.7, 1835.9, 18}, {1073741824, 3108.8, 2924.7, 18},
		{2147483648, 5589.1, 5474.6, 18}, {4294967296, 10094, 10141, 18}, {8589934592, 20299, 20006, 18}}, 0.05,
		"", onePoint},
	{"1 to 4 p4d, 8 A100 and 4 EFA of 100G each, 1 GB", "nccl issue 527, 25 July 2022", `
name: measured
fabric: {kind: rail, hosts: 4, spines: 1, host_link: {rate: 100Gbps}}
server: {gpu: a100, gpus: 8, nics: 4}
`, "NVIDIA A100", "auto", 8, [][4]float64{{1073741824, 8142.6, 8141.2, 1}, {1073741824, 35215, 35198, 2},
		{1073741824, 64782, 64827, 3}, {1073741824, 70253, 70207, 4}}, 0.1,
		"rings on 1, 3 and 4 servers fit with NICs of 61.5 %, the tree on 2 servers with none: it was 24.7 % too fast and is 17.4 % too slow; rings and trees do not reach the same share here", nil},
}

// calibrations compare parameters fitted to public measurements with held-out ones.
func calibrations() (rows []Row, err error) {
	for i := range measurements {
		rows = append(rows, must(measurements[i].row()))
	}
	return rows, nil
}

// text returns the output of nccl-tests.
func (m *published) text(nodes float64) string {
	var b strings.Builder
	ranks := int(nodes) * m.per
	fmt.Fprintln(&b, "# Collective test starting: all_reduce_perf")
	for r := range ranks {
		fmt.Fprintf(&b, "#  Rank %2d Group  0 Pid %d on server%d device %d [0x00] %s\n", r, 1000+r,
			r/m.per, r%m.per,
			m.gpu)
	}
	for _, x := range m.rows {
		if x[3] != nodes {
			continue
		}
		fmt.Fprintf(&b, "%.0f %.0f float sum -1", x[0], x[0]/4)
		for _, us := range x[1:3] {
			alg := x[0] / us / 1e3
			fmt.Fprintf(&b, " %.1f %.2f %.2f 0", us, alg, alg*2*float64(ranks-1)/float64(ranks))
		}
		fmt.Fprintln(&b)
	}
	return b.String()
}

func (m *published) row() (Row, error) {
	var files []measured.File
	seen := map[float64]bool{}
	for _, x := range m.rows {
		if !seen[x[3]] {
			seen[x[3]] = true
			files = append(files, measured.File{Name: fmt.Sprintf("%.0f servers", x[3]),
				Text: strings.NewReader(m.text(x[3]))})
		}
	}
	set := must(measured.Read(files...))
	b := must(calibrate.NewBench(calibrate.Setup{
		Load: func() (*scenario.Document, error) { return scenario.Parse("measured.yaml", []byte(m.cluster), nil) },
		Simulate: func(p *scenario.Plan) (*result.Summary, error) {
			p.Totals = true
			r, err := sim.New(p)
			if err == nil {
				err = r.Go(nil)
			}
			if err != nil {
				return nil, err
			}
			s, _, _ := r.Outcome("")
			return s, nil
		}, Aside: 2, Largest: 64 * unit.MiB, Algorithm: m.algorithm}, set))
	fit := must(b.Fit(nil))
	was, is := math.Expm1(fit.HeldWas), math.Expm1(fit.HeldIs)
	var values []string
	for _, v := range fit.Values {
		values = append(values, fmt.Sprintf("%s %.4g %s", v.Name, v.Value, v.Unit))
	}
	return Row{Claim: fmt.Sprintf("%s: error of %s kept aside, before and after calibration (%s)", m.claim,
		unit.Plural(fit.Aside, "point"), strings.Join(values, ", ")), Source: m.source,
		Expected: fmt.Sprintf("at most %.0f %%", 100*m.most), Ours: fmt.Sprintf("%.1f %%", 100*is),
		Diff: fmt.Sprintf("%.1f %% before", 100*was), OK: is <= m.most, Note: m.note}.because(m.why), nil
}
