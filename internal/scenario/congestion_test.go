package scenario_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"railyard/cc"
	"railyard/internal/scenario"
	"railyard/unit"
)

const twoOnARail = `name: x
fabric: {kind: rail-only, hosts: 2, host_link: {rate: 400Gbps, cable: 3m}}
server: {gpus: 1, nics: 1}
cc: {dcqcn: {%s}}
workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-2/gpu-1, bytes: 1MB}]}}
`

// resolveCC resolves a scenario with the given cc.dcqcn block.
func resolveCC(t *testing.T, block string, sets ...string) (*scenario.Plan, error) {
	t.Helper()
	d, err := scenario.Parse("x.yaml", []byte(strings.Replace(twoOnARail, "%s", block, 1)), sets)
	if err != nil {
		return nil, err
	}
	return d.Resolve(nil)
}

// dcqcn is a profile's values at 400 Gbit/s.
func dcqcn(profile string) cc.Values { return cc.Lookup("dcqcn").Profile(profile).Of(400 * unit.Gbps) }

// A file without values gets the NICs' defaults. Every value that changes a result is written, including rarely set
// ones.
func TestDCQCNIsResolvedWhole(t *testing.T) {
	p, err := resolveCC(t, "")
	if err != nil {
		t.Fatal(err)
	}
	if want := dcqcn("nic"); !maps.Equal(p.Default().Values, want) {
		t.Errorf("the default is %+v, want a NIC's %+v", p.Default().Values, want)
	}
	_, v := p.Resolved()
	for key, want := range map[string]string{
		"profile": "nic", "g": "0.0048828125", "alpha_init": "0.9990234375", "alpha_timer": "1us",
		"rate_timer":   "300us",
		"byte_counter": "0B", "f": "1", "ai": "80Mbps", "hai": "800Mbps", "min_rate": "16Mbps",
		"cut_interval": "4us",
		"max_cut":      "0.5", "clamp_target": "false", "cnp_interval": "4us",
	} {
		if got := v["cc.dcqcn."+key]; strings.ReplaceAll(got, " ", "") != want {
			t.Errorf("resolved cc.dcqcn.%s is %q, want %s", key, got, want)
		}
	}
	if words := p.Default().Words; !strings.Contains(words, "NICs ship") ||
		!strings.Contains(words, "400Gbps") {
		t.Errorf("the head would say %q", words)
	}
	p, err = resolveCC(t, "profile: paper")
	if err != nil || !maps.Equal(p.Default().Values, dcqcn("paper")) ||
		!strings.Contains(p.Default().Words, "paper") {
		t.Errorf("profile paper gives %+v, %v", p, err)
	}
}

// Zero is a value: it disables the byte counter, and where it is meaningless it is rejected rather than replaced.
func TestZeroIsAValue(t *testing.T) {
	p, err := resolveCC(t, "profile: paper, byte_counter: 0B")
	if err != nil || p.Default().Values["byte_counter"] != unit.Bytes(0) {
		t.Fatalf("byte_counter 0B: %+v, %v", p, err)
	}
	p, err = resolveCC(t, "profile: paper", "cc.dcqcn.byte_counter=0B", "cc.dcqcn.clamp_target=false")
	if err != nil || p.Default().Values["byte_counter"] != unit.Bytes(0) ||
		p.Default().Values["clamp_target"] != false ||
		!strings.Contains(p.Default().Words, "2 of its values") {
		t.Fatalf("--set: %+v, %v", p, err)
	}
	// NICs without their grid are the paper's form.
	p, err = resolveCC(t, "cut_interval: 0s")
	if err != nil || p.Default().Values["cut_interval"] != unit.Time(0) {
		t.Fatalf("cut_interval 0s: %+v, %v", p, err)
	}
	for _, block := range []string{"g: 0", "f: 0", "ai: 0bps", "hai: 0bps", "alpha_timer: 0s",
		"rate_timer: 0s", "min_rate: 0bps", "max_cut: 0", "max_cut: 1", "alpha_init: 1.5"} {
		name, _, _ := strings.Cut(block, ":")
		if _, err := resolveCC(t, block); err == nil || !strings.Contains(err.Error(), "cc.dcqcn."+name) ||
			!strings.Contains(err.Error(), "x.yaml:4:") {
			t.Errorf("%s: %v", block, err)
		}
	}
}

// A value that is computed is printed with its result. docs/references.md, pfc: the IEEE budget at 400G is 905
// quanta of 1.28 ns; 3.2: light takes 5.05 ns per metre.
func TestComputedValuesAreWritten(t *testing.T) {
	p, err := resolveCC(t, "")
	if err != nil {
		t.Fatal(err)
	}
	keys, v := p.Resolved()
	for key, want := range map[string]string{"host_link.delay": "15.152ns",
		"host_link.pause_response": "1.158us",
		"transport.timeout":        "67.109ms"} {
		if got := v["computed."+key]; got != want {
			t.Errorf("computed.%s is %q, want %s", key, got, want)
		}
	}
	if v["computed.host_link.headroom.3"] == "" || len(keys) != len(v) {
		t.Errorf("%d keys, %d values, headroom %q", len(keys), len(v), v["computed.host_link.headroom.3"])
	}
}

// TestEffectiveValues checks that a value whose 0 stands for a computed one is the computed one, for each kind of
// link. Other zeros and set values stay.
func TestEffectiveValues(t *testing.T) {
	p, err := resolveCC(t, "")
	if err != nil {
		t.Fatal(err)
	}
	keys, v := p.Effective()
	_, all := p.Resolved()
	for key, want := range map[string]string{
		"fabric.host_link.delay":     "15.152ns (computed)",
		"fabric.pause_response":      "1.158us (computed)",
		"switch.queues.3.headroom":   all["computed.host_link.headroom.3"] + " (computed)",
		"switch.queues.0.headroom":   "0B",
		"fabric.host_link.rate":      all["fabric.host_link.rate"],
		"computed.host_link.delay":   "15.152ns",
		"switch.queues.3.wred_max":   all["switch.queues.3.wred_max"],
		"fabric.fabric_link.delay":   "0ps", // there is no such link
		"fabric.routing.converge":    "0ps",
		"computed.transport.timeout": "67.109ms",
	} {
		if v[key] != want || !slices.Contains(keys, key) {
			t.Errorf("%s is %q, want %q", key, v[key], want)
		}
	}
}

// A receiver that would grant more than its line rate is rejected at its key, and so are a window below the useful
// minimum and a parameter of another algorithm.
func TestCreditBeyondTheLine(t *testing.T) {
	for block, want := range map[string]string{
		"eqds, eqds: {share: 1.01}":  "x.yaml:2:30: cc.eqds.share: 1.01 is out of range 0.01–1",
		"uec, uec: {share: 2}":       "x.yaml:2:28: cc.uec.share: 2 is out of range 0.01–1",
		"rccc, rccc: {window: 0.1}":  "x.yaml:2:30: cc.rccc.window: 0.1 is out of range 0.5–64",
		"eqds, eqds: {grant: 0}":     "x.yaml:2:30: cc.eqds.grant: 0 is out of range 1–64",
		"eqds, eqds: {profile: pfc}": "x.yaml:2:39: cc.eqds.profile: unknown value \"pfc\"",
	} {
		d, err := scenario.Parse("x.yaml", []byte("fabric: {kind: rail, hosts: 2, spines: 2}\n"+
			"cc: {algorithm: "+block+"}\nworkload: {traffic: {permutation: {bytes: 1MB}}}\n"), nil)
		if err == nil {
			_, err = d.Resolve(nil)
		}
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", block, err, want)
		}
	}
}

// Contradictory values are rejected at one of them.
func TestParametersTogether(t *testing.T) {
	d, err := scenario.Parse("x.yaml", []byte("fabric: {kind: rail, hosts: 2, spines: 2}\n"+
		"cc: {algorithm: swift, swift: {fs_min: 100, fs_max: 0.1}}\n"+
		"workload: {traffic: {permutation: {bytes: 1MB}}}\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = d.Resolve(nil)
	want := "x.yaml:2:45: cc.swift.fs_max: 0.1 packets are not above fs_min, 100"
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
