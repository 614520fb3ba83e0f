package junos

import (
	"fmt"
	"strings"
	"testing"

	"railyard/internal/queue"
	"railyard/internal/swconf"
	"railyard/internal/swconf/tell"

	"pgregory.net/rapid"
)

// roce is a switch's text in which data of a DSCP have a class; more is added to it.
func roce(dscp, class int, more string) string {
	return fmt.Sprintf(`set interfaces et-0/0/0 mtu 9216
set interfaces et-0/0/0 unit 0 family inet address 10.0.0.0/31
set class-of-service forwarding-classes class DATA queue-num %[2]d no-loss pfc-priority %[2]d
set class-of-service forwarding-classes class CNP queue-num 6
set class-of-service classifiers dscp C forwarding-class DATA loss-priority low code-points %06[1]b
set class-of-service classifiers dscp C forwarding-class CNP loss-priority low code-points cs6
set class-of-service congestion-notification-profile P input dscp code-point %06[1]b pfc
%[4]s output ieee-802.1 code-point %03[2]b flow-control-queue %[2]d
set class-of-service drop-profiles D interpolate fill-level [ 20 60 ]
set class-of-service drop-profiles D interpolate drop-probability [ 0 100 ]
set class-of-service schedulers S drop-profile-map loss-priority any protocol any drop-profile D
set class-of-service schedulers S explicit-congestion-notification
set class-of-service schedulers S transmit-rate percent 50
set class-of-service schedulers T priority strict-high
set class-of-service scheduler-maps M forwarding-class DATA scheduler S
set class-of-service scheduler-maps M forwarding-class CNP scheduler T
set class-of-service interfaces et-* scheduler-map M
set class-of-service interfaces et-* congestion-notification-profile P
set class-of-service interfaces et-* unit * classifiers dscp C
%[3]s`, dscp, class, more, "set class-of-service congestion-notification-profile P")
}

// A drop profile is the same on one line, as Juniper's QFX reference has it, in braces, with lists and on four lines.
func TestDropProfileForms(t *testing.T) {
	const old = "fill-level [ 20 60 ]\nset class-of-service drop-profiles D interpolate drop-probability [ 0 100 ]"
	const profile = "set class-of-service drop-profiles D interpolate "
	line := strings.NewReplacer(" fill", "\n"+profile+"fill", " drop", "\n"+profile+"drop")
	for _, low := range []int{1, 20} {
		one := fmt.Sprintf("fill-level %d fill-level 60 drop-probability 0 drop-probability 100", low)
		for _, form := range []string{one, line.Replace(one), fmt.Sprintf("drop-probability 0 drop-probability 100 "+
			"fill-level %d fill-level 60", low), fmt.Sprintf("fill-level [ %d 60 ] drop-probability [ 0 100 ]", low)} {
			c, err := Parse("x", []byte(strings.Replace(roce(26, 3, ""), old, form, 1)))
			if err != nil {
				t.Fatal(err)
			}
			w := c.Ports[0].QoS.Queues[3].WRED.V
			if got := fmt.Sprint(w.MinText, " – ", w.MaxText, " ", w.Percent); len(c.Faults) > 0 ||
				got != fmt.Sprintf("%d %% of the queue's buffer – 60 %% 100", low) {
				t.Errorf("%s: %s, %v", form, got, c.Faults)
			}
		}
	}
}

// Class-of-service of a port without a unit, which carries no packets, is a note of lint and of show where other ports
// have units; patterns, members of bundles and disabled ports are none.
func TestNoUnit(t *testing.T) {
	const port, cos = "set interfaces et-0/0/", "set class-of-service interfaces et-0/0/"
	for more, want := range map[string]string{
		"": "", cos + "1 classifiers dscp C\n" + cos + "1 scheduler-map M\n": "et-0/0/1",
		cos + "1 unit 0 classifiers dscp C\n" + cos + "2 scheduler-map M\n" + port + "2 mtu 9216\n": "et-0/0/1-2",
		cos + "2 scheduler-map M\n" + port + "2 disable\n":                                          "",
		cos + "2 scheduler-map M\n" + port + "2 ether-options 802.3ad ae1\n":                        "",
		cos + "2 scheduler-map M\n" + port + "2 unit 0 family inet address 10.0.0.4/31\n":           "",
	} {
		c, err := Parse("x", []byte(roce(26, 3, more)))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, f := range c.Faults {
			got += f.Message
		}
		_, notes, err := c.Spec(queue.Default())
		if want != "" {
			want = "class-of-service of " + want + " has no effect: no unit"
		}
		if err != nil || got != want || strings.Contains(strings.Join(notes, "\n"), "no unit") != (want != "") {
			t.Errorf("%s%s, %v, %v, want %s", more, got, notes, err, want)
		}
	}
}

// The simulation follows the text: the DSCP's queue is lossless and marks, and CNPs are first, for any numbers.
// Without the profile nothing is paused, and without the scheduler's setting nothing is marked.
func TestSpec(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dscp := rapid.SampledFrom([]int{8, 18, 24, 26, 34, 40}).Draw(rt, "dscp")
		class := rapid.IntRange(0, 5).Draw(rt, "queue")
		pauses, marks := rapid.Bool().Draw(rt, "pauses"), rapid.Bool().Draw(rt, "marks")
		more := ""
		if !pauses {
			more += "deactivate class-of-service interfaces et-* congestion-notification-profile\n"
		}
		if !marks {
			more += "delete class-of-service schedulers S explicit-congestion-notification\n"
		}
		c, err := Parse("x", []byte(roce(dscp, class, more)))
		if err != nil {
			rt.Fatal(err)
		}
		spec, _, err := c.Spec(queue.Default())
		if err != nil {
			rt.Fatal(err)
		}
		if got := int(spec.DSCP[dscp]); got != class {
			rt.Fatalf("DSCP %d goes to queue %d, want %d", dscp, got, class)
		}
		for i, k := range spec.Queues {
			if want := pauses && i == class; k.Lossless != want {
				rt.Fatalf("queue %d is lossless: %v, want %v\n%s", i, k.Lossless, want, tell.Facts(c))
			}
			if want := marks && i == class; k.WRED.ECN != want {
				rt.Fatalf("queue %d marks: %v, want %v\n%s", i, k.WRED.ECN, want, tell.Facts(c))
			}
			if k.Strict != (i == 6) {
				rt.Fatalf("queue %d is strict: %v", i, k.Strict)
			}
		}
	})
}

// A group's setting of an interface equals the interface's own.
func TestGroupsSayTheSame(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(rt, "ports")
		var plain, grouped strings.Builder
		leaf := rapid.SampledFrom([]string{"mtu 9000", "speed 100g", "unit 0 vlan-id 7", "disable",
			"ether-options 802.3ad ae3"}).Draw(rt, "leaf")
		fmt.Fprintf(&grouped, "set groups G interfaces <et-*> %s\nset apply-groups G\n",
			strings.Replace(leaf, "unit 0", "unit <*>", 1))
		for i := range n {
			head := fmt.Sprintf("set interfaces et-0/0/%d unit 0 family inet address 10.0.%d.0/31\n", i, i)
			plain.WriteString(head + fmt.Sprintf("set interfaces et-0/0/%d %s\n", i, leaf))
			grouped.WriteString(head)
		}
		a, err := Parse("x", []byte(plain.String()))
		if err != nil {
			rt.Fatal(err)
		}
		b, err := Parse("x", []byte(grouped.String()))
		if err != nil {
			rt.Fatal(err)
		}
		if x, y := tell.Facts(a), tell.Facts(b); x != y {
			rt.Fatalf("interfaces say\n%s\na group says\n%s", x, y)
		}
	})
}

// A text truncated anywhere is parsed or rejected with its position. Nothing panics, and all lines are counted.
func TestCutAnywhere(t *testing.T) {
	whole := roce(26, 3, "set groups G interfaces <*> mtu 9000\nset apply-groups G\n")
	rapid.Check(t, func(rt *rapid.T) {
		cut := rapid.IntRange(0, len(whole)).Draw(rt, "cut")
		c, err := Parse("x", []byte(whole[:cut]))
		if err == nil && c.Read+c.Passed+len(c.Unknown) != c.Total {
			rt.Fatalf("%d read, %d passed over, %d unknown of %d", c.Read, c.Passed, len(c.Unknown), c.Total)
		}
		if err != nil && !strings.HasPrefix(err.Error(), "x:") && !strings.Contains(err.Error(), "empty") {
			rt.Fatalf("%v names no place", err)
		}
	})
}

// The queues that pauses stop without an output part, and with one.
func TestStops(t *testing.T) {
	for _, c := range []struct {
		output string
		want   swconf.Severity // severity of its finding; "" is none
	}{{"", swconf.Warning}, {"flow-control-queue 4", ""}, {"flow-control-queue 5", swconf.Warning},
		{"flow-control-queue [ 3 4 ]", ""}} {
		text := strings.Replace(roce(26, 4, ""), "flow-control-queue 4", c.output, 1)
		if c.output == "" {
			text += "delete class-of-service congestion-notification-profile P output\n"
		}
		text = strings.Replace(text, "pfc-priority 4", "pfc-priority 3", 1)
		text = strings.Replace(text, "code-point 100 flow", "code-point 011 flow", 1)
		got, err := Parse("x", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		var found swconf.Severity
		for _, f := range got.Faults {
			found = f.Severity
		}
		if found != c.want && !(c.output == "flow-control-queue 5" && got.Ports[0].QoS.Stops[3].V == 5) {
			t.Errorf("%q: %q, want %q: %v", c.output, found, c.want, got.Faults)
		}
	}
}

// A port that classifies by VLAN tags is not compared with one that uses DSCPs: the uplink of a storage switch was
// an error. A port with another map of the DSCP is.
func TestTagsAgainstDSCPs(t *testing.T) {
	const port = `set interfaces et-0/0/9 mtu 9216
set interfaces et-0/0/9 unit 0 family ethernet-switching interface-mode trunk
set class-of-service classifiers ieee-802.1 L forwarding-class DATA loss-priority low code-points 011
set class-of-service classifiers dscp E forwarding-class CNP loss-priority low code-points af31
set class-of-service interfaces et-0/0/9 unit 0 classifiers `
	for classifier, want := range map[string]bool{"ieee-802.1 L": false, "dscp E": true} {
		text := strings.ReplaceAll(roce(26, 3, port+classifier+"\n"), "et-*", "et-0/0/0")
		c, err := Parse("x", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, f := range swconf.Lint(swconf.Input{Configs: []*swconf.Config{c}, PathMTU: 4096, DataDSCP: 26,
			CNPDSCP: 48}) {
			found = found || f.Rule == "dscp-differs"
		}
		if found != want {
			t.Errorf("%s: dscp-differs is said: %v, want %v", classifier, found, want)
		}
	}
}

// Who classes by RoCE's port has CNPs among the data: a text alone is advised and not blamed.
func TestCNPsByPort(t *testing.T) {
	for filter, want := range map[string]swconf.Severity{
		"from destination-port 4791": swconf.Warning, "from dscp [ 26 48 ]": swconf.Error} {
		c, err := Parse("x", []byte(roce(26, 3, "set firewall family inet filter F term a "+filter+`
set firewall family inet filter F term a then forwarding-class DATA
set firewall family inet filter F term b then accept
set interfaces et-0/0/0 unit 0 family inet filter input F
`)))
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, f := range swconf.Lint(swconf.Input{Configs: []*swconf.Config{c}, PathMTU: 4096, DataDSCP: 26,
			CNPDSCP: 48}) {
			if f.Rule == "cnp-in-roce-queue" {
				if found = true; f.Severity != want {
					t.Errorf("%s: %v, want %v", filter, f.Severity, want)
				}
			}
		}
		if !found {
			t.Errorf("%s: nothing is said of CNPs among the data", filter)
		}
	}
}
