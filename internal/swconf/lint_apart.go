package swconf

// portsApart looks at NICs whose ports make no bundle: each has a VLAN of its own, and none is in a channel.
func (l *linter) portsApart() {
	if l.Graph == nil {
		return
	}
	type card struct{ host, index int }
	ports := map[int]*end{} // by cable: the switch's
	l.numbered(func(i int, a, b *end) {
		for _, e := range []*end{a, b} {
			if e.port != nil {
				ports[i] = e
			}
		}
	})
	first := map[card]*end{}
	for i := range l.Graph.NICs {
		n := &l.Graph.NICs[i]
		e := ports[n.Links[0]]
		if n.Port == 0 || e == nil {
			continue
		}
		if e.port.Channel.Is() {
			l.say(e.port.Channel.At, "an access port without a channel", "%s is in port channel %d, and %s has no bundle (server.bond apart)", e.port.Name, e.port.Channel.V, l.Graph.NICName(i))
		}
		at := card{n.Host, n.Index}
		switch o := first[at]; {
		case o == nil:
			first[at] = e
		case o.port.VLAN.Is() && e.port.VLAN.Is() && o.port.VLAN.V == e.port.VLAN.V:
			l.say(e.port.VLAN.At, "a VLAN and a subnet for each port", "%s and %s of %s are in VLAN %d, and lead to one NIC without a bundle, %s", e.port.Name, o.port.Name, o.c.Name(), e.port.VLAN.V,
				l.Graph.CardName(i))
		}
	}
}
