package scenario

import (
	"fmt"

	"railyard/internal/field"
	"railyard/internal/topo"
	"railyard/unit"
)

// NewRate is the kind of event that changes the rate of links.
type NewRate struct {
	Rate      *unit.Rate `yaml:"rate" range:"1Mbps,100Tbps" doc:"its cables' rate from then on, at most their own; a frame on the wire finishes at the old one"`
	Share     *float64   `yaml:"rate_share" range:"0.0001,1" doc:"the same as a share of their own rate, above 0 and at most 1"`
	Direction string     `yaml:"direction" enum:"both,out,in" doc:"direction of a new rate: out: data that the named end sends (of a link its named port), in: data that it receives (default both)"`
}

func (k *NewRate) accept(p *resolver, key string, _ *Event, th *thing) error {
	if k.Rate != nil && k.Share != nil {
		return field.New(key+".rate_share", "is set, and rate too; accepted: one of them")
	}
	if k.Direction != "" && k.Direction != "both" {
		if k.Rate == nil && k.Share == nil {
			return field.New(key+".direction", "is that of a new rate, and there is none; accepted: direction with rate or rate_share (bit_error_rate, up and flap are of both directions)")
		}
		if p.Scheduled != nil {
			return field.New(key+".direction", "cables of a scheduled fabric have one rate in both directions")
		}
	}
	for i, l := range th.links {
		if cable := p.Graph.Links[l].Rate; k.Rate != nil && *k.Rate > cable {
			return field.New(key+".rate", "%v is above the %v of the cable at %s",
				*k.Rate, cable, p.Graph.End(l, th.near[i]))
		}
	}
	return nil
}

func (k *NewRate) alter(s *LinkState, l *topo.Link, near int) {
	rate := k.Rate
	if k.Share != nil {
		rate = new(max(1, unit.Rate(float64(l.Rate)**k.Share)))
	}
	if rate == nil {
		return
	}
	out, in := &s.Rate, &s.Back
	if near != l.A {
		out, in = in, out
	}
	if k.Direction != "in" {
		*out = *rate
	}
	if k.Direction != "out" {
		*in = *rate
	}
}

func (*NewRate) describe(g *topo.Graph, was, e *LinkEvent) string {
	if e.Rate == e.Back {
		if e.Rate == was.Rate && e.Back == was.Back {
			return ""
		}
		return e.Rate.Show()
	}
	l, s := &g.Links[e.Link], ""
	if e.Rate != was.Rate {
		s = fmt.Sprintf("%s from %s", e.Rate.Show(), g.End(e.Link, l.A))
	}
	if e.Back != was.Back {
		if s != "" {
			s += ", "
		}
		s += fmt.Sprintf("%s from %s", e.Back.Show(), g.End(e.Link, l.B))
	}
	return s
}

// BitErrors is the kind of event that changes the bit error rate of links.
type BitErrors struct {
	BER *float64 `yaml:"bit_error_rate" range:"0,0.01" doc:"its cables' bit error rate from then on; 0: none; 3e-8 loses 0.1 % of packets of 4 KiB on each cable of a path"`
}

func (*BitErrors) accept(*resolver, string, *Event, *thing) error { return nil }

func (k *BitErrors) alter(s *LinkState, _ *topo.Link, _ int) {
	if k.BER != nil {
		s.BER = *k.BER
	}
}

func (*BitErrors) describe(_ *topo.Graph, was, e *LinkEvent) string {
	if e.BER == was.BER {
		return ""
	}
	return fmt.Sprintf("bit error rate %g", e.BER)
}
