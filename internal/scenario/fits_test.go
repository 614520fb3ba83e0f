package scenario

import (
	"strings"
	"testing"

	"railyard/cc"
)

const twoRacks = "fabric: {kind: rail, hosts: 2, spines: 2}\n" +
	"workload: {traffic: {permutation: {bytes: 1MB}}}\n"

// One key removes PFC from all queues, and the switch then drops.
func TestPFCOff(t *testing.T) {
	p, err := resolved(t, twoRacks, "switch.pfc=false")
	if err != nil {
		t.Fatal(err)
	}
	if c := p.Spec.Queues[3]; p.Spec.LosslessMask() != 0 || c.XOff != 0 || c.Alpha != 1 || c.WRED.Max == 0 {
		t.Errorf("%+v", c)
	}
	p, err = resolved(t, twoRacks, "switch.pfc=false", "switch.queues.3.limit=1MB")
	if err != nil || p.Spec.Queues[3].Limit != 1_000_000 || p.Spec.Queues[3].Alpha != 0 {
		t.Errorf("%+v, %v", p.Spec.Queues[3], err)
	}
	if _, v := p.Resolved(); v["switch.pfc"] != "false" {
		t.Errorf("a run would keep switch.pfc %q", v["switch.pfc"])
	}
	if p, err = resolved(t, twoRacks); err != nil || p.Spec.LosslessMask() != 1<<3 {
		t.Errorf("without the key: %v, %v", p, err)
	}
}

// The features of a scenario are those of all of its switches and of the transport.
func TestFeatures(t *testing.T) {
	for sets, want := range map[string]cc.Feature{
		"":                             cc.Lossless | cc.Marking,
		"switch.pfc=false":             cc.Marking,
		"switch.queues.3.ecn=false":    cc.Lossless,
		"transport.data_dscp=0":        0,
		"transport.recovery=selective": cc.Lossless | cc.Marking | cc.Selective,
	} {
		p, err := resolved(t, twoRacks, strings.Fields(sets)...)
		if err != nil {
			t.Fatal(err)
		}
		if got := (&resolver{Plan: p}).features(p.Default()); got != want {
			t.Errorf("%s: features %b, want %b", sets, got, want)
		}
		deaf := strings.Contains(strings.Join(p.Notes, "\n"), "DCQCN reacts to ECN marks")
		if deaf != (want&cc.Marking == 0) {
			t.Errorf("%s: notes %q", sets, p.Notes)
		}
	}
}

// A missing requirement is an error at the algorithm's key.
func TestUnfit(t *testing.T) {
	p, err := resolved(t, twoRacks, "switch.pfc=false")
	if err != nil {
		t.Fatal(err)
	}
	p.Default().CC = &cc.Algorithm{Name: "eqds", Needs: cc.Needs{OneOf: []cc.Feature{cc.Lossless |
		cc.Trimming | cc.Selective}}}
	err = (&resolver{Plan: p}).fits()
	if want := "cc.algorithm: eqds without PFC needs trimming or selective recovery"; err == nil ||
		err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// A parameter of another algorithm is reported with that algorithm; an unknown algorithm with the list.
func TestForeignParameters(t *testing.T) {
	for text, want := range map[string]string{
		"cc: {dcqcn: {base_target: 1us}}\n": "4:14: cc.dcqcn.base_target: unknown key, " +
			`it is a parameter of Swift (cc.swift.base_target)`,
		"cc: {rate_timer: 1us}\n": "it is a parameter of DCQCN (cc.dcqcn.rate_timer)",
		"cc: {algorithm: cubic}\n": `cc.algorithm: unknown value "cubic"; accepted: ` +
			strings.Join(cc.Names(), ", "),
		"cc: {algorithm: mrc}\n":   "; mrc is a transport: --set transport=mrc;",
		"cc: {algorithm: DCQCN}\n": `(did you mean "dcqcn"?)`,
		"lb: ecmp,spray\n":         "to compare them: railyard compare SCENARIO --set lb=ecmp,spray",
		"transport: swift\n":       "; swift is a congestion control: --set cc.algorithm=swift;",
	} {
		_, err := resolved(t, twoRacks+"seed: 1\n"+text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	_, err := resolved(t, twoRacks, "cc.swift.g=0.1")
	const want = `unknown key "g", it is a parameter of DCQCN (cc.dcqcn.g)`
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Error(err)
	}
}
