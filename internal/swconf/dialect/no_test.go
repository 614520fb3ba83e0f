package dialect_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"railyard/internal/long"
	"railyard/internal/swconf"
	"railyard/internal/swconf/cli"
	"railyard/internal/swconf/eos"
	"railyard/internal/swconf/frr"
	"railyard/internal/swconf/nxos"
)

// language is a command-line language as the tests below need it.
type language struct {
	parse        func(file string, text []byte) (*swconf.Config, error)
	commands     func() *cli.Mode
	before, last string            // makes a setting visible in the Config
	words        map[string]string // for captures
}

var languages = map[string]language{
	"nxos": {nxos.Parse, nxos.Commands,
		"class-map type qos match-any x\n  match dscp 26\npolicy-map type qos x\n  class x\n",
		"system qos\n  service-policy type qos input x\n  service-policy type queuing output x\n" +
			"  service-policy type network-qos x\n",
		map[string]string{"ports": "Ethernet1/1", "list": "24", "fields": "universal-id 3"}},
	"eos": {eos.Parse, eos.Commands, "interface Ethernet1\n   service-profile x\n",
		"platform trident mmu queue profile x apply\n",
		map[string]string{
			"ports": "Ethernet1",
			"names": "Ethernet1",
			"list":  "24 to traffic-class 3",
			"s":     "400g",
			"n":     "3",
		}},
	"frr": {frr.Parse, frr.Commands, "", "line vty\n", map[string]string{"name": "swp1"}},
}

// word returns a sample for a capture of a mode.
func (l language) word(m *cli.Mode, capture string) string {
	common := map[string]string{"prefix": "10.0.0.0/31", "addr": "10.0.0.1", "id": "10.0.0.1",
		"peer": "10.0.0.9", "who": "10.0.0.9", "mac": "00:11:22:33:44:55",
		"alpha": "2", "asn": "65000", "as": "65001", "text": "words"}
	switch {
	case capture == "name" && m.Name == "pmap-queuing":
		return "c-out-8q-q3"
	case capture == "name" && m.Name == "pmap-network-qos":
		return "c-8q-nq3"
	case l.words[capture] != "":
		return l.words[capture]
	}
	return common[capture]
}

// said returns the content of a Config without positions.
func said(c *swconf.Config) string {
	c = &swconf.Config{OS: c.OS, Hostname: c.Hostname, LLDP: c.LLDP, Watchdog: c.Watchdog, Buffer: c.Buffer,
		HashSeed: c.HashSeed, DLB: c.DLB, Ports: c.Ports, BGP: c.BGP, QoS: c.QoS}
	var b strings.Builder
	var walk func(v reflect.Value)
	walk = func(v reflect.Value) {
		switch {
		case v.Type() == reflect.TypeFor[swconf.Place]():
		case v.Kind() == reflect.Pointer && v.IsNil():
			b.WriteString("nil ")
		case v.Kind() == reflect.Pointer:
			walk(v.Elem())
		case v.Kind() == reflect.Struct && v.Type().PkgPath() != "net/netip":
			for i := range v.NumField() {
				if v.Field(i).CanInterface() { // it is exported
					walk(v.Field(i))
				}
			}
		case v.Kind() == reflect.Slice || v.Kind() == reflect.Array:
			fmt.Fprintf(&b, "%d:", v.Len())
			for i := range v.Len() {
				walk(v.Index(i))
			}
		default:
			fmt.Fprintf(&b, "%v ", v.Interface())
		}
	}
	walk(reflect.ValueOf(c))
	return b.String()
}

// visit goes through all commands of a language with the lines that lead to them, each mode once. A mode is
// identified by a name and its number of commands, however it was entered.
func visit(l language, m *cli.Mode, lines []string, entered map[string]bool, f func(m *cli.Mode,
	lines []string, c cli.Command, sample string)) {
	mode := fmt.Sprint(m.Name, " ", len(m.Commands()))
	if entered[mode] {
		return
	}
	entered[mode] = true
	for i, c := range m.Commands() {
		word := func(capture string) string { return l.word(m, capture) }
		seen, all := map[string]bool{}, []string{}
		for pick := -1; pick < 3; pick++ {
			line := strings.Repeat("  ", len(lines)) + c.Sample(word, pick)
			if strings.HasPrefix(c.Pattern, "banner") || seen[line] {
				continue
			}
			seen[line] = true
			all = append(all, line)
			scanned, err := cli.Scan("x", []byte(line))
			if err != nil || len(scanned) != 1 || c.Only {
				continue
			}
			if inner := c.Enter(&scanned[0]); inner != nil && inner != m && !inner.Skipped() &&
				len(lines) < 4 {
				visit(l, inner, append(slices.Clone(lines), line), entered, f)
			}
		}
		for k, line := range all {
			if long.On() || k == i%len(all) {
				f(m, lines, c, line)
			}
		}
	}
}

// no puts a word before the first word of a line.
func no(word, line string) string {
	text := strings.TrimLeft(line, " ")
	return line[:len(line)-len(text)] + word + " " + text
}

// For every command of every language: either it supports no and default, which then remove its setting and restore
// the previous one, or the line with them is reported as not understood. In no case, however much the line is
// shortened, does no set anything itself. ("no random-detect", "no match dscp 24" and "no mtu" set the value.)
// Without long tests each command has one line, with one of its keywords, in turn.
func TestNoNeverSets(t *testing.T) {
	for name, l := range languages {
		tried, effective, bases := 0, 0, map[string]string{}
		read := func(lines ...string) (*swconf.Config, string) {
			c, err := l.parse("x", []byte(l.before+strings.Join(lines, "\n")+"\n"+l.last))
			if err != nil {
				t.Fatalf("%s: %q: %v", name, lines, err)
			}
			return c, said(c)
		}
		unknown := func(c *swconf.Config, line string) bool {
			return slices.ContainsFunc(c.Unknown, func(u swconf.Unknown) bool {
				return u.Text == strings.TrimSpace(line)
			})
		}
		visit(l, l.commands(), nil, map[string]bool{}, func(m *cli.Mode, lines []string, c cli.Command,
			line string) {
			tried++
			context := strings.Join(lines, "\n")
			if _, known := bases[context]; !known {
				_, bases[context] = read(lines...)
			}
			base := bases[context]
			_, set := read(append(slices.Clone(lines), line)...)
			if set != base {
				effective++
			}
			for _, word := range []string{"no", "default"} {
				off := no(word, line)
				alone, after := read(append(slices.Clone(lines), off)...)
				if both, left := read(append(slices.Clone(lines), line, off)...); !c.No {
					if !unknown(alone, off) || !unknown(both, off) || after != base || left != set {
						t.Errorf("%s %q: %q is read as a command that does not understand it",
							name, lines, off)
					}
					continue
				} else if opensPort := strings.HasPrefix(c.Pattern, "interface"); left != base &&
					!opensPort && !answers(c) && (set != base || left != after) {
					t.Errorf("%s %q: %q leaves something of %q", name, lines, off, line)
				}
				if after != base && set != base && !answers(c) { // set == base: it was set before
					t.Errorf("%s %q: %q says something", name, lines, off)
				}
				f := strings.Fields(off)
				for n := 2; n < len(f) && word == "no"; n++ {
					short := off[:strings.Index(off, word)] + strings.Join(f[:n], " ")
					if _, left := read(append(slices.Clone(lines), line, short)...); left != set &&
						left != base && left != after && !answers(c) {
						t.Errorf("%s %q: behind %q, %q says something else", name, lines, line, short)
					}
				}
			}
		})
		if tried < 40 || effective < 15 {
			t.Errorf("%s: %d commands tried, %d of them change what is said", name, tried, effective)
		}
	}
}

// answers are commands that are on by default, so their no is the setting.
func answers(c cli.Command) bool {
	for _, p := range []string{"lldp run", "lldp <what", "bgp ebgp-requires-policy", "bgp bestpath",
		"neighbor <who> activate", "neighbor <peer> activate",
		"qos trust", "switchport", "error-correction"} { // no error-correction encoding is no FEC
		if strings.HasPrefix(c.Pattern, p) {
			return true
		}
	}
	return false
}

// The examples: a setting removed by no is gone, and a line that is not understood is named.
func TestNoInSwitchTexts(t *testing.T) {
	queue := "policy-map type queuing x\n  class type queuing c-out-8q-q3\n" +
		"    bandwidth remaining percent 60\n" +
		"    random-detect minimum-threshold 150 kbytes maximum-threshold 3000 kbytes drop-probability 7 " +
		"weight 0 ecn\n"
	classes := "class-map type qos match-any x\n  match dscp 24,26\npolicy-map type qos x\n  class x\n" +
		"    set qos-group 3\n"
	system := languages["nxos"].last
	for text, check := range map[string]func(c *swconf.Config) bool{
		queue + "    no random-detect\n" + system: func(c *swconf.Config) bool {
			return !c.QoS.Queues[3].WRED.Is() && c.QoS.Queues[3].Share.V == 60
		},
		queue + "    default random-detect\n" + system: func(c *swconf.Config) bool {
			return !c.QoS.Queues[3].WRED.Is()
		},
		queue + "    no bandwidth remaining percent 60\n" + system: func(c *swconf.Config) bool {
			return c.QoS.Queues[3].Share.V == 0 && c.QoS.Queues[3].WRED.Is()
		},
		classes + "class-map type qos match-any x\n  no match dscp 24\n" +
			system: func(c *swconf.Config) bool {
			return c.QoS.DSCP[24].V == 0 && c.QoS.DSCP[26].V == 3
		},
		classes + "class-map type qos match-any x\n  no match dscp 40\n" +
			system: func(c *swconf.Config) bool {
			return c.QoS.DSCP[40].V == 0 && c.QoS.DSCP[24].V == 3
		},
		classes + "no class-map type qos match-any x\n" + system: func(c *swconf.Config) bool {
			return c.QoS.DSCP[24].V == 0
		},
		classes + "class-map type qos match-any x\n  match ip dscp 99\n" +
			system: func(c *swconf.Config) bool {
			return len(c.Faults) > 0 && strings.Contains(c.Faults[len(c.Faults)-1].Message, `"99" is not a DSCP`)
		},
		classes + "class-map type qos match-any x\n  match precedence 9\n" +
			system: func(c *swconf.Config) bool {
			return len(c.Faults) > 0 && strings.Contains(c.Faults[len(c.Faults)-1].Message,
				`"9" is not a precedence`)
		},
		"interface Ethernet1/1\n  mtu 9216\n  no mtu\n" + system: func(c *swconf.Config) bool {
			return !c.Ports[0].MTU.Is()
		},
		"interface Ethernet1/1\n  no mtu 9216\n" + system: func(c *swconf.Config) bool {
			return !c.Ports[0].MTU.Is()
		},
		"default interface Ethernet1/1\nhostname a\n" + system: func(c *swconf.Config) bool {
			return len(c.Ports) == 0 && len(c.Unknown) == 0
		},
		"no system qos\nhostname a\n" + classes: func(c *swconf.Config) bool {
			return len(c.Unknown) == 1 && c.Unknown[0].Why == `"no" is not understood before "system"`
		},
	} {
		c, err := nxos.Parse("x", []byte(text))
		if err != nil || !check(c) {
			t.Errorf("%s\n%v, unknown %v, faults %v", text, err, c.Unknown, c.Faults)
		}
	}
	eosText := "interface Ethernet1\n   mtu 9214\n   tx-queue 3\n" +
		"      random-detect ecn minimum-threshold 150 kbytes maximum-threshold 3000 kbytes\n" +
		"      no random-detect ecn\n   no mtu\n   priority-flow-control on\n   no priority-flow-control\n"
	if c, err := eos.Parse("x", []byte(eosText)); err != nil || c.Ports[0].MTU.Is() ||
		c.Ports[0].QoS.Queues[3].WRED.Is() || c.Ports[0].PFC.V == swconf.PFCOn || len(c.Unknown) > 0 {
		t.Errorf("EOS: %v %+v", err, c.Ports[0])
	}
	frrText := "router bgp 65000\n neighbor swp1 interface remote-as external\n no neighbor swp1\n" +
		" address-family ipv4 unicast\n  network 10.0.0.0/24\n  no network 10.0.0.0/24\n" +
		"  no maximum-paths 8\n exit-address-family\nline vty\n"
	if c, err := frr.Parse("x", []byte(frrText)); err != nil ||
		len(c.BGP.Neighbors)+len(c.BGP.Networks)+len(c.Unknown) > 0 || c.BGP.MaxPaths.V != 64 {
		t.Errorf("FRR: %v %+v", err, c.BGP)
	}
}
