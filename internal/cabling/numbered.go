package cabling

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"railyard/internal/field"
	"railyard/unit"
)

// HPCC's topology.txt and SimAI's are lists of numbered nodes:
//
//	HPCC   nodes switches links                            switch ids   a b rate delay error
//	SimAI  nodes gpus-per-server nvswitches switches links GPU          nvswitch and switch ids
//
// and then a line per cable: two ids, rate, delay, packet error rate.
var (
	hpccMark  = regexp.MustCompile(`^\s*\d+\s+\d+\s+\d+\s*\n[\d \t]*\n\s*\d+\s+\d+\s+[\d.]+[KMG]bps\s`)
	simaiMark = regexp.MustCompile(`^\s*\d+\s+\d+\s+\d+\s+\d+\s+\d+\s+[A-Za-z]\w*\s*\n`)
)

func looksHPCC(_, text string) bool { return hpccMark.MatchString(strings.ReplaceAll(text, "\r", "")) }
func looksSimAI(_, text string) bool {
	return simaiMark.MatchString(strings.ReplaceAll(text, "\r", ""))
}

// numbers parses the integers among the first words of a line.
func (b *builder) numbers(n int, line string, words []string, most int) ([]int, error) {
	var out []int
	for i, w := range words {
		v, err := strconv.Atoi(w)
		if err != nil || v < 0 || v > most {
			return nil, b.at(n, column(line, i)).fail("word %d: %s is not a number from 0 to %d",
				i+1, field.Quote(w), most)
		}
		out = append(out, v)
	}
	return out, nil
}

// wire is a cable between numbers.
type wire struct {
	a, z int
	rate unit.Rate
	mm   int64
	at   Place
}

// wires reads the header, the ids of switches and the cables.
func (b *builder) wires(text string, head int) (counts []int, word string, switches []int, cables []wire, err error) {
	row := 0
	err = lines(text, func(n int, line string) error {
		w := strings.Fields(line)
		if len(w) == 0 && row != 1 {
			return nil
		}
		defer func() { row++ }()
		switch row {
		case 0:
			if len(w) < head {
				return b.at(n, 1).fail("%d numbers, expected %d", len(w), head)
			}
			if len(w) > head {
				word = w[head]
			}
			counts, err = b.numbers(n, line, w[:head], 10_000_000)
			return err
		case 1:
			switches, err = b.numbers(n, line, w, counts[0]-1)
			return err
		}
		if len(cables) == counts[head-1] {
			b.note(b.at(n, 1), "lines after the cables that the first line counts are left out, as by the simulator")
			return nil
		}
		if len(w) < 3 {
			return b.at(n, 1).fail("%s is not a cable; expected two ids, rate, delay, error rate", field.Quote(line))
		}
		ids, err := b.numbers(n, line, w[:2], counts[0]-1)
		if err != nil {
			return err
		}
		x := wire{a: ids[0], z: ids[1], at: b.at(n, 1)}
		if x.rate, err = parseRate(w[2]); err != nil {
			return b.at(n, column(line, 2)).fail("%v", err)
		}
		if len(w) > 3 {
			d, err := unit.ParseTime(w[3])
			if err == nil {
				x.mm, err = lengthOf(w[3], float64(d))
			}
			if err != nil {
				return b.at(n, column(line, 3)).fail("%v", err)
			}
		}
		if len(w) > 4 && strings.Trim(w[4], "0.") != "" {
			b.note(x.at, "error rates are of packets here and of bits in Railyard: left out")
		}
		cables = append(cables, x)
		return nil
	})
	if err == nil && row < 2 {
		err = &field.Error{Msg: "ends before the line of switches"}
	}
	return counts, word, switches, cables, err
}

// readHPCC reads HPCC's topology: ids name nodes, host-0 and switch-320.
func readHPCC(b *builder, text string) error {
	counts, _, switches, cables, err := b.wires(text, 3)
	if err != nil {
		return err
	}
	if len(switches) != counts[1] || len(cables) != counts[2] {
		b.note(b.at(1, 1), "the first line announces %s and %s, and the file has %d and %d",
			unit.Plural(counts[1], "switch"), unit.Plural(counts[2], "cable"),
			len(switches), len(cables))
	}
	is := map[int]bool{}
	for _, s := range switches {
		is[s] = true
	}
	node := func(at Place, id int) int {
		if is[id] {
			n := b.node(at, fmt.Sprintf("switch-%d", id))
			b.is(n, Switch, "")
			return n
		}
		n := b.node(at, fmt.Sprintf("host-%d", id))
		b.is(n, Server, "")
		return n
	}
	for id := range counts[0] { // in order, including numbers without a cable
		node(b.at(1, 1), id)
	}
	for _, x := range cables {
		b.cable(Cable{A: End{Node: node(x.at, x.a)}, B: End{Node: node(x.at, x.z)}, Rate: x.rate,
			LengthMM: x.mm, At: x.at})
	}
	return nil
}

// readSimAI reads SimAI's topology. GPUs attached to one NVSwitch are a server. Its NVLinks belong to the server
// and are no cables.
func readSimAI(b *builder, text string) error {
	counts, gpu, switches, cables, err := b.wires(text, 5)
	if err != nil {
		return err
	}
	per, nv := counts[1], counts[2]
	gpus := counts[0] - len(switches)
	if len(switches) < nv || per < 1 || gpus < 1 {
		return b.at(1, 1).fail("%s of which %d are switches, %d of them NVSwitches, do not fit together",
			unit.Plural(counts[0], "node"), len(switches), nv)
	}
	if len(switches) != nv+counts[3] || len(cables) != counts[4] {
		b.note(b.at(1, 1), "the first line announces %s and %s, and the file has %d and %d",
			unit.Plural(nv+counts[3], "switch"), unit.Plural(counts[4], "cable"),
			len(switches), len(cables))
	}
	b.c.GPU = strings.ToLower(gpu)
	nvswitch, sw := map[int]bool{}, map[int]bool{}
	for i, id := range switches {
		nvswitch[id], sw[id] = i < nv, i >= nv
	}
	server := func(at Place, id int) int {
		n := b.node(at, fmt.Sprintf("host-%d", id/per+1))
		b.is(n, Server, "")
		b.c.Nodes[n].GPUs = per
		return n
	}
	for id := 0; id < gpus; id += per {
		server(b.at(1, 1), id)
	}
	nic := map[int]int{}
	end := func(x wire, id int) End {
		if sw[id] {
			n := b.node(x.at, fmt.Sprintf("switch-%d", id))
			b.is(n, Switch, "")
			return End{Node: n}
		}
		nic[id]++
		port := fmt.Sprintf("nic%d", id%per+1)
		if nic[id] > 1 {
			port += fmt.Sprintf("/%d", nic[id])
		}
		return End{server(x.at, id), port}
	}
	links := 0
	for _, x := range cables {
		if nvswitch[x.a] || nvswitch[x.z] {
			links++
			continue
		}
		if !sw[x.a] && !sw[x.z] {
			return x.at.fail("%d and %d are both GPUs; a cable needs a switch", x.a, x.z)
		}
		b.cable(Cable{A: end(x, x.a), B: end(x, x.z), Rate: x.rate, LengthMM: x.mm, At: x.at})
	}
	if links > 0 {
		b.note(b.at(1, 1), "%s to %d NVSwitches are inside the servers", unit.Plural(links, "NVLink"), nv)
	}
	return nil
}
