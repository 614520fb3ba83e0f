package swconf

import "fmt"

// hostClassDiffers finds settings that mark packets differently.
func (l *linter) hostClassDiffers() {
	l.hosts(func(x *hosted, n *HostNIC) {
		tc, asked := x.h.Number("NCCL_IB_TC")
		ucx, inUCX := x.h.Number("UCX_IB_TRAFFIC_CLASS")
		shmem, inSHMEM := x.h.Number("NVSHMEM_IB_TRAFFIC_CLASS")
		list := []struct {
			is   bool
			dscp uint8
			at   Place
			what string
		}{
			{n.Class.Is(), n.Class.V >> 2, n.Class.At, "traffic_class"},
			{n.Data.Is(), n.Data.V, n.Data.At, "roce_dscp"},
			{asked, uint8(tc.V>>2) & 63, tc.At, "NCCL_IB_TC"},
			{inUCX, uint8(ucx.V>>2) & 63, ucx.At, "UCX_IB_TRAFFIC_CLASS"},
			{inSHMEM, uint8(shmem.V>>2) & 63, shmem.At, "NVSHMEM_IB_TRAFFIC_CLASS"},
			{n.ToS.Is(), n.ToS.V >> 2, n.ToS.At, "rdma_cm's ToS (cma_roce_tos)"},
		}
		for i, a := range list {
			for _, b := range list[i+1:] {
				if a.is && b.is && a.dscp != b.dscp {
					x.fault(n, b.at, "give all of them one DSCP: four times it, and 0 to 3 more",
						"%s means DSCP %d, and %s DSCP %d", b.what, b.dscp, a.what, a.dscp)
					return
				}
			}
		}
	})
}

// hostClassUnset finds NICs that protect a class which NCCL's packets do not have.
func (l *linter) hostClassUnset() {
	l.hosts(func(x *hosted, n *HostNIC) {
		m, ok := x.h.DataDSCP(n)
		mask, at, _ := n.Paused()
		env := x.h.nccl()
		if mask == 0 || ok && !m.Partly || !ok && env.At.Line == 0 {
			return
		}
		at = first(env.At, first(m.At, at))
		x.fault(n, at, "NCCL_IB_TC, or traffic_class of the device: four times the DSCP",
			"no setting gives NCCL's packets a DSCP: they have 0 and are in the default class")
	})
}

// hostDiffers finds hosts whose packets have a mark that no other host uses.
func (l *linter) hostDiffers() {
	type mark struct {
		dscp uint8
		at   Place
	}
	for _, what := range []struct {
		name string
		of   func(*Host, *HostNIC) (mark, bool)
	}{
		{"data", func(h *Host, n *HostNIC) (mark, bool) {
			m, ok := h.DataDSCP(n)
			return mark{m.DSCP, m.At}, ok && !m.Partly
		}},
		{"CNPs", func(_ *Host, n *HostNIC) (mark, bool) { return mark{n.CNPDSCP.V, n.CNPDSCP.At}, n.CNPDSCP.Is() }},
	} {
		var all []uint8
		for _, x := range l.sided() {
			for _, n := range x.h.NICs {
				if m, ok := what.of(x.h, n); ok {
					all = append(all, m.dscp)
				}
			}
		}
		most := majority(all)
		l.hosts(func(x *hosted, n *HostNIC) {
			if m, ok := what.of(x.h, n); ok && m.dscp != most {
				x.fault(n, m.at, fmt.Sprintf("DSCP %d, as the others have", most),
					"%s have DSCP %d, and %d at most NICs", what.name, m.dscp, most)
			}
		})
	}
}

// hostGID finds GID indexes other than RoCE v2's, if there is a table of them.
func (l *linter) hostGID() {
	l.hosts(func(x *hosted, n *HostNIC) {
		v, ok := x.h.Number("NCCL_IB_GID_INDEX")
		if !ok || len(n.GIDs) == 0 {
			return
		}
		var found *HostGID
		best := -1
		for i := range n.GIDs {
			g := &n.GIDs[i].V
			if g.Index == v.V {
				found = g
			}
			if g.V2 && !g.Local && best < 0 {
				best = g.Index
			}
		}
		fix := "the index of a RoCE v2 address that is not link-local"
		if best >= 0 {
			fix += fmt.Sprintf(": %d", best)
		}
		switch {
		case found == nil:
			x.fault(n, v.At, fix, "NCCL_IB_GID_INDEX is %d, and the device has no such address", v.V)
		case !found.V2:
			x.fault(n, v.At, fix, "NCCL_IB_GID_INDEX %d is RoCE v1, which has no IP header: no DSCP, no ECN, no routing",
				v.V)
		case found.Local:
			x.fault(n, v.At, fix, "NCCL_IB_GID_INDEX %d is a link-local address: it reaches no other subnet", v.V)
		}
	})
}

// hostGIDEven finds indexes that are probably RoCE v1's: ConnectX lists each address as v1 and then as v2.
func (l *linter) hostGIDEven() {
	l.hosts(func(x *hosted, n *HostNIC) {
		v, ok := x.h.Number("NCCL_IB_GID_INDEX")
		if ok && len(n.GIDs) == 0 && n.Kind == "mlx5" && v.V%2 == 0 {
			x.fault(n, v.At, "look at show_gids; RoCE v2 over IPv4 is 3 on most ConnectX NICs",
				"NCCL_IB_GID_INDEX is %d, and even ones are RoCE v1 on ConnectX", v.V)
		}
	})
}

// hostQPs finds NCCL with one flow per pair of NICs on switches that hash flows.
func (l *linter) hostQPs() {
	told := map[Place]bool{} // one nccl.conf may belong to many hosts
	l.hosts(func(x *hosted, n *HostNIC) {
		v, said := x.h.Number("NCCL_IB_QPS_PER_CONNECTION")
		at := x.h.nccl().At
		if at.Line == 0 || said && v.V > 1 {
			return
		}
		if said {
			at = v.At
		}
		_, where := x.wrong(func(s side) bool { return s.c.DLB == nil && s.c.BGP != nil })
		if where != "" && !told[at] {
			told[at] = true
			l.say(at, "NCCL_IB_QPS_PER_CONNECTION 4, or load balancing that is not by hash alone",
				"one queue pair per connection, and %s chooses paths by hash: few flows share them unevenly", where)
		}
	})
}

// hostPause finds pauses of the whole link in addition to PFC.
func (l *linter) hostPause() {
	l.hosts(func(x *hosted, n *HostNIC) {
		if mask, _, _ := n.Paused(); n.Pause.V && mask != 0 {
			x.fault(n, n.Pause.At, "turn link-level pause off (ethtool -A DEVICE rx off tx off)",
				"pauses the whole link, and priority %s by PFC", Priorities(mask))
		}
	})
}
