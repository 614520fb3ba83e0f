package exec

import "railyard/unit"

// Progress is what a caller may show while a run goes on.
type Progress struct {
	Now        unit.Time
	PacketHops int64      // packets over links; 0 where there are none
	Delivered  unit.Bytes // by the network
	Total      unit.Bytes
	OpsLeft    int
	Ops        int
}

// Observer is called every now and then; returning false interrupts the run. It must not
// change anything.
type Observer func(Progress) bool
