package dialect_test

import (
	"strings"
	"testing"

	"railyard/internal/swconf"
	"railyard/internal/swconf/design"
	"railyard/internal/swconf/dialect"
)

// bundled is a text of two members and their channel.
const bundled = `hostname leaf
feature lldp
class-map type qos match-any ROCE
  match dscp 24
class-map type qos match-any TAGGED
  match cos 3
policy-map type qos CLASSIFY
  class ROCE
    set qos-group 3
policy-map type qos OTHER
  class TAGGED
    set qos-group 3
policy-map type network-qos FABRIC
  class type network-qos c-8q-nq3
    mtu 9216
    pause pfc-cos 3
system qos
  service-policy type network-qos FABRIC
interface port-channel10
  mtu 9216
  service-policy type qos input CLASSIFY
interface Ethernet1/1
  mtu 9216
  channel-group 10 mode active
interface Ethernet1/2
  mtu 9216
  channel-group 10 mode active
`

// found are the rules with findings on a text, with the line of each.
func found(t *testing.T, text, rule string) (lines []string) {
	t.Helper()
	c, err := dialect.Parse("leaf.cfg", []byte(text), "nxos")
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Split(text, "\n")
	for _, f := range swconf.Lint(swconf.Input{Configs: []*swconf.Config{c}, DataDSCP: 24, CNPDSCP: 48,
		PathMTU: 4096, Base: spec()}) {
		if f.Rule == rule {
			lines = append(lines, strings.TrimSpace(all[f.Line-1]))
		}
	}
	return lines
}

// The channel's settings apply at its members: policies only there, MTU and PFC there first.
func TestMembers(t *testing.T) {
	const member, policy = "interface Ethernet1/2\n", "  service-policy type qos input CLASSIFY\n"
	with := func(line string) string { return strings.Replace(bundled, member, member+line, 1) }
	off := strings.Replace(bundled, policy, "", 1)
	for _, c := range []struct{ what, text, rule, line string }{
		{"as it should be", bundled, "member-idle", ""},
		{"as it should be", bundled, "no-classification", ""},
		{"the same at both", with(policy), "member-idle", ""},
		{"another at a member", with("  service-policy type qos input OTHER\n"), "member-idle",
			"service-policy type qos input OTHER"},
		{"at a member only", strings.Replace(off, member, member+policy, 1), "member-idle",
			"service-policy type qos input CLASSIFY"},
		{"at a member only", strings.Replace(off, member,
			member+policy+"  priority-flow-control mode on\n", 1), "no-classification",
			"interface Ethernet1/2"},
		{"at a member whose channel is not in the text", strings.Replace(strings.Replace(off,
			"interface port-channel10\n  mtu 9216\n", "", 1), member, member+policy, 1), "member-idle", ""},
		{"another MTU", strings.Replace(bundled, member+"  mtu 9216", member+"  mtu 1500", 1), "member-idle",
			"mtu 1500"},
		{"no MTU at the channel", strings.Replace(bundled, "channel10\n  mtu 9216\n", "channel10\n", 1),
			"member-idle", ""},
		{"PFC off at the channel", strings.Replace(bundled, "channel10\n",
			"channel10\n  priority-flow-control mode off\n", 1), "pfc-interface",
			"priority-flow-control mode off"},
		{"watchdog at the channel", "priority-flow-control watch-dog-interval on\n" +
			strings.Replace(bundled, "channel10\n",
				"channel10\n  priority-flow-control watch-dog-interval on\n", 1), "watchdog-missing", ""},
		{"watchdog at one member", "priority-flow-control watch-dog-interval on\n" +
			with("  priority-flow-control watch-dog-interval on\n"), "watchdog-missing",
			"interface Ethernet1/1"},
		{"and on at a member", strings.Replace(with("  priority-flow-control mode on\n"), "channel10\n",
			"channel10\n  priority-flow-control mode off\n", 1), "member-idle",
			"priority-flow-control mode on"},
	} {
		lines := found(t, c.text, c.rule)
		if c.line == "" && len(lines) > 0 || c.line != "" && (len(lines) == 0 || lines[0] != c.line) {
			t.Errorf("%s: %s on %q, want %q", c.what, c.rule, lines, c.line)
		}
	}
}

// Bundles whose policies are at their members, as an earlier version rendered them, are errors.
func TestMemberFindings(t *testing.T) {
	g := fabric(t, "dual-rail")
	for _, multihome := range []string{design.MLAG, design.ESI} {
		d, err := plan(g, spec(), swconf.NXOS, design.Numbered, multihome, "")
		if err != nil {
			t.Fatal(err)
		}
		files, err := dialect.Render(d)
		if err != nil {
			t.Fatal(err)
		}
		const policy = "  service-policy type qos input CLASSIFY\n"
		seen := map[string]int{}
		for _, f := range files {
			if !strings.HasSuffix(f.Path, ".cfg") {
				continue
			}
			var old strings.Builder // from the channels to the members
			for _, block := range strings.SplitAfter(f.Text, "no shutdown\n") {
				at := strings.Index(block, "interface Ethernet")
				if at < 0 {
					at = len(block)
				}
				old.WriteString(strings.ReplaceAll(block[:at], policy, ""))
				if strings.Contains(block[at:], "channel-group") && !strings.Contains(block[at:], policy) {
					old.WriteString(strings.Replace(block[at:], "  channel-group",
						policy+"  channel-group", 1))
				} else {
					old.WriteString(block[at:])
				}
			}
			c, err := dialect.Parse(f.Path, []byte(old.String()), "")
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range lint(g, []*swconf.Config{c}) {
				seen[f.Rule]++
			}
		}
		if seen["no-classification"] == 0 || seen["member-idle"] == 0 {
			t.Errorf("%s: found %v", multihome, seen)
		}
	}
}
