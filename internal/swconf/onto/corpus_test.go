package onto

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"railyard/internal/published"
	"railyard/internal/queue"
	"railyard/internal/swconf"
	"railyard/internal/swconf/design"
	"railyard/unit"
)

// TestOntoTextsOfOperators: the fabric's switch is merged into each public text, and a second merge has no step, or
// the merge is rejected with a reason. Their AS number is set to the fabric's before, which a merge never changes.
func TestOntoTextsOfOperators(t *testing.T) {
	as := regexp.MustCompile(`(?m)^(router bgp )[\d.]+$|("bgp_asn": *")\d+`)
	// how many of each are merged. The others are rejected: other breakouts, missing ports, no indentation, PFC off
	// for all, queues of several chips, a class of the fabric's name
	least := map[swconf.OS]int{swconf.NXOS: 10, swconf.EOS: 19, swconf.FRR: 10, swconf.SONiC: 6}
	for os, least := range least {
		files := published.Files(t, "configs", string(os), "*")
		want := rendered(t, "rail", os, func(s *queue.Spec) {
			if os == swconf.SONiC { // dynamic thresholds, as for the pools of these texts
				s.Queues[3].XOff, s.Queues[3].XOnOffset, s.Queues[3].Alpha = 0, 100*unit.KB, 0.125
			}
		}, design.Numbered)["seg-1-rail-1"]
		number := regexp.MustCompile(`router bgp (\d+)|"bgp_asn": "(\d+)`).FindStringSubmatch(want)
		merged, steps, kept := 0, 0, 0
		for _, file := range files {
			b, err := readFile(file)
			if err != nil {
				t.Fatal(err)
			}
			running := as.ReplaceAllString(b, "${1}${2}"+number[1]+number[2])
			name := filepath.Base(file)
			m, err := Onto(name, []byte(running), want, os, Options{InBand: true})
			if err != nil {
				t.Logf("%s: %v", os, err)
				continue
			}
			again, err := Onto("merged", []byte(m.Text), want, os, Options{InBand: true})
			if err != nil || len(again.Steps) > 0 {
				t.Errorf("%s %s: once more: %v, %+v", os, name, err, again)
			}
			merged, steps, kept = merged+1, steps+len(m.Steps), kept+m.Kept
		}
		t.Logf("%s: %d of %d merged, %d steps, %d lines stay", os, merged, len(files), steps, kept)
		if merged < least {
			t.Errorf("%s: %d of %d are merged, %d were", os, merged, len(files), least)
		}
	}
}

func readFile(file string) (string, error) {
	b, err := os.ReadFile(file)
	return string(b), err
}

// TestPatchOfOthers: another implementation of RFC 6902 applies the patch with the same resulting database.
func TestPatchOfOthers(t *testing.T) {
	if err := exec.Command("python3", "-c", "import jsonpatch").Run(); err != nil {
		t.Skip("python3 has no jsonpatch")
	}
	const apply = "import json,sys,jsonpatch\nd,p=json.load(sys.stdin)\n" +
		"print(json.dumps(jsonpatch.JsonPatch(p).apply(d),sort_keys=True))"
	for _, kind := range []string{"rail", "dual-rail"} {
		for name, was := range rendered(t, kind, swconf.SONiC, same, design.Unnumbered) {
			want := rendered(t, "rail", swconf.SONiC, same, design.Numbered)["seg-1-rail-1"]
			if number := asn.FindString(want); kind == "rail" {
				was = asn.ReplaceAllString(was, number)
			}
			was = withPorts(was, want)
			m, err := Onto("running", []byte(was), want, swconf.SONiC, Options{InBand: true})
			if err != nil {
				t.Fatal(kind, name, err)
			}
			both, err := json.Marshal([]json.RawMessage{json.RawMessage(was), json.RawMessage(m.Script)})
			if err != nil {
				t.Fatal(err)
			}
			run := exec.Command("python3", "-c", apply)
			run.Stdin = strings.NewReader(string(both))
			out, err := run.CombinedOutput()
			if err != nil {
				t.Fatalf("%s %s: %v: %s", kind, name, err, out)
			}
			var got, text any
			if err := json.Unmarshal(out, &got); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal([]byte(m.Text), &text); err != nil {
				t.Fatal(err)
			}
			if asJSON(t, got) != asJSON(t, text) {
				t.Errorf("%s %s: jsonpatch comes to another database", kind, name)
			}
		}
	}
}
