package scenario

import (
	"slices"
	"strings"

	"railyard/internal/field"
)

// optic finds an OCS that an event names, or one of its circuits.
func (p *resolver) optic(key string, e *Event) (*thing, error) {
	var names []string
	for _, o := range p.ocs {
		if o.Name == e.OCS {
			return p.mirror(key, e, o)
		}
		names = append(names, o.Name)
	}
	if names == nil {
		return nil, field.New(key+".ocs", "the fabric has no optical circuit switch")
	}
	if len(names) > 3 {
		names = append(names[:3], "...")
	}
	return nil, field.New(key+".ocs", "unknown OCS %q; names are like %s", e.OCS,
		strings.Join(names, ", "))
}

// mirror resolves to all of an OCS, or to the named circuit.
func (p *resolver) mirror(key string, e *Event, o *optics) (*thing, error) {
	th := &thing{kind: "ocs", name: o.Name, node: -1, nic: -1}
	if e.Circuit == "" {
		for _, c := range o.ever {
			th.links, th.near = append(th.links, c.link), append(th.near, p.Graph.Links[c.link].A)
		}
		return th, nil
	}
	pair, err := ports(key+".circuit", e.Circuit)
	if err != nil {
		return nil, err
	}
	i, ok := o.place[pair]
	if !ok {
		var some []string
		for _, c := range o.ever[:min(3, len(o.ever))] {
			some = append(some, c.String())
		}
		return nil, field.New(key+".circuit", "no map of %s connects %d-%d; its circuits are like %s", o.Name,
			pair[0], pair[1], strings.Join(some, ", "))
	}
	th = p.circuit(o, i)
	th.kind = "mirrors" // failures and map changes are independent: either keeps it down
	return th, nil
}

// StuckMirrors is the kind of event in which a circuit of an OCS does not move any more.
type StuckMirrors struct {
	Stuck *bool `yaml:"stuck" doc:"a circuit: true: its mirrors no longer move, whatever later maps contain"`
}

func (*StuckMirrors) accept(*resolver, string, *Event, *thing) error { return nil }

// resolve notes that the mirrors of a connected circuit are stuck.
func (k *StuckMirrors) resolve(p *resolver, key string, e *Event) error {
	if e.OCS == "" || e.Circuit == "" {
		return field.New(key+".stuck", "is about a circuit of an OCS: name both")
	}
	if len(e.Changes()) > 1 || !*k.Stuck {
		return field.New(key+".stuck", "takes true, and nothing else in its event: mirrors stay as they are until the end")
	}
	if _, err := p.optic(key, e); err != nil {
		return err
	}
	o := p.ocs[slices.IndexFunc(p.ocs, func(o *optics) bool { return o.Name == e.OCS })]
	if len(o.Phases) > 0 {
		return field.New(key+".stuck", "%s moves by phases of the job, in which mirrors do not get stuck",
			o.Name)
	}
	pair, _ := ports(key+".circuit", e.Circuit)
	on := o.lit(o.maps[0].pairs)
	for _, m := range o.maps[1:] {
		if m.at < e.At {
			on = o.held(m, on)
		}
	}
	if !on[o.place[pair]] {
		return field.New(key+".circuit", "%s does not connect %s at %v: mirrors without a circuit are not stuck",
			o.Name, e.Circuit, e.At)
	}
	o.stuck = append(o.stuck, jam{e.At, pair, key})
	p.note("%s: mirrors of circuit %d-%d do not move from %v on", o.Name, pair[0], pair[1], e.At)
	return nil
}
