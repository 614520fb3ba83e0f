package result

import (
	"fmt"

	"railyard/internal/cause"
	"railyard/unit"
)

// BusiestNIC is a NIC, the payload that it sends or receives, and the least time for it.
type BusiestNIC struct {
	Name     string `json:"nic"`
	Receives bool   `json:"receives"` // false: it sends
	Bytes    int64  `json:"bytes"`
	Rate     int64  `json:"rate_bps"` // sum over its ports
	Time     int64  `json:"time_ps"`
	// Repaired is the longest such time of any NIC with all links up, at the rate of their kind.
	Repaired int64 `json:"repaired_time_ps"`
}

// Least returns the least time for the payload in a run without a cause. Without failed or slow links NICs have the
// rates of their kind.
func (n *BusiestNIC) Least(without cause.ID) int64 {
	if without == cause.SlowLink || without == cause.FailedCapacity {
		return n.Repaired
	}
	return n.Time
}

// LimitSavings leaves no run without a cause shorter than its busiest NIC needs for the payload.
func (s *Summary) LimitSavings() {
	if s.Chain == nil || s.Busiest == nil {
		return
	}
	for id := range s.Chain.Saving {
		all := s.Chain.Saves(cause.ID(id))
		s.Chain.Saving[id] = min(all, max(0, s.StepTime-s.Busiest.Least(cause.ID(id))))
		s.Chain.Beyond[id] = all - s.Chain.Saving[id]
	}
}

// Show describes a NIC's payload and its time: "host-9/nic-1 receives 14 MB, which takes 1.12 ms at 100 Gbit/s".
func (n *BusiestNIC) Show() string {
	verb := "sends"
	if n.Receives {
		verb = "receives"
	}
	return fmt.Sprintf("%s %s %s, which takes %s at %s", n.Name, verb, unit.Bytes(n.Bytes).Show(),
		unit.Time(n.Time).Show(), unit.Rate(n.Rate).Show())
}

// Remedy is a change of a run's settings against one of the causes of its lost time.
type Remedy struct {
	Cause string `json:"cause"` // its key; bubble or other_setting for no cause
	// Expected is the upper limit of the saving: that of a run without the cause, and no more than Limit allows.
	Expected int64 `json:"expected_ps"`
	// Limit describes the payload of the busiest NIC and its time, where they limit Expected.
	Limit string `json:"limit,omitempty"`
	// Simulated marks an Expected for which a run without the cause was simulated.
	Simulated bool     `json:"simulated,omitempty"`
	Says      string   `json:"says"`
	Set       []string `json:"set,omitempty"`   // key=value, the form of --set
	Needs     string   `json:"needs,omitempty"` // hardware that the fabric may lack
	// Tried reports that the scenario was simulated with the change, and Saved the part of the step that this saved. A
	// negative one means that the step takes longer.
	Tried bool  `json:"tried,omitempty"`
	Saved int64 `json:"saved_ps,omitempty"`
	// Refuted reports that it saved less than 0.5 % of the step.
	Refuted bool `json:"refuted,omitempty"`
}
