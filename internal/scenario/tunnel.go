package scenario

import (
	"strconv"
	"strings"

	"railyard/cc"
	"railyard/internal/field"
	"railyard/internal/queue"
	"railyard/rc"
	"railyard/roce"
	"railyard/unit"
)

// Tunnel carries the packets of NICs between their edges (transport.tunnel).
type Tunnel struct {
	CC     *cc.Algorithm
	Values cc.Values
	RC     rc.Config // RC parameters of the queue pairs between edges; the MTU holds a packet from its IP header on
}

// Words describes it, for a report's head.
func (t *Tunnel) Words() string {
	return "packets of NICs carried unchanged by " + t.CC.Title + " between edges"
}

// edged sets the switch defaults for a tunnel, as with transport: eqds. The data queue holds one bandwidth-delay
// product, trims and is lossy, and packets use all paths.
func (p *resolver) edged() error {
	t := p.File.Transport.Tunnel
	if t == nil || *t == "none" {
		return nil
	}
	s := presetOf(*t)
	own := preset{lb: s.lb, trims: true, ownQueues: true}
	keys, values := own.sets(&p.File, p.File.dataQueue())
	var all []string
	for i, key := range keys {
		if key == "lb" || strings.HasPrefix(key, "switch.") {
			if p.says(key) {
				continue
			}
			if err := p.put(key, values[i]); err != nil {
				return err
			}
			all = append(all, key+" "+values[i])
		}
	}
	q := p.File.dataQueue()
	if key := "switch.queues." + strconv.Itoa(q) + ".limit"; !p.says(key) {
		at, product := &p.File.Switch.Queues[q], p.product()
		at.Limit, at.WRED = product, queue.WRED{}
		all = append(all, key+" "+product.String()+" without marks")
	}
	p.note("transport.tunnel %s sets %s", *t, strings.Join(all, ", "))
	return nil
}

// tunnel resolves transport.tunnel.
func (p *resolver) tunnel() error {
	const key = "transport.tunnel"
	t := &p.File.Transport
	if t.Tunnel == nil || *t.Tunnel == "none" {
		return nil
	}
	s := p.Default()
	switch q := p.Spec.DSCP[s.DSCP]; {
	case s.Carried != nil && !s.Carried.Lossy:
		return field.New(key, "%s chooses paths and recovers packets itself; accepted: none, or a transport.kind of roce or tcp", s.Carried.Title)
	case s.CC.Credit != nil:
		return field.New(key, "%s carries transports without credit, and cc.algorithm %s takes credit itself; accepted: none, or another cc.algorithm, as dcqcn", *t.Tunnel, s.CC.Name)
	case p.Scheduled != nil:
		return field.New(key, "a scheduled fabric (fabric.scheduled) has credit of its own; accepted: none")
	case len(p.Events) > 0:
		return field.New(key, "edges follow no failures yet, and the scenario has events; accepted: none, or no events and failures")
	case s.CC.Telemetry != nil && s.CC.Reports(s.Values) != cc.NoReport:
		return field.New(key, "%s needs telemetry of switches, which write none into packets of a tunnel; accepted: none, or another cc.algorithm", s.CC.Name)
	case !p.Spec.Queues[q].Trim:
		return field.New(key, "queue %d of data (DSCP %d) does not trim; accepted: switch.queues.%d.trim true, or the key left out", q, s.DSCP, q)
	}
	a := cc.Lookup(*t.Tunnel)
	size := (t.MTU + int(p.headers()) - roce.EthernetLen - roce.FCSLen + 3) &^ 3
	p.Tunnel = &Tunnel{CC: a, Values: a.Profile("").Values(p.Line(0)),
		RC: rc.Config{MTU: size, AlwaysReady: true, WriteOnly: true, AckEvery: t.AckEvery,
			Recovery: rc.Selective, Timeout: rc.LocalAckTimeout(t.Timeout), Retries: t.Retries, Window: t.Window,
			NakAfter: t.NakAfter}}
	if all := unit.Bytes(size) + p.headers(); all > p.smallestMTU() {
		return field.New(key, "packets of %d bytes with up to %d of headers of the tunnel do not fit the switches' mtu of %v", size, p.headers(), p.smallestMTU())
	}
	return nil
}

// tunnels reports whether the file has edges between NICs and fabric.
func (d *Document) tunnels() bool {
	return d != nil && d.File.Transport.Tunnel != nil && *d.File.Transport.Tunnel != "none"
}
