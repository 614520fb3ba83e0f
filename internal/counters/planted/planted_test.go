package planted

import (
	"strings"
	"testing"

	"railyard/internal/counters"
)

// port is a port's counts during the run.
type port struct {
	*counters.Port
	device string
	host   bool
}

// shows is, by cause, what the counters of one of its culprits must show. A fault without effect in the simulation
// is no entry of the table.
var shows = map[string]func(p port) bool{
	"incast": func(p port) bool { return p.Queues[3].Marked.V > 10 },
	"storm": func(p port) bool {
		return p.host && p.TxDur[3].V > 100 && p.TxPFC[3].V > 0
	},
	"slow-receiver":  func(p port) bool { return p.host && p.TxPFC[3].V > 2 && p.TxDur[3].V > 100 },
	"wrong-class":    func(p port) bool { return p.Queues[0].TxBytes.V > 1_000_000 },
	"pfc-off":        func(p port) bool { return !p.host && p.InDiscards.V > 0 && p.TxDur[3].V == 0 },
	"ecn-off":        func(p port) bool { return p.TxPFC[3].V > 0 && p.Queues[3].Marked.V == 0 },
	"xoff-low":       func(p port) bool { return p.TxPFC[3].V > 10 },
	"headroom-small": func(p port) bool { return p.InDiscards.V > 0 && p.TxDur[3].V+p.TxPFC[3].V > 0 },
	"flapping":       func(p port) bool { return p.Flaps.V > 2 },
	"mtu":            func(p port) bool { return p.Giants.V > 100 },
	"lossy-cable":    func(p port) bool { return p.CRC.V > 2 },
	"slow-link":      func(p port) bool { return p.Queues[3].Marked.V > 10 },
	"cnp-class":      func(p port) bool { return p.host && p.Queues[7].TxPackets.V == 0 },
	"device-down":    func(p port) bool { return p.Flaps.V > 0 },
	"uplink-down":    func(p port) bool { return !p.Up.V },
	"polarised":      func(p port) bool { return p.Queues[3].TxPackets.V == 0 && p.Speed.V > 0 },
}

// TestPlanted: each fault is visible at one of its culprits; a healthy fabric shows nothing.
func TestPlanted(t *testing.T) {
	systems := []string{"nxos", "eos", "sonic"}
	for i := range Faults {
		f := &Faults[i]
		t.Run(f.Name, func(t *testing.T) {
			s, err := f.Simulate(systems[i%3])
			if err != nil {
				t.Fatal(err)
			}
			n := s.Run.Net
			if f.Cause == "" {
				if n.Drops+n.Pauses+n.Marks > 0 {
					t.Errorf("a healthy fabric with %d drops, %d pauses, %d marks", n.Drops, n.Pauses,
						n.Marks)
				}
				return
			}
			check, found := shows[f.Cause], false
			for _, p := range ports(t, s, systems[i%3]) {
				for _, c := range s.Culprits {
					own := c.Device == p.device && (c.Port == "" || c.Port == p.Name)
					found = found || own && check(p)
				}
			}
			if !found {
				t.Errorf("%s does not show at %v", f.Cause, s.Culprits)
			}
		})
	}
}

// ports returns the counts of the culprits' ports, parsed from the devices' output.
func ports(t *testing.T, s *Seen, system string) (out []port) {
	before, after := s.Sessions(system)
	for _, c := range s.Culprits {
		device := c.Device
		var at [2]counters.Snapshot
		for k, text := range [][]byte{before[device], after[device]} {
			all, unknown, err := counters.Read(device+".txt", text)
			if err != nil || len(unknown) > 0 {
				t.Fatal(err, unknown)
			}
			joined, notes := counters.Join(all)
			if len(joined) != 1 || len(notes) > 0 {
				t.Fatal(notes)
			}
			at[k] = joined[0]
		}
		d, err := counters.Delta(at[0], at[1])
		if err != nil || len(d.Notes) > 0 {
			t.Fatal(err, d.Notes)
		}
		for i := range d.Ports {
			out = append(out, port{&d.Ports[i], device, d.Kind == counters.Host})
		}
	}
	return out
}

// TestTable: at least 30 faults, of every cause, on two fabrics, with unique names.
func TestTable(t *testing.T) {
	names, causes, planted := map[string]bool{}, map[string]bool{}, 0
	fabrics := map[string]bool{}
	for i := range Faults {
		f := &Faults[i]
		if names[f.Name] {
			t.Errorf("two faults are called %s", f.Name)
		}
		names[f.Name] = true
		if f.Cause == "" {
			continue
		}
		if shows[f.Cause] == nil || len(f.Culprits) == 0 {
			t.Errorf("%s: nobody to be found, or no check of %s", f.Name, f.Cause)
		}
		if f.Cause != "incast" {
			planted++
		}
		causes[f.Cause] = true
		fabrics[strings.TrimSuffix(f.Base, "-busy")] = true
	}
	if planted < 30 || len(causes) != len(shows) || len(fabrics) < 2 {
		t.Errorf("%d faults of %d causes on %d fabrics", planted, len(causes), len(fabrics))
	}
}

// TestSame: a fault is simulated alike each time, to the last counter.
func TestSame(t *testing.T) {
	var texts [2]string
	for k := range texts {
		s, err := Faults[2].Simulate("eos")
		if err != nil {
			t.Fatal(err)
		}
		_, after := s.Sessions("eos")
		for _, n := range s.After {
			texts[k] += string(after[n.Device])
		}
	}
	if texts[0] != texts[1] {
		t.Error("two runs of one scenario print other counters")
	}
}
