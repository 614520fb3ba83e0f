package diagnose

import (
	"slices"

	"railyard/internal/counters"
)

// miscabled is a cable that is connected to another port than planned: two crossed rails at a server, an uplink at the
// wrong spine. LLDP reports the actual cabling; the list of cables or the scenario is the plan. Traffic uses it all the
// same, over another rail or one more spine, and no error is counted.
var miscabled = Cause{Name: "miscabled", About: "a cable is connected to another port than planned", find: findMiscabled, state: true,
	By: []string{"LLDP neighbors"}}

// strayed is a port whose neighbour is not the planned one.
type strayed struct {
	at      *Port
	file    string
	line    int
	planned string
	by      string // source of the plan: the list of cables, or the scenario
}

// plan compares the neighbour that LLDP names with the planned one.
func (f *Fabric) plan(p *Port, d *Device, name, by string) {
	file, peer := p.saysPeer()
	if !peer.Is() || p.Peer == nil {
		return // the actual cabling is unknown
	}
	f.planned++
	q := d.find(name)
	if p.Peer.On == d && (q == nil || q == p.Peer || mac.MatchString(p.Peer.Name)) {
		return
	}
	planned := d.Name
	if name != "" {
		planned += " " + name
	}
	f.strayed = append(f.strayed, strayed{at: p, file: file, line: peer.Line, planned: planned, by: by})
}

// saysPeer returns the neighbour named in a port's own output, and the file.
func (p *Port) saysPeer() (file string, peer counters.Peer) {
	for _, x := range p.parts {
		if x.now.Peer.Is() {
			return x.file, x.now.Peer
		}
	}
	return "", counters.Peer{}
}

func findMiscabled(f *Fabric, c *Cause) (out []Finding) {
	if 2*len(f.strayed) > f.planned {
		if len(f.strayed) > 0 {
			f.note("%d of %d cables differ from the plan: the plan is outdated or of another fabric, so no miscabling is reported", len(f.strayed), f.planned)
		}
		return nil
	}
	told := map[*Port]bool{}
	for _, hosts := range []bool{true, false} { // a link that is reported at its server needs no other end
		for _, s := range f.strayed {
			p := s.at
			if (p.On.Kind == Host) != hosts || told[p] || told[p.Peer] ||
				!hosts && slices.ContainsFunc(out, func(x Finding) bool { return x.has(s.planned) }) {
				continue
			}
			told[p], told[p.Peer] = true, true
			x := c.at(p, -1, Proven, "%v is connected to %v; according to %s it should be %s", p, p.Peer, s.by, s.planned)
			x.tell(p, s.file, s.line, "LLDP: %v", p.Peer)
			x.Why = "routing still converges, so traffic takes another rail or spine than planned and collides with other traffic; no counter reports an error"
			x.Fix = "move the cable to the planned port, or correct the plan"
			x.next(p.Peer, askNeighbours, "neighbor of the port")
			x.harm = 1
			out = append(out, x)
		}
	}
	return out
}

// has reports that a finding is of a port, named in full.
func (x *Finding) has(port string) bool { return x.Device+" "+x.Port == port }
