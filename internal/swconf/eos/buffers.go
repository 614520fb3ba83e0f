package eos

import (
	"fmt"
	"slices"

	"railyard/internal/queue"
	"railyard/internal/swconf"
	"railyard/internal/swconf/design"
	"railyard/unit"
)

// fabric is the profile of the ports without one.
const fabric = "FABRIC"

// buffers writes the buffer profile of most ports, and one for each other headroom that ports need.
func (w *writer) buffers() {
	w.bufferProfile(fabric, w.S.Most())
	seen := map[string]bool{fabric: true}
	for _, p := range w.S.Ports {
		if name := w.profileOf(p); !seen[name] {
			seen[name] = true
			w.bufferProfile(name, p.Headroom)
		}
	}
}

// profileOf returns a port's buffer profile, by its headroom if that differs from most ports'.
func (w *writer) profileOf(p *design.Port) string {
	name, most := fabric, w.S.Most()
	for i, h := range p.Headroom {
		if h != most[i] && w.S.Spec.Queues[i].Lossless {
			name += fmt.Sprintf("-%d-%d", i, h)
		}
	}
	return name
}

func (w *writer) bufferProfile(name string, headroom [queue.Classes]unit.Bytes) {
	spec := &w.S.Spec
	w.Line(0, "platform trident mmu queue profile %s", name)
	var most unit.Bytes // one limit for all priority groups
	for i := range spec.Queues {
		if spec.Queues[i].Lossless {
			most = max(most, headroom[i])
		}
	}
	if most > 0 {
		w.Line(1, "ingress headroom bytes %d", most)
	}
	for i := range spec.Queues {
		if k := &spec.Queues[i]; k.Lossless {
			w.Line(1, "ingress priority-group %d threshold %s", i, share(k.Alpha))
		}
	}
	for i := range spec.Queues {
		if k := &spec.Queues[i]; !k.Lossless {
			w.Line(1, "egress unicast queue %d threshold %s", i, share(k.Alpha))
		}
	}
}

// shares are EOS's shares of the free buffer for a queue or a priority group (aristanetworks/avd, schema of
// platform.trident.mmu).
var shares = []float64{1. / 128, 1. / 64, 1. / 32, 1. / 16, 1. / 8, 1. / 4, 1. / 2, 1, 2, 4, 8}

// fitBuffers rounds the buffers of a switch to EOS's values: shares of the free buffer, and one headroom for all
// priority groups. An xOFF in bytes becomes the smallest share with which a single priority group holds as much.
// The switch's Spec is changed accordingly.
func fitBuffers(s *design.Switch) (notes []string, err error) {
	for i := range s.Spec.Queues {
		k := &s.Spec.Queues[i]
		switch {
		case k.Lossless && k.XOff > 0:
			xoff := k.XOff
			k.Alpha = shares[len(shares)-1]
			for _, a := range shares {
				if a/(1+a)*float64(s.Spec.Buffer) >= float64(xoff) {
					k.Alpha = a
					break
				}
			}
			k.XOff, k.XOn, k.XOnOffset = 0, 0, 0
			notes = append(notes, fmt.Sprintf("queue %d: EOS pauses at a share of the free buffer and resumes automatically; %s of %v lets one priority group alone hold %v or more, as configured", i, share(k.Alpha), s.Spec.Buffer, xoff))
		case k.Lossless && (k.XOn > 0 || k.XOnOffset > 0):
			return nil, design.Refuse(swconf.EOS, s,
				"queue %d: xON %v and offset %v below a dynamic threshold; none is accepted (switch.queues.%d.xon=0B)", i, k.XOn, k.XOnOffset, i)
		case !k.Lossless && k.Limit > 0:
			return nil, design.Refuse(swconf.EOS, s, "queue %d: a limit of %v; shares of the free buffer are accepted (switch.queues.%d.limit=0B, alpha 1/128 to 8)", i, k.Limit, i)
		}
		if !slices.Contains(shares, k.Alpha) {
			return nil, design.Refuse(swconf.EOS, s, "queue %d: alpha %g; 1/128, 1/64 and so on to 8 are accepted (switch.queues.%d.alpha)", i, k.Alpha, i)
		}
	}
	oneHeadroom(s)
	return notes, nil
}

// oneHeadroom gives all lossless queues of a port the maximum that one of them needs, because EOS has one value for
// all.
func oneHeadroom(s *design.Switch) {
	var spec unit.Bytes
	for i := range s.Spec.Queues {
		if k := &s.Spec.Queues[i]; k.Lossless {
			spec = max(spec, k.Headroom)
		}
	}
	for i := range s.Spec.Queues {
		if k := &s.Spec.Queues[i]; k.Lossless {
			k.Headroom = spec
		}
	}
	for _, p := range s.Ports {
		var most unit.Bytes
		for i := range s.Spec.Queues {
			if s.Spec.Queues[i].Lossless {
				most = max(most, p.Headroom[i])
			}
		}
		for i := range s.Spec.Queues {
			if s.Spec.Queues[i].Lossless {
				p.Headroom[i] = most
			}
		}
	}
}
