package site

import (
	"fmt"
	"railyard/internal/queue"
	"regexp"
	"strings"
	"testing"

	"railyard/internal/sheet"
	"railyard/unit"
)

// Every switch and every server has been read of somewhere, and most of what is known of them; those that
// shipped clusters are made of, wholly but for what is told here.
func TestModelsHaveSources(t *testing.T) {
	for _, sheets := range [][]sheet.Sheet{Sheets, Boxes} {
		for _, s := range sheets {
			if s.Sourced() == 0 {
				t.Errorf("%s: all of it is from memory", s.Key)
			}
			for _, src := range s.Sources {
				text := src.String()
				if regexp.MustCompile(`(^|\s)/\w|://|npmjs|proxy\.golang|pypi`).MatchString(text) {
					t.Errorf("%s: %q names no document that anybody can find by its name", s.Key, text)
				}
			}
		}
		if sourced, all := sheet.Count(sheets); 10*sourced < 8*all {
			t.Errorf("%d of %d figures have a source, want four fifths", sourced, all)
		}
	}
	for key, memory := range map[string]string{"tomahawk4": "", "tomahawk5": "", "tomahawk6": "",
		"sn5600": "rows of ports", "qm9700": "", "q3400": "breakout", "n9k-c9332d-gx2b": "rows of ports, breakout, buffer size",
		"n9k-c9348d-gx2a": "breakout, buffer size"} {
		for _, s := range Sheets {
			if got := strings.Join(s.Unsourced(), ", "); s.Key == key && got != memory {
				t.Errorf("%s: unsourced: %q, want %q", key, got, memory)
			}
		}
	}
}

// Figures of a switch do not contradict each other.
func TestModelsAreSound(t *testing.T) {
	for _, m := range models {
		kinds, err := parsePorts(m.Ports)
		if err != nil || len(kinds) != 1 {
			t.Errorf("%s: ports %q: %v", m.Key, m.Ports, err)
			continue
		}
		ports := kinds[0].count
		switch {
		case m.Split < 1 || m.Split > 8:
			t.Errorf("%s: a port splits into %d", m.Key, m.Split)
		case m.Radix != 0 && (m.Radix < ports || m.Radix > ports*8):
			t.Errorf("%s: %d ports make no %d", m.Key, ports, m.Radix)
		case m.Cell != 0 && (m.Cell < 64 || m.Cell > 1024):
			t.Errorf("%s: cells of %v", m.Key, m.Cell)
		case m.Buffer != 0 && (m.Buffer < 10*unit.MB || m.Buffer > unit.GB):
			t.Errorf("%s: a buffer of %v", m.Key, m.Buffer)
		case m.Lanes != 0 && m.Split > m.Lanes:
			t.Errorf("%s: %d lanes for %d cables", m.Key, m.Lanes, m.Split)
		case modelOf(m.Key) == nil || FindServer(m.Key) != nil:
			t.Errorf("%s: is no switch, or a server as well", m.Key)
		}
	}
	for _, s := range servers {
		if s.GPU == "" || s.GPUs < 1 || s.NICs < 1 || s.NICRate < rate(100*unit.Gbps) {
			t.Errorf("%+v", s)
		}
	}
}

// leafOf is a switch of a model with so many servers of one card, all ports in use.
func leafOf(model string, hosts int, r unit.Rate) *Site {
	return &Site{
		Types:  []Type{{Name: "host", GPUs: 1, NICs: 1, NICRate: r}, {Name: "leaf", Model: model}},
		Nodes:  []Group{{Name: "host", Type: "host", Count: hosts}, {Name: "leaf", Type: "leaf"}},
		Cables: []Rule{{From: "host", To: "leaf"}},
	}
}

// A Tomahawk 5 splits any of its 64 ports into eight, but has no more than 320 at once; a Spectrum-4 splits
// into four.
func TestRadix(t *testing.T) {
	for _, c := range []struct {
		model string
		hosts int
		want  string
	}{
		{"tomahawk5", 320, ""},
		{"tomahawk5", 321, "types[1]: leaf-1 has 321 cables, and a tomahawk5 has 320 ports at most"},
		{"sn5600", 256, ""},
		{"sn5600", 257, "leaf-1 has more cables than ports"},
		{"sn5640", 512, ""},
	} {
		_, err := leafOf(c.model, c.hosts, 100*unit.Gbps).Build(defaults)
		if says := fmt.Sprint(err); c.want == "" && err != nil || !strings.Contains(says, c.want) {
			t.Errorf("%s with %d: %v, want %q", c.model, c.hosts, err, c.want)
		}
	}
	s := leafOf("sn5600", 8, 100*unit.Gbps)
	s.Types[1].Split = 8
	_, err := s.Build(defaults)
	if !strings.Contains(fmt.Sprint(err), "splits into 4 at most, found 8") {
		t.Errorf("a port of an SN5600 in eight: %v", err)
	}
	s.Types[1].Ports = "128x400Gbps" // another front panel, as a chip may have
	if _, err := s.Build(defaults); err != nil {
		t.Error(err)
	}
}

// A type of a server that is known has its GPUs and cards, and may differ.
func TestServerModels(t *testing.T) {
	build := func(host Type) (string, error) {
		host.Name = "host"
		s := &Site{
			Types: []Type{host, {Name: "small", Like: "host"}, {Name: "leaf", Ports: "64x800Gbps", Split: 8}},
			Nodes: []Group{{Name: "host", Type: "host", Count: 2}, {Name: "small", Type: "small"},
				{Name: "leaf", Type: "leaf"}},
			Cables: []Rule{{From: "host", To: "leaf"}, {From: "small", To: "leaf"}},
		}
		_, types, err := s.Make(defaults)
		if err != nil {
			return "", err
		}
		h := types[0]
		return fmt.Sprint(h.GPU, " ", h.GPUs, " ", h.NICs, " ", h.NICRate), nil
	}
	for _, c := range []struct {
		host       Type
		want, says string
	}{
		{host: Type{Model: "p5.48xlarge"}, want: "h100 8 32 100Gbps"},
		{host: Type{Model: "HLS-3"}, want: "gaudi3 8 24 200Gbps"},
		{host: Type{Model: "dgx-b200", NICs: 4, GPU: "h200"}, want: "h200 8 4 400Gbps"},
		{host: Type{Model: "dgx-b200", NoGPUs: true}, want: " 0 8 400Gbps"},
		{host: Type{Model: "dgx-b200", Ports: "64x400Gbps"}, says: "has no role, tier, ports"},
		{host: Type{Model: "dgx-b2000"}, says: `did you mean "dgx-b200"?`},
	} {
		got, err := build(c.host)
		if got != c.want || (err == nil) != (c.says == "") || !strings.Contains(fmt.Sprint(err), c.says) {
			t.Errorf("%+v: %q, %v; want %q, %q", c.host.Model, got, err, c.want, c.says)
		}
	}
}

// The cells of chips in the calculation of headroom are those of their models.
func TestCellsOfChips(t *testing.T) {
	chips := 0
	for _, m := range Models() {
		if cell := queue.CellOf(m.Key); cell > 0 {
			if chips++; cell != m.Cell {
				t.Errorf("%s: cells of %d bytes, its model has %d", m.Key, cell, m.Cell)
			}
		}
	}
	if chips != 4 {
		t.Errorf("%d chips of Tomahawk", chips)
	}
}
