package table

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"railyard/internal/report/screen"
	"railyard/internal/scenario"
	"railyard/internal/swconf"
	"railyard/unit"
)

// gigabytes prints a rate of NVLink in its manufacturers' unit.
func gigabytes(rate int64) string { return unit.Digits(float64(rate)/8e9) + " GB/s" }

// own removes the server's name from an element's.
func own(name string) string {
	if _, element, ok := strings.Cut(name, "/"); ok {
		return element
	}
	return name
}

// Interiors prints the inside of servers: the answer, NVSwitch chips with one chip's bandwidth, and GPUs with their
// PCIe switches and NICs.
func Interiors(w io.Writer, all []*scenario.Interior) {
	for i, in := range all {
		if i > 0 {
			fmt.Fprintln(w)
		}
		interior(w, in)
	}
}

func interior(w io.Writer, in *scenario.Interior) {
	answer := fmt.Sprintf("%s: %d × %s", swconf.Brackets(in.Names), len(in.GPUs), in.GPU)
	switch {
	case in.Joined == "pairs":
		answer += fmt.Sprintf(", each two connected directly at %s", gigabytes(in.NVLink))
	case len(in.Chips) > 0:
		answer += fmt.Sprintf(" on %s, %s of %s per GPU", unit.Plural(len(in.Chips), "NVSwitch"),
			unit.Plural(in.PerGPU, "NVLink"), gigabytes(in.NVLink/int64(in.PerGPU)))
		if in.Board != "" {
			answer += " (" + in.Board + ")"
		}
	default:
		answer += fmt.Sprintf(" on NVSwitch chips of unknown number, %s per GPU", gigabytes(in.NVLink))
	}
	screen.Painted(w, screen.Answer, "", answer)
	if in.Across > 0 {
		each := len(in.GPUs) / in.Baseboards
		screen.Wrap(w, "", fmt.Sprintf("Between two baseboards %s each way: %s of the rate of a baseboard's %s",
			gigabytes(in.Across), unit.ShowShare(float64(in.Across)/float64(in.NVLink)/float64(each)),
			unit.Plural(each, "GPU")))
	}
	chips := screen.Table{Columns: []screen.Column{{Head: "NVSwitch"}, {Head: "baseboard"}, {Head: "NVLinks per GPU"},
		{Head: "share of traffic"}, {Head: "GPU rate without it"}}}
	for _, c := range in.Chips {
		chips.Add(own(c.Name), fmt.Sprint(c.Board), fmt.Sprint(c.Links), unit.ShowShare(c.Share), gigabytes(c.Without))
	}
	if chips.Rows() > 0 {
		chips.Print(w)
	}
	gpus := screen.Table{Columns: []screen.Column{{Head: "GPU"}, {Head: "baseboard", Rare: true},
		{Head: "PCIe switch", Rare: true}, {Head: "NICs", Left: true}}}
	for _, g := range in.GPUs {
		var nics []string
		for _, n := range g.NICs {
			nics = append(nics, own(n))
		}
		name := own(g.Name)
		if !strings.HasPrefix(g.Name, in.Names[0]+"/") {
			name = g.Name // name of the server, if there are several
		}
		gpus.Add(name, board(g.Board), cmp.Or(own(g.PCIe), unit.NotApplicable), strings.Join(nics, ", "))
	}
	gpus.Print(w)
}

// board prints the number of a baseboard; none of an unknown one.
func board(n int) string {
	if n == 0 {
		return unit.NotApplicable
	}
	return fmt.Sprint(n)
}

// InteriorDot prints what servers have inside as a Graphviz graph: GPUs, NVSwitch chips with the number of NVLinks to
// each GPU, PCIe switches and NICs.
func InteriorDot(w io.Writer, all []*scenario.Interior) {
	var b strings.Builder
	b.WriteString("graph inside {\n  rankdir=BT; node [shape=box, fontname=\"sans-serif\"];\n")
	for i, in := range all {
		fmt.Fprintf(&b, "  subgraph \"cluster_%d\" { label=%q;\n", i, swconf.Brackets(in.Names))
		if in.Joined == "NVSwitch" && len(in.Chips) == 0 {
			fmt.Fprintf(&b, "    %q;\n", in.Names[0]+"/NVSwitch")
		}
		for k, g := range in.GPUs {
			for _, c := range in.Chips {
				if c.Board == g.Board {
					fmt.Fprintf(&b, "    %q -- %q [label=%q];\n", g.Name, c.Name, fmt.Sprint(c.Links))
				}
			}
			switch {
			case in.Joined == "pairs":
				for _, o := range in.GPUs[k+1:] {
					fmt.Fprintf(&b, "    %q -- %q;\n", g.Name, o.Name)
				}
			case len(in.Chips) == 0:
				fmt.Fprintf(&b, "    %q -- %q;\n", g.Name, in.Names[0]+"/NVSwitch")
			}
			below := g.Name
			if g.PCIe != "" {
				fmt.Fprintf(&b, "    %q -- %q;\n", g.PCIe, g.Name)
				below = g.PCIe
			}
			for _, n := range g.NICs {
				if edge := fmt.Sprintf("    %q -- %q;\n", n, below); !strings.Contains(b.String(), edge) {
					b.WriteString(edge)
				}
			}
		}
		for k, c := range in.Chips {
			if next := k + len(in.Chips)/in.Baseboards; next < len(in.Chips) {
				fmt.Fprintf(&b, "    %q -- %q;\n", c.Name, in.Chips[next].Name)
			}
		}
		b.WriteString("  }\n")
	}
	b.WriteString("}\n")
	_, _ = io.WriteString(w, b.String())
}
