package junos

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"railyard/internal/long"
	"railyard/internal/story"
	"railyard/internal/swconf"
	"railyard/internal/swconf/tell"

	"pgregory.net/rapid"
)

// Properties are drawn 40 times, or 400 when long tests run.
var _ = long.Draws(40, 400)

func facts(text string) string {
	c, err := Parse("junos.conf", []byte(text))
	if err != nil {
		return "refused: " + err.Error()
	}
	return strings.TrimSpace(fmt.Sprintf("%s\n%d lines: %d read, %d passed", tell.Facts(c), c.Total, c.Read,
		c.Passed))
}

// The meaning of the statements, and the reports on malformed ones.
func TestLines(t *testing.T) { story.Cases(t, "lines", facts) }

// Typed statements, groups, filters and bundles, and what Junos rejects.
func TestTyped(t *testing.T) { story.Cases(t, "typed", facts) }

// MC-LAG, ICCP and Ethernet segments, and their errors.
func TestMultihome(t *testing.T) { story.Cases(t, "multihome", facts) }

// The system's known properties come from the platform's sheet.
func TestDefaults(t *testing.T) {
	for _, key := range []string{"best_effort", "fcoe", "no_loss", "network_control", "mtu",
		"watchdog_polling_ms"} {
		if _, ok := known.Number(key); !ok {
			t.Errorf("%s is not a number", key)
		}
	}
}

var paths = []string{"system host-name a", "interfaces et-0/0/0 mtu 9216", "interfaces et-0/0/0 speed 400g",
	"interfaces et-0/0/0 unit 0 family inet address 10.0.0.0/31", "interfaces ae1 mtu 9000",
	"interfaces et-0/0/1 ether-options 802.3ad ae1",
	"class-of-service forwarding-classes class N queue-num 4",
	"class-of-service forwarding-classes class N pfc-priority 3",
	"class-of-service classifiers dscp C forwarding-class N loss-priority low code-points 011010",
	"class-of-service interfaces et-0/0/0 unit 0 classifiers dscp C",
	"class-of-service congestion-notification-profile P input dscp code-point 011010 pfc",
	"class-of-service interfaces et-* congestion-notification-profile P",
	"routing-options autonomous-system 65001", "protocols bgp group G neighbor 10.0.0.1 peer-as 65002"}

// Braces equal set commands, for a block after any word of a statement.
func TestBothForms(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, len(paths)).Draw(rt, "n")
		list := rapid.Permutation(paths).Draw(rt, "order")[:n]
		braces := ""
		for _, p := range list {
			w := strings.Fields(p)
			cut := rapid.IntRange(1, len(w)-1).Draw(rt, "cut")
			braces += strings.Join(w[:cut], " ") + " { " + strings.Join(w[cut:], " ") + "; }\n"
		}
		a, err := Parse("a", []byte("set "+strings.Join(list, "\nset ")+"\n"))
		if err != nil {
			rt.Fatal(err)
		}
		b, err := Parse("a", []byte(braces))
		if err != nil {
			rt.Fatal(err, braces)
		}
		column := regexp.MustCompile(` column \d+`)
		told := func(c *swconf.Config) string { return column.ReplaceAllString(tell.Facts(c), "") }
		if x, y := told(a), told(b); x != y {
			rt.Fatalf("set commands say\n%s\nbraces say\n%s\n%s", x, y, braces)
		}
	})
}

// Any text is parsed or rejected without a panic, and its lines are all accounted for.
func FuzzParse(f *testing.F) {
	f.Add("set " + strings.Join(paths, "\nset ") + "\ndeactivate interfaces et-0/0/0\n")
	f.Add("groups { G { interfaces { <*> { mtu 9216; } } } }\napply-groups [ G H ];\ninterfaces { " +
		"et-0/0/0 { unit 0; } }\n")
	f.Add("interfaces { interface-range R { member \"et-0/0/[0-3]\"; member-range et-0/0/4 to et-0/0/9; " +
		"mtu 9216; } }\n")
	f.Fuzz(func(t *testing.T, text string) {
		if c, err := Parse("x", []byte(text)); err == nil && (c.Read < 0 ||
			c.Read+c.Passed+len(c.Unknown) != c.Total) {
			t.Errorf("%d read, %d passed over and %d unknown of %d lines", c.Read, c.Passed,
				len(c.Unknown), c.Total)
		}
	})
}
