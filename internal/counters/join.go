package counters

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Join merges the outputs of several commands on one device, devices in order of appearance. If two outputs have
// the same value, the later one wins. Different counters belong to two times, which a note states. RDMA devices
// whose interface is known are that interface.
func Join(all []Snapshot) ([]Snapshot, []Note) {
	var out []Snapshot
	var notes []Note
	at := map[string]int{}
	byName := []map[string]int{}
	for i := range all {
		s := &all[i]
		k, ok := at[s.Device]
		if !ok {
			k = len(out)
			at[s.Device] = k
			out = append(out, Snapshot{Device: s.Device, Kind: s.Kind, File: s.File, Line: s.Line})
			byName = append(byName, map[string]int{})
		}
		notes = append(notes, out[k].add(s, byName[k])...)
	}
	for i := range out {
		out[i].mergeRDMA()
	}
	return out, notes
}

// add adds the values of another output of the same device.
func (s *Snapshot) add(o *Snapshot, byName map[string]int) (notes []Note) {
	if o.At.Is {
		s.At = o.At
	}
	if o.Kind == Host {
		s.Kind = Host
	}
	if !slices.Contains(strings.Split(s.Format, "+"), o.Format) {
		s.Format = strings.TrimPrefix(s.Format+"+"+o.Format, "+")
	}
	takeCount(&s.Pools.Shared, &o.Pools.Shared)
	takeCount(&s.Pools.SharedPeak, &o.Pools.SharedPeak)
	takeCount(&s.Pools.Size, &o.Pools.Size)
	for i := range o.Ports {
		p := &o.Ports[i]
		k, ok := byName[p.Name]
		if !ok {
			byName[p.Name] = len(s.Ports)
			s.Ports = append(s.Ports, *p)
			continue
		}
		if name, was, is := s.Ports[k].Take(p); name != "" {
			notes = append(notes, Note{o.File, p.Line, fmt.Sprintf("%s %s: %s is %d here and was %d before: outputs of two times are read as one, the later one counts; write each snapshot to its own file", o.Device, p.Name, name, is, was)})
		}
	}
	return notes
}

// Take adds another output's values for the same port. It returns a counter with contradicting values.
func (p *Port) Take(o *Port) (differs string, was, is uint64) {
	if o.NetDev != "" {
		p.NetDev = o.NetDev
	}
	p.Alias, p.Lanes, p.FEC = cmp.Or(o.Alias, p.Alias), cmp.Or(o.Lanes, p.Lanes), cmp.Or(o.FEC, p.FEC)
	takeSaid(&p.Up, &o.Up)
	takeSaid(&p.Enabled, &o.Enabled)
	takeSaid(&p.Speed, &o.Speed)
	takeSaid(&p.MTU, &o.MTU)
	takeSaid(&p.TxUtil, &o.TxUtil)
	takeSaid(&p.PFC, &o.PFC)
	takeSaid(&p.Lossless, &o.Lossless)
	if o.Peer.Is() {
		p.Peer = o.Peer
	}
	var theirs []*Count
	o.Each(func(_ string, c *Count, _ bool) { theirs = append(theirs, c) })
	i := 0
	p.Each(func(name string, c *Count, gauge bool) {
		t := theirs[i]
		i++
		if !gauge && differs == "" && c.Is && t.Is && c.V != t.V {
			differs, was, is = name, c.V, t.V
		}
		takeCount(c, t)
	})
	return differs, was, is
}

func takeCount(to, from *Count) {
	if from.Is {
		*to = *from
	}
}

func takeSaid[T any](to, from *Said[T]) {
	if from.Is {
		*to = *from
	}
}

// mergeRDMA moves the values of RDMA devices to their interfaces.
func (s *Snapshot) mergeRDMA() {
	kept := s.Ports[:0:0]
	for i := range s.Ports {
		if p := &s.Ports[i]; p.NetDev == "" || s.Find(p.NetDev) == nil {
			kept = append(kept, *p)
		}
	}
	whole := *s
	whole.Ports = kept
	for i := range s.Ports {
		if p := &s.Ports[i]; p.NetDev != "" {
			if to := whole.Find(p.NetDev); to != nil && to.NetDev == "" {
				line := to.Line
				to.Take(p)
				to.Line, to.NetDev = line, ""
			}
		}
	}
	s.Ports = kept
}
