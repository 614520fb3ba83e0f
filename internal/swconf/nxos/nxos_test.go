package nxos_test

import (
	"os"
	"strings"
	"testing"

	"railyard/internal/queue"
	"railyard/internal/swconf"
	"railyard/internal/swconf/nxos"
	"railyard/unit"
)

func parse(t *testing.T, text string) *swconf.Config {
	t.Helper()
	c, err := nxos.Parse("x.cfg", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func read(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// seed is the six steps of the source document, as printed there, with its ellipses.
func seed(t *testing.T) string { return read(t, "seed-dcqcn.cfg") }

// The source document's six steps describe the simulator's default switch.
func TestSeed(t *testing.T) {
	c := parse(t, seed(t))
	for _, u := range c.Unknown {
		if u.Text != "..." {
			t.Errorf("line %d: %q: %s", u.At.Line, u.Text, u.Why)
		}
	}
	if len(c.Unknown) != 2 {
		t.Errorf("%d lines unknown, want the two ellipses", len(c.Unknown))
	}
	s, _, err := c.Spec(queue.Default())
	if err != nil {
		t.Fatal(err)
	}
	want := queue.Default()
	want.Queues[0].Weight = 0 // hidden in an ellipsis
	want.Watchdog = queue.Watchdog{On: true, Poll: 100 * unit.Millisecond, Detect: 100 * unit.Millisecond,
		Restore: 100 * unit.Millisecond}
	if s != swconf.Normal(want) {
		t.Errorf("\n got %+v\nwant %+v", s, want)
	}
}

// The source's DLB example is a session's transcript, with prompts.
func TestSeedDLB(t *testing.T) {
	c := parse(t, read(t, "seed-dlb.cfg"))
	d := c.DLB
	if len(c.Unknown) > 0 || d == nil || d.Mode.V != "per-packet" || d.MAC.V != "aa:bb:cc:dd:ee:ff" ||
		len(d.Ports) != 2 || d.Ports[1].V != "Ethernet1/2" || d.Ports[1].At.Line != 3 {
		t.Errorf("%+v, unknown %+v", d, c.Unknown)
	}
}

// One meaning, in any notation.
func TestGrammar(t *testing.T) {
	plain := seed(t)
	want := parse(t, plain).QoS
	wantPort := parse(t, plain).Ports[0]
	lines := func(f func(string) string) string {
		var out []string
		for _, l := range strings.Split(plain, "\n") {
			out = append(out, f(l))
		}
		return strings.Join(out, "\n")
	}
	flat := lines(func(l string) string { return strings.TrimSpace(l) })
	short := strings.NewReplacer("class-map type qos match-any", "class-m ty qos match-any", "policy-map",
		"pol", "match dscp", "mat dscp", "set qos-group", "set qos",
		"bandwidth remaining percent", "band rem perc", "random-detect minimum-threshold", "random min",
		"kbytes maximum-threshold", "kb max", "kbytes drop-probability", "kb drop",
		"service-policy type", "serv ty", "priority-flow-control", "priority-flow", "interface Ethernet 2/24",
		"int e2/24").Replace(plain)
	for name, text := range map[string]string{
		"CRLF":            strings.ReplaceAll(plain, "\n", "\r\n"),
		"tabs":            strings.ReplaceAll(plain, "  ", "\t"),
		"no indentation":  flat,
		"trailing blanks": lines(func(l string) string { return l + "   \t" }),
		"comments": "!Command: show running-config\n! and more\n" + lines(func(l string) string {
			return l + "\n!\n  ! inside"
		}),
		"banner": "banner motd #\ninterface Ethernet1/9\n  shutdown\n#\n" + plain +
			"\nbanner exec ^CHello^C\n",
		"abbreviations": short,
		"capitals": strings.NewReplacer("match dscp", "MATCH DSCP", "interface Ethernet",
			"Interface ethernet").Replace(plain),
		"exits":           strings.ReplaceAll(flat, "\npolicy-map", "\nexit\nexit\npolicy-map") + "\nend\n",
		"prompts":         lines(func(l string) string { return "leaf-1(config)# " + strings.TrimSpace(l) }),
		"byte order mark": "\ufeff" + plain,
		"no forms undone": plain + "\ninterface Ethernet2/24\n  shutdown\n  no shutdown\n" +
			"  priority-flow-control mode off\n  no priority-flow-control mode\n",
		"more of the box": "version 10.3(4a) Bios:version\nvdc leaf id 1\n" +
			"  limit-resource vlan minimum 16 maximum 4094\n" +
			"username admin password 5 $5$x  role network-admin\nsnmp-server user a b\n" + plain,
	} {
		c := parse(t, text)
		for _, u := range c.Unknown {
			if u.Text != "..." {
				t.Errorf("%s: line %d: %q: %s", name, u.At.Line, u.Text, u.Why)
			}
		}
		if len(c.Ports) != 1 || c.Ports[0].Name != "Ethernet2/24" || c.Ports[0].Down.V ||
			c.Ports[0].PFC.V != swconf.PFCAuto {
			t.Errorf("%s: ports %+v", name, c.Ports)
			continue
		}
		if c.Ports[0].QoS.Fingerprint() != wantPort.QoS.Fingerprint() ||
			c.QoS.Fingerprint() != want.Fingerprint() || !c.Watchdog.On.V || !c.Ports[0].Watchdog.V {
			t.Errorf("%s: reads differently", name)
		}
	}
}

// A full running configuration: every line is recognized or ignored, and the ports' treatment is known.
func TestRunningConfig(t *testing.T) {
	c := parse(t, read(t, "running-config.cfg"))
	for _, u := range c.Unknown {
		t.Errorf("line %d: %q: %s", u.At.Line, u.Text, u.Why)
	}
	if c.Hostname.V != "leaf-101" || !c.LLDP.V || len(c.Ports) != 6 {
		t.Errorf("hostname %q, LLDP %v, %d ports", c.Hostname.V, c.LLDP.V, len(c.Ports))
	}
	p := c.Port("Ethernet1/3")
	if p == nil || p.Number != 3 || p.QoS.DSCP[26].V != 3 || p.QoS.DSCP[31].V != 3 || p.QoS.DSCP[48].V != 7 ||
		p.MTU.V != 9216 || p.PFC.V != swconf.PFCOn {
		t.Errorf("Ethernet1/3: %+v", p)
	}
	if q := c.Port("Ethernet1/1").QoS; q.Input.Is() {
		t.Error("Ethernet1/1 classifies")
	}
	if b := c.BGP; b == nil || b.ASN.V != 65101 || len(b.Neighbors) != 2 ||
		b.Neighbors[0].Remote.V != "65001" || !b.Neighbors[0].Active || b.MaxPaths.V != 8 {
		t.Errorf("BGP %+v", b)
	}
	s, _, err := c.Spec(queue.Default())
	if err != nil || s.Queues[3].XOff != 62_400 || s.Queues[3].XOn != 41_600 ||
		s.Queues[3].Headroom != 39_520 || s.Queues[3].WRED.Weight != 0 || s.MTU != 9216 {
		t.Errorf("%v %+v", err, s.Queues[3])
	}
}

// A line that is not understood is reported with its position, and the other lines keep their meaning.
func TestUnknown(t *testing.T) {
	const pfc = "  priority-flow-control mode "
	const port, mtu = "interface Ethernet1/1\n", "\n  mtu 9216"
	const queue = "policy-map type queuing A\n  class type queuing c-out-8q-q3\n"
	for text, want := range map[string]struct {
		line, col int
		why       string
	}{
		port + "  sped 100" + mtu:                  {2, 3, "unknown command"},
		port + "  mtu big" + mtu:                   {2, 7, `found "big", expected a whole number`},
		port + "  s" + mtu:                         {2, 3, "ambiguous"},
		port + pfc + "sometimes" + mtu:             {2, 30, `found "sometimes", expected auto or on or off`},
		port + "  mtu 1500 9000" + mtu:             {2, 12, "expected the end of the line"},
		queue + "    priority level\nfeature lldp": {3, 19, "the command ends early"},
	} {
		c := parse(t, text)
		if len(c.Unknown) != 1 || c.Unknown[0].At.Line != want.line || c.Unknown[0].At.Col != want.col ||
			!strings.Contains(c.Unknown[0].Why, want.why) {
			t.Errorf("%q: %+v, want %+v", text, c.Unknown, want)
		}
		if strings.Contains(text, "mtu 9216") && (len(c.Ports) != 1 || c.Ports[0].MTU.V != 9216) {
			t.Errorf("%q: the line behind it is lost", text)
		}
	}
}

// If ports queue and none classifies, the simulation uses the switch's own QoS. The note about the difference still
// names a port. It once used the typical port, which does not exist.
func TestPortsThatOnlyQueue(t *testing.T) {
	c := parse(t, `feature lldp
policy-map type queuing OUT
  class type queuing c-out-8q-q3
    bandwidth remaining percent 50
interface Ethernet1/1
  service-policy type queuing output OUT
interface Ethernet1/2
  mtu 9216
`)
	_, notes, err := c.Spec(queue.Default())
	if err != nil {
		t.Fatal(err)
	}
	want := "Ethernet1/1 differ from the other ports; all are simulated like Ethernet1/2"
	if !strings.Contains(strings.Join(notes, "\n"), want) {
		t.Errorf("notes %q, want one with %q", notes, want)
	}
}

// TestUnappliedThresholds checks that WRED thresholds in the wrong order are an error in a policy that nothing applies,
// too, and that an applied policy is left to the lint, which names the queue.
func TestUnappliedThresholds(t *testing.T) {
	const policy = `policy-map type queuing OUT
  class type queuing c-out-8q-q3
    random-detect minimum-threshold 3000 kbytes maximum-threshold 150 kbytes drop-probability 7 weight 0 ecn
`
	for text, want := range map[string]int{policy: 1,
		policy + "system qos\n  service-policy type queuing output OUT\n": 0,
		strings.ReplaceAll(policy, "3000", "100"):                         0} {
		c := parse(t, text)
		if n := len(c.Faults); n != want || n > 0 && (c.Faults[0].Rule != "threshold-order" || c.Faults[0].Line != 3) {
			t.Errorf("%s: %+v", text, c.Faults)
		}
	}
}
