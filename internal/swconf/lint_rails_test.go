package swconf

import (
	"strings"
	"testing"
)

// NICs are compared with the rails in the descriptions of ports. Ports without one, and unconfigured switches, are
// skipped.
func TestNICsInPortsOfRails(t *testing.T) {
	for _, c := range []struct{ port, server, socket, want string }{
		{"Ethernet1", "host-1", "nic1", ""},
		{"Ethernet2", "host-1", "nic2p1", ""},
		{"Ethernet3", "host-1", "nic1", ""}, // has no rail
		{"Ethernet9", "host-1", "nic1", ""}, // not configured
		{"Ethernet1", "host-1", "nic2p1", "Ethernet1 is rail 1's, and host-1 nic2p1 of rail 2 is cabled"},
		{"Ethernet2", "host-1", "nic1", "Ethernet2 is rail 2's, and host-1 nic1 of rail 1 is cabled into it"},
		{"Ethernet1", "host-2", "nic1", "Ethernet1 is for another server of rail 1, and host-2 nic1"},
		{"Ethernet1", "host-3", "nic1", "Ethernet1 is rail 1's, and host-3 nic1 of no rail is"},
	} {
		cfg := leaf()
		p := cfg.Ports[0]
		p.Desc = Say("rail-1 to host-1 nic1", at(101))
		for name, desc := range map[string]string{"Ethernet2": "here: rail-2 to host-1 nic2p1",
			"Ethernet3": "to host-1 nic7", "Ethernet4": "rail-1 to host-2 nic1"} {
			more := *p
			more.Name, more.Number, more.Desc = name, 0, Say(desc, at(102))
			cfg.Ports = append(cfg.Ports, &more)
		}
		in := Input{Configs: []*Config{cfg}, DataDSCP: 24, CNPDSCP: 48, PathMTU: 4096,
			Plugged: []Plugged{{Switch: "leaf", Port: c.port, Server: c.server, Socket: c.socket}}}
		var said []string
		for _, f := range Lint(in) {
			if f.Rule == "rail-port" {
				said = append(said, f.Message)
			}
		}
		if got := strings.Join(said, "; "); !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s %s in %s: %q, want %q", c.server, c.socket, c.port, got, c.want)
		}
	}
}
