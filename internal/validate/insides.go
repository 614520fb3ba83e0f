package validate

import (
	"fmt"
	"slices"

	"railyard/unit"
)

// insideOne is a server of eight GPUs, whose network carries nothing.
const insideOne = `
fabric: {kind: rail, hosts: 2, spines: 1, uplinks: 8}
server: {gpu: %s}
workload: %s
`

// insides checks what GPUs get from one another inside a server against what their makers publish.
func insides() ([]Row, error) {
	const (
		amd   = "AMD, Instinct MI300X data sheet: seven links of 64 GB/s per direction, 448 GB/s"
		rccl  = "AMD, Understanding RCCL bandwidth and xGMI performance, 2 March 2025: about 48 of a link's 64 GB/s usable, seven links"
		intel = "Intel, Gaudi 3 white paper: 24x200GbE, 21 ports to seven others, three out"
		nccl  = "18 NVLinks of 20.6 GB/s for kernels: NVIDIA/nccl, src/graph/topo.h"
	)
	var rows []Row
	for _, g := range []struct {
		gpu, source string
		pair, all   float64 // GB/s
	}{{"mi300x", rccl, 48, 336}, {"gaudi3", intel, 75, 525},
		{"h100", nccl, 370.8, 370.8}} {
		one := must(fromFirst(g.gpu, 1))
		all := must(fromFirst(g.gpu, 7))
		rows = append(rows,
			within(g.gpu+": one GPU to one other", g.source, g.pair, one, 0.002, "%.1f GB/s"),
			within(g.gpu+": one GPU to seven others concurrently", g.source, g.all, all, 0.002, "%.1f GB/s"))
	}
	writes := must(fromFirst("h100", 1))
	rows = append(rows, within("h100: writes to another GPU's memory, as p2pBandwidthLatencyTest measures them",
		"NVIDIA/nccl issue 1264: HGX H100, one way, P2P writes, 371.0 to 376.8", 375.9, writes, 0.02, "%.0f GB/s"))
	rows = append(rows, must(betweenTrays())...)
	for _, c := range []struct {
		claim, source, sets string
		coll                string
		want, tol           float64
	}{
		{"mi300x: all-reduce of 1 GiB, one ring", rccl, "", "channels: 1", 48, 0.01},
		{"mi300x: by default, on all seven links", rccl, "", "channels: 0", 336, 0.01},
		{"mi300x: the same as seven rings on cables of their own", rccl, "", "channels: 7", 336, 0.01},
		{"mi300x: the same at the data sheet's rate", amd, "server.nvlink=448GB/s", "channels: 7", 448, 0.01},
	} {
		r := must(insideCollective(c.coll, c.sets))
		rows = append(rows, within(c.claim, c.source, c.want, r, c.tol, "%.0f GB/s"))
	}
	apart, err := meshesApart()
	return append(rows, apart), err
}

// meshesApart is an all-reduce of two servers whose GPUs are connected in pairs: rings that enter and leave by NICs of
// their own reach the NICs' total rate, where the links have the data sheet's.
func meshesApart() (Row, error) {
	const text = `
fabric: {kind: rail-only, hosts: 2, host_link: {rate: 400Gbps}}
server: {gpus: 8, nics: 8, gpu: mi300x, nvlink: 448GB/s}
workload: {traffic: {collective: {kind: all-reduce, bytes: 64MiB, algorithm: ring}}}
`
	r := must(finish(text))
	bus := float64(64*unit.MiB) * 2 * 15 / 16 / slices.Max(r.Exec.End).Seconds() / 1e9
	return within("mi300x: all-reduce of 64 MiB on two servers of eight NICs of 400G",
		"AMD, MI300X reference guide 63916: a NIC of 400G for each GPU, 400 GB/s of a server",
		400*4096.0/4178, bus,
		0.03, "%.0f GB/s"), nil
}

// fromFirst returns the total rate of a server's first GPU, in GB/s, to n others in parallel.
func fromFirst(gpu string, others int) (float64, error) {
	const each = 512 * unit.MiB
	flows := ""
	for i := range others {
		flows += fmt.Sprintf("{from: host-1/gpu-1, to: host-1/gpu-%d, bytes: %v}, ", i+2, each)
	}
	r := must(finish(fmt.Sprintf(insideOne, gpu, "{traffic: {flows: ["+flows+"]}}")))
	return float64(each) * float64(others) / slices.Max(r.Exec.End).Seconds() / 1e9, nil
}

// insideCollective is the bus bandwidth of an all-reduce of 1 GiB among the eight GPUs of a server.
func insideCollective(how, set string) (float64, error) {
	text := fmt.Sprintf(insideOne, "mi300x",
		"{traffic: {collective: {kind: all-reduce, bytes: 1GiB, algorithm: ring, "+how+"}}}")
	sets := []string{"fabric.hosts=1"}
	if set != "" {
		sets = append(sets, set)
	}
	r := must(finish(text, sets...))
	s, _, _ := r.Outcome("")
	return float64(unit.GiB) / unit.Time(s.StepTime).Seconds() * busFactor(8) / 1e9, nil
}

// betweenTrays returns the rate between GPUs of a GB200 NVL72 in two trays of one rack, and in two racks.
func betweenTrays() ([]Row, error) {
	const (
		source = "NVIDIA, GB200 NVL72: 72 GPUs on 18 NVLinks of 40.1 GB/s for kernels (nccl, topo.h), a ConnectX-7 of 400G per GPU"
		text   = `
fabric:
  types: {tray: {gpu: gb200, gpus: 4, nics: 4, nic_rate: 400Gbps, domain: rack}, leaf: {ports: 256x400Gbps}}
  nodes: {tray: {type: tray, per: {rack: 2, tray: 18}}, leaf: {type: leaf, per: {rail: 4}}}
  cables: [{from: tray, to: leaf, match: {rail: nic}}]
workload: {traffic: {flows: [{from: tray-1-1/gpu-1, to: %s, bytes: 512MiB}]}}
`
	)
	var rows []Row
	for _, c := range []struct {
		to, claim string
		want      float64
	}{{"tray-1-18/gpu-4", "gb200: to a GPU in another tray of the rack", 721.8},
		{"tray-2-1/gpu-1", "gb200: to a GPU in another rack", 50 * 4096.0 / 4178}} {
		r := must(finish(fmt.Sprintf(text, c.to)))
		got := float64(512*unit.MiB) / r.Exec.End[0].Seconds() / 1e9
		rows = append(rows, within(c.claim, source, c.want, got, 0.002, "%.1f GB/s"))
	}
	return rows, nil
}
