package explain

import (
	"sort"

	"railyard/internal/result"
	"railyard/internal/topo"
	"railyard/unit"
)

// ports fills the port table and the link figures.
func (r *reading) ports(s *result.Summary, t *result.Tables) {
	g := r.graph
	end := max(r.seen.At, 1)
	type load struct {
		port int32
		util float64
	}
	var loads []load
	up := &s.Links
	up.UplinkMin = 1
	for i := range r.seen.Ports {
		p := &r.seen.Ports[i]
		st := &p.Packets
		link, rate := g.Links[p.Link], r.rate(int32(i))
		node, peer := int(p.Node), link.A+link.B-int(p.Node)
		row := result.PortRow{Port: int32(i), Name: r.portName(int32(i)), Node: g.Nodes[node].Name,
			Peer: g.Nodes[peer].Name,
			Role: g.Nodes[node].Role.String(), Rate: int64(rate), WireBytes: int64(p.Bytes),
			Frames: st.Frames,
			Marks:  st.Marks, Drops: st.Drops, Trims: st.Trims,
			PauseFramesSent: st.PauseSent, PauseFramesGot: st.PauseGot,
			Paused: int64(st.Paused), QueuePeak: int64(st.QueuePeak),
			IngressPeak: int64(st.IngressPeak), HeadroomPeak: int64(st.HeadroomPeak)}
		s.PFCPause += row.Paused
		if g.Nodes[node].Role != topo.Host {
			s.QueuePeak = max(s.QueuePeak, row.QueuePeak)
		}
		t.Ports = append(t.Ports, row)
		util := float64(unit.Serialize(unit.Bytes(row.WireBytes), rate)) / float64(end)
		loads = append(loads, load{int32(i), util})
		up.Mean += util
		if !p.Used {
			up.Idle++
		}
		if g.Nodes[node].Role != topo.Host && g.Nodes[peer].Role != topo.Host &&
			g.Nodes[peer].Tier > g.Nodes[node].Tier {
			up.Uplinks++
			up.UplinkMean += util
			up.UplinkMax, up.UplinkMin = max(up.UplinkMax, util), min(up.UplinkMin, util)
			if !p.Used {
				up.UplinkIdle++
			}
		}
	}
	up.Count = len(r.seen.Ports)
	up.Mean /= float64(max(up.Count, 1))
	if up.Uplinks > 0 {
		up.UplinkMean /= float64(up.Uplinks)
	} else {
		up.UplinkMin = 0
	}
	sort.SliceStable(loads, func(i, j int) bool { return loads[i].util > loads[j].util })
	for _, l := range loads[:min(5, len(loads))] {
		if l.util == 0 {
			break
		}
		row := t.Ports[l.port]
		up.Hottest = append(up.Hottest, result.LinkLoad{Name: row.Name,
			ToHost: r.peer(l.port).Role == topo.Host, Utilisation: l.util, Marks: row.Marks,
			QueuePeak: row.QueuePeak, Paused: row.Paused})
	}
	if len(loads) > 0 {
		up.Max = loads[0].util
	}
}
