package dialect_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"railyard/internal/long"
	"railyard/internal/queue"
	"railyard/internal/swconf"
	"railyard/internal/swconf/cli"
	"railyard/internal/swconf/design"
	"railyard/internal/swconf/dialect"
	"railyard/internal/topo"
	"railyard/unit"

	"pgregory.net/rapid"
)

// Properties are drawn 40 times, or 400 when long tests run.
var _ = long.Draws(40, 400)

// spec returns the source documents' configuration, with the watchdog on.
func spec() queue.Spec {
	s := queue.Default()
	s.Watchdog.On = true
	return s
}

// fabric builds a topology; kinds are those of topo.
func fabric(t testing.TB, kind string) *topo.Graph {
	t.Helper()
	ports := 1
	if kind == "dual-rail" || kind == "pod" {
		ports = 2
	}
	g, err := topo.Build(kind, topo.Params{Server: topo.Server{GPUs: 2, NICs: 2, Ports: ports}, Hosts: 2,
		Segments: 2, Spines: 2, Uplinks: 1, K: 4, Tiers: 3,
		HostCable: topo.Cable{Rate: 400 * unit.Gbps, LengthMM: 3000},
		Fabric:    topo.Cable{Rate: 400 * unit.Gbps, LengthMM: 30_000}})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// plan is a fabric's design in a language.
func plan(g *topo.Graph, s queue.Spec, os swconf.OS, addressing, multihome,
	dlb string) (*design.Design, error) {
	if multihome == "" {
		multihome = dialect.Multihome(os)
	}
	g, err := onDevice(g, os)
	if err != nil {
		return nil, err
	}
	return design.Make(design.Fabric{Name: "test", Graph: g, Spec: func(int) queue.Spec {
		return s
	}, DLB: dlb, FlowletGap: 50 * unit.Microsecond,
		DataDSCP: 24, CNPDSCP: 48, OS: os, Addressing: addressing, Multihome: multihome})
}

// configs renders and reads back the switches' files.
func configs(t testing.TB, d *design.Design) (out []*swconf.Config, text map[string]string) {
	t.Helper()
	files, err := dialect.Render(d)
	if err != nil {
		t.Fatal(err)
	}
	text = map[string]string{}
	for _, f := range files {
		text[f.Path] = f.Text
		if !strings.Contains(f.Path, "/") || strings.HasSuffix(f.Path, "daemons") {
			continue
		}
		c, err := dialect.Parse(f.Path, []byte(f.Text), "")
		if err != nil {
			t.Fatal(err)
		}
		if len(c.Unknown) > 0 {
			t.Errorf("%s:%d: %q not understood: %s", f.Path, c.Unknown[0].At.Line, c.Unknown[0].Text,
				c.Unknown[0].Why)
		}
		out = append(out, c)
	}
	return out, text
}

func lint(g *topo.Graph, cs []*swconf.Config) []swconf.Finding {
	return swconf.Lint(swconf.Input{Configs: cs, Graph: g, DataDSCP: 24, CNPDSCP: 48, PathMTU: 4096,
		Base: spec()})
}

// balanced is a mode of dynamic load balancing if a language supports it, else one that it supports, or none.
func balanced(os, mode string) string {
	switch {
	case os == "sonic" || os == "frr":
		return ""
	case os == "nvue":
		return "per-packet"
	}
	return mode
}

// The rendered configuration of every kind of fabric, language, addressing and multihoming parses without a finding
// and to an equal Spec.
func TestRoundTrip(t *testing.T) {
	for _, kind := range []string{"single-rail", "dual-rail", "rail-only", "rail", "pod", "fat-tree"} {
		g := fabric(t, kind)
		for _, os := range dialect.Written() {
			for _, addressing := range []string{design.Unnumbered, design.Numbered} {
				for _, multihome := range []string{design.MLAG, design.ESI} {
					for _, dlb := range []string{"", "flowlet", "per-packet"} {
						name := fmt.Sprintf("%s/%s/%s/%s/%s", kind, os, addressing, multihome, dlb)
						pair := kind == "dual-rail" || kind == "pod"
						if pair && (os == "frr" && multihome == design.MLAG || os == "sonic" &&
							multihome == design.ESI) {
							continue // rejected, see TestRefused
						}
						if dlb != "" && dlb != balanced(os, dlb) {
							continue // rejected, see TestRefusedByNVUE, TestNoPolicyIsDropped
						}
						t.Run(name, func(t *testing.T) {
							d, err := plan(g, spec(), swconf.OS(os), addressing, multihome, dlb)
							if err != nil {
								t.Fatal(err)
							}
							cs, _ := configs(t, d)
							for _, f := range lint(g, cs) {
								t.Errorf("%s:%d: %s: %s", f.File, f.Line, f.Rule, f.Message)
							}
							sameSpecs(t, d, cs)
						})
					}
				}
			}
		}
	}
}

func sameSpecs(t testing.TB, d *design.Design, cs []*swconf.Config) {
	t.Helper()
	of := map[string]*design.Switch{}
	for _, s := range d.Switches {
		of[s.Name] = s
	}
	for _, c := range cs {
		got, _, err := c.Spec(spec())
		if errors.Is(err, swconf.ErrNoQoS) {
			continue
		}
		if err != nil {
			t.Error(err)
		} else if got != of[c.Name()].Spec {
			t.Errorf("%s: %s", c.File, differs(got, of[c.Name()].Spec))
		}
	}
}

// differs names the first difference between two Specs.
func differs(a, b queue.Spec) string {
	for i := range a.Queues {
		if a.Queues[i] != b.Queues[i] {
			return fmt.Sprintf("queue %d:\n got %+v\nwant %+v", i, a.Queues[i], b.Queues[i])
		}
	}
	a.Queues, b.Queues = [queue.Classes]queue.Class{}, [queue.Classes]queue.Class{}
	return fmt.Sprintf("\n got %+v\nwant %+v", a, b)
}

// Any Spec that a language can express comes back equal.
func TestRoundTripRandomSpecs(t *testing.T) {
	g := fabric(t, "rail")
	rapid.Check(t, func(rt *rapid.T) {
		os := swconf.OS(rapid.SampledFrom([]string{"nxos", "sonic", "eos", "nvue"}).Draw(rt, "os"))
		s := randomSpec(rt, os)
		for i := range s.Queues {
			if os == swconf.SONiC || os == swconf.NVUE {
				s.Queues[i].WRED.Weight = 0
			}
			if w := &s.Queues[i].WRED; os == swconf.NVUE && w.Max > 0 {
				w.Probability = max(w.Probability, 0.01)
			}
			if os == swconf.EOS {
				shared(&s.Queues[i])
			}
		}
		d, err := plan(g, s, os, design.Unnumbered, "", "")
		if err != nil {
			rt.Fatal(err)
		}
		cs, text := configs(t, d)
		got, _, err := cs[0].Spec(s)
		if err != nil {
			rt.Fatal(err, text[cs[0].File])
		}
		if got != d.Switches[0].Spec {
			rt.Fatalf("%s: %s\n%s", os, differs(got, d.Switches[0].Spec), text[cs[0].File])
		}
	})
}

// Faults once found by random Specs: EOS lost headroom and fixed limits when every queue was strict, and SONiC lost
// the watchdog when no queue was lossless.
func TestRoundTripOfPastFindings(t *testing.T) {
	strict, lossy := spec(), spec()
	for i := range strict.Queues {
		strict.Queues[i] = queue.Class{Strict: true, Limit: 1}
		lossy.Queues[i] = queue.Class{Alpha: 1. / 8}
	}
	for i := range 2 {
		strict.Queues[i] = queue.Class{Strict: true, Lossless: true, XOff: 1, Headroom: 1}
	}
	lossy.Queues[2] = queue.Class{Limit: 1}
	strict.DSCP, lossy.DSCP = [64]uint8{}, [64]uint8{}
	for _, os := range []swconf.OS{"nxos", "sonic", "eos", "nvue"} {
		for name, s := range map[string]queue.Spec{"strict": strict, "lossy": lossy} {
			for i := range s.Queues {
				if os == swconf.EOS {
					shared(&s.Queues[i])
				}
			}
			d, err := plan(fabric(t, "rail"), s, os, design.Unnumbered, "", "")
			if err != nil {
				t.Fatal(err)
			}
			cs, text := configs(t, d)
			got, _, err := cs[0].Spec(s)
			if err != nil || got != d.Switches[0].Spec {
				t.Errorf("%s, %s: %v %s\n%s", os, name, err, differs(got, d.Switches[0].Spec),
					text[cs[0].File])
			}
		}
	}
}

// randomSpec draws a switch within what all three languages express.
func randomSpec(rt *rapid.T, os swconf.OS) queue.Spec {
	s := spec()
	s.MTU = unit.Bytes(rapid.IntRange(1500, 9216).Draw(rt, "mtu"))
	left := 100
	lossless, most := 0, 2
	if os == swconf.NVUE {
		most = 1 // whose thresholds are one profile's
	}
	for i := range s.Queues {
		n := func(what string, lo, hi int) int {
			return rapid.IntRange(lo, hi).Draw(rt, fmt.Sprintf("q%d %s", i, what))
		}
		k := queue.Class{Alpha: []float64{1. / 8, 1. / 2, 1, 4, 8}[n("alpha", 0, 4)]}
		k.Strict = n("strict", 0, 3) == 0
		if !k.Strict {
			k.Weight = n("weight", 0, left)
			left -= k.Weight
		}
		if n("wred", 0, 1) == 1 {
			k.WRED.Min = unit.Bytes(n("min", 0, 1_000_000))
			k.WRED.Max = k.WRED.Min + unit.Bytes(n("max", 1, 3_000_000))
			k.WRED.Probability = unit.Share(n("p", 0, 100)) / 100
			k.WRED.Weight = uint(n("w", 0, 15))
			k.WRED.ECN = n("ecn", 0, 1) == 1
		}
		switch {
		case lossless < most && n("lossless", 0, 3) == 0:
			lossless++
			k.Lossless = true
			k.XOn = unit.Bytes(n("xon", 0, 1_000_000))
			k.XOff = k.XOn + unit.Bytes(n("xoff", 1, 4_000_000))
			k.Headroom = unit.Bytes(n("headroom", 1, 1_000_000))
			if os == swconf.SONiC && n("dynamic", 0, 3) == 0 {
				k.XOff, k.XOnOffset = 0, unit.Bytes(n("xon offset", 0, 100_000))
			}
		case n("limited", 0, 2) == 0:
			k.Limit = unit.Bytes(n("limit", 1, 1_000_000))
		}
		s.Queues[i] = k
	}
	for d := range s.DSCP {
		s.DSCP[d] = uint8(rapid.IntRange(0, 7).Draw(rt, "dscp"))
	}
	return s
}

// Two renderings of one design are the same bytes.
func TestRenderIsDeterministic(t *testing.T) {
	for _, os := range dialect.Written() {
		var texts []string
		for range 3 {
			d, err := plan(fabric(t, "pod"), spec(), swconf.OS(os), design.Numbered, "",
				balanced(os, "per-packet"))
			if err != nil {
				t.Fatal(err)
			}
			files, err := dialect.Render(d)
			if err != nil {
				t.Fatal(err)
			}
			texts = append(texts, fmt.Sprint(files))
		}
		if texts[0] != texts[1] || texts[1] != texts[2] {
			t.Errorf("%s: renderings differ", os)
		}
	}
}

// What a language or a topology cannot have is refused with the reason.
func TestRefused(t *testing.T) {
	change := func(f func(*queue.Spec)) queue.Spec { s := spec(); f(&s); return s }
	for name, c := range map[string]struct {
		kind      string
		os        swconf.OS
		multihome string
		spec      queue.Spec
		want      string
	}{
		"NVUE restores when it polls": {"rail", swconf.NVUE, "", change(func(s *queue.Spec) {
			s.Watchdog.Restore = unit.Second
		}), "restores after 1s; its polling interval, 200ms, is accepted (switch.watchdog.restore, or "},
		"NVUE detects in whole intervals": {"rail", swconf.NVUE, "", change(func(s *queue.Spec) {
			s.Watchdog.Detect = 300 * unit.Millisecond
		}), "1 to 1000 times its polling interval"},
		"NVUE's MTU": {"rail", swconf.NVUE, "", change(func(s *queue.Spec) { s.MTU = 9300 }), "552 to 9216"},
		"NVUE averages nothing": {"rail", swconf.NVUE, "", change(func(s *queue.Spec) {
			s.Queues[3].WRED.Weight = 2
		}), "no averaging weight"},
		"NVUE's marks": {"rail", swconf.NVUE, "", change(func(s *queue.Spec) {
			s.Queues[3].WRED.Probability = 0.005
		}), "whole percents from 1"},
		"NVUE's alpha": {"rail", swconf.NVUE, "", change(func(s *queue.Spec) {
			s.Queues[0].Alpha = 3
		}), "powers of two from 1/128 to 64"},
		"NVUE's profile of PFC": {"rail", swconf.NVUE, "", change(func(s *queue.Spec) {
			s.Queues[4] = s.Queues[3]
			s.Queues[4].XOff, s.Queues[4].Weight = 3_600_000, 0
		}), "queues 3 and 4 have other pause thresholds"},
		"FRR has no MLAG": {"pod", swconf.FRR, design.MLAG, spec(), "use --multihoming esi"},
		"SONiC and ESI":   {"dual-rail", swconf.SONiC, design.ESI, spec(), "use --multihoming mlag"},
		"half a percent": {"rail", swconf.NXOS, "", change(func(s *queue.Spec) {
			s.Queues[3].WRED.Probability = 0.005
		}), "queue 3: a drop probability of 0.5 %"},
		"alpha of a third": {"rail", swconf.NXOS, "", change(func(s *queue.Spec) {
			s.Queues[0].Alpha = 1. / 3
		}), "powers of two"},
		"three lossless": {"rail", swconf.SONiC, "", change(func(s *queue.Spec) {
			s.Queues[4], s.Queues[5] = s.Queues[3], s.Queues[3]
			s.Queues[3].Weight = 0
		}), "takes two"},
		"WRED weight in SONiC": {"rail", swconf.SONiC, "", change(func(s *queue.Spec) {
			s.Queues[3].WRED.Weight = 2
		}), "no averaging weight"},
		"long watchdog": {"rail", swconf.NXOS, "", change(func(s *queue.Spec) {
			s.Watchdog.Poll = 2 * unit.Second
		}), "100ms to 1000ms"},
		"MTU": {"rail", swconf.SONiC, "", change(func(s *queue.Spec) {
			s.MTU = 9300
		}), "at most 9216"},
	} {
		d, err := plan(fabric(t, c.kind), c.spec, c.os, design.Unnumbered, c.multihome, "")
		if err == nil {
			_, err = dialect.Render(d)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// Load balancing and channels that Cumulus Linux has no command for are refused, not left out.
func TestRefusedByNVUE(t *testing.T) {
	for want, c := range map[string]struct {
		g   *topo.Graph
		dlb string
	}{"accepted: ecmp, spray-least, dlb": {fabric(t, "rail"), "flowlet"},
		"adaptive routing over port channels": {channelledBy(t, 1), "per-packet"},
		"fewer than 2 members":                {channelled(t), ""}} {
		d, err := plan(c.g, spec(), swconf.NVUE, design.Numbered, "", c.dlb)
		if err == nil {
			_, err = dialect.Render(d)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// Each bad input gets one error with its place.
func TestBadInput(t *testing.T) {
	good := "class-map type qos match-any A\n  match dscp 24\nfeature lldp\n"
	for name, c := range map[string]struct{ text, want string }{
		"binary":    {good + "\x00\x01", "x.cfg:4:1: is a binary file"},
		"not UTF-8": {good + "  \xff\xfe\x02", "x.cfg:4:3: is a binary file"},
		"empty":     {" \n\t\n", "x.cfg: is empty"},
		"20 MB":     {strings.Repeat("! nothing\n", 2<<20), "at most 16777216 are read"},
		"cut off": {good + "policy-map type queuing Q\n  class type queuing c-out-8q-q3\n" +
			"    random-detect minimum-threshold 150", "x.cfg:6:40: the command ends early"},
		"cut-off banner": {good + "banner motd #\nwelcome",
			`x.cfg:4:1: the banner never ends: "#" is missing`},
		"IOS-XR": {"!! IOS XR Configuration 7.5.2\ninterface Bundle-Ether1\n!\nroute-policy A\nend-policy\n",
			"x.cfg:1:1: looks like Cisco IOS-XR; accepted: Cisco NX-OS"},
		"a scenario":    {"fabric:\n  kind: rail\nworkload:\n", "looks like a Railyard scenario"},
		"prose":         {"Dear all,\nplease find attached\n", "x.cfg:1:1: is in no supported language"},
		"include":       {good + "include other.cfg\n", "x.cfg:4:1: includes are not followed"},
		"one long line": {good + strings.Repeat("a", 10_000), "the line is longer than 8192"},
		"half a JSON": {"{\n  \"PORT\": {\n    \"Ethernet0\": {\n",
			"x.cfg:3:19: the JSON ends in the middle"},
		"duplicate key": {"{\"PORT\": {\n\"Ethernet0\": {},\n\"Ethernet0\": {}}}",
			`x.cfg:3:1: the key "Ethernet0" is repeated, first on line 2`},
		"JSON and more":   {"{\"PORT\": {}} {}", "unexpected text after"},
		"bad JSON":        {"{\"PORT\": {]}", "x.cfg:1:11: is not JSON"},
		"table no object": {"{\"PORT\": 3}", "x.cfg:1:2: PORT is not a table"},
		"row no object":   {"{\"PORT\": {\"Ethernet0\": 3}}", "PORT|Ethernet0 is not a row"},
		"deep JSON":       {"{\"PORT\":" + strings.Repeat("[", 100_000), "nests deeper than 16"},
	} {
		_, err := dialect.Parse("x.cfg", []byte(c.text), "")
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s:\n got %v\nwant %s", name, err, c.want)
		}
		var se *cli.SyntaxError
		if !errors.As(err, &se) {
			t.Errorf("%s: %T is not a SyntaxError", name, err)
		}
	}
	if _, err := dialect.Parse("x", []byte(good), "iosxr"); err == nil ||
		!strings.Contains(err.Error(), "accepted: nxos, sonic, frr, eos, nvue, dell, junos") {
		t.Error(err)
	}
}

// No content of a file may make the parser, the rules or the table panic or hang.
func FuzzConfig(f *testing.F) {
	for _, os := range dialect.Written() {
		d, err := plan(fabric(f, "rail"), spec(), swconf.OS(os), design.Numbered, "",
			balanced(os, "per-packet"))
		if err != nil {
			f.Fatal(err)
		}
		files, err := dialect.Render(d)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(files[0].Text, os)
	}
	f.Add("interface e1/1-4,e1/9-10\n no shut\nno feature lldp\n"+
		"priority-flow-control watch-dog interval 99999999999\n", "nxos")
	f.Fuzz(func(t *testing.T, text, os string) {
		if len(text) > 1<<16 {
			return
		}
		c, err := dialect.Parse("x", []byte(text), swconf.OS(os))
		if err != nil {
			return
		}
		lint(nil, []*swconf.Config{c, c})
		c.Views()
		c.Spec(spec())
	})
}
