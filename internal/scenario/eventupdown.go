package scenario

import (
	"slices"

	"railyard/internal/field"
	"railyard/internal/topo"
	"railyard/unit"
)

// UpDown is the kind of event in which a component fails or recovers, with all of its links.
type UpDown struct {
	Up   *bool      `yaml:"up" doc:"false: it breaks, and its cables lose what is sent into them; true: it works again"`
	Boot *unit.Time `yaml:"boot" range:"1ns,3600s" doc:"a switch reboots: duration of the outage"`
	Flap *Flap      `yaml:"flap" doc:"it fails and recovers repeatedly"`
}

// Flap describes repeated failures of a component.
type Flap struct {
	Period unit.Time `yaml:"period" range:"2ns,3600s" doc:"from one time down to the next"`
	Duty   float64   `yaml:"duty" range:"0|0.001,99.999" doc:"per cent of each period in which it is down; 0: 50"`
	Count  int       `yaml:"count" range:"1,10000" doc:"how often"`
}

func (k *UpDown) accept(_ *resolver, key string, e *Event, th *thing) error {
	if len(asks(k, true)) > 1 {
		return field.New(key, "has several of up, flap and boot; accepted: one of them")
	}
	if k.Boot != nil && th.kind != "switch" && th.kind != "ocs" {
		return field.New(key+".boot", "only switches boot, not %s", th)
	}
	if th.kind == "pcie" && (k.Up == nil || *k.Up || len(e.Changes()) > 1) {
		return field.New(key, "a PCIe switch can only go down, for good (up: false): the processes of its GPUs do not restart in a run; for a smaller failure name a nic")
	}
	if th.kind == "server" && (k.Up == nil || *k.Up || len(e.Changes()) > 1) {
		return field.New(key, "a server can only go down, for good (up: false): its processes do not restart in a run; for a smaller failure name its nic")
	}
	if f := k.Flap; f != nil && float64(e.At)+float64(f.Period)*float64(f.Count) > float64(longestRun) {
		return field.New(key+".flap", "continues beyond %v", longestRun)
	}
	return nil
}

// expand returns the changes of an event: at its time, and at the recovery of the component.
func (k *UpDown) expand(c change) (all []change) {
	one := func(at unit.Time, up *bool) {
		m := c
		if m.at, m.up, m.later = at, up, len(all) > 0; m.later {
			m.kinds = nil
		}
		all = append(all, m)
	}
	switch {
	case k.Flap != nil:
		duty := k.Flap.Duty
		if duty == 0 {
			duty = 50
		}
		down := max(1, min(k.Flap.Period-1, unit.Time(float64(k.Flap.Period)*duty/100)))
		c.until, c.of = c.at+unit.Time(k.Flap.Count-1)*k.Flap.Period+down, "flaps"
		for i := range k.Flap.Count {
			at := c.at + unit.Time(i)*k.Flap.Period
			one(at, &no)
			one(at+down, &yes)
		}
	case k.Boot != nil:
		c.until, c.of = c.at+*k.Boot, "boots"
		one(c.at, &no)
		one(c.until, &yes)
	case c.what.kind == "server" || c.what.kind == "pcie":
		c.until, c.of = unit.Never, "is gone"
		one(c.at, k.Up)
	default:
		one(c.at, k.Up)
	}
	return all
}

func (*UpDown) describe(_ *topo.Graph, _, e *LinkEvent) string {
	switch {
	case e.Toggles && e.Up:
		return "up"
	case e.Toggles:
		return "down"
	}
	return ""
}

// incidents returns the failure of a server, or of the GPUs of a PCIe switch, whose links fail as well.
func (*UpDown) incidents(p *resolver, th *thing, at unit.Time) []Incident {
	host := slices.Index(p.Graph.Hosts, th.node)
	switch th.kind {
	case "server":
		first, last := p.Graph.GPUsOf(host)
		return []Incident{Death{Host: host, GPUs: [2]int{first, last}, At: at}}
	case "pcie":
		return []Incident{Death{Host: host, GPUs: th.gpus, At: at, Why: "its PCIe switch is down"}}
	}
	return nil
}

// Death is the end of all processes on a server, or on the GPUs of one of its PCIe switches.
type Death struct {
	Host int    // index in the graph
	GPUs [2]int // the first, and the end, exclusive
	At   unit.Time
	Why  string // "": its host is down
}

// Of reports whether a GPU's processes end.
func (d Death) Of(gpu int) bool { return gpu >= d.GPUs[0] && gpu < d.GPUs[1] }

// When returns the time of the death.
func (d Death) When() unit.Time { return d.At }

// Apply ends the processes.
func (d Death) Apply(w World) { w.Kill(d) }

// Describe leaves the description to the server's links.
func (d Death) Describe(*topo.Graph) (component, change string, faulty bool) { return "", "", true }
