package scenario_test

import (
	"strings"
	"testing"

	"railyard/transport/protocols"
)

// A transport's parameters are written if it runs, with the file's values, and otherwise not.
func TestParametersOfTheTransport(t *testing.T) {
	for kind, want := range map[string]string{"roce": "", "srd": "16", "falcon": ""} {
		p, err := resolveLB(dragonfly, "transport.kind="+kind, "transport.srd.paths=16")
		if err != nil {
			t.Fatal(err)
		}
		_, v := p.Resolved()
		if said := v["transport.srd.paths"]; said != "16" {
			t.Errorf("%s: what was said of srd's paths has become %q", kind, said)
		}
		for _, of := range protocols.All {
			for _, par := range of.Params {
				key := "transport." + of.Name + "." + par.Name
				if _, there := v[key]; there != (of.Name == kind) && par.Name != "paths" {
					t.Errorf("%s: %s is written down: %v", kind, key, there)
				}
			}
		}
		if kind == "srd" && p.Default().Carried.Values["paths"] != 16 || want == "" && kind == "roce" &&
			p.Default().Carried != nil {
			t.Errorf("%s runs with %+v", kind, p.Default().Carried)
		}
	}
	p, err := resolveLB(dragonfly)
	if err != nil {
		t.Fatal(err)
	}
	_, v := p.Resolved()
	for key := range v {
		if strings.HasPrefix(key, "transport.srd") || key == "transport.kind" {
			t.Errorf("a scenario of RC has a value for %s", key)
		}
	}
}

// Contradictory values are rejected with the key, the value and what is accepted.
func TestTransportRefused(t *testing.T) {
	for sets, want := range map[string]string{
		"transport.kind=quic":                 `unknown value "quic"; accepted: roce, `,
		"transport.kind=tcp":                  "in queue 3, which PFC protects; accepted: transport: tcp, which",
		"transport.srd.path=3":                `did you mean "paths"?`,
		"transport.paths=3":                   "(transport.srd.paths)",
		"transport.srd.paths=0":               "transport.srd.paths=0: 0 is out of range 1–256",
		"transport.srd.paths=many":            "is not a whole number",
		"transport.srd=3":                     "the key holds several values",
		"transport.srd.window=100":            "transport.srd.window=100: 100 is not a power of two",
		"cc.algorithm=dcqcn":                  "SRD has a congestion control of its own and does not run",
		"lb=reps":                             "SRD chooses its paths itself",
		"transport.mtu=4096 switch.mtu=4150B": "of SRD's headers do not fit the switches' mtu of",
	} {
		_, err := resolveLB(dragonfly, append([]string{"transport.kind=srd"}, strings.Fields(sets)...)...)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", sets, err)
		}
	}
	for sets, want := range map[string]string{
		"cc.algorithm=hpcc": "Falcon does not run hpcc; accepted: swift",
		"switch.pfc=false switch.queues.3.trim=true " +
			"switch.queues.3.limit=1MB": "switch.trim.size: 128B is less than",
	} {
		_, err := resolveLB(dragonfly, append([]string{"transport.kind=falcon"}, strings.Fields(sets)...)...)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", sets, err)
		}
	}
	_, err := resolveLB(dragonfly, "transport.kind=mrc", "switch.pfc=false", "cc.algorithm=rccc")
	if err == nil || !strings.Contains(err.Error(), "accepted: nscc, dctcp, none") {
		t.Error(err) // each once
	}
}

// The congestion control is the transport's unless a supported one is named. RC's settings for reordering do not
// apply to it.
func TestControlOfTheTransport(t *testing.T) {
	for sets, want := range map[string]string{
		"transport.kind=srd":                        "SRD",
		"transport.kind=srd cc.algorithm=none":      "SRD",
		"transport.kind=falcon":                     "Falcon with Swift",
		"transport.kind=falcon cc.algorithm=timely": "Falcon with TIMELY",
		"transport.kind=falcon lb=spray":            "Falcon with Swift",
	} {
		p, err := resolveLB(dragonfly, strings.Fields(sets)...)
		if err != nil {
			t.Fatal(sets, err)
		}
		notes := strings.Join(p.Notes, "")
		if got := p.Default().Titled(); got != want || strings.Contains(notes, "go-back-N") {
			t.Errorf("%s: %s, %q", sets, got, p.Notes)
		}
		if n := len(p.Default().Counted()); n < 4 {
			t.Errorf("%s: %d counters", sets, n)
		}
	}
}

// Parameters of an unused transport have no effect, and a note says so.
func TestIdleTransport(t *testing.T) {
	p, err := resolveLB(strings.Replace(dragonfly, "workload", "transport: {srd: {paths: 3}}\nworkload", 1))
	if err != nil {
		t.Fatal(err)
	}
	if want := "transport.srd.paths has no effect: transport.kind is roce"; !strings.Contains(
		strings.Join(p.Notes, "\n"), want) {
		t.Errorf("%q", p.Notes)
	}
}

// Segments take 40 bytes of each frame, and need paths that a packet can name, at most as many as fit.
func TestSegments(t *testing.T) {
	p, err := resolveLB(twoTiers+load, "transport=mrc", "transport.forwarding=srv6")
	if err != nil {
		t.Fatal(err)
	}
	plain, err := resolveLB(twoTiers+load, "transport=mrc")
	if err != nil {
		t.Fatal(err)
	}
	with, _ := p.Costs()
	if without, _ := plain.Costs(); with.Headers != without.Headers+40 {
		t.Errorf("%d bytes of headers with segments, %d without", with.Headers, without.Headers)
	}
	for text, want := range map[string]string{
		twoTiers: "RC queue pairs have no entropy values",
		"name: x\ntransport: mrc\nfabric: {kind: torus, k: 8, host_link: {rate: 100Gbps, cable: 3m}}\n" +
			"server: {gpus: 1, nics: 1}\n": "switches, and an IPv6 address holds 6 uSIDs",
		twoTiers + "transport: mrc\nlb: spray\n": "with lb spray switches select it",
	} {
		if _, err := resolveLB(text+load, "transport.forwarding=srv6"); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
