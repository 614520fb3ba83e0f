package sweep

import (
	"strings"

	"railyard/internal/cause"
	"railyard/internal/field"
	"railyard/internal/result"
	"railyard/internal/study/space"
)

// Figure is a number that a trial has.
type Figure struct {
	Name   string
	Kind   space.Kind
	Words  string // name, as the head of a column
	Higher bool   // more is better
	of     func(*result.Summary) float64
}

// Column returns the name of the figure's column.
func (f *Figure) Column() string { return f.Name + f.Kind.Suffix() }

// Of returns the figure of a run.
func (f *Figure) Of(s *result.Summary) float64 { return f.of(s) }

// Figures lists the figures, in the order of the columns.
var Figures = []*Figure{
	{"step_time", space.Time, "step time", false, func(s *result.Summary) float64 { return float64(s.StepTime) }},
	{"compute", space.Time, "compute", false, func(s *result.Summary) float64 { return float64(s.Compute) }},
	{"exposed_comm", space.Time, "exposed communication", false,
		func(s *result.Summary) float64 { return float64(s.ExposedComm) }},
	{"bubble", space.Time, "pipeline bubble", false, func(s *result.Summary) float64 { return float64(s.Bubble) }},
	{"mfu", space.Number, "MFU", true, func(s *result.Summary) float64 { return s.MFU }},
	{"busbw", space.Number, "bus bandwidth, B/s", true, busbw},
	{"flow_p50", space.Time, "flow p50", false, func(s *result.Summary) float64 { return float64(s.Flows.P50) }},
	{"flow_p99", space.Time, "flow p99", false, func(s *result.Summary) float64 { return float64(s.Flows.P99) }},
	{"flow_max", space.Time, "flow max", false, func(s *result.Summary) float64 { return float64(s.Flows.Max) }},
	{"slowdown_mean", space.Number, "slowdown, mean", false,
		func(s *result.Summary) float64 { return slowdown(s).Mean }},
	{"slowdown_p99", space.Number, "slowdown, p99", false, func(s *result.Summary) float64 { return slowdown(s).P99 }},
	{"queue_peak", space.Size, "queue max", false, func(s *result.Summary) float64 { return float64(s.QueuePeak) }},
	{"queue_mean", space.Size, "queue mean", false, func(s *result.Summary) float64 { return float64(s.QueueMean) }},
	{"pfc_pause", space.Time, "PFC pause time", false, func(s *result.Summary) float64 { return float64(s.PFCPause) }},
	{"pfc_pauses", space.Number, "PFC pauses", false, func(s *result.Summary) float64 { return float64(s.PFCPauses) }},
	{"ecn_marks", space.Number, "ECN marks", false, func(s *result.Summary) float64 { return float64(s.ECNMarks) }},
	{"drops", space.Number, "drops", false, func(s *result.Summary) float64 { return float64(s.Drops) }},
	{"trims", space.Number, "trims", false, func(s *result.Summary) float64 { return float64(s.Trims) }},
	{"retransmissions", space.Number, "retransmissions", false,
		func(s *result.Summary) float64 { return float64(s.Retransmissions) }},
	{"timeouts", space.Number, "timeouts", false, func(s *result.Summary) float64 { return float64(s.Timeouts) }},
	{"early_timeouts", space.Number, "recovery timeouts", false,
		func(s *result.Summary) float64 { return float64(s.EarlyTimeouts) }},
	{"out_of_order", space.Number, "out of order", false,
		func(s *result.Summary) float64 { return float64(s.OutOfOrder) }},
	{"fairness", space.Number, "fairness (Jain)", true, func(s *result.Summary) float64 { return s.Fairness }},
	{"uplink_max", space.Number, "uplink utilization, max", false,
		func(s *result.Summary) float64 { return s.Links.UplinkMax }},
	{"uplink_min", space.Number, "uplink utilization, min", true,
		func(s *result.Summary) float64 { return s.Links.UplinkMin }},
	{"nic_wire", space.Size, "bytes sent by NICs", false, func(s *result.Summary) float64 { return float64(s.NICBytes) }},
	{"packet_hops", space.Number, "packet-hops", false, func(s *result.Summary) float64 { return float64(s.PacketHops) }},
	{"gpus", space.Number, "GPUs", false, func(s *result.Summary) float64 { return float64(s.GPUs) }},
}

// slowdown returns the slowdowns of messages at random times, 0 without any.
func slowdown(s *result.Summary) result.Slowdowns {
	if s.Flows.Slowdown == nil {
		return result.Slowdowns{}
	}
	return *s.Flows.Slowdown
}

// busbw returns the bus bandwidth of the first collective, 0 without one.
func busbw(s *result.Summary) float64 {
	if len(s.Collectives) == 0 {
		return 0
	}
	return s.Collectives[0].BusBW
}

// figures returns the figures of a run that are not 0.
func figures(s *result.Summary) map[string]float64 {
	m := map[string]float64{}
	for _, f := range Figures {
		if x := f.of(s); x != 0 {
			m[f.Name] = x
		}
	}
	return m
}

// causes returns the time of the critical path by cause, in picoseconds, without causes of no cost.
func causes(s *result.Summary) map[string]int64 {
	if s.Chain == nil {
		return nil
	}
	m := map[string]int64{}
	for _, c := range cause.All() {
		if x := s.Chain.Costs(c.ID); x != 0 {
			m[c.Key] = x
		}
	}
	return m
}

// Objective is a figure with the direction in which it is better.
type Objective struct {
	*Figure
	Max bool
}

// ParseObjective reads FIGURE, min:FIGURE or max:FIGURE. Without a direction it is the figure's own.
func ParseObjective(s string) (Objective, error) {
	direction, name, ok := strings.Cut(s, ":")
	if !ok {
		direction, name = "", s
	}
	if ok && direction != "min" && direction != "max" {
		return Objective{}, field.Choice("", direction, []string{"min", "max"}, "unknown direction %s", field.Quote(direction))
	}
	var names []string
	for _, f := range Figures {
		if f.Name == name || f.Column() == name {
			return Objective{f, direction == "max" || direction == "" && f.Higher}, nil
		}
		names = append(names, f.Name)
	}
	return Objective{}, field.Choice("", name, names, "unknown figure %s", field.Quote(name))
}

// Better reports whether x is better than y.
func (o Objective) Better(x, y float64) bool { return o.Max && x > y || !o.Max && x < y }

// Adjective describes the best point by the objective.
func (o Objective) Adjective() string {
	switch {
	case o.Name == "step_time" && !o.Max:
		return "Fastest"
	case o.Max:
		return "Highest " + o.Words
	}
	return "Lowest " + o.Words
}
