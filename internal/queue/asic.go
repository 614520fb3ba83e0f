package queue

import (
	"math"
	"regexp"
	"strings"

	"railyard/unit"
)

// ASIC holds the figures of a switch chip in SONiC's headroom calculation: asic_table.j2 and
// buffer_headroom_mellanox.lua of sonic-buildimage and sonic-swss (docs/references.md, headroom).
type ASIC struct {
	Name     string     // spectrum4
	Rate     unit.Rate  // rate of its fastest port
	Cell     unit.Bytes // packets occupy whole cells
	Pipeline unit.Bytes // bytes that arrive while a pause passes through the chip
	Tile     bool       // packets are stored on the tile where they arrived
	Extra    unit.Bytes // added to xoff
}

// Sizes that all of them share.
const (
	kib         = 1024
	macPHY      = 0.8 * kib // delay of MAC and PHY
	losslessMTU = 1024      // SONiC's default pattern of lossless traffic: this MTU, all packets small
	lanes8      = 400 * unit.Gbps
)

var asics = []ASIC{
	{Name: "spectrum", Rate: 100 * unit.Gbps, Cell: 96, Pipeline: 19 * kib},
	{Name: "spectrum2", Rate: 200 * unit.Gbps, Cell: 144, Pipeline: 19 * kib},
	{Name: "spectrum3", Rate: 400 * unit.Gbps, Cell: 144, Pipeline: 19 * kib},
	{Name: "spectrum4", Rate: 800 * unit.Gbps, Cell: 192, Pipeline: 19 * kib, Tile: true},
	{Name: "spectrum5", Rate: 800 * unit.Gbps, Cell: 192, Pipeline: 19 * kib, Tile: true},
	{Name: "spectrum6", Rate: 1600 * unit.Gbps, Cell: 256, Pipeline: 42 * kib, Extra: 18 * kib},
}

// ASICs lists the chips by name.
func ASICs() (names []string) {
	for _, a := range asics {
		names = append(names, a.Name)
	}
	return names
}

// ASICNamed finds a chip.
func ASICNamed(name string) (ASIC, bool) {
	for _, a := range asics {
		if a.Name == name {
			return a, true
		}
	}
	return ASIC{}, false
}

// nvidia matches NVIDIA's switches in SONiC's platforms and HwSKUs.
var nvidia = regexp.MustCompile(`(?i)(?:mlnx|nvidia|mellanox|acs)[_-]m?sn([2-6]\d{3})`)

// ASICOf finds the chip of a switch by its platform or HwSKU (x86_64-nvidia_sn5600-r0, ACS-MSN4700) as asic_table.j2 of
// sonic-buildimage does. The first digit is the generation; of the 5000s, SN5640 has the later chip.
func ASICOf(device string) (ASIC, bool) {
	m := nvidia.FindStringSubmatch(device)
	if m == nil {
		return ASIC{}, false
	}
	if m[1] == "5640" {
		return ASICNamed("spectrum5")
	}
	return ASICNamed(map[byte]string{'2': "spectrum", '3': "spectrum2", '4': "spectrum3", '5': "spectrum4",
		'6': "spectrum6"}[m[1][0]])
}

// cells are the buffer cells of chips for which SONiC has no calculation (FBOSS, Tomahawk3Asic.h to Tomahawk6Asic.h).
var cells = map[string]unit.Bytes{"tomahawk3": 254, "tomahawk4": 254, "tomahawk5": 254, "tomahawk6": 420}

// CellOf returns the buffer cell of a chip, "Tomahawk 5"; 0: unknown.
func CellOf(chip string) unit.Bytes { return cells[strings.ToLower(strings.ReplaceAll(chip, " ", ""))] }

// ASICFor is the oldest chip that has ports of a rate, the newest above them all.
func ASICFor(r unit.Rate) ASIC {
	for _, a := range asics {
		if r <= a.Rate {
			return a
		}
	}
	return asics[len(asics)-1]
}

// Headroom is SONiC's own calculation for a port: xoff (the size of a lossless priority group beyond its
// threshold), xon, and the sum of both. mtu is the port's. The result is 1.4 to 3 times the bytes of whole frames,
// because a packet of 64 bytes may fill a cell.
func (a ASIC) Headroom(r unit.Rate, mm int64, mtu unit.Bytes) (xoff, xon, size unit.Bytes) {
	cable := 2 * float64(mm) * float64(r) / 1.98e8 / 8e3
	prop := float64(mtu) + cable + macPHY + float64(quanta(r)*512/8)
	if a.Tile {
		prop += float64(r/unit.Gbps) * 120 / 8
	}
	up := func(x float64) unit.Bytes { return unit.Bytes(math.Ceil(x/kib)) * kib }
	xoff = up(losslessMTU+prop*a.occupancy()) + a.Extra
	xon = a.Pipeline
	if r < lanes8 {
		return xoff, xon, xoff + xon
	}
	xon *= 2
	return xoff, xon, up(float64(xoff + xon + mtu))
}

// occupancy returns the ratio of buffer to length for the worst packet: 64 bytes in a large cell, or one byte more
// than a small cell.
func (a ASIC) occupancy() float64 {
	if a.Cell > 128 {
		return float64((a.Cell + 63) / 64)
	}
	return float64((2*a.Cell + a.Cell) / (1 + a.Cell))
}
