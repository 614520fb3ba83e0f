package dcbx_test

import (
	"strings"
	"testing"

	"railyard/internal/dcbx"
	"railyard/internal/swconf"
	"railyard/roce"
)

// station is a port that pauses priority 3 and asks its neighbour.
func station(name string, mac byte, change func(*dcbx.Station)) dcbx.Station {
	s := dcbx.Station{Name: name, System: name, Port: "Ethernet1/1", MAC: roce.MAC{2, 0, 0, 0, 0, mac},
		LLDP: true, Version: dcbx.IEEE, Mode: swconf.PFCAuto, Enable: 1 << 3}
	if change != nil {
		change(&s)
	}
	return s
}

// The table has what two ends do for willing bits, versions and modes (802.1Q 38.4.2, DCBX 1.01).
func TestExchange(t *testing.T) {
	type set = func(*dcbx.Station)
	willing := func(s *dcbx.Station) { s.Willing = true }
	willingNone := func(s *dcbx.Station) { s.Willing, s.Enable = true, 0 }
	cee := func(s *dcbx.Station) { s.Version = dcbx.CEE }
	ceeFour := func(s *dcbx.Station) { s.Version, s.Enable = dcbx.CEE, 1<<4 }
	auto := func(s *dcbx.Station) { s.Version = dcbx.Auto }
	four := func(s *dcbx.Station) { s.Enable = 1 << 4 }
	off := func(s *dcbx.Station) { s.Mode = swconf.PFCOff; s.Enable = 0 }
	on := func(s *dcbx.Station) { s.Mode = swconf.PFCOn }
	silent := func(s *dcbx.Station) { s.LLDP = false }
	noDCBX := func(s *dcbx.Station) { s.Version, s.Mode = dcbx.None, swconf.PFCOn }
	for name, c := range map[string]struct {
		a, b     set
		version  dcbx.Version
		opA, opB uint8
		problem  string
	}{
		"alike":                        {nil, nil, dcbx.IEEE, 8, 8, ""},
		"a takes b's":                  {willingNone, nil, dcbx.IEEE, 8, 8, ""},
		"b takes a's":                  {nil, willingNone, dcbx.IEEE, 8, 8, ""},
		"both willing, lower MAC wins": {willing, willingNone, dcbx.IEEE, 8, 8, ""},
		"the other way round":          {willingNone, willing, dcbx.IEEE, 0, 0, "works on neither end"},
		"neither willing, differ":      {nil, four, dcbx.IEEE, 8, 16, "a pauses priorities 3, b pauses 4"},
		"CEE, alike":                   {cee, cee, dcbx.CEE, 8, 8, ""},
		"CEE, not compatible":          {cee, ceeFour, dcbx.CEE, 0, 0, "works on neither end"},
		"auto follows CEE":             {auto, cee, dcbx.CEE, 8, 8, ""},
		"two autos":                    {auto, auto, dcbx.IEEE, 8, 8, ""},
		"IEEE against CEE":             {nil, cee, dcbx.None, 0, 0, "a speaks ieee, b speaks cee"},
		"one end off":                  {nil, off, dcbx.IEEE, 8, 0, "a pauses priorities 3, b pauses none"},
		"forced on, no need to ask":    {on, on, dcbx.IEEE, 8, 8, ""},
		"LLDP off":                     {nil, silent, dcbx.None, 0, 0, "a receives no LLDP from b"},
		"no DCBX in its LLDP":          {nil, noDCBX, dcbx.None, 0, 8, "a receives no DCBX from b"},
	} {
		r := dcbx.Exchange(station("a", 1, c.a), station("b", 2, c.b))
		if r.Version != c.version || r.OperA != c.opA || r.OperB != c.opB {
			t.Errorf("%s: %v, %08b and %08b, want %v, %08b and %08b", name, r.Version, r.OperA, r.OperB,
				c.version, c.opA, c.opB)
		}
		if got := strings.Join(r.Problems, "; "); !strings.Contains(got, c.problem) ||
			c.problem == "" && got != "" {
			t.Errorf("%s: problems %q, want %q", name, got, c.problem)
		}
		check(t, name, r)
	}
}

// check decodes the frames. The last frame of each end has its final state.
func check(t *testing.T, name string, r *dcbx.Result) {
	t.Helper()
	last := map[bool]uint8{}
	for _, f := range r.Frames {
		var frame roce.Frame
		var l roce.LLDP
		if err := frame.Decode(f.Bytes); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := l.Decode(frame.LLDP); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if frame.Dst != roce.LLDPAddress || len(f.Bytes) < 60 {
			t.Errorf("%s: %d bytes to %v", name, len(f.Bytes), frame.Dst)
		}
		last[f.FromA] = l.PFC.Enable
		if l.Has&roce.HasCEE != 0 {
			last[f.FromA] = l.CEE.PFCEnable
		}
		sum := 0
		for _, p := range l.ETS.Percent {
			sum += int(p)
		}
		if l.Has&roce.HasETS != 0 && sum != 0 && sum != 100 {
			t.Errorf("%s: ETS shares add up to %d", name, sum)
		}
	}
	if r.Version == dcbx.None {
		return
	}
	for fromA, oper := range map[bool]uint8{true: r.OperA, false: r.OperB} {
		s := r.A
		if !fromA {
			s = r.B
		}
		if s.Mode == swconf.PFCAuto && last[fromA] != oper {
			t.Errorf("%s: %s announces %08b and does %08b", name, s.Name, last[fromA], oper)
		}
	}
}
