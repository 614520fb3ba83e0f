package scenario

import (
	"reflect"
	"slices"
	"strings"

	"railyard/internal/field"
	"railyard/internal/topo"
	"railyard/unit"
)

// eventKind is a kind of event: a block of keys of Event. Its pointers are nil unless the event is of this kind. A kind
// is one or several of the interfaces below as well.
type eventKind interface {
	// accept refuses invalid values in a component's event, also of other kinds.
	accept(p *resolver, key string, e *Event, th *thing) error
}

// linkKind is a kind of event that changes links.
type linkKind interface {
	eventKind
	// alter changes the state of a link of the event's component. near is the node of the end that the event names.
	alter(s *LinkState, l *topo.Link, near int)
}

// describedKind is a kind of event whose changes of links reports describe.
type describedKind interface {
	eventKind
	// describe returns the change of an event: "50Gbps from leaf-1:Eth3"; "" for none.
	describe(g *topo.Graph, was, e *LinkEvent) string
}

// incidentKind is a kind of event with targets other than links.
type incidentKind interface {
	eventKind
	incidents(p *resolver, th *thing, at unit.Time) []Incident
}

// asideKind is a kind of event that changes no component at its time and is resolved separately.
type asideKind interface {
	eventKind
	resolve(p *resolver, key string, e *Event) error
}

// Incident is an event of a plan that is not a change of a link. Its type is in the file of its kind.
type Incident interface {
	When() unit.Time
	// Apply makes it happen in a run.
	Apply(w World)
	// Describe returns the component, what changes, and whether the component is faulty from then on. The component is
	// empty where changes of its links describe the event.
	Describe(g *topo.Graph) (component, change string, faulty bool)
}

// World is a run, as incidents see it. A capability of only some fidelities is an interface of its own (Pauser).
type World interface {
	Kill(d Death)
}

// asks returns the keys of an event of a kind.
func asks(k eventKind, given bool) (all []string) {
	v := reflect.ValueOf(k).Elem()
	for _, f := range keys(v.Type()) {
		if f.Type.Kind() == reflect.Pointer && (!given || !at(v, f).IsNil()) {
			all = append(all, name(f))
		}
	}
	return all
}

// Changes returns the keys of an event that define a change.
func (e *Event) Changes() (all []string) {
	for _, k := range e.kinds() {
		all = append(all, asks(k, true)...)
	}
	return all
}

// accepts refuses changes that a component cannot have.
func (p *resolver) accepts(key string, e *Event, th *thing) error {
	if len(e.Changes()) == 0 {
		var all []string
		for _, k := range e.kinds() {
			all = append(all, asks(k, false)...)
		}
		return field.New(key, "changes nothing; accepted: %s, one or more", strings.Join(all, ", "))
	}
	if th.kind == "nvswitch" {
		if err := onChip(key, e); err != nil {
			return err
		}
	}
	for _, k := range e.kinds() {
		if err := k.accept(p, key, e, th); err != nil {
			return err
		}
	}
	return nil
}

// Describe returns what an event changes: "down", "up, 50Gbps", "bit error rate 1e-09".
func (e *LinkEvent) Describe(g *topo.Graph, was *LinkEvent) string {
	var parts []string
	for _, k := range new(Event).kinds() {
		if k, ok := k.(describedKind); ok {
			parts = append(parts, k.describe(g, was, e))
		}
	}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ", ")
}
