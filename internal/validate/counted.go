package validate

import (
	"fmt"
	"strings"

	"railyard/internal/counters/planted"
	"railyard/internal/partition"
	"railyard/internal/planner"
	"railyard/internal/queue"
	"railyard/unit"
)

// designed returns one design by name for GPUs with a NIC each of one port of 400G, on switches of the given ports.
func designed(name string, gpus, ports int) (planner.Design, error) {
	prices := must(planner.ParsePrices("", nil))
	s := planner.SwitchModel{Ports: ports, Rate: 400}
	all := must(planner.Fabrics(planner.FabricInput{GPUs: gpus, PerServer: 8, NICRate: 400, Leaf: s, Top: s, Ratio: 1,
		Prices: prices}))
	for _, d := range all {
		if d.Name == name && d.Fits() {
			return d, nil
		}
	}
	return planner.Design{}, fmt.Errorf("no design %s for %d GPUs on %d ports", name, gpus, ports)
}

// superPODs are NVIDIA's counts of switches and cables for scalable units of 256 GPUs, rails on 64 ports of 400G.
func superPODs() (rows []Row, err error) {
	const source = "NVIDIA, DGX SuperPOD reference architecture (B200), larger component counts"
	for _, c := range []struct {
		units            int
		switches, cables string // leaf, spine, core; node to leaf, leaf to spine, spine to core
	}{
		{2, "16, 8", "512, 512"}, {4, "32, 16", "1024, 1024"}, {8, "64, 32", "2048, 2048"},
		{16, "128, 128, 64", "4096, 4096, 4096"}, {32, "256, 256, 128", "8192, 8192, 8192"},
		{64, "512, 512, 256", "16384, 16384, 16384"},
	} {
		name := "rail-spine"
		if c.units > 8 {
			name = "rail-pods"
		}
		d := must(designed(name, 256*c.units, 64))
		var switches, cables []string
		for _, t := range d.Tiers {
			switches = append(switches, fmt.Sprint(t.Count))
		}
		for _, x := range d.Cables {
			cables = append(cables, fmt.Sprint(x.Count))
		}
		rows = append(rows,
			exact(fmt.Sprintf("switches of %d scalable units, %d GPUs: leaf, spine, core", c.units, 256*c.units), source,
				c.switches, strings.Join(switches, ", ")),
			exact(fmt.Sprintf("cables of %d scalable units: node to leaf, leaf to spine, spine to core", c.units), source, c.cables,
				strings.Join(cables, ", ")))
	}
	return rows, nil
}

// topologies are DeepSeek's comparison of topologies on switches of 64 ports; links are those between switches.
func topologies() (rows []Row, err error) {
	const source = "DeepSeek-AI, arXiv 2505.09343, table 3"
	for _, c := range []struct {
		claim, name           string
		gpus, switches, links int
	}{
		{"a two-layer fat tree", "fat-tree", 2_048, 96, 2_048},
		{"a multi-plane fat tree", "rail-planes", 16_384, 0, 16_384}, // switches of which have a row
		{"a three-layer fat tree", "fat-tree", 65_536, 5_120, 131_072},
		{"a dragonfly", "dragonfly", 261_632, 16_352, 384_272},
	} {
		d := must(designed(c.name, c.gpus, 64))
		of := fmt.Sprintf(" of %s, %d endpoints, 64 ports", c.claim, c.gpus)
		if c.switches > 0 {
			rows = append(rows, exact("switches"+of, source, c.switches, d.Switches()))
		}
		links := 0
		for _, x := range d.Cables {
			if x.From != "host" {
				links += x.Count
			}
		}
		if c.name != "dragonfly" {
			rows = append(rows, exact("links between switches"+of, source, c.links, links))
			continue
		}
		row := within("links between switches"+of, source, float64(c.links), float64(links), 0.002, "%.0f")
		row.Note = "511 groups of 512 global ports there use all; here each pair of groups has one link, and two ports of a group stay free"
		rows = append(rows, row)
	}
	d := must(designed("fat-tree", 27_648, 48))
	return append(rows, exact("switches of a fat tree of 48 ports, 27,648 hosts", "Al-Fares et al. 2008, section 3: k = 48",
		2_880, d.Switches())), nil
}

// zeroTable is ZeRO's table 1: GB of states per device by the degree of data parallelism.
func zeroTable() (rows []Row) {
	for _, c := range []struct {
		name   string
		params float64
		degree int
		want   [3]float64
	}{
		{"7.5 billion", 7.5e9, 4, [3]float64{52.5, 41.3, 30}}, {"7.5 billion", 7.5e9, 16, [3]float64{35.6, 21.6, 7.5}},
		{"7.5 billion", 7.5e9, 256, [3]float64{30.4, 15.4, 0.47}},
		{"7.5 billion", 7.5e9, 1024, [3]float64{30.1, 15.1, 0.12}},
		{"a trillion", 1e12, 1024, [3]float64{4011, 2013, 15.6}},
	} {
		for i, want := range c.want {
			format, tolerance := "%.4g", 0.005
			if want < 1 {
				tolerance = 0.025 // two figures are printed
			}
			rows = append(rows, within(fmt.Sprintf("GB of states per GPU, %s parameters on %d GPUs, ZeRO %d", c.name, c.degree,
				i+1), "Rajbhandari et al. SC'20, table 1", want, partition.ZeROBytes(c.params, float64(c.degree), i+1)/1e9, tolerance,
				format))
		}
	}
	return rows
}

// plantedRows plants every fault of the table once and prints the counters in the format of one of three systems,
// in turn. It counts the faults that diagnose names first.
func plantedRows() ([]Row, error) {
	systems := []string{"nxos", "eos", "sonic"}
	var of, right [3]int
	wrong := 0
	for i := range planted.Faults {
		k := i % len(systems)
		seen := must(planted.Faults[i].Simulate(systems[k]))
		r, err := seen.Diagnose(systems[k])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", planted.Faults[i].Name, err)
		}
		ok, other := seen.First(r)
		if of[k]++; ok {
			right[k]++
		}
		if other {
			wrong++
		}
	}
	const source = "simulated fabrics with one fault each, and some with none"
	var rows []Row
	for k, system := range systems {
		rows = append(rows, exact("injected faults that diagnose names first, counters printed as "+system,
			source, of[k], right[k]))
	}
	return append(rows, exact("injected faults: healthy ports called faulty first", source, 0, wrong)), nil
}

// sonicHeadroom compares xoff with SONiC's own script, run manually for docs/references.md, headroom.
func sonicHeadroom() (rows []Row, err error) {
	for _, c := range []struct {
		asic         string
		rate, metres int64
		xoff         unit.Bytes
	}{
		{"spectrum", 100, 5, 72_704}, {"spectrum", 100, 40, 81_920}, {"spectrum", 100, 300, 147_456},
		{"spectrum3", 200, 40, 148_480}, {"spectrum4", 400, 40, 283_648}, {"spectrum4", 800, 40, 362_496},
	} {
		a, ok := queue.ASICNamed(c.asic)
		if !ok {
			return nil, fmt.Errorf("no chip %s", c.asic)
		}
		xoff, _, _ := a.Headroom(unit.Rate(c.rate)*unit.Gbps, c.metres*1000, 9100)
		rows = append(rows,
			exact(fmt.Sprintf("SONiC's xoff, %dG, %d m, %d-byte cells", c.rate, c.metres, a.Cell),
				"buffer_headroom_mellanox.lua, docs/references.md, headroom", int64(c.xoff), int64(xoff)))
	}
	return rows, nil
}
