package machine

import (
	"encoding/xml"
	"errors"
	"fmt"
	"slices"
	"strings"

	"railyard/internal/field"
	"railyard/unit"
)

// Graph is a graph that NCCL found in a server (NCCL_GRAPH_DUMP_FILE): the order of GPUs in each channel, and the
// NICs by which it leaves and enters.
type Graph struct {
	ID           int     `xml:"id,attr"`
	Pattern      int     `xml:"pattern,attr"`
	Count        int     `xml:"nchannels,attr"`
	Inside       float64 `xml:"speedintra,attr"` // GB/s of a channel
	Between      float64 `xml:"speedinter,attr"`
	TypeInside   string  `xml:"typeintra,attr"`
	TypeBetween  string  `xml:"typeinter,attr"`
	SameChannels int     `xml:"samechannels,attr"`
	Channels     []struct {
		NICs []struct {
			Dev string `xml:"dev,attr"`
		} `xml:"net"`
		GPUs []struct {
			Dev  string `xml:"dev,attr"`
			Rank string `xml:"rank,attr"`
		} `xml:"gpu"`
	} `xml:"channel"`
}

// patterns are NCCL's graph patterns, by number (src/include/graph.h).
var patterns = map[int]string{1: "balanced tree", 2: "split tree", 3: "tree", 4: "ring", 5: "NVLS", 6: "CollNet"}

// IsGraphs reports whether a file is a dump of graphs, and IsServer whether Read supports it.
func IsGraphs(text []byte) bool { return strings.Contains(beginningOf(text), "<graphs") }

// IsServer reports whether a file looks like input of Read: NCCL's topology, or nvidia-smi's matrix.
func IsServer(text []byte) bool {
	head := beginningOf(text)
	first, _, _ := strings.Cut(strings.TrimLeft(head, "\r\n"), "\n")
	words := strings.Fields(first)
	return strings.Contains(head, "<system") || len(words) > 1 && words[0] == "GPU0" &&
		(words[1] == "GPU1" || strings.Contains(first, "Affinity"))
}

// beginningOf is the size of a file's start that is sufficient for detection.
func beginningOf(text []byte) string { return string(text[:min(len(text), 2048)]) }

// ReadGraphs reads a dump of graphs. Errors are *field.Error.
func ReadGraphs(name string, text []byte) ([]Graph, error) {
	fail := func(line int, format string, args ...any) ([]Graph, error) {
		e := &field.Error{File: name, Line: line, Msg: fmt.Sprintf(format, args...)}
		if line > 0 {
			e.Col = 1
		}
		return nil, e
	}
	if len(text) > MaxSize {
		return fail(0, "is larger than %d bytes, the limit of a server's topology", MaxSize)
	}
	var all struct {
		Graphs []Graph `xml:"graph"`
	}
	if err := xml.Unmarshal(text, &all); err != nil {
		line := 0
		var at *xml.SyntaxError
		if errors.As(err, &at) {
			line = at.Line
		}
		return fail(line, "is not complete XML of graphs: %v", err)
	}
	for i, g := range all.Graphs {
		if g.Count < 0 || g.Count > 1024 || len(g.Channels) > 1024 || !(g.Inside >= 0 && g.Inside < 1e6) ||
			!(g.Between >= 0 && g.Between < 1e6) {
			return fail(0, "graph %d has %d channels of %g and %g GB/s, which cannot be", i, g.Count,
				g.Inside, g.Between)
		}
	}
	if len(all.Graphs) == 0 {
		return fail(0, "has no graph")
	}
	return all.Graphs, nil
}

// Size returns the number of GPUs and NICs that channels pass through.
func Size(graphs []Graph) (gpus, nics int) {
	var seen [2][]string
	for _, g := range graphs {
		for _, c := range g.Channels {
			for _, x := range c.GPUs {
				seen[0] = append(seen[0], x.Dev)
			}
			for _, x := range c.NICs {
				seen[1] = append(seen[1], x.Dev)
			}
		}
	}
	for i := range seen {
		slices.Sort(seen[i])
		seen[i] = slices.Compact(seen[i])
	}
	return len(seen[0]), len(seen[1])
}

// Words describes a graph in lines: its kind, and the path of each channel.
func (g *Graph) Words() (lines []string) {
	pattern := patterns[g.Pattern]
	if pattern == "" {
		pattern = fmt.Sprintf("pattern %d", g.Pattern)
	}
	lines = append(lines, fmt.Sprintf("%s: %s of %g GB/s inside (%s), %g GB/s between servers (%s)", pattern,
		unit.Plural(g.Count, "channel"), g.Inside, field.Clip(g.TypeInside), g.Between,
		field.Clip(g.TypeBetween)))
	for i, c := range g.Channels {
		var way []string
		for _, x := range c.GPUs {
			way = append(way, field.Clip(x.Dev))
		}
		s := fmt.Sprintf("  channel %d: GPUs %s", i, strings.Join(way, " "))
		if n := len(c.NICs); n > 0 {
			s += fmt.Sprintf(", in by NIC %s, out by NIC %s", field.Clip(c.NICs[0].Dev), field.Clip(c.NICs[n-1].Dev))
		}
		lines = append(lines, s)
	}
	return lines
}
