package scenario

import (
	"reflect"
	"slices"
	"strings"

	"railyard/internal/field"
)

// kinds is which keys of the fabric block count for each kind of fabric, besides cables and switches. Keys of several
// pods apply only with several.
var kinds = map[string]string{
	"single-rail": "hosts segments",
	"dual-rail":   "hosts segments",
	"rail-only":   "hosts segments",
	"rail":        "hosts segments spines uplinks pods " + ofPods,
	"pod":         "hosts segments spines uplinks pods " + ofPods,
	"fat-tree":    "k tiers pods leaves",
	"torus":       "k hosts uplinks",
	"cubes":       "k hosts cubes optics",
	"dragonfly":   "k groups group_size local_links global_links far_link",
	"graph":       "graph",
	"":            "types nodes cables regions", // no kind
}

const ofPods = "super_spines super_uplinks planes far_link"

// effective refuses keys that are set and have no effect: they are mistakes.
func (p *resolver) effective() error {
	f := &p.File.Fabric
	count, pods := strings.Fields(kinds[f.Kind]), strings.Fields(ofPods)
	if f.Pods <= 1 && f.Kind != "dragonfly" { // a dragonfly uses far_link, too
		count = slices.DeleteFunc(count, func(k string) bool { return slices.Contains(pods, k) })
	}
	def := Default()
	var faults field.List
	refuse := func(key, format string, args ...any) { faults = append(faults, field.New(key, format, args...)) }
	for _, key := range strings.Fields("hosts segments spines uplinks pods k tiers leaves groups group_size local_links global_links graph types nodes cables regions cubes optics " + ofPods) {
		at := field.Join("fabric", key)
		same := reflect.DeepEqual(member(reflect.ValueOf(f).Elem(), key).Interface(),
			member(reflect.ValueOf(&def.Fabric).Elem(), key).Interface())
		switch {
		case slices.Contains(count, key) || !p.says(at) && key != "far_link" || same:
		case f.Kind == "":
			refuse(at, "has no effect on a fabric of types, nodes and cables: set it there, or set fabric.kind")
		case slices.Contains(pods, key) && (f.Kind == "rail" || f.Kind == "pod"):
			refuse(at, "has no effect with one pod; fabric.pods sets their number")
		default:
			refuse(at, "has no effect on a %s fabric; what counts there: %s", f.Kind, strings.Join(count, ", "))
		}
	}
	return append(faults, p.ofServers()...).Err()
}

// takesZero reports whether a count may be 0: hosts and k may be where the kind of fabric ignores them, and hosts of a
// torus.
func (f *Fabric) takesZero(key string) bool {
	count, ok := strings.CutPrefix(key, "fabric.")
	return !ok || count != "hosts" && count != "k" || !slices.Contains(strings.Fields(kinds[f.Kind]), count) ||
		count == "hosts" && (f.Kind == "torus" || f.Kind == "cubes")
}

// ofServers refuses server shapes that the fabric decides.
func (p *resolver) ofServers() (faults field.List) {
	s := &p.File.Server
	one := p.File.Fabric.Kind == "fat-tree" // a dragonfly's servers have one GPU by default
	refuse := func(key, format string, args ...any) {
		faults = append(faults, field.New(key, "has no effect"+format, args...))
	}
	for _, x := range []struct {
		key string
		n   int
	}{{"server.gpus", s.GPUs}, {"server.nics", s.NICs}, {"server.nic_ports", s.NICPorts}} {
		switch kind := p.File.Fabric.Kind; {
		case !p.says(x.key):
		case kind == "":
			refuse(x.key, ": set in the types of servers (fabric.types)")
		case one && x.n != 1:
			refuse(x.key, " on a %s fabric, whose servers have one GPU and a NIC of one port", kind)
		}
	}
	return faults
}
