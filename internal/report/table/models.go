package table

import (
	"fmt"
	"io"
	"strings"

	"railyard/internal/report"
	"railyard/internal/report/screen"
	"railyard/internal/sheet"
	"railyard/unit"
)

// modelColumn is a figure in the list of a kind's models, or a count and its unit.
type modelColumn struct{ head, key, of string }

// modelLists are the headings of the lists of models, by kind, and their figures.
var modelLists = map[string]struct {
	head    string
	figures []modelColumn
}{
	"switches": {"Switch", []modelColumn{{head: "ports", key: "ports"}, {head: "buffer", key: "buffer_bytes"}}},
	"servers":  {"Host", []modelColumn{{"GPUs", "gpus", "gpu"}, {"NICs", "nics", "nic_rate"}}},
	"GPUs": {"GPU", []modelColumn{{head: "BF16 TFLOP/s", key: "bf16_tflops"}, {head: "memory, GB", key: "memory_gb"},
		{head: "HBM, GB/s", key: "hbm_gbytes_s"}, {head: "NIC, Gbit/s", key: "nic_gbps"}}},
	"baseboards": {"Baseboard", []modelColumn{{head: "GPUs", key: "gpus"}, {head: "baseboards", key: "baseboards"},
		{head: "NVSwitches each", key: "nvswitches"}}},
	"devices of SONiC": {"SONiC device", nil},
}

// Models lists models with their main figures, and how many of their figures have no source.
func Models(w io.Writer, shelves []sheet.Shelf) {
	models, sourced, figures := 0, 0, 0
	for _, s := range shelves {
		with, of := sheet.Count(s.Models)
		models, sourced, figures = models+len(s.Models), sourced+with, figures+of
	}
	screen.Painted(w, screen.Answer, "", fmt.Sprintf("%d models; %d of %d figures with a source", models, sourced, figures))
	for _, s := range shelves {
		list := modelLists[s.Kind]
		t := screen.Table{Columns: []screen.Column{{Head: list.head}}}
		for _, c := range list.figures {
			t.Columns = append(t.Columns, screen.Column{Head: c.head})
		}
		t.Columns = append(t.Columns, screen.Column{Head: "unsourced", Rare: true}, screen.Column{Head: "product", Left: true})
		for i := range s.Models {
			m := &s.Models[i]
			cells := []string{m.Key}
			for _, c := range list.figures {
				cell := figureOf(m, c.key)
				if c.of != "" {
					cell += " × " + figureOf(m, c.of)
				}
				cells = append(cells, cell)
			}
			t.Add(append(cells, fmt.Sprint(len(m.Unsourced())), m.Name)...)
		}
		fmt.Fprintln(w)
		t.Print(w)
	}
	fmt.Fprintln(w, "\nFigures and sources of one: railyard models MODEL")
}

// figureOf returns the value of a figure as lists show it, or "–".
func figureOf(m *sheet.Sheet, key string) string {
	for _, f := range m.Figures {
		if f.Key == key {
			return shownFigure(f)
		}
	}
	return "–"
}

// shownFigure returns a figure's value: bytes with their unit, lists on one line.
func shownFigure(f sheet.Figure) string {
	if strings.HasSuffix(f.Key, "_bytes") {
		var n int64
		if _, err := fmt.Sscan(f.Value, &n); err == nil {
			return unit.Bytes(n).Show()
		}
	}
	return strings.Join(strings.Fields(f.Value), " ")
}

// Model prints the figures of a model, source by source.
func Model(w io.Writer, m *sheet.Sheet) {
	screen.Painted(w, screen.Answer, "", fmt.Sprintf("%s (%s)", m.Name, m.Key))
	var sources []*sheet.Source
	read := map[*sheet.Source][]string{}
	for _, f := range m.Figures {
		if read[f.Source] == nil {
			sources = append(sources, f.Source)
		}
		read[f.Source] = append(read[f.Source], sheet.Named(f.Key)+" "+shownFigure(f))
	}
	for _, s := range sources {
		report.Labelled(w, "  ", strings.Join(read[s], ", "))
		report.Wrap(w, "      ", s.String())
	}
}
