package workload

import (
	"railyard/internal/coll"
	"railyard/internal/field"
	"railyard/unit"
	"slices"
)

// switched reports whether a tensor parallel group that shares NVLink has NVSwitch add up (NVLS). By default it follows
// NCCL's tuning model: all-reduces that are large enough, of four GPUs and more.
func (t *Training) switched(kind coll.Kind, b unit.Bytes) bool {
	if kind != coll.AllReduce || t.Switch == 0 || t.Mesh || b <= 0 || t.TP > max(1, t.PerServer) {
		return false
	}
	if t.TensorBy != coll.Auto {
		return t.TensorBy == coll.ByNVLS
	}
	rate := float64(t.NVLink) / 8e9
	m := coll.Machine{Nodes: 1, PerNode: t.TP, NVLink: rate, NIC: rate, Hopper: true,
		Blackwell: t.Switch == coll.NVLSShare(true), Channels: min(64, 2*max(1, t.PerServer)), NVLS: true}
	best, err := m.Tune(kind, float64(b))
	return err == nil && best[0].Algorithm == coll.ByNVLS
}

// within returns the algorithm of a tensor parallel group.
func (s *step) within(kind coll.Kind, b unit.Bytes, ranks []int) (coll.Algorithm, string) {
	if s.switched(kind, b) && s.together(ranks) {
		return coll.NVLS(s.Switch), coll.ByNVLS
	}
	return s.on().Within(kind, ranks)
}

// together reports whether ranks share NVLink.
func (s *step) together(ranks []int) bool {
	on := s.on()
	return !slices.ContainsFunc(ranks, func(r int) bool { return on.Of(r) != on.Of(ranks[0]) })
}

// checkSwitched refuses reductions by NVSwitch without a supporting switch.
func (s *step) checkSwitched() error {
	const takes = "takes an NVSwitch that adds up: GPUs from H100 on, connected by it"
	if s.TensorBy == coll.ByNVLS {
		if s.Switch == 0 {
			return field.New("tp_algorithm", "nvls "+takes)
		}
		if !s.Fold && !s.together(s.seats[0][0]) {
			return field.New("tp_algorithm", "nvls takes groups that share NVLink, and those of tp %d span servers", s.TP)
		}
	}
	if s.Algorithm != coll.ByNVLSTree {
		return nil
	}
	if s.Switch == 0 {
		return field.New("dp_algorithm", "nvls-tree "+takes)
	}
	for _, groups := range append(s.dense, s.sparse...) {
		for _, g := range groups {
			if !s.on().AsMany(g) {
				return field.New("dp_algorithm", "nvls-tree needs servers with as many GPUs of a group each")
			}
		}
	}
	return nil
}
