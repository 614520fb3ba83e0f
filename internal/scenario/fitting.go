package scenario

import (
	"slices"
	"strconv"
	"strings"

	"railyard/internal/coll"
	"railyard/internal/trace"
)

// fitted is the known properties of a group of a trace's ranks.
type fitted struct {
	on       coll.Servers
	machine  coll.Machine
	known    bool // NCCL's tuning model supports its GPUs
	share    float64
	channels int // of rings
	nics     int // NICs of each server; 0: the ranks share NVLink
}

// fitting decides how the collectives of a trace run on the fabric: over a ring for each of a server's GPUs, by the
// algorithm and protocol of NCCL's tuning model unless the trace names one.
func (p *resolver) fitting(at task, t *Trace) trace.Fit {
	on := p.servers(at.crew)
	groups := map[*int]*fitted{} // by the first of its ranks
	return func(run trace.Run, ranks []int) trace.Run {
		f := groups[&ranks[0]]
		if f == nil {
			f = &fitted{}
			if c := p.gpusOf(at, t, ranks); c != nil {
				f = p.fit(c)
				if f.on = on; t.Nodes != "" {
					f.on = coll.Even(1)
				}
			}
			groups[&ranks[0]] = f
		}
		if f.channels > 0 {
			if t.Algorithm != "" && t.Algorithm != coll.Auto && run.Kind == coll.AllReduce {
				run.Say(t.Algorithm, "the scenario")
			}
			if t.Protocol != "" && t.Protocol != coll.Auto {
				run.Protocol = t.Protocol
			}
			f.run(&run, ranks)
			if t.Channels > 0 && run.Channels > 0 {
				run.Channels, run.Orders = t.Channels, nil
			}
		}
		return run
	}
}

// gpusOf returns the GPUs of a trace's ranks; nil: the fabric has no such GPUs, which is rejected elsewhere.
func (p *resolver) gpusOf(at task, t *Trace, ranks []int) (c crew) {
	where := counted.FindStringSubmatch(t.Nodes)
	for _, r := range ranks {
		switch {
		case where != nil:
			more, _ := strconv.Atoi(where[1])
			name := strings.ReplaceAll(t.Nodes, where[0], strconv.Itoa(r+more))
			gpu, err := p.Graph.FindGPU(name + "/gpu-1")
			if err != nil {
				return nil
			}
			c = append(c, gpu)
		case r >= p.ranks(at.crew):
			return nil
		default:
			c = append(c, at.crew.gpu(r))
		}
	}
	return c
}

// fit determines the algorithm for the GPUs of a group.
func (p *resolver) fit(c crew) *fitted {
	f := &fitted{share: p.adding(c)}
	m, err := p.machine(c, false)
	f.machine, f.known = m, err == nil
	servers, nics, _ := p.slowest(c)
	if f.channels = p.rings(c); servers > 1 {
		f.nics = nics
	}
	return f
}

// Rings is the number of rings that a collective of all GPUs uses.
func (p *Plan) Rings() int { return p.rings(nil) }

// rings returns how many rings side by side use all that a ring of a job can use.
func (p *Plan) rings(c crew) int {
	return coll.Rings(p.perServer(c), len(p.domains(c)), p.mesh(c))
}

// run completes a collective among ranks.
func (f *fitted) run(run *trace.Run, ranks []int) {
	run.Servers, run.PerServer, run.Switch, run.NICs = f.on, f.machine.PerNode, f.share, f.nics
	asked, bare, by := run.Algorithm, run.Protocol == "none", run.By
	run.By = "the fabric's NICs"
	if by == "" {
		by = "the trace"
	}
	if bare {
		run.Protocol = ""
	}
	switch run.Kind {
	case coll.ToAll, coll.SendRecv:
		run.Algorithm, run.Protocol = "", ""
		return
	case coll.Bcast:
		run.Algorithm, run.Protocol, run.Channels = "", "", f.channels
		return
	}
	var all []coll.Choice
	if f.known {
		all, _ = f.machine.Tune(run.Kind, float64(run.Bytes))
		run.By = "NCCL's tuning model"
	}
	all = slices.DeleteFunc(all, func(c coll.Choice) bool {
		return c.Algorithm == coll.ByNVLSTree && !f.on.AsMany(ranks)
	})
	best := slices.Clone(all)
	all = slices.DeleteFunc(all, func(c coll.Choice) bool {
		return asked != "" && c.Algorithm != asked || run.Protocol != "" && c.Protocol != run.Protocol
	})
	switch {
	case len(all) > 0:
		run.Algorithm, run.Protocol = all[0].Algorithm, all[0].Protocol
		if asked != "" {
			run.By = by
		}
		if asked == coll.ByRing && run.Named() && strings.HasPrefix(best[0].Algorithm, coll.ByNVLS) {
			run.By = "the name of its kernel, which NCCL's NVLS has too: its tuning model picks " +
				best[0].Algorithm + " here"
		}
	case asked == coll.ByTree && run.Kind == coll.AllReduce || asked == coll.ByRing:
		run.By = by
	default: // the trace's choice is not supported here
		run.Algorithm, run.Protocol = coll.ByRing, ""
		if len(best) > 0 {
			run.Algorithm, run.Protocol = best[0].Algorithm, best[0].Protocol
		}
	}
	if run.Algorithm == coll.ByRing {
		run.Channels = f.channels
	}
	if bare {
		run.Protocol = ""
	}
	if f.known {
		run.CopyRate = f.machine.CopyRate(run.Algorithm, run.Protocol)
	}
}
