package scenario

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"railyard/internal/queue"
	"railyard/internal/topo"
	"railyard/unit"
)

// Computed returns the values that a run computes: the delay of a link from its length, a port's response to a
// pause from its speed, its headroom from both, and the time of a timeout's exponent. If links differ, all values
// are listed.
func (p *Plan) Computed() map[string]string {
	said := map[string]map[string]bool{}
	type port struct {
		kind  string
		rate  unit.Rate
		delay unit.Time
		a, b  *queue.Spec
		own   [2]PortHeadroom
	}
	seen := map[port]bool{}
	say := func(key string, value unit.Time) { put(said, key, value.String()) }
	for i := range p.Graph.Links {
		l := &p.Graph.Links[i]
		kind := "fabric_link"
		if p.Graph.Nodes[l.A].Role == topo.Host || p.Graph.Nodes[l.B].Role == topo.Host {
			kind = "host_link"
		}
		alike := port{kind, l.Rate, l.Propagation(), p.specs[l.A], p.specs[l.B],
			[2]PortHeadroom{p.Headroom[topo.LinkEnd{Link: i, Node: l.A}],
				p.Headroom[topo.LinkEnd{Link: i, Node: l.B}]}}
		if seen[alike] {
			continue // there are many links and few kinds of them
		}
		seen[alike] = true
		response := p.Switching.Response
		if response == 0 {
			response = queue.Response(l.Rate)
		}
		say("computed."+kind+".delay", l.Propagation())
		say("computed."+kind+".pause_response", response)
		for _, n := range []int{l.A, l.B} {
			if p.Graph.Nodes[n].Role == topo.Host {
				continue
			}
			for c := range queue.Classes {
				if h := p.reserve(i, n, c); h > 0 {
					put(said, fmt.Sprintf("computed.%s.headroom.%d", kind, c), h.String())
				}
			}
		}
	}
	say("computed.transport.timeout", p.RC.Timeout)
	for key, value := range p.ScheduledFigures() {
		put(said, "computed.scheduled."+key, value)
	}
	out := map[string]string{}
	for key, values := range said {
		out[key] = strings.Join(slices.Sorted(maps.Keys(values)), ", ")
	}
	return out
}

func put(m map[string]map[string]bool, key, value string) {
	if m[key] == nil {
		m[key] = map[string]bool{}
	}
	m[key][value] = true
}

// Resolved returns every value of a run by dotted key: the file's, in its order, then the computed ones.
func (p *Plan) Resolved() (keys []string, values map[string]string) {
	keys, values = p.doc.File.Values()
	computed := p.Computed()
	maps.Copy(values, computed)
	return append(keys, slices.Sorted(maps.Keys(computed))...), values
}

// Effective returns Resolved for readers. A value whose 0 stands for a computed one is replaced by that, for every
// kind of link.
func (p *Plan) Effective() (keys []string, values map[string]string) {
	keys, values = p.Resolved()
	kinds := []string{"host_link", "fabric_link"}
	replace := func(key, under string, of ...string) {
		var found []string
		for _, kind := range of {
			for value := range strings.SplitSeq(values["computed."+kind+"."+under], ", ") {
				if value != "" && !slices.Contains(found, value) {
					found = append(found, value)
				}
			}
		}
		if v := values[key]; (v == "0ps" || v == "0B") && found != nil {
			values[key] = strings.Join(found, ", ") + " (computed)"
		}
	}
	for _, kind := range kinds {
		replace("fabric."+kind+".delay", "delay", kind)
	}
	replace("fabric.pause_response", "pause_response", kinds...)
	for c := range queue.Classes {
		replace(fmt.Sprintf("switch.queues.%d.headroom", c), fmt.Sprintf("headroom.%d", c), kinds...)
	}
	return keys, values
}
