package eos

import (
	"fmt"

	"railyard/internal/queue"
	"railyard/internal/swconf/design"
	"railyard/unit"
)

// fabric is the profile of the ports that name none.
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

// profileOf is a port's buffer profile: by its headroom where that is not most ports'.
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
	for i := range spec.Queues {
		k := &spec.Queues[i]
		switch {
		case k.Lossless && k.XOff > 0:
			w.Line(1, "ingress priority-group %d headroom %d bytes threshold %d bytes resume %d bytes", i,
				headroom[i], k.XOff, k.Resume(k.XOff, spec.MTU))
		case k.Lossless && headroom[i] > 0:
			w.Line(1, "ingress priority-group %d headroom %d bytes threshold %s", i, headroom[i],
				share(k.Alpha))
		case k.Lossless:
			w.Line(1, "ingress priority-group %d threshold %s", i, share(k.Alpha))
		case k.Limit > 0:
			w.Line(1, "egress unicast queue %d threshold %d bytes", i, k.Limit)
		default:
			w.Line(1, "egress unicast queue %d threshold %s", i, share(k.Alpha))
		}
	}
}
