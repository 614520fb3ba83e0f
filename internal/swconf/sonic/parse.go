// Package sonic reads and writes SONiC's config_db.json: QoS maps, schedulers,
// WRED and buffer profiles, PFC and its watchdog, ports and addresses. Table and
// field names are those of SONiC's YANG models.
package sonic

import (
	"fmt"
	"math"
	"net/netip"
	"strconv"
	"strings"

	"railyard/internal/swconf"
	"railyard/internal/swconf/cli"
	"railyard/unit"
)

// Looks reports whether text looks like a config_db.json.
func Looks(text string) int {
	if !strings.HasPrefix(strings.TrimSpace(text), "{") {
		return 0
	}
	return 1 + 3*swconf.Score(text, `"PORT"`, `"DEVICE_METADATA"`, `"DSCP_TO_TC_MAP"`, `"PORT_QOS_MAP"`,
		`"WRED_PROFILE"`, `"BUFFER_PROFILE"`, `"QUEUE"`, `"PFC_WD"`, `"SCHEDULER"`)
}

type parser struct {
	c     *swconf.Config
	root  *node
	ports map[string]*swconf.Port
}

// known are the tables that are read; each table of names is also one that
// others may refer to.
var known = []string{"DEVICE_METADATA", "PORT", "PORT_QOS_MAP", "DSCP_TO_TC_MAP", "TC_TO_QUEUE_MAP",
	"TC_TO_PRIORITY_GROUP_MAP", "MAP_PFC_PRIORITY_TO_QUEUE",
	"PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", "SCHEDULER", "QUEUE", "WRED_PROFILE", "BUFFER_POOL",
	"BUFFER_PROFILE", "BUFFER_PG", "BUFFER_QUEUE", "CABLE_LENGTH", "PFC_WD",
	"INTERFACE", "BGP_NEIGHBOR", "FEATURE",
	"PORTCHANNEL", "PORTCHANNEL_MEMBER", "PORTCHANNEL_INTERFACE",
	"SWITCH_TRIMMING", locatorTable, sidTable, routeTable}

// named are the tables of profiles and maps that must be used and must exist.
var named = []string{"DSCP_TO_TC_MAP", "TC_TO_QUEUE_MAP", "TC_TO_PRIORITY_GROUP_MAP",
	"MAP_PFC_PRIORITY_TO_QUEUE", "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP",
	"SCHEDULER", "WRED_PROFILE", "BUFFER_POOL", "BUFFER_PROFILE", locatorTable}

// passed are tables without bearing on queues and paths.
var passed = []string{"LOOPBACK_INTERFACE", "VLAN", "VLAN_MEMBER", "VLAN_INTERFACE", "MCLAG_DOMAIN",
	"MCLAG_INTERFACE", "MCLAG_UNIQUE_IP", "MGMT_INTERFACE", "MGMT_PORT", "MGMT_VRF_CONFIG", "NTP",
	"NTP_SERVER",
	"SYSLOG_SERVER",
	"SNMP", "SNMP_COMMUNITY", "TACPLUS", "TACPLUS_SERVER", "AAA", "RADIUS",
	"DEVICE_NEIGHBOR", "DEVICE_NEIGHBOR_METADATA", "VERSIONS", "FLEX_COUNTER_TABLE", "CRM", "COPP_GROUP",
	"COPP_TRAP", "ACL_TABLE", "ACL_RULE", "ACL_TABLE_TYPE", "BREAKOUT_CFG", "KDUMP",
	"AUTO_TECHSUPPORT", "AUTO_TECHSUPPORT_FEATURE", "LLDP", "LLDP_PORT", "LOGGER", "PASSW_HARDENING",
	"SYSTEM_DEFAULTS", "TELEMETRY", "GNMI", "RESTAPI", "CONSOLE_SWITCH", "BANNER_MESSAGE",
	"DHCP_SERVER", "DHCP_RELAY", "SFLOW", "VRF", "VXLAN_TUNNEL", "VXLAN_TUNNEL_MAP",
	"VXLAN_EVPN_NVO", "EVPN_ETHERNET_SEGMENT", "SAG", "SAG_GLOBAL", "SWITCH_HASH",
	"LOSSLESS_TRAFFIC_PATTERN", "DEFAULT_LOSSLESS_BUFFER_PARAMETER", "NVGRE_TUNNEL", "PEER_SWITCH",
	"MIRROR_SESSION", "DNS_NAMESERVER", "SSH_SERVER", "BGP_GLOBALS", "BGP_DEVICE_GLOBAL",
	"ROUTE_REDISTRIBUTE", "ROUTE_MAP", "PREFIX", "PREFIX_SET", "TC_TO_DSCP_MAP", "DOT1P_TO_TC_MAP", "TUNNEL",
	"XCVRD_LOG", "SYSLOG_CONFIG", "SYSLOG_CONFIG_FEATURE", "NEIGH", "PORT_STORM_CONTROL"}

// Parse reads a configuration.
func Parse(file string, text []byte) (*swconf.Config, error) {
	if err := cli.Check(file, text); err != nil {
		return nil, err
	}
	root, err := newReader(file, text).document()
	if err != nil {
		return nil, err
	}
	if !root.object() {
		return nil, &cli.SyntaxError{File: file, Line: 1, Col: 1,
			Msg: "is no object of tables, as config_db.json is"}
	}
	p := &parser{c: &swconf.Config{OS: swconf.SONiC, File: file}, root: root,
		ports: map[string]*swconf.Port{}}
	if err := p.tables(); err != nil {
		return nil, err
	}
	p.metadata()
	p.readPorts()
	p.bundles()
	p.watchdog()
	p.resolve()
	p.trimming()
	p.srv6()
	return p.c, nil
}

// tables checks the shape of every table and notes names and unknown ones.
func (p *parser) tables() error {
	isKnown, isPassed, isNamed := set(known), set(passed), set(named)
	for _, t := range p.root.keys {
		table := p.root.inner[t]
		n := 1 + len(table.keys)
		p.c.Total += n
		switch {
		case isKnown[t]:
			p.c.Read += n
		case isPassed[t]:
			p.c.Passed += n
			continue
		default:
			p.c.Unknown = append(p.c.Unknown, swconf.Unknown{At: table.at, Text: t, Why: "unknown table" +
				experimental(t)})
			continue
		}
		if !table.object() {
			return &cli.SyntaxError{File: p.c.File, Line: table.at.Line, Col: table.at.Col,
				Msg: fmt.Sprintf("%s is no table: expected an object", t)}
		}
		if t == "PORT" && len(table.keys) > swconf.MaxPorts {
			at := table.inner[table.keys[swconf.MaxPorts]].at
			return &cli.SyntaxError{File: p.c.File, Line: at.Line, Col: at.Col,
				Msg: fmt.Sprintf("names more interfaces than a switch has (%d)", swconf.MaxPorts)}
		}
		for _, k := range table.keys {
			if !table.inner[k].object() {
				at := table.inner[k].at
				return &cli.SyntaxError{File: p.c.File, Line: at.Line, Col: at.Col,
					Msg: fmt.Sprintf("%s|%s is no row: expected an object", t, k)}
			}
			if isNamed[t] {
				p.c.Define(t, k, table.inner[k].at, false)
			}
		}
	}
	return nil
}

func set(list []string) map[string]bool {
	m := map[string]bool{}
	for _, s := range list {
		m[s] = true
	}
	return m
}

func experimental(table string) string {
	if strings.HasPrefix(table, "ARS_") || strings.HasPrefix(table, "ADAPTIVE_ROUTING") {
		return " (adaptive routing exists in a high-level design only; experimental)"
	}
	return ""
}

func (p *parser) table(name string) *node { return p.root.get(name) }

// ref follows a reference and notes it. Old images write [TABLE|name].
func (p *parser) ref(table string, n *node) *node {
	if n == nil {
		return nil
	}
	name := strings.TrimSuffix(strings.TrimPrefix(n.text, "["+table+"|"), "]")
	p.c.Use(table, name, n.at)
	return p.table(table).get(name)
}

func (p *parser) bad(n *node, format string, args ...any) {
	swconf.Report(p.c, n.at, swconf.Error, "bad-value", fmt.Sprintf(format, args...),
		"SONiC refuses the row or ignores the field", "write a value of the kind that the YANG model has")
}

// number reads a whole number from 0 to max.
func (p *parser) number(row *node, field string, max int64) (int64, bool) {
	f := row.get(field)
	if f == nil {
		return 0, false
	}
	v, err := strconv.ParseInt(f.text, 10, 64)
	if err != nil || v < 0 || v > max {
		p.bad(f, "%s %q is no whole number from 0 to %d", field, f.text, max)
		return 0, false
	}
	return v, true
}

// either reports whether a field has the one value and not the other; a third is told.
func (p *parser) either(n *node, field, yes, no string) bool {
	if n.text != yes && n.text != no {
		p.bad(n, "%s %q: %s or %s are accepted", field, n.text, no, yes)
	}
	return n.text == yes
}

const maxBytes = 1 << 40

func (p *parser) metadata() {
	c := p.c
	host := p.table("DEVICE_METADATA").get("localhost")
	if h := host.get("hostname"); h != nil {
		c.Hostname = swconf.Say(h.text, h.at)
	}
	c.LLDP.V = true
	if f := p.table("FEATURE").get("lldp").get("state"); f != nil {
		c.LLDP = swconf.Say(strings.HasSuffix(f.text, "enabled"), f.at)
	}
	neighbors := p.table("BGP_NEIGHBOR")
	own := host.get("bgp_asn")
	if neighbors == nil || own == nil || own.text == "None" {
		return
	}
	asn, ok := swconf.ASN(own.text)
	if !ok {
		p.bad(own, "bgp_asn %q is no AS number from 1 to 4294967295", own.text)
		return
	}
	c.BGP = &swconf.BGP{ASN: swconf.Say(asn, own.at),
		Connected: swconf.Said[bool]{V: true},
		// as bgpcfgd's templates have it
		MaxPaths: swconf.Said[int]{V: 64}, Relax: swconf.Said[bool]{V: true}}
	for _, k := range neighbors.keys {
		row := neighbors.inner[k]
		name := k[strings.LastIndexByte(k, '|')+1:]
		n := &swconf.Neighbor{At: row.at, Active: true}
		if a, err := netip.ParseAddr(name); err == nil {
			n.Addr = a
		} else {
			n.Port = name
		}
		if as := row.get("asn"); as != nil {
			if _, ok := swconf.ASN(as.text); !ok {
				p.bad(as, "asn %q is no AS number from 1 to 4294967295", as.text)
			}
			n.Remote = swconf.Say(as.text, as.at)
		}
		c.BGP.Neighbors = append(c.BGP.Neighbors, n)
	}
}

// readPorts fills the ports from PORT, INTERFACE and CABLE_LENGTH.
func (p *parser) readPorts() {
	table := p.table("PORT")
	if table == nil {
		return
	}
	for _, name := range table.keys {
		row := table.inner[name]
		port := &swconf.Port{Name: name, At: row.at}
		if v, ok := p.number(row, "index", 1<<20); ok {
			port.Number = int(v)
		}
		if port.Number == 0 {
			port.Number = aliasNumber(row.str("alias"))
		}
		if v, ok := p.number(row, "speed", 10_000_000); ok {
			port.Speed = swconf.Say(unit.Rate(v)*unit.Mbps, row.get("speed").at)
		}
		if v, ok := p.number(row, "mtu", 65535); ok {
			port.MTU = swconf.Say(unit.Bytes(v), row.get("mtu").at)
		}
		if d := row.get("description"); d != nil {
			port.Desc = swconf.Say(d.text, d.at)
		}
		if a := row.get("admin_status"); a != nil {
			port.Down = swconf.Say(p.either(a, "admin_status", "down", "up"), a.at)
		}
		p.ports[name] = port
		p.c.Ports = append(p.c.Ports, port)
	}
	for _, list := range values(p.table("CABLE_LENGTH")) {
		for _, name := range list.keys {
			n := list.inner[name]
			mm, err := unit.ParseLength(n.text)
			if err != nil {
				p.bad(n, "cable length %q is no length such as 5m", n.text)
			} else if port := p.ports[name]; port != nil && mm > 0 {
				port.CableMM = swconf.Say(mm, n.at)
			}
		}
	}
	ifaces := p.table("INTERFACE")
	for i, row := range values(ifaces) {
		name, prefix, numbered := strings.Cut(ifaces.keys[i], "|")
		port := p.ports[name]
		switch {
		case port == nil:
			p.bad(row, "INTERFACE names %s, which PORT does not have", name)
		case !numbered:
			if f := row.get("ipv6_use_link_local_only"); f != nil {
				port.LinkOnly = swconf.Say(p.either(f, "ipv6_use_link_local_only", "enable", "disable"), f.at)
			}
		default:
			pre, err := netip.ParsePrefix(prefix)
			if err != nil {
				p.bad(row, "%q is no address with a prefix length", prefix)
				continue
			}
			port.Addrs = append(port.Addrs, swconf.Say(pre, row.at))
		}
	}
}

// values returns an object's members in their order.
func values(n *node) (out []*node) {
	if n == nil {
		return nil
	}
	for _, k := range n.keys {
		out = append(out, n.inner[k])
	}
	return out
}

// aliasNumber reads the front panel number: etp3, Eth3, Ethernet3/1.
func aliasNumber(alias string) int {
	i := strings.IndexFunc(alias, func(r rune) bool { return r >= '0' && r <= '9' })
	if i < 0 {
		return 0
	}
	tail, _, _ := strings.Cut(alias[i:], "/")
	n, err := strconv.Atoi(tail)
	if err != nil {
		return 0
	}
	return n
}

func (p *parser) watchdog() {
	w := &p.c.Watchdog
	w.Poll.V = 200 * unit.Millisecond
	table := p.table("PFC_WD")
	if table == nil {
		return
	}
	for i, row := range values(table) {
		name := table.keys[i]
		if name == "GLOBAL" {
			if v, ok := p.number(row, "POLL_INTERVAL", 3000); ok {
				w.Poll = swconf.Say(unit.Time(v)*unit.Millisecond, row.get("POLL_INTERVAL").at)
			}
			continue
		}
		detect, ok1 := p.number(row, "detection_time", 5000)
		restore, ok2 := p.number(row, "restoration_time", 60000)
		if ok1 && detect < 100 || ok2 && restore < 100 {
			swconf.Report(p.c, row.at, swconf.Error, "watchdog-range",
				fmt.Sprintf("%s: watchdog times below 100 ms are not accepted", name),
				"pfcwd refuses the row", "detection_time 100 to 5000, restoration_time 100 to 60000")
		}
		if !ok2 {
			restore = 2 * detect // as pfcwd start does
		}
		if port := p.ports[name]; port != nil {
			port.Watchdog = swconf.Say(true, row.at)
		}
		if !w.On.Is() {
			w.On = swconf.Say(true, row.at)
			w.Detect = swconf.Say(unit.Time(detect)*unit.Millisecond, row.at)
			w.Restore = swconf.Say(unit.Time(restore)*unit.Millisecond, row.at)
			if a := row.str("action"); a == "forward" || a == "alert" {
				w.Forward = swconf.Say(true, row.get("action").at)
			}
		}
	}
}

// alpha is 2^n, as dynamic_th has it.
func alpha(n int64) float64 { return math.Pow(2, float64(n)) }
