package site

import (
	"slices"

	"railyard/internal/panel"
	"railyard/unit"
)

// Model is a switch as its data sheet describes it.
type Model struct {
	Key    string // what a type's model says, in small letters
	Name   string
	Ports  string     // front panel
	Split  int        // cables that a port may be broken out into
	Buffer unit.Bytes // packet memory; 0: texts disagree, or have none
	Source string

	Lanes  int    // serial lanes of a port of the highest rate, 0: not known
	First  int    // how SONiC numbers the first lane
	System string // that it runs, where there is one only
}

// models are switches that people build AI fabrics of. Where a source names a file of sonic-buildimage the
// figures were read there. The data sheets and product briefs were not at hand: what has only these is from
// memory, packet memories only those that other texts confirm.
var models = []Model{
	{"n9k-c9332d-gx2b", "Cisco Nexus 9332D-GX2B", "32x400Gbps", 4, 120 * unit.MB,
		"Cisco GX2 data sheet", 8, 1, panel.NXOS},
	{"n9k-c9364d-gx2a", "Cisco Nexus 9364D-GX2A", "64x400Gbps", 4, 120 * unit.MB,
		"Cisco GX2 data sheet", 8, 1, panel.NXOS},
	{"n9k-c9348d-gx2a", "Cisco Nexus 9348D-GX2A", "48x400Gbps", 4, 120 * unit.MB,
		"Cisco GX2 data sheet", 8, 1, panel.NXOS},
	{"7060x5-64s", "Arista 7060DX5-64S", "64x400Gbps", 4, 114 * unit.MB,
		"Arista 7060X5 data sheet", 8, 1, panel.EOS},
	{"7060x6-64pe", "Arista 7060X6-64PE", "64x800Gbps", 8, 165 * unit.MB,
		"Arista 7060X6 data sheet; sonic-buildimage, Arista-7060X6-64PE-O128S2/buffers_defaults_t1.j2: a " +
			"pool " +
			"of 165,660,324 bytes", 8, 1, panel.EOS},
	{"7388x5", "Arista 7388X5", "64x400Gbps", 4, 114 * unit.MB,
		"Arista 7388X5 data sheet", 8, 1, ""},
	{"8101-32fh", "Cisco 8101-32FH, Silicon One Q200", "32x400Gbps", 4, 0,
		"Cisco 8000 data sheet", 8, 1, ""},
	{"8122-64eh", "Cisco 8122-64EH, Silicon One G200", "64x800Gbps", 8, 0,
		"Cisco 8000 data sheet", 8, 1, ""},
	{"jericho3-ai", "Broadcom Jericho3-AI, as a leaf of its own", "18x800Gbps", 8, 0,
		"BCM88890 product brief", 8, 1, ""},
	{"sn3700", "NVIDIA SN3700, Spectrum-2", "32x200Gbps", 4, 42 * unit.MB,
		"NVIDIA SN3000 data sheet", 4, 0, ""},
	{"sn4700", "NVIDIA SN4700, Spectrum-3", "32x400Gbps", 8, 64 * unit.MB,
		"NVIDIA SN4000 data sheet", 8, 0, ""},
	{"sn5640", "NVIDIA SN5640, Spectrum-5", "64x800Gbps", 8, 0,
		"NVIDIA SN5000 data sheet", 8, 0, ""},
	{"sn5600", "NVIDIA SN5600, Spectrum-4", "64x800Gbps", 8, 158 * unit.MB,
		"sonic-buildimage, Mellanox-SN5600-O128/port_config.ini: 64 ports of lanes 0 to 511, and one of " +
			"25G; " +
			"Mellanox-SN5600-C256S1/buffers_defaults_t0.j2: 158,229,504 bytes in the largest pool", 8, 0, ""},
	{"qm9700", "NVIDIA QM9700, Quantum-2", "64x400Gbps", 2, 0,
		"NVIDIA QM9700 data sheet", 0, 1, ""},
	{"q3400", "NVIDIA Q3400, Quantum-X800", "144x800Gbps", 1, 0,
		"NVIDIA Quantum-X800 data sheet", 0, 1, ""},
	{"tomahawk3", "Broadcom Tomahawk 3, 12.8T", "32x400Gbps", 8, 64 * unit.MB,
		"BCM56980 product brief", 8, 1, ""},
	{"tomahawk4", "Broadcom Tomahawk 4, 25.6T", "64x400Gbps", 8, 114 * unit.MB,
		"BCM56990 product brief", 8, 1, ""},
	{"tomahawk5", "Broadcom Tomahawk 5, 51.2T", "64x800Gbps", 8, 165 * unit.MB,
		"BCM78900 product brief; as an Arista 7060X6-64PE, which is one", 8, 1, ""},
	{"tomahawk6", "Broadcom Tomahawk 6, 102.4T", "64x1600Gbps", 8, 0,
		"BCM78910 product brief", 8, 1, ""},
}

// ModelNames lists the keys.
func ModelNames() (names []string) {
	for _, m := range models {
		names = append(names, m.Key)
	}
	slices.Sort(names)
	return names
}

func modelOf(key string) *Model {
	if i := slices.IndexFunc(models, func(m Model) bool { return m.Key == key }); i >= 0 {
		return &models[i]
	}
	return nil
}
