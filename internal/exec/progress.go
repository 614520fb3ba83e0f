package exec

import "railyard/unit"

// Progress is the state of a run while it goes on.
type Progress struct {
	Now        unit.Time
	PacketHops int64      // packets over links; 0 where there are none
	Delivered  unit.Bytes // by the network
	Total      unit.Bytes
	OpsLeft    int
	Ops        int
}

// Share returns the share of a run that is done: by bytes, or by operations without network.
func (p Progress) Share() float64 {
	if p.Total > 0 {
		return float64(p.Delivered) / float64(p.Total)
	}
	return float64(p.Ops-p.OpsLeft) / float64(max(p.Ops, 1))
}

// Observer is called every now and then; returning false interrupts the run. It must not
// change anything.
type Observer func(Progress) bool
