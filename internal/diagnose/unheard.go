package diagnose

import (
	"regexp"
	"slices"
)

// switchPort are names that switches give their ports; interfaces of servers are eth0, ens1f0np0 or have a
// MAC address for a name.
var switchPort = regexp.MustCompile(`^(Ethernet|Eth|Et|et-|swp)[0-9]`)

// unheard tells switches of which there are no outputs by their cables: who has a host at the other end, or
// a switch's name for the port, is no NIC. Pauses that come from there are passed on, and not its own.
func (f *Fabric) unheard() {
	f.ports(func(p *Port) {
		if q := p.Peer; q != nil && q.On.Kind == Unknown && (p.On.Kind == Host || switchPort.MatchString(q.Name)) {
			q.On.Kind = Switch
		}
	})
}

// missing names such switches where pauses come from them: what begins there, or behind them, only their
// own outputs tell.
func (f *Fabric) missing() {
	var names []string
	for i := range f.Chains {
		if d := f.Chains[i].Root; d.Kind == Switch && !d.Seen && !slices.Contains(names, d.Name) {
			names = append(names, d.Name)
		}
	}
	if len(names) > 0 {
		f.note("pauses come from %s, of which there are no outputs: what begins there, or behind it, cannot be told without them", some(names))
	}
}
