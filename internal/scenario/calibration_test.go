package scenario

import (
	"fmt"
	"strings"
	"testing"

	"railyard/internal/coll"
	"railyard/unit"
)

const measuredPod = `
fabric: {kind: %s, hosts: 2, spines: 2}
server: {gpu: h100, gpus: 4, nics: 4, nic_ports: %d}
workload: {traffic: {collective: {kind: all-reduce, bytes: 1MiB, algorithm: ring}}}
calibration: {%s}
`

// Shares refer to the file's value in any unit. NCCL's tuning model still gets the nominal value.
func TestCalibrationIsOfTheFile(t *testing.T) {
	for ports, kind := range []string{"rail", "pod"} {
		plain := planOf(t, fmt.Sprintf(measuredPod, kind, ports+1, ""))
		p := planOf(t, fmt.Sprintf(measuredPod, kind, ports+1, "nvlink_share: 75, nic_share: 90, "+
			"message: 3us, launch: 20us"))
		want := unit.Rate(float64(plain.NVLink)*0.75 + 0.5)
		if p.NVLink != want || p.Kinds[0].NVLink != want {
			t.Errorf("NVLink of %v and %v, expected %v", p.NVLink, p.Kinds[0].NVLink, want)
		}
		if want := plain.NICs.Rate * unit.Rate(ports+1) / 10 * 9; p.NICs.PCIe != want {
			t.Errorf("NICs take %v, expected %v", p.NICs.PCIe, want)
		}
		if p.NICs.Latency != plain.NICs.Latency+1500*unit.Nanosecond {
			t.Errorf("latency %v", p.NICs.Latency)
		}
		a, err1 := plain.Machine(false)
		b, err2 := p.Machine(false)
		if err1 != nil || err2 != nil || a != b {
			t.Errorf("the tuning model sees %+v and %+v, %v %v", a, b, err1, err2)
		}
		if n, m := len(plain.Jobs[0].DAG.Ops), len(p.Jobs[0].DAG.Ops); m <= n || m > 2*n {
			t.Errorf("%d operations, %d with launches", n, m)
		}
		if c := p.Jobs[0].DAG.Colls[0]; c.Kind != coll.AllReduce {
			t.Errorf("the collective is a %v", c.Kind)
		}
	}
}

// Compute slows down as kernels do.
func TestCalibratedCompute(t *testing.T) {
	text := `
fabric: {kind: rail, hosts: 2, spines: 2}
server: {gpu: h100, gpus: 8, nics: 8}
workload: {training: {model: llama-2-7b, tp: 8, dp: 2, efficiency: 40}}
`
	plain, p := planOf(t, text), planOf(t, text+"calibration: {compute_share: 50}\n")
	a, b := plain.Jobs[0].DAG.Computing(1e18), p.Jobs[0].DAG.Computing(1e18)
	if r := b / a; r < 1.7 || r > 2 { // the optimizer is bound by memory
		t.Errorf("half of the efficiency takes %.3f times as long", r)
	}
}

func TestCalibrationRefusals(t *testing.T) {
	for in, want := range map[string]string{
		"nic_share: 101":             "calibration.nic_share: 101 is out of range 1–100, or 0",
		"launch: 1s":                 "calibration.launch: 1s is out of range 0s–100ms",
		"step: -1us":                 "calibration.step",
		"nvlnk_share: 3":             "nvlink_share",
		"step: 3":                    "unit",
		"nic_share: .nan":            "calibration.nic_share",
		"message: 3us, message: 4us": "message",
		"cnp_delay: 2ms":             "calibration.cnp_delay: 2ms is out of range 0s–1ms",
		"cnp_delay: -1us":            "calibration.cnp_delay",
		"cnp_interval: 2s":           "is out of range 1ns–1s",
		"cnp_interval: 5us}\ncc: {dcqcn: {cnp_interval: 7us}": "calibration.cnp_interval: is 5us, and " +
			"cc.dcqcn.cnp_interval is 7us: leave one of them out",
	} {
		doc, err := Parse("s.yaml", []byte(fmt.Sprintf(measuredPod, "rail", 1, in)), nil)
		if err == nil {
			_, err = doc.Resolve(nil)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, expected %q", in, err, want)
		}
	}
}

// A setting of the block needs no such block in the file; an empty one changes nothing.
func TestCalibrationBySet(t *testing.T) {
	const text = "fabric: {kind: rail, hosts: 2, spines: 1}\nworkload: {traffic: {permutation: {bytes: 1MB}}}\n"
	d, err := Parse("s.yaml", []byte(text), []string{"calibration.launch=5us", "calibration.nic_share=90"})
	if err != nil || d.File.Calibration == nil || d.File.Calibration.Launch != 5*unit.Microsecond ||
		d.File.Calibration.NICs != 90 {
		t.Fatalf("%v", err)
	}
	if _, err := d.Resolve(nil); err != nil {
		t.Error(err)
	}
}

// Measured CNP values apply to every service with CNPs. A file with all resolved values gives the same plan.
func TestCalibratedCNPs(t *testing.T) {
	text := fmt.Sprintf(measuredPod, "rail", 1, "cnp_delay: 1us, cnp_interval: 9us") +
		"cc: {dcqcn: {cnp_delay: 500ns%s}}\n"
	for _, own := range []string{"", ", cnp_interval: 4us", ", cnp_interval: 9us"} {
		v := planOf(t, fmt.Sprintf(text, own)).Default().Values
		if v["cnp_delay"] != 1500*unit.Nanosecond || v["cnp_interval"] != 9*unit.Microsecond {
			t.Errorf("%q: %v", own, v)
		}
	}
	plain := planOf(t, fmt.Sprintf(measuredPod, "rail", 1, ""))
	if v := plain.Default().Values; v["cnp_delay"] != unit.Time(0) {
		t.Errorf("uncalibrated: %v", v)
	}
	p := planOf(t, fmt.Sprintf(measuredPod, "rail", 1, "cnp_delay: 1us")+"cc: {algorithm: swift}\n")
	if notes := strings.Join(p.Notes, "\n"); !strings.Contains(notes, "no receiver sends CNPs") {
		t.Errorf("notes %s", notes)
	}
}

func planOf(t *testing.T, text string) *Plan {
	t.Helper()
	p, err := resolved(t, text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
