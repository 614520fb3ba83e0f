package dialect_test

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"railyard/internal/queue"
	"railyard/internal/swconf"
	"railyard/internal/swconf/design"
	"railyard/internal/swconf/dialect"
	"railyard/internal/swconf/tell"
	"railyard/unit"

	"pgregory.net/rapid"
)

// junosSpec draws a switch within what Junos expresses: no fixed limits, headroom by cable, thresholds in percent.
func junosSpec(rt *rapid.T) queue.Spec {
	s := randomSpec(rt, swconf.NVUE)
	for i := range s.Queues {
		k := &s.Queues[i]
		k.Limit, k.Headroom, k.WRED.Weight = 0, 0, 0
		if k.Lossless && rapid.Bool().Draw(rt, fmt.Sprint(i, " dynamic")) {
			k.XOff, k.XOn = 0, 0
		}
	}
	return s
}

// TestJunosRoundTrip draws switches. The output parses to equal values, from set commands and from braces, and fill
// levels are the thresholds' shares of the queue's maximum.
func TestJunosRoundTrip(t *testing.T) {
	g := fabric(t, "rail")
	rapid.Check(t, func(rt *rapid.T) {
		s := junosSpec(rt)
		if rapid.IntRange(0, 9).Draw(rt, "one queue") == 0 {
			s.DSCP = [64]uint8{}
			for i := range s.Queues[1:] { // a queue without packets is not lossless
				k := &s.Queues[i+1]
				k.Lossless, k.XOn, k.XOff = false, 0, 0
			}
		}
		d, err := plan(g, s, swconf.Junos, design.Unnumbered, "", "")
		if err != nil {
			rt.Fatal(err)
		}
		cs, text := configs(t, d)
		c := cs[0]
		got, _, err := c.Spec(s)
		if err != nil {
			rt.Fatal(err, text[c.File])
		}
		if got != d.Switches[0].Spec {
			rt.Fatalf("%s\n%s", differs(got, d.Switches[0].Spec), text[c.File])
		}
		for i, k := range s.Queues {
			if k.WRED.Max == 0 || k.Lossless {
				continue
			}
			room := float64(s.Buffer) * k.Alpha / (1 + k.Alpha)
			want := max(1, min(99, math.Round(100*float64(k.WRED.Min)/room)))
			if said := c.Ports[0].QoS.Queues[i].WRED.V.MinText; said != fmt.Sprintf("%g %% of the queue's buffer", want) {
				rt.Fatalf("queue %d: %q, want %g %%", i, said, want)
			}
		}
		braced, err := dialect.Parse(c.File, []byte(braces(text[c.File])), swconf.Junos)
		if err != nil {
			rt.Fatal(err)
		}
		if a, b := tell.Facts(c), tell.Facts(braced); a != b {
			rt.Fatalf("set commands:\n%s\nbraces:\n%s", a, b)
		}
	})
}

var setLine = regexp.MustCompile(`(?m)^set (\S+) (.*)$`)

// braces writes set commands as a hierarchy of one level each.
func braces(text string) string { return setLine.ReplaceAllString(text, "$1 { $2; }") }

// TestJunosThresholds changes one line of a rendered switch: percentages and sizes that cannot be are found at a line.
func TestJunosThresholds(t *testing.T) {
	d, err := plan(fabric(t, "rail"), spec(), swconf.Junos, design.Numbered, "", "")
	if err != nil {
		t.Fatal(err)
	}
	cs, text := configs(t, d)
	whole := text[cs[0].File]
	levels := regexp.MustCompile(`fill-level \d+`).FindAllString(whole, 2)
	chance := regexp.MustCompile(`drop-probability [1-9]\d*`).FindString(whole)
	mru := regexp.MustCompile(`pfc mru \d+`).FindString(whole)
	if len(levels) < 2 || chance == "" || mru == "" {
		t.Fatal(whole)
	}
	for _, c := range []struct{ old, new, rule, want string }{
		{"", "", "", ""},
		{levels[0], "fill-level 99", "threshold-order", levels[1][5:] + " % of CLASS-3 follows 99 %"},
		{levels[1], levels[0], "threshold-order", "follows"},
		{levels[1], "fill-level 101", "bad-value", `"101" is not a percentage from 0 to 100`},
		{chance, "drop-probability 0", "ecn-never", "marks with probability 0"},
		{chance, "drop-probability 200", "bad-value", `"200" is not a percentage`},
		{mru, "pfc mru 1500", "headroom", "mru 1500 is below the MTU of ports with the profile: "},
	} {
		one, err := dialect.Parse(cs[0].File, []byte(strings.Replace(whole, c.old, c.new, 1)), "")
		if err != nil {
			t.Fatal(err)
		}
		found := ""
		for _, f := range lint(fabric(t, "rail"), append([]*swconf.Config{one}, cs[1:]...)) {
			if f.File == cs[0].File {
				found += fmt.Sprintf("%s:%d: %s\n", f.Rule, f.Line, f.Message)
			}
		}
		if c.want == "" && found != "" || !strings.Contains(found, c.want) || !strings.Contains(found, c.rule) ||
			strings.Contains(found, ":0:") {
			t.Errorf("%q: %q, want %s: %s", c.new, found, c.rule, c.want)
		}
	}
}

// TestJunosPairs renders MC-LAG and ESI-LAG. Both forms of the text have the pair and its bundles, and another
// chassis ID, service ID, ESI or system ID is found.
func TestJunosPairs(t *testing.T) {
	g := fabric(t, "dual-rail")
	for _, c := range []struct{ multihome, old, new, rule, want string }{
		{design.MLAG, "", "", "", ""},
		{design.ESI, "", "", "", ""},
		{design.MLAG, "chassis-id 0", "chassis-id 1", "mlag", "chassis-id 1"},
		{design.MLAG, "service-id 1", "service-id 9", "mlag", "service-id of"},
		{design.MLAG, "ae1 aggregated-ether-options mc-ae mc-ae-id 1", "ae1 aggregated-ether-options mc-ae mc-ae-id 2",
			"duplicate-definition", "has the mc-ae-id of"},
		{design.ESI, "esi 00:02:", "esi 02:", "bad-value", "is not an ESI of 10 octets"},
		{design.ESI, "00:02:00:00:01:00:02:00:00:00", "00:02:00:00:01:00:01:00:00:00", "duplicate-definition",
			"has the ESI of"},
		{design.ESI, "lacp system-id", "lacp periodic fast; #", "mlag", "has no LACP system ID"},
	} {
		d, err := plan(g, spec(), swconf.Junos, design.Numbered, c.multihome, "")
		if err != nil {
			t.Fatal(err)
		}
		_, text := configs(t, d)
		var cs []*swconf.Config
		for i, s := range d.Switches {
			path := s.Name + "/junos.cfg"
			broken := text[path]
			if i == 0 {
				broken = strings.Replace(strings.ReplaceAll(broken, c.old, c.new), "; #", "\n#", -1)
			}
			for _, form := range []string{broken, braces(broken)} {
				one, err := dialect.Parse(path, []byte(form), "")
				if err != nil {
					t.Fatal(err)
				}
				pair := one.MLAG != nil && one.Bundle(1).MLAG.V > 0
				segments := one.Bundle(1).Segment.V && one.Shares.V
				if c.want == "" && (pair != (c.multihome == design.MLAG) || pair == segments) {
					t.Errorf("%s, %s: pair %v, segments %v", c.multihome, s.Name, pair, segments)
				}
				if len(cs) == i {
					cs = append(cs, one)
				}
			}
		}
		found := ""
		for _, f := range lint(g, cs) {
			if found += fmt.Sprintf("%s:%d: %s: %s\n", f.File, f.Line, f.Rule, f.Message); f.Line == 0 {
				t.Errorf("%s has no line", f.Message)
			}
		}
		if c.want == "" && found != "" || !strings.Contains(found, c.want) || !strings.Contains(found, c.rule) {
			t.Errorf("%q: %q, want %s: %s", c.new, found, c.rule, c.want)
		}
	}
}

// TestWatchdogOfJunos: the times are the nearest that Junos accepts, and a note reports differences. The three
// values are the polling interval, the polls until detection, and the time until traffic continues.
func TestWatchdogOfJunos(t *testing.T) {
	const ms = unit.Millisecond
	for _, c := range []struct {
		poll, detect, restore unit.Time
		want                  [3]unit.Time
		note                  bool
	}{
		{100 * ms, 200 * ms, 200 * ms, [3]unit.Time{100 * ms, 200 * ms, 200 * ms}, false},
		{200 * ms, 200 * ms, 200 * ms, [3]unit.Time{100 * ms, 200 * ms, 200 * ms}, false},
		{100 * ms, 100 * ms, 100 * ms, [3]unit.Time{100 * ms, 200 * ms, 200 * ms}, true},
		{100 * ms, 5000 * ms, 20_000 * ms, [3]unit.Time{500 * ms, 5000 * ms, 10_000 * ms}, true},
		{100 * ms, 250 * ms, 200 * ms, [3]unit.Time{100 * ms, 300 * ms, 200 * ms}, true},
		{100 * ms, 60_000 * ms, 200 * ms, [3]unit.Time{1000 * ms, 10_000 * ms, 200 * ms}, true},
	} {
		s := spec()
		s.Watchdog.On, s.Watchdog.Poll, s.Watchdog.Detect, s.Watchdog.Restore = true, c.poll, c.detect, c.restore
		d, err := plan(fabric(t, "rail"), s, swconf.Junos, design.Unnumbered, "", "")
		if err != nil {
			t.Fatal(err)
		}
		files, err := dialect.Render(d)
		if err != nil {
			t.Fatal(err)
		}
		w := d.Switches[0].Spec.Watchdog
		if got := [3]unit.Time{w.Poll, w.Detect, w.Restore}; got != c.want {
			t.Errorf("%v, want %v", got, c.want)
		}
		if told := strings.Contains(strings.Join(dialect.Unsaid(d), "\n"), "the watchdog detects after"); told != c.note ||
			strings.Contains(files[0].Text, "the watchdog detects after") != c.note {
			t.Errorf("%v: a note: %v, want %v", c.want, told, c.note)
		}
	}
}

// TestPFCModes: NX-OS gets the PFC mode of the switch's own configuration, auto if it has none. Other languages
// turn PFC on, and a note names the ports whose configuration does not.
func TestPFCModes(t *testing.T) {
	g := fabric(t, "rail")
	for _, os := range dialect.Written() {
		for _, mode := range []swconf.PFCMode{swconf.PFCOff, swconf.PFCOn, swconf.PFCAuto} {
			d, err := plan(g, spec(), swconf.OS(os), design.Unnumbered, "", "")
			if err != nil {
				t.Fatal(err)
			}
			s := d.Switches[0]
			if got := s.Ports[0].Mode(); got != swconf.PFCAuto {
				t.Errorf("%s: PFC %v of a switch without a configuration", os, got)
			}
			s.Ports[0].PFC, s.Ports[0].Own = mode, true
			cs, _ := configs(t, d)
			notes := strings.Join(dialect.Unsaid(d), "\n")
			note := strings.Contains(notes, s.Name+" negotiates PFC") ||
				strings.Contains(notes, "share a PFC profile: "+s.Name+" "+s.Ports[0].Name)
			kept := map[swconf.OS][]swconf.PFCMode{
				swconf.NXOS: {swconf.PFCOff, swconf.PFCOn, swconf.PFCAuto}, swconf.FRR: nil,
				swconf.EOS: {swconf.PFCOff, swconf.PFCOn}, swconf.SONiC: {swconf.PFCOff, swconf.PFCOn}}
			keeps, listed := kept[swconf.OS(os)]
			if same := slices.Contains(keeps, mode) || !listed && mode == swconf.PFCOn; note == same && os != "frr" {
				t.Errorf("%s: %v has a note: %v, want %v\n%s", os, mode, note, !same, notes)
			} else if got := cs[0].Port(s.Ports[0].Name); same && (got.Paused() != 0) != (mode != swconf.PFCOff) {
				t.Errorf("%s: PFC %v is written as %v, pausing %x", os, mode, got.PFC.V, got.Paused())
			}
		}
	}
}

// TestRefusedByJunos: a value that no statement expresses is rejected with what is accepted.
func TestRefusedByJunos(t *testing.T) {
	for want, change := range map[string]func(*queue.Spec){
		"256 to 9216":         func(s *queue.Spec) { s.MTU = 9300 },
		"whole percents":      func(s *queue.Spec) { s.Queues[3].WRED.Probability = 0.005 },
		"no averaging weight": func(s *queue.Spec) { s.Queues[3].WRED.Weight = 2 },
		"a limit of 1MB":      func(s *queue.Spec) { s.Queues[0].Limit = unit.MB },
		"from 1/128 to 8":     func(s *queue.Spec) { s.Queues[0].Alpha = 3 },
		"a headroom of 100KB": func(s *queue.Spec) { s.Queues[3].Headroom = 100 * unit.KB },
		"below a dynamic thresh": func(s *queue.Spec) {
			s.Queues[3].XOff, s.Queues[3].XOnOffset, s.Queues[3].Alpha = 0, 1, 1
		},
		"one buffer partition":     func(s *queue.Spec) { s.Queues[4] = queue.Class{Lossless: true, Alpha: 1} },
		"packet trimming":          func(s *queue.Spec) { s.Queues[0].Trim = true },
		"switch.mark_core_only=fa": func(s *queue.Spec) { s.CoreMarks = true },
	} {
		s := spec()
		change(&s)
		d, err := plan(fabric(t, "rail"), s, swconf.Junos, design.Unnumbered, "", "")
		if err == nil {
			_, err = dialect.Render(d)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
