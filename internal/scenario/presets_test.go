package scenario_test

import (
	"strings"
	"testing"

	"railyard/internal/scenario"
)

const twoTiers = `name: x
fabric: {kind: rail, segments: 2, hosts: 4, spines: 2, uplinks: 2, host_link: {rate: 100Gbps, cable: 3m}}
server: {gpus: 1, nics: 1}
`
const load = "workload: {traffic: {alltoall: {bytes: 1MB}}}\n"

// Every preset fits a plain fabric, lists in a note all that it sets, and has its costs.
func TestPresets(t *testing.T) {
	for _, name := range scenario.Presets() {
		p, err := resolveLB(twoTiers+load, "transport="+name)
		if err != nil {
			t.Error(err)
			continue
		}
		c, ok := p.Costs()
		if !ok || c.Headers < 50 || c.Headers > 200 || c.Switch == "" || c.NIC == "" {
			t.Errorf("%s costs %+v", name, c)
		}
		note := p.Notes[0]
		_, v := p.Resolved()
		said := strings.Split(note[strings.Index(note, " sets ")+6:], ", ")
		if len(said) < 5 || !strings.HasPrefix(note, "transport "+name+" (") {
			t.Errorf("%s: %q", name, note)
		}
		for _, x := range said {
			key, value, _ := strings.Cut(x, " ")
			if got := v[key]; got != value && key != "lb" { // cells use all links
				t.Errorf("%s: %s is said to be %s and is %s", name, key, value, got)
			}
		}
	}
}

// TestPresetNote checks that the note names nothing that another --set, or the file, sets differently.
func TestPresetNote(t *testing.T) {
	for _, name := range []string{"tcp", "srd", "falcon"} {
		for _, c := range []struct {
			text string
			sets []string
		}{{"", []string{"transport=" + name, "lb=spray"}}, {"transport: " + name + "\nlb: spray\n", nil}} {
			p, err := resolveLB(twoTiers+c.text+load, c.sets...)
			if err != nil {
				t.Fatal(err)
			}
			if note := p.Notes[0]; strings.Contains(note, "lb ecmp") || !strings.Contains(note, "switch.pfc false") {
				t.Errorf("%q, %q: %s", c.text, c.sets, note)
			}
		}
	}
}

// A preset set by --set overrides the file's keys, but no other --set. In a file, the keys override the preset.
func TestPresetGivesWay(t *testing.T) {
	own := "switch: {pfc: true, queues: {3: {wred_min: 77KB, wred_max: 99KB, ecn: true, alpha: 1}}}\n" +
		"lb: flowlet\n"
	for _, c := range []struct {
		text     string
		sets     []string
		pfc, min string
		lb       string
	}{
		{own, []string{"transport=mrc"}, "false", "", "ecmp"},
		{own, []string{"transport=mrc", "lb=spray"}, "false", "", "spray"},
		{own, []string{"lb=spray", "transport=mrc", "switch.queues.3.wred_min=5KB"}, "false", "5KB", "spray"},
		{own + "transport: mrc\n", nil, "true", "77KB", "flowlet"},
		{"transport: mrc\n" + own, []string{"switch.pfc=false"}, "false", "77KB", "flowlet"},
		{"transport: mrc\n", nil, "false", "", "ecmp"},
	} {
		p, err := resolveLB(twoTiers+c.text+load, c.sets...)
		if c.pfc == "true" { // a lossless queue does not trim
			if err == nil || !strings.Contains(err.Error(), "trim") {
				t.Errorf("%q: %v", c.text, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(c, err)
		}
		_, v := p.Resolved()
		if v["switch.pfc"] != c.pfc || v["lb"] != c.lb || v["transport.kind"] != "mrc" {
			t.Errorf("%q, %q: pfc %s, lb %s, kind %s", c.text, c.sets, v["switch.pfc"], v["lb"],
				v["transport.kind"])
		}
		if got := v["switch.queues.3.wred_min"]; c.min != "" && got != c.min || c.min == "" && got == "77KB" {
			t.Errorf("%q, %q: marks from %s", c.text, c.sets, got)
		}
	}
}

func TestPresetRefused(t *testing.T) {
	for text, want := range map[string]string{
		"transport: quic\n":  `x.yaml:4:1: transport: unknown value "quic" (did you mean "uec"?); accepted: roce, roce-selective, `,
		"transport: 7\n":     `found "7", expected a mapping with keys kind`,
		"transport: [mrc]\n": "found a list, expected a mapping",
	} {
		if _, err := resolveLB(twoTiers + text + load); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	_, err := resolveLB(twoTiers+load, "transport=quic")
	if want := `--set transport=quic: unknown value "quic" (did you mean "uec"?); accepted: roce, roce-selective, `; err == nil ||
		!strings.Contains(err.Error(), want) {
		t.Error(err)
	}
}

// If the path is so long that a round trip's bytes exceed the buffer, queues have the buffer's size, and a note
// says so.
func TestPresetFitsTheBuffer(t *testing.T) {
	for _, name := range []string{"mrc", "uec"} {
		p, err := resolveLB(twoTiers+load, "transport="+name, "fabric.fabric_link.delay=10ms", "switch.buffer=32MiB")
		if err != nil {
			t.Error(err)
			continue
		}
		if _, v := p.Resolved(); v["switch.queues.3.limit"] != "32MiB" {
			t.Errorf("%s: limit %s", name, v["switch.queues.3.limit"])
		}
		if !strings.Contains(strings.Join(p.Notes, "\n"), "queues are sized by the buffer") {
			t.Errorf("%s: %q", name, p.Notes)
		}
	}
}
