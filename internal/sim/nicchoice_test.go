package sim

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"railyard/internal/scenario"
	"railyard/unit"
)

// From the second GPU of a server to the third of another there are three choices. By its own NIC over a spine; by
// the NIC of the receiver's rail, over NVLink first; or by all NICs of the server to those at equal positions, in a
// quarter of the time. If the message is too short to split, the third choice uses its own NIC and stays on its
// rail.
func TestWhichNICATransferTakes(t *testing.T) {
	const text = `
fabric: {kind: %s, hosts: 2, host_link: {rate: 200Gbps, cable: 3m}%s}
server: {gpus: 4, nics: 4%s}
cc: {algorithm: none}
workload: {traffic: {flows: [{from: host-1/gpu-2, to: host-2/gpu-3, bytes: %s}]}}
`
	took := map[string]unit.Time{}
	for _, c := range []struct{ kind, more, choice, bytes, out, in string }{
		{"rail", ", spines: 4", "", "40MB", "2", "3"},
		{"rail", ", spines: 4", ", nic_choice: own", "40MB", "2", "3"},
		{"rail", ", spines: 4", ", nic_choice: same-rail-first", "40MB", "3", "3"},
		{"rail", ", spines: 4", ", nic_choice: any", "40MB", "1 2 3 4", "1 2 3 4"},
		{"rail", ", spines: 4", ", nic_choice: any", "1KB", "2", "2"},
		{"rail-only", "", "", "40MB", "3", "3"},
		{"rail-only", "", ", nic_choice: any", "40MB", "1 2 3 4", "1 2 3 4"},
		{"rail-only", "", ", pxn: true", "40MB", "3", "3"},
	} {
		r, _, tab := runAll(t, fmt.Sprintf(text, c.kind, c.more, c.choice, c.bytes))
		var out, in []string
		for _, p := range tab.Ports {
			name, _, _ := strings.Cut(p.Name, " ")
			if nic, ok := strings.CutPrefix(name, "host-1:nic"); ok && p.WireBytes > 1000 {
				out = append(out, nic)
			}
			if _, to, _ := strings.Cut(p.Name, "→ "); p.WireBytes > 1000 {
				if nic, ok := strings.CutPrefix(to, "host-2:nic"); ok {
					in = append(in, nic)
				} else if p.Role == "rail" && p.Peer == "host-2" {
					in = append(in, strings.TrimPrefix(p.Node, "rail-"))
				}
			}
		}
		slices.Sort(out)
		slices.Sort(in)
		if strings.Join(out, " ") != c.out || strings.Join(in, " ") != c.in {
			t.Errorf("%s%s %s: by NICs %v to %v, want %s to %s", c.kind, c.choice, c.bytes, out, in, c.out,
				c.in)
		}
		if c.bytes == "40MB" {
			took[c.kind+c.choice] = slices.Max(r.Exec.End)
		}
	}
	for kind, own := range map[string]unit.Time{"rail": took["rail"], "rail-only": took["rail-only"]} {
		if f := float64(took[kind+", nic_choice: any"]) / float64(own); f < 0.23 || f > 0.27 {
			t.Errorf("%s: four NICs take %.3f of the time that one does", kind, f)
		}
	}
}

// Transfers of all GPUs load all NICs alike, whether each is split or not.
func TestAnyNICIsBalanced(t *testing.T) {
	for _, bytes := range []string{"2KB", "8MB"} {
		_, _, tab := runAll(t, `
fabric: {kind: rail, hosts: 3, spines: 4, host_link: {rate: 200Gbps, cable: 3m}}
server: {gpus: 4, nics: 4, nic_choice: any}
cc: {algorithm: none}
workload: {traffic: {alltoall: {bytes: `+bytes+`}}}
`)
		least, most := int64(1<<60), int64(0)
		for _, p := range tab.Ports {
			if p.Role == "host" {
				least, most = min(least, p.WireBytes), max(most, p.WireBytes)
			}
		}
		if float64(most) > 1.02*float64(least) {
			t.Errorf("all-to-all of %s: NICs send from %d to %d bytes", bytes, least, most)
		}
	}
}

func TestNICChoiceRefused(t *testing.T) {
	const text = "fabric: {kind: rail-only, hosts: 2, host_link: {rate: 200Gbps}}\n" +
		"server: {gpus: %d, nics: %[1]d, %s}\nworkload: {traffic: {permutation: {bytes: 1MB}}}\n"
	for _, c := range []struct {
		gpus        int
		more, wants string
	}{{4, "nic_choice: any, pxn: true", "x.yaml:2:28: server.nic_choice: any sends by all NICs"},
		{72, "nic_choice: any", "x.yaml:2:30: server.nic_choice: any takes at most 64 NICs"},
		{4, "nic_choice: nearest", "server.nic_choice: unknown value \"nearest\""}} {
		d, err := scenario.Parse("x.yaml", []byte(fmt.Sprintf(text, c.gpus, c.more)), nil)
		if err == nil {
			_, err = d.Resolve(nil)
		}
		if err == nil || !strings.Contains(err.Error(), c.wants) {
			t.Errorf("%v, want %q", err, c.wants)
		}
	}
}
