package scenario

import (
	"slices"

	"railyard/internal/field"
	"railyard/internal/topo"
	"railyard/unit"
)

// PauseStorm is the kind of event in which a NIC starts or stops sending PFC pauses continuously.
type PauseStorm struct {
	Storm *bool `yaml:"storm" doc:"a NIC: true: it pauses its switch continuously in the classes of data, until a watchdog ignores it; false: no more"`
}

func (k *PauseStorm) accept(p *resolver, key string, _ *Event, th *thing) error {
	switch {
	case k.Storm == nil:
		return nil
	case th.kind != "nic":
		return field.New(key+".storm", "only a NIC pauses continuously, not %s; name a nic", th)
	case p.Spec.LosslessMask() == 0:
		return field.New(key+".storm", "no class is lossless here: no queue pauses")
	}
	return nil
}

// incidents returns the storms of a NIC, or of all ports of a card, whose state changes.
func (k *PauseStorm) incidents(p *resolver, th *thing, at unit.Time) (all []Incident) {
	nics := th.ports
	if len(nics) == 0 {
		nics = []int{th.nic}
	}
	if p.storming == nil {
		p.storming = map[int]bool{}
	}
	for _, nic := range nics {
		if p.storming[nic] != *k.Storm {
			p.storming[nic] = *k.Storm
			all = append(all, Storm{NIC: nic, At: at, On: *k.Storm})
		}
	}
	return all
}

// Storm is the time at which a NIC starts or stops sending PFC pauses continuously.
type Storm struct {
	NIC int
	At  unit.Time
	On  bool
}

// Pauser is a World with PFC.
type Pauser interface{ Storm(nic int32, on bool) }

// When returns the time of the storm.
func (s Storm) When() unit.Time { return s.At }

// Apply starts or stops the pauses.
func (s Storm) Apply(w World) { w.(Pauser).Storm(int32(s.NIC), s.On) }

// Packets returns the effects that a run without packets lacks.
func (s Storm) Packets() string { return "a NIC that pauses its switch continuously" }

// Describe names the NIC.
func (s Storm) Describe(g *topo.Graph) (component, change string, faulty bool) {
	if component = "NIC " + g.NICName(s.NIC); s.On {
		return component, "sends PFC pauses continuously", true
	}
	return component, "stops sending PFC pauses", false
}

// Storms reports whether a NIC of a plan sends PFC pauses continuously at some time.
func (p *Plan) Storms() bool {
	return slices.ContainsFunc(p.Incidents, func(i Incident) bool { _, ok := i.(Storm); return ok })
}
