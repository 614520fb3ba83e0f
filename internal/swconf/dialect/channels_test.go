package dialect_test

import (
	"fmt"
	"strings"
	"testing"

	"railyard/internal/swconf"
	"railyard/internal/swconf/design"
	"railyard/internal/swconf/dialect"
	"railyard/internal/topo"
	"railyard/unit"
)

// channelled is two rails of two segments under two spines, to each of which two channels of two cables lead.
func channelled(t *testing.T) *topo.Graph { return channelledBy(t, 2) }

// channelledBy is the same with channels that are down below a number of members.
func channelledBy(t *testing.T, least int) *topo.Graph {
	t.Helper()
	g, err := topo.Build("rail", topo.Params{Server: topo.Server{GPUs: 2, NICs: 2, Ports: 1}, Hosts: 2,
		Segments: 2, Spines: 2, Uplinks: 4,
		HostCable: topo.Cable{Rate: 400 * unit.Gbps, LengthMM: 3000},
		Fabric:    topo.Cable{Rate: 400 * unit.Gbps, LengthMM: 30_000}})
	if err == nil {
		err = g.BundleAll(2, least)
	}
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// Channels are read back as they were written in every language: a session and an address each, no finding.
func TestChannelsRoundTrip(t *testing.T) {
	for _, os := range dialect.Written() {
		least := 2
		if os == "nvue" {
			least = 1 // more is rejected, see TestRefused
		}
		g := channelledBy(t, least)
		for _, addressing := range []string{design.Unnumbered, design.Numbered} {
			t.Run(os+" "+addressing, func(t *testing.T) {
				d, err := plan(g, spec(), swconf.OS(os), addressing, "", "")
				if err != nil {
					t.Fatal(err)
				}
				cs, text := configs(t, d)
				for _, f := range lint(g, cs) {
					t.Errorf("%s:%d: %s: %s", f.File, f.Line, f.Rule, f.Message)
				}
				sameSpecs(t, d, cs)
				for _, c := range cs {
					if n := neighbours(c); n > 0 && c.Name() == "spine-1" && n != 8 {
						t.Errorf("%s has %d sessions, want one for each of 8 channels", c.File, n)
					}
					for _, b := range c.Bundles {
						if (len(b.Addrs) == 1) != (addressing == design.Numbered) ||
							os != "frr" && max(b.Least.V, 1) != least {
							t.Errorf("%s %s: %v, at least %d members", c.File, b.Name, b.Addrs, b.Least.V)
						}
					}
				}
				if lines := strings.Count(text["cabling.csv"], ",channel 1001 to "); lines != 8 {
					t.Errorf("%d cables of first channels in the list, want 8", lines)
				}
			})
		}
	}
}

// neighbours counts a configuration's sessions.
func neighbours(c *swconf.Config) int {
	if c.BGP == nil {
		return 0
	}
	return len(c.BGP.Neighbors)
}

// Errors of a channel are found at their lines, and harmless differences are not.
func TestChannelFindings(t *testing.T) {
	g := channelled(t)
	member := func(n int) string { return fmt.Sprintf("  channel-group %d mode active\n", n) }
	for _, c := range []struct {
		os        swconf.OS
		from, to  string
		rule, say string
	}{
		{"nxos", member(1001), "", "channel-ends",
			"Ethernet1/3 is a member of a port channel to spine-1 in the fabric"},
		{"nxos", member(1001), member(1002), "channel-ends", "of port-channel1002 leads to port-channel1002"},
		{"nxos", "lacp min-links 2", "lacp min-links 1", "channel-ends",
			"port-channel1001 is up with 1 members, port-channel1001 of spine-1 takes 2"},
		{"nxos", "ip address 10.64.0.0/31", "ip address 10.64.9.0/31", "link-subnet",
			"port-channel1001 has 10.64.9.0/31"},
		{"nxos", "  neighbor 10.64.0.1\n", "  neighbor 10.64.0.77\n", "bgp-neighbor-missing",
			"port-channel1001 is cabled to spine-1"},
		{"nxos", "ip address 10.64.0.0/31", "ip address 10.64.0.2/31", "address-duplicate",
			"port-channel1002"},
		{"nxos", "interface port-channel1001\n", "interface port-channel1001\n  no shutdown\n", "", ""},
		{"eos", "port-channel min-links 2", "port-channel min-links 1", "channel-ends",
			"is up with 1 members"},
		{"eos", "   channel-group 1001 mode active\n", "", "channel-ends",
			"is a member of a port channel to spine-1"},
		{"sonic", `"min_links": "2"`, `"min_links": "1"`, "channel-ends", "is up with 1 members"},
		{"sonic", `"PortChannel1001|Ethernet16": {},`, "", "channel-ends",
			"Ethernet16 is a member of a port channel"},
		{"frr", " neighbor 10.64.0.1 peer-group FABRIC\n", "", "bgp-neighbor-missing",
			"is cabled to spine-1"},
	} {
		d, err := plan(g, spec(), c.os, design.Numbered, "", "")
		if err != nil {
			t.Fatal(err)
		}
		files, err := dialect.Render(d)
		if err != nil {
			t.Fatal(err)
		}
		var cs []*swconf.Config
		for _, f := range files {
			if !strings.Contains(f.Path, "/") || strings.HasSuffix(f.Path, "daemons") {
				continue
			}
			text := f.Text
			if strings.HasPrefix(f.Path, "seg-1-rail-1/") {
				if !strings.Contains(text, c.from) && !strings.HasSuffix(f.Path, "frr.conf") {
					t.Fatalf("%s has no %q:\n%s", f.Path, c.from, text)
				}
				text = strings.Replace(text, c.from, c.to, 1)
			}
			x, err := dialect.Parse(f.Path, []byte(text), "")
			if err != nil {
				t.Fatal(err)
			}
			cs = append(cs, x)
		}
		found := ""
		for _, f := range lint(g, cs) {
			if found == "" || f.Rule == c.rule && strings.Contains(f.Message, c.say) {
				found = f.Rule + ": " + f.Message
			}
		}
		if !strings.HasPrefix(found, c.rule) || !strings.Contains(found, c.say) ||
			c.rule == "" && found != "" {
			t.Errorf("%s, %q to %q: %s, want %s: %s", c.os, c.from, c.to, found, c.rule, c.say)
		}
	}
}
