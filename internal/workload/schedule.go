package workload

import (
	"fmt"

	"railyard/internal/partition"
)

// passKind is a kind of pass of a stage over a microbatch.
type passKind uint8

const (
	forwardPass  passKind = iota
	backwardPass          // with weight gradients, unless the schedule postpones them
	weightPass            // weight gradients alone
	updatePass            // the pass over weights after the gradients of the step with that number
)

// pass is one microbatch through one of a stage's model chunks.
type pass struct {
	kind         passKind
	micro, chunk int
}

// passes lists a stage's passes, in its order.
func passes(l partition.Layout, stage int) []pass {
	switch l.Schedule {
	case partition.GPipe:
		return oneFOneB(l, l.Microbatches)
	case partition.Interleaved:
		return interleaved(l, stage)
	case partition.ZeroBubble:
		return zeroBubble(l, stage)
	case partition.TwoVersions:
		return twoVersions(l, stage)
	}
	return oneFOneB(l, min(l.PP-stage-1, l.Microbatches))
}

// oneFOneB runs warm forward passes before the first backward one, then one of each in turn. In GPipe all forward
// passes are first.
func oneFOneB(l partition.Layout, warm int) (list []pass) {
	m := l.Microbatches
	for i := range warm {
		list = append(list, pass{forwardPass, i, 0})
	}
	for i := range m - warm {
		list = append(list, pass{forwardPass, warm + i, 0}, pass{backwardPass, i, 0})
	}
	for i := m - warm; i < m; i++ {
		list = append(list, pass{backwardPass, i, 0})
	}
	return list
}

// interleaved is Megatron's schedule of several model chunks per stage: PP microbatches pass one chunk, then the
// next (Narayanan et al., SC'21, figure 4). The number of microbatches is a multiple of PP.
func interleaved(l partition.Layout, stage int) (list []pass) {
	p, v := l.PP, l.VPP
	total := l.Microbatches * v
	at := func(kind passKind, i int) pass {
		chunk := i % (p * v) / p
		if kind == backwardPass {
			chunk = v - 1 - chunk
		}
		return pass{kind, i/(p*v)*p + i%p, chunk}
	}
	warm := min(2*(p-stage-1)+(v-1)*p, total)
	for i := range warm {
		list = append(list, at(forwardPass, i))
	}
	for i := range total - warm {
		list = append(list, at(forwardPass, warm+i), at(backwardPass, i))
	}
	for i := total - warm; i < total; i++ {
		list = append(list, at(backwardPass, i))
	}
	return list
}

// zeroBubble is ZB-H1 (Qi et al. 2023, section 2). Forward and backward passes are in the order of 1F1B, and the
// weight gradients of stage i (from 0) are postponed by i microbatches. They thus fill the end of the step, while
// no stage keeps more than PP microbatches.
func zeroBubble(l partition.Layout, stage int) (list []pass) {
	done, written := 0, 0
	for _, x := range oneFOneB(l, min(l.PP-stage-1, l.Microbatches)) {
		list = append(list, x)
		if x.kind != backwardPass {
			continue
		}
		if done++; done > stage {
			list = append(list, pass{weightPass, written, 0})
			written++
		}
	}
	for ; written < l.Microbatches; written++ {
		list = append(list, pass{weightPass, written, 0})
	}
	return list
}

// twoVersions is 1F1B over the microbatches of all steps; a step starts where the last one ends. A step uses the
// weights of the step before the last. These are complete before it begins, at the cost of one more version
// (PipeDream-2BW, Narayanan et al. 2021, section 3.1).
func twoVersions(l partition.Layout, stage int) (list []pass) {
	once := l.Microbatches
	steps := l.StepsInRow()
	l.Microbatches *= steps
	for _, x := range oneFOneB(l, min(l.PP-stage-1, l.Microbatches)) {
		if step := x.micro/once - 2; x.kind == forwardPass && x.micro%once == 0 && step >= 0 {
			list = append(list, pass{updatePass, step, 0})
		}
		list = append(list, x)
	}
	for step := max(0, steps-2); step < steps; step++ {
		list = append(list, pass{updatePass, step, 0})
	}
	return list
}

// schedule emits the passes of every stage in an order in which each one's inputs already exist. Stages take turns,
// each following its own list.
func (s *step) schedule() error {
	lists := make([][]pass, s.PP)
	left := 0
	for p := range lists {
		lists[p] = passes(s.Layout, p)
		left += len(lists[p])
	}
	for moved := true; moved && left > 0; {
		moved = false
		for p := range s.PP {
			for len(lists[p]) > 0 && s.ready(p, lists[p][0]) {
				s.run(p, lists[p][0])
				lists[p] = lists[p][1:]
				left--
				moved = true
			}
		}
		if s.b.tooBig {
			return nil // Seal reports it
		}
	}
	if left > 0 {
		return fmt.Errorf("the schedule %s of %d stages and %d microbatches cannot go on; this is a fault of Railyard", s.Schedule, s.PP, s.Microbatches)
	}
	return nil
}

// ready reports whether a pass's inputs from the neighbouring stages have been built.
func (s *step) ready(p int, x pass) bool {
	part := x.chunk*s.PP + p
	switch x.kind {
	case forwardPass:
		return part == 0 || s.fwdIn[port{part, x.micro}] != nil
	case backwardPass:
		return part == s.Chunks()-1 || s.bwdIn[port{part, x.micro}] != nil
	}
	return true
}

func (s *step) run(p int, x pass) {
	part := x.chunk*s.PP + p
	switch x.kind {
	case forwardPass:
		s.forward(p, part, x.micro)
	case backwardPass:
		s.backward(p, part, x.micro)
		if s.Schedule == partition.TwoVersions && s.lastMicro(x.micro) {
			s.keep(p)
		}
	case weightPass:
		s.weights(p, part, x.micro)
	case updatePass:
		s.updateBy(p, x.micro)
	}
}
