package entropy

import (
	"fmt"
	"strings"

	"railyard/param"
)

// Policy describes a way to choose source ports. Each policy is defined in its own file; scenarios and the sockets find
// it by name.
type Policy struct {
	Name  string // in a scenario: lb
	Title string // in sentences
	// Params are keys of a scenario's lb_options, where a name means the same for all policies.
	Params   []param.Param
	Defaults param.Values
	// Check finds values that exclude each other. It returns the parameter at fault and the error, or two empty
	// strings; nil: all combinations are valid.
	Check func(v param.Values) (param, fault string)
	// Hears: the policy needs the marks of packets, so receivers report each mark.
	Hears bool
	// New returns a Make for senders that share the values. nil: ports are used in turn (Turn).
	New func(v param.Values) Make
}

// Make returns a sender's chooser among n ports; seed initializes its random numbers. Nil, which is no chooser: ports
// are used in turn.
type Make func(ports int, seed uint32) Chooser

// policies is the registry. A new policy is a file and a line here.
var policies = []*Policy{&inTurn, &oblivious, &bitmap, &reps, &mixed}

// Policies lists the policies; ports in turn is the first.
func Policies() []*Policy { return policies }

// Lookup returns a policy, nil when there is none of that name.
func Lookup(name string) *Policy {
	for _, p := range policies {
		if p.Name == name {
			return p
		}
	}
	return nil
}

// Parse reads a policy as a command line names it, after commas parameters with values:
// "reps", "bitmap,source_ports=64".
func Parse(text string) (*Policy, param.Values, error) {
	words := strings.Split(text, ",")
	p := Lookup(words[0])
	if p == nil {
		var names []string
		for _, q := range policies {
			names = append(names, q.Name)
		}
		return nil, nil, fmt.Errorf("unknown policy %q; accepted: %s", words[0],
			strings.Join(names, ", "))
	}
	v := param.Values{}
	for _, par := range p.Params {
		v[par.Name] = p.Defaults[par.Name]
	}
	for _, w := range words[1:] {
		key, value, _ := strings.Cut(w, "=")
		par := p.param(key)
		if par == nil {
			return nil, nil, fmt.Errorf("%s has no parameter %q; it has %s", p.Name, key, p.names())
		}
		x, err := par.Parse(value)
		if err != nil {
			return nil, nil, fmt.Errorf("%s of %s: %w", key, p.Name, err)
		}
		v[key] = x
	}
	if p.Check != nil {
		if key, fault := p.Check(v); fault != "" {
			return nil, nil, fmt.Errorf("%s of %s: %s", key, p.Name, fault)
		}
	}
	return p, v, nil
}

func (p *Policy) param(name string) *param.Param {
	for i := range p.Params {
		if p.Params[i].Name == name {
			return &p.Params[i]
		}
	}
	return nil
}

func (p *Policy) names() string {
	var names []string
	for _, par := range p.Params {
		names = append(names, par.Name)
	}
	return strings.Join(names, ", ")
}

// Ports returns the number of source ports of a queue pair.
func Ports(v param.Values) int { return param.Value[int](v, "source_ports") }

// sourcePorts describes the parameter that all policies have.
var sourcePorts = param.Param{Name: "source_ports", Doc: "UDP source ports of a queue pair",
	Kind: param.Count, Min: "1", Max: fmt.Sprint(Most)}

// ackEvery describes the parameter of policies that use marks.
var ackEvery = param.Param{Name: "ack_every", Kind: param.Count, Min: "1", Max: "65536", Zero: true,
	Doc: "every Nth packet requests an acknowledgement, which reports its outcome; 0: as set by the transport and congestion control"}

// several returns an error for one port where a policy chooses among several.
func several(v param.Values) (key, fault string) {
	if n := Ports(v); n < 2 {
		return "source_ports", fmt.Sprintf("%d is nothing to choose from, expected at least 2", n)
	}
	return "", ""
}

// inTurn is the default: ports in turn.
var inTurn = Policy{Name: "entropy", Title: "source ports varied by the NIC",
	Params: []param.Param{sourcePorts,
		{Name: "set_aside", Doc: "packets for which a source port is left out by which one was lost",
			Kind: param.Count, Min: "1", Max: "1000000", Zero: true}},
	Defaults: param.Values{"source_ports": 16, "set_aside": 0},
	New: func(v param.Values) Make {
		packets := param.Value[int](v, "set_aside")
		return func(ports int, _ uint32) Chooser {
			if a := NewAside(ports, packets); a != nil {
				return a
			}
			return nil
		}
	},
}

// dice are random numbers of one sender (splitmix64: Steele, Lea, Flood 2014). Its choices therefore depend only on
// its own packets.
type dice uint64

func (d *dice) below(n int) int {
	*d += 0x9e3779b97f4a7c15
	z := uint64(*d)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return int((z ^ z>>31) >> 33 * uint64(n) >> 31)
}
