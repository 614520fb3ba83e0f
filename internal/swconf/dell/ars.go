package dell

import (
	"strings"

	"railyard/internal/swconf"
	"railyard/internal/swconf/cli"
	"railyard/unit"
)

// ars is adaptive routing and switching. An object defines how flows move, binding a profile enables it, and ports
// participate with their own profile (dellemc.enterprise_sonic, sonic_ars).
type ars struct {
	bound swconf.Said[bool]
	mode  swconf.Said[string]
	idle  swconf.Said[unit.Time]
	ports []swconf.Said[string]
}

func (p *parser) arsRules(r *cli.Mode) {
	r.On("[no] ars object <name>", func(m *cli.Match) *cli.Mode {
		if m.No {
			p.ars.mode, p.ars.idle = swconf.Said[string]{}, swconf.Said[unit.Time]{}
			return nil
		}
		sub := cli.NewMode("ars-object")
		sub.Set("[no] mode <how:fixed|flowlet-quality|flowlet-random|packet-quality|packet-random>",
			func(m *cli.Match) {
				how, _, _ := strings.Cut(m.Word("how"), "-")
				swconf.Assign(p.c, m, &p.ars.mode, "how", strings.Replace(how, "packet", "per-packet", 1))
			})
		sub.Set("[no] idle-time <us:int>", func(m *cli.Match) {
			swconf.Assign(p.c, m, &p.ars.idle, "us", unit.Time(min(m.Int("us"), 1e9))*unit.Microsecond)
		})
		return sub.Skip(p.pass, "max-flows")
	})
	r.Set("[no] ars bind profile <name>", func(m *cli.Match) { swconf.Switch(p.c, m, &p.ars.bound, "bind", true) })
	r.Skip(p.pass, "ars <what:profile|port-profile>")
}

// balance returns the resulting load balancing: by flowlets by default.
func (p *parser) balance() {
	a := &p.ars
	if !a.bound.V {
		return
	}
	if !a.mode.Is() {
		a.mode.V = "flowlet"
	}
	p.c.DLB = &swconf.DLB{At: a.bound.At, Mode: a.mode, Aging: a.idle, Ports: a.ports}
}
