package dialect_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"railyard/internal/queue"
	"railyard/internal/swconf"
	"railyard/internal/swconf/design"
	"railyard/internal/swconf/dialect"
	"railyard/internal/topo"
	"railyard/unit"
)

// A SONiC port has the headroom for its own cable, not for the longest: 3 m to servers and 2 km to a spine in
// another hall. The parsed Spec has the maximum. A buffer that cannot hold the longest cable's headroom at every
// port can hold this.
func TestHeadroomOfEveryCable(t *testing.T) {
	g, err := topo.Build("rail", topo.Params{Server: topo.Server{GPUs: 2, NICs: 2, Ports: 1}, Hosts: 60,
		Segments: 1, Spines: 2, Uplinks: 1, Pods: 1,
		HostCable: topo.Cable{Rate: 400 * unit.Gbps, LengthMM: 3000},
		Fabric:    topo.Cable{Rate: 400 * unit.Gbps, LengthMM: 2_000_000}})
	if err != nil {
		t.Fatal(err)
	}
	if g, err = onDevice(g, swconf.SONiC); err != nil {
		t.Fatal(err)
	}
	base := queue.Default()
	base.Queues[4] = queue.Class{Lossless: true, Alpha: 0.125} // a dynamic threshold needs it as well
	d, err := design.Make(design.Fabric{Name: "x", Graph: g, Spec: func(int) queue.Spec { return base },
		OS: swconf.SONiC, DataDSCP: 24, CNPDSCP: 48, Addressing: design.Numbered, Multihome: design.MLAG})
	if err != nil {
		t.Fatal(err)
	}
	files, err := dialect.Render(d)
	if err != nil {
		t.Fatal(err)
	}
	leaf := d.Switches[0]
	chip, _ := queue.ASICNamed("spectrum4") // onDevice is an SN5600
	for _, f := range files {
		if f.Path != leaf.Name+"/config_db.json" {
			continue
		}
		var db map[string]map[string]map[string]string
		if err := json.Unmarshal([]byte(f.Text), &db); err != nil {
			t.Fatal(err)
		}
		for _, p := range leaf.Ports {
			mm := int64(3000)
			if p.Kind == design.ToSwitch {
				mm = 2_000_000
			}
			need, _, _ := chip.Headroom(p.Rate, mm, base.MTU)
			for class := 3; class <= 4; class++ {
				group := db["BUFFER_PG"][fmt.Sprintf("Ethernet%d|%d", (p.Number-1)*8, class)]
				if got := db["BUFFER_PROFILE"][group["profile"]]["xoff"]; got != fmt.Sprint(int64(need)) {
					t.Errorf("port %d to %s keeps %s, its cable needs %d (%s)", p.Number, p.FarName, got,
						need, group["profile"])
				}
			}
		}
		spec, c, notes, err := dialect.Spec(f.Path, []byte(f.Text), base)
		if err != nil {
			t.Fatal(err)
		}
		if spec.Queues[3].Headroom != leaf.Spec.Queues[3].Headroom || len(c.Ports) != 62 {
			t.Errorf("read as %v of %d ports, want %v", spec.Queues[3].Headroom, len(c.Ports),
				leaf.Spec.Queues[3].Headroom)
		}
		if strings.Contains(strings.Join(notes, "\n"), "differ from the other ports") {
			t.Errorf("notes %q", notes)
		}
		return
	}
	t.Error("no such file")
}

// A port of EOS or NX-OS also has the headroom for its own cable, in a profile that it shares with ports on equal
// cables. The output parses to equal values.
func TestHeadroomOfEveryPort(t *testing.T) {
	for _, os := range []swconf.OS{swconf.EOS, swconf.NXOS} {
		g, err := topo.Build("rail", topo.Params{Server: topo.Server{GPUs: 2, NICs: 2, Ports: 1}, Hosts: 4,
			Segments: 1, Spines: 2, Uplinks: 1, Pods: 1,
			HostCable: topo.Cable{Rate: 400 * unit.Gbps, LengthMM: 3000},
			Fabric:    topo.Cable{Rate: 400 * unit.Gbps, LengthMM: 2_000_000}})
		if err != nil {
			t.Fatal(err)
		}
		if g, err = onDevice(g, os); err != nil {
			t.Fatal(err)
		}
		d, err := design.Make(design.Fabric{Name: "x", Graph: g, OS: os, DataDSCP: 24, CNPDSCP: 48,
			Spec: func(int) queue.Spec { return queue.Default() }, Addressing: design.Numbered,
			Multihome: design.MLAG})
		if err != nil {
			t.Fatal(err)
		}
		files, err := dialect.Render(d)
		if err != nil {
			t.Fatal(err)
		}
		leaf, seen := d.Switches[0], map[unit.Bytes]int{}
		own := func(f design.File) bool { return strings.HasPrefix(f.Path, leaf.Name+"/") }
		i := slices.IndexFunc(files, own)
		_, c, _, err := dialect.Spec(files[i].Path, []byte(files[i].Text), queue.Default())
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range leaf.Ports {
			read := c.Port(p.Name).QoS.Queues[3].PG.V
			seen[read.Headroom]++
			if read.Headroom != p.Headroom[3] || read.XOff != leaf.Spec.Queues[3].XOff {
				t.Errorf("%s: port %s keeps %v above %v, its cable needs %v", os, p.Name, read.Headroom,
					read.XOff, p.Headroom[3])
			}
		}
		if len(seen) != 2 {
			t.Errorf("%s: headrooms %v, want those of two lengths", os, seen)
		}
		profiles := strings.Count(files[i].Text, "mmu queue profile FABRIC-3-")
		if os == swconf.EOS && profiles != 1 {
			t.Errorf("%d profiles besides the usual one:\n%s", profiles, files[i].Text)
		}
	}
}

// shared is a queue of EOS: with shares of the free buffer, which resume by themselves.
func shared(k *queue.Class) {
	k.XOn, k.XOnOffset, k.Limit = min(k.XOn, k.XOff), 0, 0
	if k.XOff == 0 {
		k.XOn = 0
		if k.Alpha == 0 {
			k.Alpha = 1
		}
	}
}

// fitted compares EOS's version of a Spec with the original, and removes the permitted differences: it polls at
// least twice per other time, and pauses at a share that holds the bytes of xOFF.
func fitted(t *testing.T, file string, got, want *queue.Spec) {
	t.Helper()
	if got.Watchdog.Poll > want.Watchdog.Poll || 2*got.Watchdog.Poll > want.Watchdog.Detect {
		t.Errorf("%s polls every %v", file, got.Watchdog.Poll)
	}
	got.Watchdog.Poll = want.Watchdog.Poll
	want.MTU = min(want.MTU, 9214) // which is the maximum
	k, old := &got.Queues[3], want.Queues[3]
	if holds := k.Alpha / (1 + k.Alpha) * float64(got.Buffer); holds < float64(old.XOff) ||
		holds > 2.1*float64(old.XOff) && k.Alpha > 1./128 {
		t.Errorf("%s pauses at %g of %v", file, k.Alpha, got.Buffer)
	}
	k.XOff, k.XOn, k.Alpha = old.XOff, old.XOn, old.Alpha
}

// TestHeadroomOfCells checks that SONiC output has a note on headroom above that of whole frames, which other
// languages have. The note has the chip, the figure of its longest port, and that of whole frames.
func TestHeadroomOfCells(t *testing.T) {
	for os, want := range map[swconf.OS]string{
		swconf.SONiC: "xoff is SONiC's own calculation for spectrum4, up to ",
		swconf.NXOS:  "",
	} {
		d, err := plan(fabric(t, "rail"), queue.Default(), os, design.Numbered, "", "")
		if err != nil {
			t.Fatal(err)
		}
		notes := strings.Join(dialect.Unsaid(d), "\n")
		if want == "" && strings.Contains(notes, "own calculation") || !strings.Contains(notes, want) {
			t.Errorf("%s: notes %q, want %q", os, notes, want)
		}
		if want == "" {
			continue
		}
		var most unit.Bytes
		for _, s := range d.Switches {
			for _, p := range s.Ports {
				most = max(most, p.Headroom[3])
			}
		}
		if x := fmt.Sprintf("up to %d bytes at ", most); !strings.Contains(notes, x) {
			t.Errorf("notes %q, want %q", notes, x)
		}
	}
}
