package design

import (
	"cmp"

	"railyard/internal/queue"
	"railyard/unit"
)

// asic returns the chip whose cells and delays SONiC's calculation uses: the chosen one, that of the switch's device,
// or the oldest with ports as fast. In the last case assumed is the device, for which SONiC has no calculation, and the
// cells are the device's where they are known.
func (d *Design) asic(s *Switch) (chip queue.ASIC, assumed string) {
	if a, ok := queue.ASICNamed(d.ASIC); ok {
		return a, ""
	}
	if s.told() {
		for _, name := range []string{s.Panel.Device.Platform, s.Panel.Device.HwSKU, s.Panel.Device.From} {
			if a, ok := queue.ASICOf(name); ok {
				return a, ""
			}
		}
		assumed = cmp.Or(s.Panel.Device.HwSKU, s.Panel.Device.Platform)
	}
	cell := unit.Bytes(0)
	if s.Panel != nil {
		cell = queue.CellOf(s.Panel.Model)
		if s.told() {
			cell = cmp.Or(queue.CellOf(s.Panel.Device.Chip), cell)
		}
		if cell > 0 {
			assumed = cmp.Or(assumed, s.Panel.Model)
		}
	}
	fastest := unit.Rate(0)
	for _, p := range s.Ports {
		fastest = max(fastest, p.Rate)
	}
	chip = queue.ASICFor(fastest)
	chip.Cell = cmp.Or(cell, chip.Cell)
	return chip, assumed
}

// InCells is a port's headroom by SONiC's own calculation. It exceeds that of whole frames, because packets of 64
// bytes fill a cell of the chip's buffer each.
type InCells struct {
	ASIC        queue.ASIC
	Assumed     string // the device whose own chip the calculation does not know; "": ASIC is its chip
	Rate        unit.Rate
	MM          int64
	XOff, Whole unit.Bytes
}

// inCells returns the greater of a port's headroom for whole frames and SONiC's own calculation, and records the latter
// for the switch.
func (d *Design) inCells(s *Switch, p *Port, whole, mtu unit.Bytes) unit.Bytes {
	mm := max(p.LengthMM, int64(float64(p.Prop)*1.98e8/1e9)) // a delay instead of a length
	chip, assumed := d.asic(s)
	xoff, _, _ := chip.Headroom(p.Rate, mm, mtu)
	if xoff <= whole {
		return whole
	}
	if s.InCells == nil || s.InCells.XOff < xoff {
		s.InCells = &InCells{chip, assumed, p.Rate, mm, xoff, whole}
	}
	return xoff
}
