package scenario

import (
	"maps"
	"slices"

	"railyard/internal/deadlock"
	"railyard/internal/field"
	"railyard/internal/workload"
	"railyard/unit"
)

// PhaseMap is the connections of an OCS for some transfers of a job.
type PhaseMap struct {
	Of       []string `yaml:"of" enum:"tp,pp,dp,cp,ep,other" doc:"transfers that need it: of tensor, pipeline, data, context or expert parallel groups, or other"`
	Circuits []string `yaml:"circuits" doc:"all pairs of ports that are connected for them"`
}

// phaseClasses are the transfers that maps are for.
var phaseClasses = map[string]workload.Class{"tp": workload.TensorParallel, "pp": workload.PipelineParallel,
	"dp": workload.DataParallel, "cp": workload.ContextParallel, "ep": workload.ExpertParallel,
	"other": workload.Other}

// Phase is the state of circuits while transfers of some classes are in flight. Mirrors move when transfers wait
// for another phase and nothing is in flight. Messages posted meanwhile wait.
type Phase struct {
	Of        []workload.Class
	Lit, Dark []int // circuits of OCSes that move by phases
	key, name string
}

// phases reads an OCS's maps by phase.
func (o *optics) readPhases() error {
	seen := map[string]string{}
	for i, m := range o.Phases {
		key := field.At(o.key+".phases", i)
		switch {
		case len(o.Schedule) > 0:
			return field.New(key, "excludes a schedule: maps change by time or by phase")
		case len(m.Of) == 0:
			return field.New(key+".of", "is empty; a phase is for transfers of one kind or more")
		}
		for k, of := range m.Of {
			if _, known := phaseClasses[of]; !known {
				return field.Choice(field.At(key+".of", k), of, slices.Sorted(maps.Keys(phaseClasses)),
					"%q is not a kind of transfer", of)
			}
			if seen[of] != "" {
				return field.New(field.At(key+".of", k), "%s has a map already, %s", of, seen[of])
			}
			seen[of] = key
		}
		pairs, err := o.match(key+".circuits", m.Circuits)
		if err != nil {
			return err
		}
		o.byPhase = append(o.byPhase, pairs)
	}
	return nil
}

// phases joins the maps of all OCSes.
func (p *resolver) phases(changes []change) error {
	var first *optics
	for _, o := range p.ocs {
		switch {
		case len(o.Phases) == 0:
			continue
		case first == nil:
			first = o
			for i, m := range o.Phases {
				ph := Phase{key: field.At(o.key+".phases", i), name: o.Name}
				for _, of := range m.Of {
					ph.Of = append(ph.Of, phaseClasses[of])
				}
				p.Phases = append(p.Phases, ph)
			}
		case !slices.EqualFunc(o.Phases, first.Phases, func(a, b PhaseMap) bool { return slices.Equal(a.Of, b.Of) }):
			return field.New(o.key+".phases", "are not those of %s: all OCSes that move by phases do so at the same", first.Name)
		}
		for i := range p.Phases {
			for k, on := range o.lit(o.byPhase[i]) {
				if on {
					p.Phases[i].Lit = append(p.Phases[i].Lit, o.ever[k].link)
				} else {
					p.Phases[i].Dark = append(p.Phases[i].Dark, o.ever[k].link)
				}
			}
		}
		p.Mirrors = max(p.Mirrors, o.Reconfigure)
	}
	if first != nil {
		p.note("circuits of %s move by phases of the job: each time that transfers wait which need another map, when those before have arrived; nothing is sent for %v then", first.Name, p.Mirrors)
	}
	return p.unbroken(changes)
}

// unbroken refuses events of circuits that change by phases: only the run changes them.
func (p *resolver) unbroken(changes []change) error {
	if len(p.Phases) == 0 {
		return nil
	}
	moves := asDown(slices.Concat(p.Phases[0].Lit, p.Phases[0].Dark))
	for i := range changes {
		c := &changes[i]
		if c.what.kind == "circuit" {
			continue
		}
		for _, l := range c.what.links {
			if moves[l] {
				return field.New(c.key, "is about a circuit of %s, which moves by phases of the job: events of such are not simulated", p.Phases[0].name)
			}
		}
	}
	return nil
}

// phased refuses transfers without a path under their map.
func (p *resolver) phased() error {
	for i := range p.Phases {
		ph := &p.Phases[i]
		r := p.Graph.Reroute(asDown(ph.Dark), nil, Besides(p.LB, p.Scheduled))
		seen := map[[2]int]bool{}
		for j := range p.Jobs {
			job := &p.Jobs[j]
			for k := range job.DAG.Ops {
				o := &job.DAG.Ops[k]
				if o.Compute() || !slices.Contains(ph.Of, o.Class) {
					continue
				}
				from, to := job.GPU(o.Rank), job.GPU(o.Peer)
				if seen[[2]int{from, to}] || p.Graph.Together(from, to) {
					continue
				}
				seen[[2]int{from, to}] = true
				if !p.Graph.Reachable(r, p.Graph.NICOf[from], p.Graph.NICOf[to]) {
					return field.New(ph.key+".circuits", "leave %s no path to %s, and %v transfers need one",
						p.Graph.GPUName(from), p.Graph.GPUName(to), o.Class)
				}
			}
		}
	}
	return nil
}

// ringByPhase is the first phase whose routes close a ring of buffers.
func (p *Plan) ringByPhase() []deadlock.Buffer {
	for i := range p.Phases {
		ways := p.Graph.Reroute(asDown(p.Phases[i].Dark), nil, Besides(p.LB, p.Scheduled))
		if ring, _ := deadlock.Find(p.routing(ways)); ring != nil {
			return ring
		}
	}
	return nil
}

func asDown(links []int) map[int]bool {
	down := make(map[int]bool, len(links))
	for _, l := range links {
		down[l] = true
	}
	return down
}

// Moved returns the events of a change to another phase: circuits that become dark at a time, and circuits that
// light up when mirrors have moved.
func (p *Plan) Moved(to *Phase, dark map[int]bool, at, set unit.Time) (off, on []LinkEvent) {
	event := func(link int, at unit.Time, up bool) LinkEvent {
		s := AsBuilt(&p.Graph.Links[link])
		s.Up = up
		return LinkEvent{Link: link, At: at, LinkState: s, Toggles: true, Heard: true, By: circuitsOf + to.name}
	}
	for _, l := range to.Dark {
		if !dark[l] {
			off = append(off, event(l, at, false))
		}
	}
	for _, l := range to.Lit {
		if dark[l] {
			on = append(on, event(l, set, true))
		}
	}
	return off, on
}
