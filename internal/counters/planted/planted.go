package planted

import (
	"fmt"
	"strings"

	"railyard/internal/counters"
	"railyard/internal/scenario"
	"railyard/internal/sim"
)

// Fault is a fabric with one injected fault. Cause is the name of the expected cause, "" for none; "incast" is
// congestion in a healthy fabric.
type Fault struct {
	Name    string
	Base    string // of Bases
	Changes string // YAML behind it
	Sets    []string
	Cause   string
	// Culprits are the acceptable findings, any of them: a device, or one of its ports in the scenario's names
	// (leaf-1:Eth3); for a cable both ends.
	Culprits []string
	Open     bool // whether the run may not end: queue pairs fail, or are blocked
}

// Seen is the outputs of a fabric's devices, and the culprits, with the devices' port names.
type Seen struct {
	Before, After []counters.Snapshot
	Culprits      []Culprit
	Run           *sim.Run
	fault         *Fault
	census        *sim.Census
}

// Culprit is a device, or one of its ports.
type Culprit struct{ Device, Port string }

// Scenario returns the complete scenario of a fault.
func (f *Fault) Scenario() string { return Bases[f.Base] + f.Changes }

// Simulate runs a fault; switches print like those of system.
func (f *Fault) Simulate(system string) (*Seen, error) {
	d, err := scenario.Parse(f.Name+".yaml", []byte(f.Scenario()), f.Sets)
	if err != nil {
		return nil, err
	}
	plan, err := d.Resolve(nil)
	if err != nil {
		return nil, err
	}
	run, err := sim.New(plan)
	if err != nil {
		return nil, err
	}
	census := run.Census()
	if err := run.Go(nil); err != nil && f.Cause != "storm" && !f.Open { // its victims are blocked without end
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	s := &Seen{Run: run, fault: f, census: census}
	return s.As(system)
}

// As is the same run with switches of another system.
func (s *Seen) As(system string) (*Seen, error) {
	o := &Seen{Run: s.Run, fault: s.fault, census: s.census}
	o.Before, o.After = s.census.Snapshots(system)
	for _, c := range s.fault.Culprits {
		device, _, port := strings.Cut(c, ":")
		if !port {
			o.Culprits = append(o.Culprits, Culprit{Device: device})
			continue
		}
		l, node, ok := s.Run.Graph.FindPort(c)
		if !ok {
			return nil, fmt.Errorf("%s: no port %s", s.fault.Name, c)
		}
		o.Culprits = append(o.Culprits, Culprit{device, sim.PortName(s.Run.Graph, system, l, node)})
	}
	return o, nil
}

// Sessions are the outputs of all devices, by name, before the run and after it.
func (s *Seen) Sessions(system string) (before, after map[string][]byte) {
	texts := func(all []counters.Snapshot) map[string][]byte {
		out := map[string][]byte{}
		for _, d := range all {
			prints := system
			if d.Kind == counters.Host {
				prints = "host"
			}
			out[d.Device] = counters.Show(prints, d)
		}
		return out
	}
	return texts(s.Before), texts(s.After)
}
