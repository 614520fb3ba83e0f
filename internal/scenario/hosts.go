package scenario

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"railyard/internal/field"
	"railyard/internal/hostconf"
	"railyard/internal/swconf"
	"railyard/internal/topo"
	"railyard/unit"
)

// hosted is the content of servers' configurations, and its effects on the built fabric.
type hosted struct {
	texts map[string]string
	by    map[string]*swconf.Host // by key of hosts
}

// hostTexts reads the servers' configurations and applies them to the transport and cc blocks. The simulated NICs are
// of one kind, so all configurations must agree.
func (p *resolver) hostTexts() error {
	if len(p.File.Hosts) == 0 {
		return nil
	}
	if p.read == nil {
		return field.New("hosts", "configurations of servers cannot be read here")
	}
	p.hosted = hosted{map[string]string{}, map[string]*swconf.Host{}}
	for _, key := range slices.Sorted(maps.Keys(p.File.Hosts)) {
		file := p.File.Hosts[key]
		path := "hosts." + key
		text, err := p.read(file)
		if err != nil {
			return field.Under(path, err)
		}
		h, err := hostconf.Parse(file, text)
		if err != nil {
			return field.Under(path, err)
		}
		p.hosted.texts[file], p.hosted.by[key] = string(text), h
		if len(h.Faults) > 0 {
			f := h.Faults[0]
			return field.New(path, "%s:%d: %s", f.File, f.Line, f.Message)
		}
		if len(h.Unknown) > 0 {
			p.note("%s: %s not understood, the first on line %d (railyard config show %s)", file,
				unit.Plural(len(h.Unknown), "line"), h.Unknown[0].At.Line, file)
		}
		if err := p.host(path, h); err != nil {
			return err
		}
	}
	p.Services = p.File.services()
	return nil
}

// taken is a key's value from a configuration.
type taken struct {
	v  any
	at swconf.Place
}

// host applies one server's configuration.
func (p *resolver) host(path string, h *swconf.Host) error {
	nics := h.NICs
	if len(nics) == 0 {
		nics = []*swconf.HostNIC{{Dev: swconf.Every}}
	}
	t := &p.File.Transport
	for _, n := range nics {
		list := []struct {
			key string
			is  bool
			v   int
			at  swconf.Place
			to  *int
		}{
			{"transport.cnp_dscp", n.CNPDSCP.Is(), int(n.CNPDSCP.V), n.CNPDSCP.At, &t.CNPDSCP},
			{"transport.mtu", n.PathMTU.Is(), n.PathMTU.V, n.PathMTU.At, &t.MTU},
			{"transport.mtu", !n.PathMTU.Is() && n.MTU.Is(), pathMTU(n.MTU.V), n.MTU.At, &t.MTU},
		}
		m, ok := h.DataDSCP(n)
		if ok && m.Partly {
			p.note("%s:%d: rdma_cm's ToS is not NCCL's: transport.data_dscp stays %d", m.At.File,
				m.At.Line, t.DataDSCP)
		} else if ok {
			list = append(list, list[0])
			last := &list[len(list)-1]
			last.key, last.is, last.v, last.at, last.to = "transport.data_dscp", true, int(m.DSCP), m.At, &t.DataDSCP
		}
		for _, x := range list {
			if !x.is {
				continue
			}
			if err := p.take(x.key, taken{x.v, x.at}, *x.to == x.v); err != nil {
				return err
			}
			*x.to = x.v
		}
		if err := p.unsimulated(path, h, n); err != nil {
			return err
		}
		if err := p.hostCC(path, h, n); err != nil {
			return err
		}
	}
	return p.hostEnv(h)
}

// take checks that no other source sets another value: the scenario, another configuration, or another NIC.
func (p *resolver) take(key string, x taken, same bool) error {
	old, before := p.hostSaid[key]
	switch {
	case before && !reflect.DeepEqual(old.v, x.v):
		return field.New("hosts", "%s:%d gives %s %v and %s:%d gives it %v: servers and NICs are simulated equally",
			x.at.File, x.at.Line, key, x.v, old.at.File, old.at.Line, old.v)
	case !before && p.says(key) && !same:
		return field.New(key, "differs in %s:%d, which sets %v: take one of them out", x.at.File, x.at.Line, x.v)
	}
	if p.hostSaid == nil {
		p.hostSaid = map[string]taken{}
	}
	p.hostSaid[key] = x
	return nil
}

// pathMTU is the payload of RoCE packets that Linux chooses for a network device's MTU.
func pathMTU(mtu unit.Bytes) int {
	best := 256
	for n := 256; n <= 4096; n *= 2 {
		if unit.Bytes(n+swconf.HostHeaders) <= mtu {
			best = n
		}
	}
	return best
}

// unsimulated refuses features that the simulated NIC lacks.
func (p *resolver) unsimulated(path string, h *swconf.Host, n *swconf.HostNIC) error {
	refuse := func(at swconf.Place, format string, args ...any) error {
		return field.New(path, "%s:%d: %s", at.File, at.Line, fmt.Sprintf(format, args...))
	}
	switch {
	case n.Trust.V == "pcp":
		return refuse(n.Trust.At, "priorities from VLAN tags are not simulated: NICs and switches look at DSCPs")
	case n.Marking.Is() && !n.Marking.V:
		return refuse(n.Marking.At, "packets that cannot be marked are not simulated")
	case n.Pause.V:
		return refuse(n.Pause.At, "pauses of the whole link are not simulated, PFC is")
	case n.Mode.V == "RoCE v1":
		return refuse(n.Mode.At, "RoCE v1 is not simulated, RoCE v2 is")
	}
	if v, ok := h.Number("NCCL_IB_SPLIT_DATA_ON_QPS"); ok && v.V == 0 {
		p.note("%s:%d: NCCL sends each message over one queue pair; simulated are parts of it over all",
			v.At.File,
			v.At.Line)
	}
	return nil
}

// hostCC takes the parameters of congestion control, and whether it is on.
func (p *resolver) hostCC(path string, h *swconf.Host, n *swconf.HostNIC) error {
	algorithm := member(p.File.cc(), "algorithm")
	values, err := hostconf.Values(n)
	if err != nil {
		return field.Under(path, err)
	}
	if len(values) > 0 && algorithm.String() != "dcqcn" && algorithm.String() != "none" {
		p.note("%s: DCQCN's parameters are not used: cc.algorithm is %s", path, algorithm.String())
		values = nil
	}
	block := member(p.File.cc(), "dcqcn")
	for _, name := range slices.Sorted(maps.Keys(values)) {
		was := member(block, name)
		same := !was.IsNil() && reflect.DeepEqual(was.Elem().Interface(), values[name])
		if err := p.take("cc.dcqcn."+name, taken{values[name], n.At}, same); err != nil {
			return err
		}
		p.File.SetCC("dcqcn", name, values[name])
	}
	m, ok := h.DataDSCP(n)
	prio, by := n.Priority(m.DSCP)
	off := n.CC
	if ok && by.Line > 0 && !(off.Is() && !off.V) {
		off = n.RP[prio]
		if n.NP[prio].Is() && !n.NP[prio].V {
			off = n.NP[prio]
		}
	}
	if off.Is() && !off.V && algorithm.String() == "dcqcn" {
		if err := p.take("cc.algorithm", taken{"none", off.At}, false); err != nil {
			return err
		}
		p.note("%s:%d: congestion control is off for data: cc.algorithm none", off.At.File, off.At.Line)
		algorithm.SetString("none")
	}
	return nil
}

// hostEnv takes NCCL's variables.
func (p *resolver) hostEnv(h *swconf.Host) error {
	t := &p.File.Transport
	for _, x := range []struct {
		variable, key string
		to            *int
	}{{"NCCL_IB_QPS_PER_CONNECTION", "transport.qps", &t.QPs}, {"NCCL_IB_TIMEOUT", "transport.timeout", &t.Timeout},
		{"NCCL_IB_RETRY_CNT", "transport.retries", &t.Retries}} {
		v, ok := h.Number(x.variable)
		if !ok {
			continue
		}
		if err := p.take(x.key, taken{v.V, v.At}, *x.to == v.V); err != nil {
			return err
		}
		*x.to = v.V
	}
	return nil
}

// hostPorts sets the PFC priorities of NICs from their servers' configurations, and refuses priorities without a switch
// queue.
func (p *resolver) hostPorts() error {
	if len(p.hosted.by) == 0 {
		return nil
	}
	if p.Texts == nil {
		p.Texts = map[string]string{}
	}
	maps.Copy(p.Texts, p.hosted.texts)
	if p.PFC == nil {
		p.PFC = map[topo.LinkEnd]uint8{}
	}
	used := map[string]bool{"config": true}
	for i := range p.Graph.NICs {
		nic := &p.Graph.NICs[i]
		node := p.Graph.Hosts[nic.Host]
		name := p.Graph.Nodes[node].Name
		used[name] = true
		h := cmp.Or(p.hosted.by[name], p.hosted.by["config"])
		if h == nil || len(h.NICs) == 0 {
			continue
		}
		n := h.NICs[min(nic.Index, len(h.NICs)-1)]
		if err := p.priorities(h, n); err != nil {
			return err
		}
		mask, _, said := n.Paused()
		if all := p.Spec.LosslessMask(); said && mask&all != all {
			for _, l := range nic.Links {
				p.PFC[topo.LinkEnd{Link: l, Node: node}] = mask
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(p.hosted.by)) {
		if !used[key] {
			return field.New("hosts."+key, "is not a server of this fabric; accepted: config, or a server's name")
		}
	}
	return nil
}

// priorities rejects a NIC that pauses packets by another priority than its switch does, because simulated NICs
// classify as their switch does. Data that the switch pauses by none may have any.
func (p *resolver) priorities(h *swconf.Host, n *swconf.HostNIC) error {
	s := p.Default()
	lossless := func(q uint8) bool { return p.Spec.LosslessMask()>>q&1 == 1 }
	for _, x := range []struct {
		dscp int
		what string
	}{{s.DSCP, "data"}, {s.CNPDSCP, "CNPs"}} {
		prio, by := n.Priority(uint8(x.dscp))
		q := p.Spec.DSCP[x.dscp]
		if by.Line > 0 && prio != q && (lossless(q) || x.dscp == s.CNPDSCP && lossless(prio)) {
			return field.New("hosts", "%s:%d: %s (DSCP %d) have priority %d in the NIC and queue %d at the switch, which is not simulated: both have to agree", by.File, by.Line, x.what, x.dscp, prio, q)
		}
	}
	return nil
}

// OwnCC gives a file its own block of congestion control, shared with no other.
func (f *File) OwnCC() {
	own := reflect.New(f.cc().Type())
	own.Elem().Set(f.cc())
	f.CC = own.Interface()
}
