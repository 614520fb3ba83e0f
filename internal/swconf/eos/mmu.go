package eos

import (
	"strconv"

	"railyard/internal/queue"
	"railyard/internal/swconf"
	"railyard/internal/swconf/cli"
	"railyard/unit"
)

// mmu is a buffer profile: its settings of queues and their priority groups, and those for all of these (Habana's and
// Arista's published texts; AVD's templates have both).
type mmu struct {
	queues   [queue.Classes]swconf.Queue
	headroom swconf.Said[unit.Bytes]
	alpha    swconf.Said[float64]
}

// cell is the allocation unit of memory on the chips of 7060X4 to 7060X6 (Tomahawk 3 to 5).
const cell = 254

// give fills in a profile's settings of a queue of a port.
func (x *mmu) give(k *swconf.Queue, i int) {
	k.PG, k.Limit, k.Alpha = x.queues[i].PG, x.queues[i].Limit, x.queues[i].Alpha
	if !x.headroom.Is() && !x.alpha.Is() || !k.Pause.Is() {
		return
	}
	at := x.headroom.At
	if x.alpha.Is() {
		at = x.alpha.At
	}
	if !k.PG.Is() {
		k.PG = swconf.Say(swconf.Pause{Alpha: x.alpha.V}, at)
	}
	if k.PG.V.Headroom == 0 {
		k.PG.V.Headroom, k.PG.V.HeadAt = x.headroom.V, x.headroom.At
	}
}

// ofPort reads which profile an interface has (public templates for 7060DX5 and 7060X6).
func (p *parser) ofPort(r *cli.Mode) {
	r.Set("[no] platform trident mmu queue interface-profile <name>", func(m *cli.Match) {
		for _, port := range opened(m) {
			own := p.mmuOwn[port]
			swconf.Assign(p.c, m, &own, "name", m.Word("name"))
			p.mmuOwn[port] = own
		}
		p.c.Refer(m, "mmu profile", "name")
	})
}

// profileOf returns a port's buffer profile, nil if it has none.
func (p *parser) profileOf(port *swconf.Port) *mmu {
	if own := p.mmuOwn[port]; own.Is() && p.mmu[own.V] != nil {
		return p.mmu[own.V]
	}
	return p.mmu[p.mmuApply]
}

// mmuRules read buffer profiles: headroom, thresholds of priority groups and queues; and the default profile of the
// switch's ports.
func (p *parser) mmuRules(r *cli.Mode) {
	r.On("[no] platform trident mmu queue profile <name>", func(m *cli.Match) *cli.Mode {
		if m.No {
			delete(p.mmu, m.Word("name"))
			p.c.Undefine("mmu profile", m.Word("name"))
			return nil
		}
		shared := p.mmu[m.Word("name")]
		if shared == nil { // a repeated command continues its block
			shared = &mmu{}
			p.mmu[m.Word("name")] = shared
		}
		q := &shared.queues
		p.define(m, "mmu profile")
		sub := cli.NewMode("mmu")
		sub.Set("[no] ingress headroom [ <unit:bytes|cells> ] <h:int>", func(m *cli.Match) {
			h := unit.Bytes(m.Int("h"))
			if m.Word("unit") == "cells" {
				h *= cell
			}
			swconf.Assign(p.c, m, &shared.headroom, "h", h)
		})
		sub.Set("[no] ingress threshold <alpha>", func(m *cli.Match) {
			a, ok := fraction(m.Word("alpha"))
			if !ok && !m.No {
				p.bad(m, "alpha", "a share such as 1/8 or 2")
				return
			}
			swconf.Assign(p.c, m, &shared.alpha, "alpha", a)
		})
		sub.Set("[no] ingress <what:reserved|resume> <more...>", p.unsimulated)
		sub.Set("[no] egress unicast queue <n:int> <what:reserved|drop-precedence> <more...>", p.unsimulated)
		sub.Skip(p.pass, "egress multicast")
		sub.Set("[no] ingress priority-group <n:int> reserved <more...>", p.unsimulated)
		sub.Set("[no] ingress priority-group <n:int> headroom <h:int> bytes threshold <xoff:int> bytes resume <xon:int> bytes", func(m *cli.Match) {
			if m.Int("n") > 7 {
				p.bad(m, "n", "a priority group from 0 to 7")
				return
			}
			swconf.Assign(p.c, m, &q[m.Int("n")].PG, "ingress", swconf.Pause{XOff: unit.Bytes(m.Int("xoff")),
				XOn: unit.Bytes(m.Int("xon")), Headroom: unit.Bytes(m.Int("h"))})
		})
		sub.Set("[no] ingress priority-group <n:int> [ headroom <h:int> bytes ] threshold <alpha>",
			func(m *cli.Match) {
				if m.Int("n") > 7 {
					p.bad(m, "n", "a priority group from 0 to 7")
					return
				}
				a, ok := fraction(m.Word("alpha"))
				if !ok && !m.No {
					p.bad(m, "alpha", "a share such as 1/8 or 2")
					return
				}
				swconf.Assign(p.c, m, &q[m.Int("n")].PG, "ingress",
					swconf.Pause{Alpha: a, Headroom: unit.Bytes(m.Int("h"))})
			})
		sub.Set("[no] egress unicast queue <n:int> threshold <alpha> [ bytes ]", func(m *cli.Match) {
			if m.Int("n") > 7 {
				p.bad(m, "n", "a queue from 0 to 7")
				return
			}
			to := &q[m.Int("n")]
			if m.No {
				to.Limit, to.Alpha = swconf.Said[unit.Bytes]{}, swconf.Said[float64]{}
				return
			}
			if m.Has("bytes") {
				n, err := strconv.ParseInt(m.Word("alpha"), 10, 48)
				if err != nil {
					p.bad(m, "alpha", "a number of bytes")
					return
				}
				to.Limit = swconf.SaidAt(p.c, m, "alpha", unit.Bytes(n))
			} else if a, ok := fraction(m.Word("alpha")); ok {
				to.Alpha = swconf.SaidAt(p.c, m, "alpha", a)
			} else {
				p.bad(m, "alpha", "a share such as 1/8 or 2")
			}
		})
		return sub
	})
	r.Set("[no] platform trident mmu headroom-pool limit <more...>", p.unsimulated)
	r.Set("[no] platform trident mmu queue profile <name> apply", func(m *cli.Match) {
		if p.mmuApply = m.Word("name"); m.No {
			p.mmuApply = ""
		}
		p.c.Refer(m, "mmu profile", "name")
	})
}
