package nxos

import "railyard/internal/swconf/cli"

// routing protocols other than BGP: known and not modelled. The words are from the command references of NX-OS 10,
// "Unicast Routing".
var protocols = map[string]string{
	"ospf":  "area|auto-cost|bfd|default-information|default-metric|discard-route|distance|graceful-restart|isolate|log-adjacency-changes|max-lsa|max-metric|maximum-paths|name-lookup|network|passive-interface|redistribute|rfc1583compatibility|router-id|shutdown|summary-address|table-map|timers|capability|down-bit-ignore|flush-routes|mpls|nsr|prefix-priority|segment-routing|snmp|protocol|vrf|address-family|dead-interval|hello-interval|retransmit-interval|transmit-delay|distribute",
	"eigrp": "address-family|authentication|autonomous-system|bfd|default-information|default-metric|distance|distribute-list|eigrp|flush-routes|graceful-restart|isolate|log-adjacency-changes|log-neighbor-warnings|maximum-paths|metric|network|nsf|passive-interface|redistribute|router-id|shutdown|stub|table-map|timers|vrf",
	"isis":  "address-family|adjacency-check|advertise|authentication|authentication-check|authentication-type|bfd|default-information|distance|distribute|flush-routes|graceful-restart|hostname|is-type|isolate|isis|locator|log-adjacency-changes|lsp-gen-interval|lsp-mtu|max-lsp-lifetime|maximum-paths|metric-style|multi-topology|net|nsf|passive-interface|queue-limit|redistribute|reference-bandwidth|router-id|segment-routing|set-attached-bit|set-overload-bit|shutdown|snmp|spf-interval|summary-address|suppress|table-map|vrf|wide-metric-only",
	"rip":   "address-family|default-information|default-metric|distance|flush-routes|isolate|maximum-paths|redistribute|shutdown|timers|vrf",
}

// protocol is the mode of a routing protocol. Names in it are used; vrf and address-family open nothing new.
func (p *parser) protocol(r *cli.Mode, head, words string) {
	r.On("[no] router "+head+" <tag>", func(m *cli.Match) *cli.Mode {
		p.c.Passed++
		in := cli.NewMode("config-router-" + head)
		uses := func(m *cli.Match) { p.c.Refer(m, "route-map", "map"); p.c.Passed++ }
		in.Set("[no] redistribute <what> [ <of> ] route-map <map>", uses)
		in.Set("[no] table-map <map> [ filter ]", uses)
		in.Set("[no] default-information originate [ always ] route-map <map>", uses)
		in.Set("[no] area <id> filter-list route-map <map> <dir:in|out>", uses)
		in.Set("[no] <what:"+words+"> [ <more...> ]", p.pass)
		return in
	})
}

// open adds a known and irrelevant command, with the commands below it.
func (p *parser) open(r *cli.Mode, pattern string, words ...string) {
	in := p.block("section", words...)
	r.On("[no] "+pattern, func(*cli.Match) *cli.Mode {
		p.c.Passed++
		return in
	})
}

// entries are lines of an access list: with their numbers, or without.
func (p *parser) entries() *cli.Mode {
	r := p.block("acl", "permit", "deny", "remark", "statistics", "fragments", "ignore", "description",
		"host", "range",
		"eq", "gt", "lt", "neq")
	r.Set("[no] <n:int> <what> [ <more...> ]", p.pass)
	r.Set("<network> [ <mask> ]", p.pass) // of an object-group
	return r
}

// sections are modes whose lines are all known and irrelevant, indented or not.
func (p *parser) sections(r *cli.Mode) {
	for head, words := range protocols {
		p.protocol(r, head, words)
		if head == "ospf" {
			p.protocol(r, "ospfv3", words)
		}
	}
	entries := p.entries()
	for _, family := range []string{"ip ", "ipv6 "} {
		r.On("[no] "+family+"access-list <name>", func(m *cli.Match) *cli.Mode {
			p.pass(m)
			return p.lists.Open(m.Word("name"), m.No)
		})
	}
	for _, list := range []string{"mac access-list <name>", "arp access-list <name>",
		"object-group <kind> <what> <name>"} {
		r.On("[no] "+list, func(*cli.Match) *cli.Mode { p.c.Passed++; return entries })
	}
	open := func(pattern string, words ...string) { p.open(r, pattern, words...) }
	open("vrf context <name>", "rd", "vni", "address-family", "route-target", "ip", "ipv6", "description",
		"import",
		"export", "maximum", "shutdown", "export-gateway-ip", "mdt")
	open("line <what> [ <more...> ]", "exec-timeout", "session-limit", "access-class", "speed", "databits",
		"modem",
		"parity", "stopbits", "terminal", "absolute-timeout", "logout-warning", "ipv6")
	open("role name <name>", "rule", "description", "interface", "vlan", "vrf", "permit")
	open("key chain <name>", "key", "key-string", "accept-lifetime", "send-lifetime", "cryptographic-algorithm")
	open("ip sla <n:int>", "dns", "frequency", "http", "icmp-echo", "tcp-connect", "threshold", "timeout",
		"udp-echo", "udp-jitter", "vrf", "tos", "owner", "tag", "request-data-size", "verify-data",
		"udp-jitter")
	open("vdc <name> [ <more...> ]", "limit-resource", "allocate", "allow", "cpu-share")
	open("track <n:int> <what...>", "delay", "object", "vrf", "threshold")
	open("spanning-tree mst configuration", "name", "revision", "instance")
	open("control-plane [ <more...> ]", "service-policy", "scale-factor")
	open("telemetry", "destination-profile", "destination-group", "sensor-group", "subscription",
		"certificate", "ip",
		"path", "dst-grp", "snsr-grp", "use-vrf", "use-compression", "data-source")
	open("flow <kind> <name>", "match", "collect", "destination", "source", "transport", "version",
		"template",
		"exporter", "record", "description", "option")
	open("ngoam [ <more...> ]", "loop-detection", "periodic-probe-interval", "port-recovery-interval")
	open("aaa group server <kind> <name>", "server", "deadtime", "use-vrf", "source-interface")
	open("event manager applet <name>", "event", "action", "description")
	open("scheduler job name <name>", "copy", "show", "cli")
	open("crypto ca trustpoint <name>", "rsakeypair", "enrollment", "revocation-check")
	open("macsec policy <name>", "cipher-suite", "conf-offset", "key-server-priority", "sak-expiry-time",
		"security-policy", "window-size", "include-icv-indicator")
	open("fex <n:int>", "description", "pinning", "type", "serial", "fcoe")
	open("segment-routing [ <more...> ]", "mpls", "connected-prefix-sid-map", "address-family",
		"global-block",
		"srv6", "encapsulation", "locators", "locator", "prefix", "traffic-engineering")
	open("evpn multisite border-gateway <id>", "delay-restore", "split-horizon", "dci-advertise-pip",
		"route-map", "dampening")
	open("plb <what> [ <more...> ]", "description")
	r.Set("[no] ip as-path access-list <name> [ <more...> ]", p.pass)
	r.Set("[no] ipv6 prefix-list <name> [ <entry...> ]", func(m *cli.Match) {
		p.define(m, "prefix-list", m.Word("name"))
	})
	for _, kind := range []string{"community-list", "extcommunity-list", "large-community-list"} {
		r.Set("[no] ip "+kind+" <what> <name> [ <more...> ]", p.pass)
	}
}

// interfaceLines are lines of interfaces that name objects defined elsewhere.
func (p *parser) interfaceLines(r *cli.Mode) {
	r.Set("[no] ip policy route-map <map>", func(m *cli.Match) { p.c.Refer(m, "route-map", "map"); p.c.Passed++ })
	r.Set("[no] ip distribute-list eigrp <tag> route-map <map> <dir:in|out>", func(m *cli.Match) {
		p.c.Refer(m, "route-map", "map")
		p.c.Passed++
	})
	r.Set("[no] ip distribute-list eigrp <tag> prefix-list <map> <dir:in|out>", func(m *cli.Match) {
		p.c.Refer(m, "prefix-list", "map")
		p.c.Passed++
	})
	r.Set("[no] shutdown lan", p.pass)
}
