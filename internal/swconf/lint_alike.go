package swconf

import "fmt"

// alike compares the settings of a shared port channel that must be equal on both switches: each value set on both,
// and the access VLAN.
func alike(say func(at Place, fix, format string, args ...any), what string, c, o *Config, b, p *Port) {
	compare(func(name string, x, y Said[string]) {
		say(x.At, "one value on both switches", "%s has the %s %s on %s, and %s on %s", what, name, x.V, c.Name(), y.V,
			o.Name())
	}, append(b.Alike, vlan(b)...), append(p.Alike, vlan(p)...))
}

// vlan is the access VLAN of a port.
func vlan(p *Port) []Alike {
	if !p.VLAN.Is() {
		return nil
	}
	return []Alike{{"access VLAN", Say(fmt.Sprint(p.VLAN.V), p.VLAN.At)}}
}

// compare calls differs for each value that differs between two lists.
func compare(differs func(what string, x, y Said[string]), list, other []Alike) {
	for _, x := range list {
		for _, y := range other {
			if x.What == y.What && x.V != y.V {
				differs(x.What, x.Said, y.Said)
				break
			}
		}
	}
}

// switches compares the settings that must be equal on two switches with shared port channels.
func (l *linter) switches(c, o *Config) {
	compare(func(what string, x, y Said[string]) {
		l.sayOf(c)(x.At, "one value on both switches", "%s is %s on %s, and %s on %s", what, x.V, c.Name(), y.V, o.Name())
	}, c.Alike, o.Alike)
}

// evpnPair compares the switches with a common Ethernet segment (RFC 7432, sections 5 and 8.3: all of a segment's
// switches use one redundancy mode).
func (l *linter) evpnPair() {
	type end struct {
		c *Config
		p *Port
	}
	ends := map[string][]end{}
	met := map[[2]*Config]bool{}
	for _, c := range l.Configs {
		for _, b := range append(c.Bundles[:len(c.Bundles):len(c.Bundles)], c.Ports...) {
			if !b.ESI.Is() {
				continue
			}
			for _, e := range ends[b.ESI.V] {
				if e.c == c {
					continue
				}
				alike(l.sayOf(e.c), "Ethernet segment "+b.ESI.V, e.c, c, e.p, b)
				if pair := [2]*Config{e.c, c}; !met[pair] {
					met[pair] = true
					l.switches(e.c, c)
				}
			}
			ends[b.ESI.V] = append(ends[b.ESI.V], end{c, b})
		}
	}
}
