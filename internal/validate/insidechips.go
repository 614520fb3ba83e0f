package validate

import (
	"fmt"
	"slices"
	"strings"

	"railyard/unit"
)

// insideChips checks transfers between GPUs whose servers lose NVSwitch chips and PCIe switches.
func insideChips() ([]Row, error) {
	var rows []Row
	for _, c := range []struct {
		gpu, servers string
		rate         float64 // GB/s of a GPU, as kernels reach it
		chip         int
	}{{"a100", "", 240, 3}, {"h100", "", 370.8, 1}, {"h100", "", 370.8, 2}, {"b200", "", 721.8, 2},
		{"gb200", "server.gpus=4 server.nics=4 fabric.hosts=18 server.nvlink_domain=72", 721.8, 18}} {
		rows = append(rows, must(withoutChip(c.gpu, c.servers, c.rate, c.chip)))
	}
	rows = append(rows, must(chipMeanwhile()))
	rows = append(rows, must(ringWithoutChip()))
	rows = append(rows, must(acrossBoards())...)
	lost := must(behindPCIe())
	return append(rows, lost), nil
}

// chipless is a transfer whose server loses a chip at the beginning.
const chipless = `
fabric: {kind: rail, hosts: 2, spines: 1, uplinks: 1}
server: {gpu: %s}
workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-1/gpu-2, bytes: 512MiB}]}}
events: [{nvswitch: %s, at: %s, up: false}]
`

func withoutChip(gpu, sets string, rate float64, chip int) (Row, error) {
	place := "host-1"
	if sets != "" {
		place = "host-1 to host-18"
	}
	r := must(finish(fmt.Sprintf(chipless, gpu, fmt.Sprintf("%s/nvswitch-%d", place, chip), "0s"),
		strings.Fields(sets)...))
	got := float64(512*unit.MiB) / r.Exec.End[0].Seconds() / 1e9
	board := r.Plan.Boards[0]
	links, all := board.Links[chip-1], board.PerGPU()
	return within(fmt.Sprintf("%s without NVSwitch %d: one GPU to one other", board.Name, chip),
		fmt.Sprintf("closed form: %d of %d NVLinks are left, over which packets are striped; links: NVIDIA, Fabric Manager User Guide",
			all-links, all), rate*float64(all-links)/float64(all), got, 0.002, "%.1f GB/s"), nil
}

// chipMeanwhile fails a chip during a transfer: the rest takes longer by all/left.
func chipMeanwhile() (Row, error) {
	const at = 500 * unit.Microsecond
	whole := must(finish(fmt.Sprintf(chipless, "h100", "host-1/nvswitch-1", "1s")))
	r := must(finish(fmt.Sprintf(chipless, "h100", "host-1/nvswitch-1", "500us")))
	latency := r.Plan.NVLatency
	line := whole.Exec.End[0] - latency
	// The pipe into the receiver begins a latency later than that out of the sender, and ends last.
	want := at + (line-(at-latency))*18/13
	return within("hgx-h100 loses NVSwitch 1 after 500 us of 1.45 ms: end of the transfer, us",
		"closed form: the bytes that are left take 18/13 as long", want.Seconds()*1e6, r.Exec.End[0].Seconds()*1e6, 1e-6,
		"%.3f"), nil
}

// ringWithoutChip is a ring all-reduce, whose bus bandwidth is a GPU's remaining rate.
func ringWithoutChip() (Row, error) {
	r := must(finish(`
fabric: {kind: rail, hosts: 1, spines: 1, uplinks: 8}
server: {gpu: h100}
workload: {traffic: {collective: {kind: all-reduce, bytes: 1GiB, algorithm: ring}}}
events: [{nvswitch: host-1/nvswitch-2, at: 0s, up: false}]
`))
	s, _, _ := r.Outcome("")
	got := float64(unit.GiB) / unit.Time(s.StepTime).Seconds() * busFactor(8) / 1e9
	return within("hgx-h100 without NVSwitch 2: all-reduce of 1 GiB by ring, bus bandwidth",
		"closed form: 14 of 18 NVLinks of 20.6 GB/s", 370.8*14/18, got, 0.01, "%.1f GB/s"), nil
}

// acrossBoards is a server of two baseboards whose chips are connected in pairs by four NVLinks.
func acrossBoards() ([]Row, error) {
	const text = `
fabric: {kind: rail, hosts: 2, spines: 1, uplinks: 1}
server: {gpu: h100, baseboard: {links: [5, 4, 4, 5], baseboards: 2, trunk: 4}}
workload: {traffic: {flows: [%s]}}
`
	const source = "closed form: 4 pairs of chips with 4 NVLinks each, 16 NVLinks of 20.6 GB/s between two baseboards (GPU fabric chapter, figure 13-1)"
	const each = 256 * unit.MiB
	var rows []Row
	for _, c := range []struct {
		claim string
		flows int
		to    int // the first receiver
		want  float64
	}{{"two baseboards: one GPU to one of the same", 1, 2, 370.8}, {"two baseboards: one GPU to one of the other", 1, 5, 16 * 20.6},
		{"two baseboards: four GPUs to the other, each", 4, 5, 4 * 20.6}} {
		flows := ""
		for i := range c.flows {
			flows += fmt.Sprintf("{from: host-1/gpu-%d, to: host-1/gpu-%d, bytes: %v}, ", i+1, i+c.to, each)
		}
		r := must(finish(fmt.Sprintf(text, flows)))
		rows = append(rows, within(c.claim, source, c.want, float64(each)/slices.Max(r.Exec.End).Seconds()/1e9, 0.003,
			"%.1f GB/s"))
	}
	return rows, nil
}

// behindPCIe loses one of four PCIe switches of a server: two GPUs with their NICs.
func behindPCIe() (Row, error) {
	r := must(finish(`
fabric: {kind: rail, hosts: 2, spines: 1, uplinks: 8}
server: {gpu: h100, baseboard: {pcie_switches: 4}}
workload: {traffic: {collective: {kind: all-reduce, bytes: 64MiB, algorithm: ring}}}
events: [{pcie_switch: host-1/pcie-2, at: 100us, up: false}]
`))
	s, _, _ := r.Outcome("")
	var lost []string
	if s.Outcome != nil {
		for _, x := range s.Outcome.CutOff {
			lost = append(lost, x.GPU)
		}
	}
	return exact("one of four PCIe switches lost: GPUs that are isolated", "definition: the GPUs and NICs of that switch",
		"host-1/gpu-3 host-1/gpu-4", strings.Join(lost, " ")), nil
}
