package diagnose

import (
	"cmp"
	"slices"
	"strings"

	"railyard/unit"
)

// deviceDown is a device, or one of its modules, whose links all went down between the same snapshots: it restarted,
// lost power or failed. A bad cable is one link, so that these are no faults of the cables.
var deviceDown = Cause{Name: "device-down", About: "all links of a device or of one of its modules went down together",
	find: findDevicesDown, state: true,
	By: []string{"link failures", "state of the port", "packets out of sequence", "ACK timeouts"}}

func findDevicesDown(f *Fabric, c *Cause) (out []Finding) {
	for _, o := range f.outages() {
		sure := Likely
		if !o.on.Seen && !o.on.Once {
			sure = Possible // it may have other links
		}
		x := c.on(o.on, -1, sure, "%s", o.says())
		if o.module != "" {
			x.Port = o.module + "/*"
		}
		for _, p := range o.links {
			x.showFall(p)
		}
		lossesOf(&x, f)
		x.Why = "all links of a device go down when it restarts, fails or loses power, all links of a module when that or a breakout cable does; a bad cable fails alone"
		x.Fix = "find out why it went down (reload reason, power, log) before replacing any cable or transceiver"
		x.next(o.links[0], askReload, "reason of the last restart")
		for _, q := range o.links[0].ends()[1:] {
			x.next(q, askLink, "last failure of the link: its time, compared with the restart's")
		}
		x.harm = 1
		out = append(out, x)
	}
	return out
}

// showFall adds that a link went down, or is down, by the other end's output or else by its own.
func (x *Finding) showFall(p *Port) {
	for _, q := range slices.Backward(p.ends()) {
		up, file, line, ok := said(q, upOf)
		if r := q.read(flaps); r.Two && r.Some() {
			x.show(r)
			return
		}
		if ok && !up {
			x.tell(q, file, line, "down")
			return
		}
	}
}

// outage is an element whose links all went down.
type outage struct {
	on     *Device
	module string  // the beginning of its ports' names; "": the whole device
	links  []*Port // its ports that went down
	times  uint64  // each of them at least so often; 0: all were down before
	still  int     // of links that are down
	rest   bool    // other links of it were down before
}

// outage reports whether a port's link went down with those of its device.
func (f *Fabric) outage(p *Port) bool {
	f.outages()
	return f.byOutage[p]
}

// says describes an outage.
func (o *outage) says() string {
	n := "all " + unit.Plural(len(o.links), "link") + " of " + o.on.Name
	if len(o.links) == 2 {
		n = "both links of " + o.on.Name
	}
	if o.module != "" {
		n += " " + o.module + "/*"
	}
	if o.rest {
		n += " that were up"
	}
	switch {
	case o.times == 0:
		return n + " are down"
	case o.still == len(o.links):
		return n + " went down " + times(o.times) + " and are down"
	case o.still > 0:
		return n + sprintf(" went down %s; %d are down", times(o.times), o.still)
	}
	return n + " went down " + times(o.times)
}

// ends returns a port and, if it is known, the other end of its link.
func (p *Port) ends() []*Port {
	if p.Peer == nil {
		return []*Port{p}
	}
	return []*Port{p, p.Peer}
}

// fell returns how often the link of a port went down between the snapshots, by the other end's counter or else by its
// own, which a restart clears, and whether it is down.
func (p *Port) fell() (n uint64, down bool) {
	wasUp := false
	for _, q := range slices.Backward(p.ends()) {
		if r := q.read(flaps); n == 0 && r.Two {
			n = r.Grew
		}
		up, _, _, ok := said(q, upOf)
		was, before := earlier(q, upOf)
		down, wasUp = down || ok && !up, wasUp || before && was
	}
	if down && wasUp {
		n = max(n, 1)
	}
	return n, down
}

// cabled reports whether a port has a link that outputs show and that is not shut down: a neighbor, or it is or was up.
// Ports of switches for management or without a cable of their own (VLANs, port channels) have none.
func (p *Port) cabled() bool {
	if p.On.Kind == Switch && !switchPort.MatchString(p.Name) {
		return false
	}
	shown := false
	for _, q := range p.ends() {
		if shown = shown || q.Seen() || len(q.before) > 0; q.Says != nil && q.Says.Down.V {
			return false
		}
	}
	up, _, _, _ := said(p, upOf)
	was, _ := earlier(p, upOf)
	return shown && (p.Peer != nil || up || was)
}

// outages returns the elements all of whose links went down between the snapshots or were down before, the largest
// first. At least two links went down as often as all did and belong to no larger element; if the device at their other
// ends, or a module of it, fits as well, the element is not known.
func (f *Fabric) outages() []outage {
	if f.fallen != nil {
		return f.fallen
	}
	var all []outage
	for _, d := range f.Devices {
		of := map[string][]*Port{}
		for _, p := range d.Ports {
			if p.cabled() {
				of[""] = append(of[""], p)
				if module, _, is := strings.Cut(p.Name, "/"); is {
					of[module] = append(of[module], p)
				}
			}
		}
		for module, ports := range of {
			if o := (outage{on: d, module: module}); o.all(ports) {
				all = append(all, o)
			}
		}
	}
	slices.SortFunc(all, func(a, b outage) int {
		return cmp.Or(cmp.Compare(len(b.links), len(a.links)), cmp.Compare(len(a.module), len(b.module)),
			cmp.Compare(a.on.Name, b.on.Name), cmp.Compare(a.module, b.module))
	})
	f.fallen, f.byOutage = []outage{}, map[*Port]bool{}
	for _, o := range all {
		var own []*Port
		for _, p := range o.links {
			if n, _ := p.fell(); n == o.times && !f.byOutage[p] {
				own = append(own, p)
			}
		}
		if len(own) < 2 || slices.ContainsFunc(all, func(far outage) bool { return far.ends(own) }) {
			continue
		}
		f.fallen = append(f.fallen, o)
		for _, p := range own {
			for _, q := range p.ends() {
				f.byOutage[q] = true
			}
		}
	}
	return f.fallen
}

// all takes the links of an outage, and reports whether each of them went down or was down before.
func (o *outage) all(ports []*Port) bool {
	var dead []*Port
	for _, p := range ports {
		n, down := p.fell()
		switch {
		case n > 0:
			if o.links = append(o.links, p); o.times == 0 || n < o.times {
				o.times = n
			}
		case down:
			dead = append(dead, p)
		default:
			return false
		}
		if n > 0 && down {
			o.still++
		}
	}
	if o.rest = len(o.links) > 0 && len(dead) > 0; len(o.links) == 0 {
		o.links = dead
	}
	return true
}

// ends reports whether the other ends of links are all of an outage's.
func (o *outage) ends(links []*Port) bool {
	return !slices.ContainsFunc(links, func(p *Port) bool {
		return p.Peer == nil || p.Peer.On != o.on || !slices.Contains(o.links, p.Peer)
	})
}
