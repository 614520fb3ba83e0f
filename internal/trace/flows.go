package trace

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"

	"railyard/internal/field"
	"railyard/internal/workload"
	"railyard/unit"
)

// isFlows recognizes a list of flows by a count and a following line of six numbers.
func isFlows(_ string, head []byte) bool {
	lines := strings.SplitN(string(head), "\n", 3)
	if len(lines) < 2 || len(strings.Fields(lines[0])) != 1 || len(strings.Fields(lines[1])) != 6 {
		return false
	}
	for _, w := range append(strings.Fields(lines[0]), strings.Fields(lines[1])...) {
		if _, err := strconv.ParseFloat(w, 64); err != nil {
			return false
		}
	}
	return true
}

// readFlows reads HPCC's flow.txt (docs/references.md, formats): the number of flows, then for each its sender,
// receiver, priority group, destination port, bytes and start in seconds. Nodes are GPUs by their number.
func readFlows(_ *Options, files []File) (*Trace, error) {
	if len(files) != 1 {
		return nil, at(files[1].Name, 0, "flows are one file; found %d", len(files))
	}
	f := files[0]
	t := &Trace{}
	var flows []workload.Flow
	said, last, n := -1, 0.0, 0
	for line := range bytes.Lines(f.Text) {
		n++
		words := strings.Fields(string(line))
		if len(words) == 0 {
			continue
		}
		if said < 0 {
			var err error
			if said, err = strconv.Atoi(words[0]); err != nil || said < 0 || len(words) != 1 {
				return nil, at(f.Name, n, "found %s, expected how many flows follow",
					field.Quote(strings.TrimSpace(string(line))))
			}
			continue
		}
		if len(flows) == said {
			note(&t.Report.Left, "lines after the last flow", f.Name, n)
			continue
		}
		flow, start, err := flowOf(words)
		if err != "" {
			return nil, at(f.Name, n, "found %s, expected %s", field.Quote(strings.TrimSpace(string(line))), err)
		}
		if start < last {
			note(&t.Report.Guessed, "flows that start before the previous one, which HPCC would start later", f.Name, n)
		}
		last = max(last, start)
		if words[2] != "3" {
			note(&t.Report.Left, "flows of a priority group other than 3; the DSCP of the scenario is used", f.Name, n)
		}
		flows = append(flows, flow)
		t.Ranks = max(t.Ranks, flow.Src+1, flow.Dst+1)
		note(&t.Report.Mapped, "flows, as transfers", f.Name, n)
	}
	switch {
	case said < 0:
		return nil, at(f.Name, 0, "is empty")
	case len(flows) < said:
		return nil, at(f.Name, n, "ends after %d flows of %d", len(flows), said)
	case said == 0:
		return nil, at(f.Name, 1, "has no flow")
	}
	first := flows[0].Start
	for _, x := range flows {
		first = min(first, x.Start)
	}
	if first > 0 {
		for i := range flows {
			flows[i].Start -= first
		}
		note(&t.Report.Guessed, "start of the first flow, "+first.String()+", used as the start of the run", f.Name, 0)
	}
	var err error
	t.DAG, err = workload.Flows(t.Ranks, flows)
	return t, err
}

// flowOf parses a flow and its start in seconds; or returns the expected form.
func flowOf(words []string) (f workload.Flow, start float64, want string) {
	if len(words) != 6 {
		return f, 0, "src dst priority port bytes seconds"
	}
	src, err1 := strconv.Atoi(words[0])
	dst, err2 := strconv.Atoi(words[1])
	size, err3 := strconv.ParseInt(words[4], 10, 64)
	start, err4 := strconv.ParseFloat(words[5], 64)
	switch {
	case err1 != nil || err2 != nil || src < 0 || dst < 0 || src >= maxRanks || dst >= maxRanks || src == dst:
		return f, 0, fmt.Sprintf("two different nodes of 0 to %d", maxRanks-1)
	case err3 != nil || size < 1 || size > 1<<50:
		return f, 0, "bytes"
	case err4 != nil || !(start >= 0 && start <= 86400):
		return f, 0, "a start in seconds, of a day at most"
	}
	return workload.Flow{Src: src, Dst: dst, Bytes: unit.Bytes(size),
		Start: unit.Time(math.Round(start * float64(unit.Second)))}, start, ""
}

// isMatrix recognizes a connection matrix by its first line and by arrows or their number; a topology of htsim also
// begins with Nodes.
func isMatrix(_ string, head []byte) bool {
	nodes, connections := false, false
	for line := range bytes.Lines(head) {
		words := strings.Fields(string(line))
		switch {
		case len(words) == 0 || words[0][0] == '#':
		case words[0] == "Nodes":
			nodes = true
		case !nodes:
			return false
		case words[0] == "Connections" || strings.Contains(words[0], "->"):
			connections = true
		}
	}
	return nodes && connections
}

// readMatrix reads htsim's connection matrix (docs/references.md, formats): source, destination and bytes of each
// flow, and its start in picoseconds or after other flows. Nodes are GPUs by their number, from 0.
func readMatrix(_ *Options, files []File) (*Trace, error) {
	if len(files) != 1 {
		return nil, at(files[1].Name, 0, "a connection matrix is one file; found %d", len(files))
	}
	f, t := files[0], &Trace{}
	m, err := workload.ParseMatrix(f.Name, f.Text, func(what string, line int) {
		note(&t.Report.Left, what, f.Name, line)
	})
	if err != nil {
		return nil, err
	}
	if m.Nodes > maxRanks {
		return nil, at(f.Name, 0, "has %d nodes, expected %d at most", m.Nodes, maxRanks)
	}
	t.Ranks = m.Nodes
	t.Report.Mapped = append(t.Report.Mapped, Count{What: "connections, as transfers", N: m.Flows(), File: f.Name})
	t.DAG, err = m.DAG(m.Nodes)
	return t, err
}
