package diagnose

import (
	"regexp"
	"slices"
	"strings"

	"railyard/internal/swconf"
)

// hosts adds the hosts' own outputs and settings to them and their ports: mlnx_qos, cma_roce_tos, NCCL's variables. A
// file with only variables and no host name applies to all hosts.
func (f *Fabric) hosts(all []*swconf.Host) {
	var common *swconf.Host
	for _, h := range all {
		d := f.hostNamed(h.Name())
		switch {
		case d != nil:
			d.Texts = h
		case len(h.NICs) == 0 && len(h.Env) > 0:
			common = h
		default:
			f.note("%s is of host %s, which has no counters here; it is not used", h.File, h.Name())
		}
	}
	for _, d := range f.Devices {
		if d.Kind != Host {
			continue
		}
		if common != nil && d.Texts == nil {
			d.Texts = common
		} else if common != nil && len(d.Texts.Env) == 0 {
			both := *d.Texts
			both.Env = common.Env
			d.Texts = &both
		}
	}
}

// hostNamed is a host by its name, with or without its domain.
func (f *Fabric) hostNamed(name string) *Device {
	for _, n := range []string{name, strings.SplitN(name, ".", 2)[0]} {
		if d := f.byName[n]; d != nil && d.Kind == Host {
			return d
		}
	}
	return nil
}

// nic returns a host's settings of a port, or those for every NIC if none is named; nil without settings.
func (p *Port) nic() *swconf.HostNIC {
	if p.On.Texts == nil {
		return nil
	}
	var every *swconf.HostNIC
	for _, n := range p.On.Texts.NICs {
		switch rdma, _, _ := strings.Cut(n.RDMA, "/"); {
		case p.Name != "" && (n.Dev == p.Name || rdma != "" && p.On.netdev[rdma+"/1"] == p.Name):
			return n
		case n.Dev == swconf.Every || n.RDMA == swconf.Every:
			every = n
		}
	}
	return every
}

// hostClass cites the reason for the class of a host's data: the NIC's trust mode, the configured DSCP of RoCE, and the
// NIC's mapping of it. It reports whether that explains the class.
func (x *Finding) hostClass(p *Port, class int) (why bool) {
	h, n := p.On.Texts, p.nic()
	if h == nil {
		return false
	}
	if n == nil {
		n = &swconf.HostNIC{}
	}
	if n.Trust.V == "pcp" {
		x.cite(p.On, n.Trust.At, "trust pcp: the priority is that of the VLAN tag; untagged packets have priority 0")
		x.Says += sprintf("; %s has trust pcp", n.Title())
		why = class == 0
	}
	m, ok := h.DataDSCP(n)
	if !ok {
		x.cite(p.On, swconf.Place{File: h.File}, "the DSCP of RoCE is 0: not set (NCCL_IB_TC, cma_roce_tos, traffic_class)")
		x.Says += "; its configuration sets no DSCP for RoCE"
		return why || class == 0
	}
	prio, by := n.Priority(m.DSCP)
	x.cite(p.On, m.At, "data has DSCP %d (%s)", m.DSCP, m.By)
	if n.Trust.V != "pcp" && by.Line > 0 {
		x.cite(p.On, by, "DSCP %d has priority %d in the NIC", m.DSCP, prio)
		if int(prio) == class && !why {
			x.Says += sprintf("; %s sets DSCP %d, priority %d", m.By, m.DSCP, prio)
			why = true
		}
	}
	return why
}

// hostCNP cites a host's settings of its CNPs.
func (x *Finding) hostCNP(p *Port) {
	n := p.nic()
	if n == nil {
		return
	}
	if n.CNPDSCP.Is() {
		x.cite(p.On, n.CNPDSCP.At, "CNPs have DSCP %d", n.CNPDSCP.V)
		x.Says += sprintf("; cnp_dscp is %d", n.CNPDSCP.V)
	}
	if n.CNPPrio.Is() {
		x.cite(p.On, n.CNPPrio.At, "CNPs have priority %d", n.CNPPrio.V)
	}
}

// deafToMarks cites the settings of hosts that are paused for a queue and do not slow down on marks: their congestion
// control is off in one half.
func (x *Finding) deafToMarks(reached []*Port, k int) {
	n := 0
	for _, p := range reached {
		nic := p.nic()
		if p.On.Kind != Host || nic == nil || n == 4 {
			continue
		}
		switch {
		case nic.CC.Is() && !nic.CC.V:
			x.cite(p.On, nic.CC.At, "congestion control is off at %s", nic.Title())
		case nic.RP[k].Is() && !nic.RP[k].V:
			x.cite(p.On, nic.RP[k].At, "CNPs are ignored in priority %d at %s (roce_rp)", k, nic.Title())
		default:
			continue
		}
		n++
	}
	if n > 0 {
		x.Says += "; congestion control is off on sending hosts"
	}
}

// switchPort are names that switches give their ports; interfaces of servers are eth0, ens1f0np0 or have a
// MAC address for a name.
var switchPort = regexp.MustCompile(`^(Ethernet|Eth|Et|et-|swp)[0-9]`)

// unheard finds switches without outputs by their cables: a device with a host at the other end, or with a switch's
// port name, is not a NIC. Pauses that come from there are passed on, and not its own.
func (f *Fabric) unheard() {
	f.ports(func(p *Port) {
		if q := p.Peer; q != nil && q.On.Kind == Unknown && (p.On.Kind == Host || switchPort.MatchString(q.Name)) {
			q.On.Kind = Switch
		}
	})
}

// missing lists such switches if pauses come from them: only their own outputs can show what begins at or behind them.
func (f *Fabric) missing() {
	var names []string
	for i := range f.Chains {
		c := &f.Chains[i]
		if d := c.Root; d.Kind == Switch && !d.Seen && !c.brief() && !slices.Contains(names, d.Name) {
			names = append(names, d.Name)
		}
	}
	if len(names) > 0 {
		f.open("pauses come from %s, which has no counters here, so that their root is unknown: add its outputs", some(names))
	}
}

// foreign are recognised systems whose outputs are unsupported, and files that are not outputs, by phrases of which one
// is sufficient.
var foreign = []struct {
	name    string
	phrases []string
}{
	{"outputs of Juniper Junos", []string{"Physical interface: ", "Egress queues: ", "> show interfaces et-",
		"> show class-of-service"}},
	{"outputs of Cisco IOS XR", []string{"RP/0/RP0/CPU0:", "HundredGigE0/", "FourHundredGigE0/"}},
	{"outputs of NVIDIA Cumulus NVUE", []string{"$ nv show ", "# nv show "}},
	{"outputs of NVIDIA Onyx", []string{"show interfaces ethernet 1/1 counters pfc", "PFC 0 ", "Onyx"}},
	{"outputs of Huawei VRP or H3C Comware", []string{"current state : UP", ">display ", "]display ", "<H3C>"}},
	{"outputs of Nokia SR Linux", []string{"info from state interface", "--{ running }--"}},
	{"outputs of Dell OS10", []string{"show queuing statistics interface ethernet 1/1", "OS10# "}},
	{"a configuration of Cisco NX-OS", []string{"policy-map type queuing", "policy-map type network-qos"}},
	{"a configuration of Arista EOS", []string{"qos map dscp ", "priority-flow-control priority "}},
	{"SONiC's config_db.json", []string{`"PORT_QOS_MAP"`, `"BUFFER_PROFILE"`, `"DEVICE_METADATA"`}},
	{"a Railyard scenario", []string{"\nworkload:", "\nfabric:"}},
}

// Looks returns the apparent kind of a file of which nothing was read, "" if unknown.
func Looks(text []byte) string {
	s := string(text[:min(len(text), 1<<20)])
	for _, f := range foreign {
		for _, p := range f.phrases {
			if strings.Contains(s, p) {
				return f.name
			}
		}
	}
	return ""
}
