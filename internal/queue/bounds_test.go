package queue

import (
	"errors"
	"math"
	"slices"
	"testing"

	"railyard/internal/field"
	"railyard/unit"
)

// refusedAt returns the path of the field that an error names, "" without an error.
func refusedAt(err error) string {
	var e *field.Error
	if errors.As(err, &e) {
		return e.Path
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// TestBoundsOfSpecs accepts both ends of each range of a switch's description and rejects the next value.
func TestBoundsOfSpecs(t *testing.T) {
	const buffer = 64 << 20
	for _, c := range []struct {
		path       string
		set        func(s *Spec, v int64)
		good, poor []int64
	}{
		{"buffer", func(s *Spec, v int64) { s.Buffer = unit.Bytes(v) }, []int64{3500_000}, []int64{-1, 0}},
		{"buffer", func(s *Spec, v int64) {
			s.Buffer, s.Queues = unit.Bytes(v), [Classes]Class{}
			for i := range s.Queues {
				s.Queues[i].Alpha = 1
			}
		}, []int64{1}, []int64{0}},
		{"mtu", func(s *Spec, v int64) { s.MTU = unit.Bytes(v) }, []int64{256, 16384}, []int64{255, 16385}},
		{"pfc_quanta", func(s *Spec, v int64) { s.PFCQuanta = int(v) }, []int64{1, 65535}, []int64{0, 65536}},
		{"dscp", func(s *Spec, v int64) { s.DSCP[0] = uint8(v) }, []int64{0, 7}, []int64{8, 255}},
		{"queues.3.weight", func(s *Spec, v int64) { s.Queues[0].Weight, s.Queues[3].Weight = 0, int(v) },
			[]int64{0, 100}, []int64{-1, 101}},
		{"queues", func(s *Spec, v int64) { s.Queues[0].Weight, s.Queues[3].Weight = 50, int(v) },
			[]int64{0, 50}, []int64{51}},
		{"queues.3.wred_min", func(s *Spec, v int64) { s.Queues[3].WRED.Min = unit.Bytes(v) },
			[]int64{0, 3_000_000}, []int64{-1, 3_000_001}},
		{"queues.3.wred_min", func(s *Spec, v int64) { s.Queues[3].WRED = WRED{Max: unit.Bytes(v)} },
			[]int64{0, 1, buffer}, []int64{-1}},
		{"queues.3.wred_min", func(s *Spec, v int64) { s.Queues[3].WRED = WRED{Min: unit.Bytes(v), Max: 1} },
			[]int64{0, 1}, []int64{2}},
		{"queues.3.wred_min", func(s *Spec, v int64) { s.Queues[3].WRED = WRED{Min: unit.Bytes(v)} },
			[]int64{0, 1, buffer}, []int64{-1}}, // trimming is off
		{"queues.3.wred_max", func(s *Spec, v int64) { s.Queues[3].WRED.Max = unit.Bytes(v) },
			[]int64{buffer}, []int64{buffer + 1}},
		{"queues.3.probability", func(s *Spec, v int64) { s.Queues[3].WRED.Probability = unit.Share(v) / 1000 },
			[]int64{0, 1000}, []int64{-1, 1001}},
		{"queues.3.wred_weight", func(s *Spec, v int64) { s.Queues[3].WRED.Weight = uint(v) },
			[]int64{0, 15}, []int64{16}},
		{"queues.3.xon", func(s *Spec, v int64) { s.Queues[3].XOn = unit.Bytes(v) },
			[]int64{0, 3_499_999}, []int64{-1, 3_500_000}},
		{"queues.3.xoff", func(s *Spec, v int64) { s.Queues[3].XOff = unit.Bytes(v) },
			[]int64{100_001, buffer}, []int64{buffer + 1}},
		{"queues.3.alpha", func(s *Spec, v int64) { s.Queues[3].Alpha = float64(v) },
			[]int64{0, 1024}, []int64{-1, 1025}},
		{"queues.3.xoff", func(s *Spec, v int64) {
			s.Queues[3].XOff, s.Queues[3].XOn, s.Queues[3].Alpha = 0, 0, float64(v)
		}, []int64{1}, []int64{0, -1}},
		{"queues.3.xon", func(s *Spec, v int64) { s.Queues[3].XOnOffset = unit.Bytes(v) },
			[]int64{0, buffer}, []int64{-1}},
		{"queues.3.xon_offset", func(s *Spec, v int64) { s.Queues[3].XOnOffset = unit.Bytes(v) },
			[]int64{buffer}, []int64{buffer + 1}},
		{"queues.3.headroom", func(s *Spec, v int64) { s.Queues[3].Headroom = unit.Bytes(v) },
			[]int64{0, 1}, []int64{-1}},
		{"queues.0.headroom", func(s *Spec, v int64) { s.Queues[0].Limit = unit.Bytes(v) },
			[]int64{0, 1}, []int64{-1}},
		{"queues.0.limit", func(s *Spec, v int64) { s.Queues[0].Alpha, s.Queues[0].Limit = 0, unit.Bytes(v) },
			[]int64{1}, []int64{0}},
		{"queues.3.trim", func(s *Spec, v int64) { s.Queues[3].Trim = v != 0 }, []int64{0}, []int64{1}},
		{"watchdog", func(s *Spec, v int64) {
			s.Watchdog = Watchdog{On: true, Poll: unit.Time(v), Detect: 10, Restore: 10}
		}, []int64{1, 10}, []int64{0, 11, -1}},
		{"watchdog", func(s *Spec, v int64) {
			s.Watchdog = Watchdog{On: true, Poll: 10, Detect: unit.Time(v), Restore: 10}
		}, []int64{10}, []int64{9}},
		{"watchdog", func(s *Spec, v int64) {
			s.Watchdog = Watchdog{On: true, Poll: 10, Detect: 10, Restore: unit.Time(v)}
		}, []int64{10}, []int64{9}},
		{"watchdog", func(s *Spec, v int64) { s.Watchdog = Watchdog{Poll: unit.Time(v)} }, []int64{0, -1}, nil},
	} {
		for fits, values := range map[bool][]int64{true: c.good, false: c.poor} {
			for _, v := range values {
				s := Default()
				c.set(&s, v)
				want := c.path
				if fits {
					want = ""
				}
				if got := refusedAt(s.Validate()); got != want {
					t.Errorf("%s of %d is refused at %q, want %q", c.path, v, got, want)
				}
			}
		}
	}
}

// TestBoundsOfTrimming: headers have from 64 bytes to one below the MTU, and a DSCP whose queue is strict, lossy
// and does not trim. If no queue trims, none of this is checked.
func TestBoundsOfTrimming(t *testing.T) {
	trimming := func() Spec {
		s := Default()
		s.DSCP[40], s.DSCP[63] = 7, 7
		s.Queues[0].Trim, s.Queues[0].Limit = true, 1
		s.Trim = Trim{Size: 64, DSCP: 40, LastHop: 63}
		return s
	}
	for _, c := range []struct {
		path string
		set  func(s *Spec)
	}{
		{"", func(*Spec) {}},
		{"trim.size", func(s *Spec) { s.Trim.Size = 63 }},
		{"", func(s *Spec) { s.Trim.Size = 9215 }},
		{"trim.size", func(s *Spec) { s.Trim.Size = 9216 }},
		{"trim.dscp", func(s *Spec) { s.Trim.DSCP = 64 }},
		{"trim.last_hop_dscp", func(s *Spec) { s.Trim.LastHop = 64 }},
		{"trim.dscp", func(s *Spec) { s.Trim.DSCP = 0 }},
		{"trim.last_hop_dscp", func(s *Spec) { s.Trim.LastHop = 24 }},
		{"trim.dscp", func(s *Spec) { s.Queues[7].Lossless = true }},
		{"trim.dscp", func(s *Spec) { s.Queues[7].Trim = true }},
		{"trim.last_hop_dscp", func(s *Spec) {
			s.DSCP[63], s.Queues[6] = 6, Class{Strict: true, Alpha: 1, Trim: true}
		}},
		{"", func(s *Spec) { s.Queues[0].Trim, s.Trim = false, Trim{DSCP: 255} }},
	} {
		s := trimming()
		c.set(&s)
		if got := refusedAt(s.Validate()); got != c.path {
			t.Errorf("%+v is refused at %q, want %q", s.Trim, got, c.path)
		}
	}
	s := trimming()
	if s.Queues[5].Trim = true; s.TrimMask() != 0b100001 {
		t.Errorf("queues %b trim, want 0 and 5", s.TrimMask())
	}
	s.Queues[5].Alpha = 0.25
	if a, b := s.Room(0), s.Room(5); a != 1 || b != 16<<20 {
		t.Errorf("rooms of %d and %d bytes, want the limit, 1, and a quarter of the buffer, 16777216", a, b)
	}
}

// TestCells cuts frames into whole cells: by hand for cells of 256 bytes with headers of 16.
func TestCells(t *testing.T) {
	s := Scheduled{Cell: 256, Header: 16, Message: 64, Credit: 2048, Speedup: 1, Egress: 2048, Timeout: 1}
	for _, c := range []struct {
		frame, wire unit.Bytes
		cells       int64
		load        float64
	}{{1, 256, 1, 384}, {240, 256, 1, 384}, {241, 512, 2, 640}, {2048, 2304, 9, 2432}, {4096, 4608, 18, 4864}} {
		if n, w, l := s.Cells(c.frame), s.Wire(c.frame), s.Load(c.frame); n != c.cells || w != c.wire || l != c.load {
			t.Errorf("a frame of %d: %d cells, %d bytes, load %g; want %d, %d, %g", c.frame, n, w, l,
				c.cells, c.wire, c.load)
		}
		if e := s.Efficiency(c.frame); math.Abs(e-float64(c.frame)/c.load) > 1e-12 {
			t.Errorf("a frame of %d: efficiency %g", c.frame, e)
		}
	}
	for _, c := range []struct {
		path       string
		set        func(s *Scheduled, v int64)
		good, poor []int64
	}{
		{"cell", func(s *Scheduled, v int64) { s.Cell = unit.Bytes(v) }, []int64{64, 4096}, []int64{31, 4097}},
		{"cell", func(s *Scheduled, v int64) { s.Header = unit.Bytes(v) }, []int64{0, 240}, []int64{-1, 241}},
		{"message", func(s *Scheduled, v int64) { s.Message = unit.Bytes(v) }, []int64{1, 256}, []int64{0, 257}},
		{"credit", func(s *Scheduled, v int64) { s.Credit = unit.Bytes(v) }, []int64{1, 2048}, []int64{0}},
		{"egress", func(s *Scheduled, v int64) { s.Credit = unit.Bytes(v) }, nil, []int64{2049}},
		{"speedup", func(s *Scheduled, v int64) { s.Speedup = float64(v) / 100 }, []int64{100, 400}, []int64{99, 401}},
		{"timeout", func(s *Scheduled, v int64) { s.Timeout = unit.Time(v) }, []int64{1}, []int64{0, -1}},
	} {
		for fits, values := range map[bool][]int64{true: c.good, false: c.poor} {
			for _, v := range values {
				s := s
				c.set(&s, v)
				want := c.path
				if fits {
					want = ""
				}
				if got := refusedAt(s.Validate(4096)); got != want {
					t.Errorf("%s of %d is refused at %q, want %q", c.path, v, got, want)
				}
			}
		}
	}
}

// TestResponseBudget: a port responds to a pause within a number of quanta of 512 bits that depends on its rate
// (IEEE 802.3 31B.3.7), converted to a time.
func TestResponseBudget(t *testing.T) {
	for _, c := range []struct{ gbps, quanta int64 }{{1, 67}, {10, 67}, {11, 80}, {25, 80}, {26, 118}, {40, 118},
		{41, 147}, {50, 147}, {51, 394}, {100, 394}, {101, 453}, {200, 453}, {201, 905}, {400, 905}, {800, 905}} {
		want := unit.Time(math.Ceil(float64(c.quanta*512) * 1000 / float64(c.gbps)))
		if got := Response(unit.Rate(c.gbps) * unit.Gbps); got < want-1 || got > want {
			t.Errorf("at %d Gbit/s: %d ps, want %d", c.gbps, got, want)
		}
	}
}

// TestReservedByHand: at 100 Gbit/s a byte takes 80 ps. A frame of 1,024 and a pause frame of 64, each plus 20 of
// preamble and gap, 2 x 500 ns of cable and 1 us: 1,128 x 80 + 2,000,000 ps, or 26,128 bytes. All but 20 of 1,044
// are frame bytes; two frames are added.
func TestReservedByHand(t *testing.T) {
	const want = 2*1024 + 26128*1024/1044
	const ns = unit.Nanosecond
	if got := Headroom(100*unit.Gbps, 500*ns, 600*ns, 400*ns, 1024); got != want {
		t.Errorf("%d bytes, want %d", got, want)
	}
	s := Default()
	if s.MTU = 1024; s.Reserve(3, 100*unit.Gbps, 500*ns, 600*ns, 400*ns) != want {
		t.Error("what a port keeps is not what its link needs")
	}
}

// TestChips finds chips by name and by the rate of their ports.
func TestChips(t *testing.T) {
	names := []string{"spectrum", "spectrum2", "spectrum3", "spectrum4", "spectrum5", "spectrum6"}
	if got := ASICs(); !slices.Equal(got, names) {
		t.Errorf("chips %v", got)
	}
	for gbps, want := range map[int]string{1: "spectrum", 100: "spectrum", 101: "spectrum2", 200: "spectrum2",
		201: "spectrum3", 400: "spectrum3", 401: "spectrum4", 800: "spectrum4", 801: "spectrum6", 1600: "spectrum6",
		1601: "spectrum6"} {
		if got := ASICFor(unit.Rate(gbps) * unit.Gbps).Name; got != want {
			t.Errorf("%dG ports are %s's, want %s's", gbps, got, want)
		}
	}
	if _, ok := ASICNamed("spectrum7"); ok {
		t.Error("there is a spectrum7")
	}
	// asic_table.j2 of sonic-buildimage: cell and pipeline, and 18 KiB more on Spectrum-6; ports in Gbit/s.
	for name, want := range map[string][4]unit.Bytes{"spectrum": {96, 19456, 0, 100},
		"spectrum2": {144, 19456, 0, 200}, "spectrum3": {144, 19456, 0, 400}, "spectrum4": {192, 19456, 0, 800},
		"spectrum5": {192, 19456, 0, 800}, "spectrum6": {256, 43008, 18432, 1600}} {
		if a, _ := ASICNamed(name); a.Cell != want[0] || a.Pipeline != want[1] || a.Extra != want[2] ||
			a.Rate != unit.Rate(want[3])*unit.Gbps || a.Tile != (name > "spectrum3" && name != "spectrum6") {
			t.Errorf("%+v, want %v", a, want)
		}
	}
}

// TestProtected adds to priorities the classes through which their packets rise, and no others.
func TestProtected(t *testing.T) {
	s := Default()
	r, err := s.Rise(3)
	if err != nil {
		t.Fatal(err)
	}
	for p, want := range map[uint8]uint8{0: 0, 1: 1, 1 << 3: 0b111000, 1<<3 | 1<<7: 0b10111000, 1 << 4: 1 << 4} {
		if got := r.Protected(p); got != want {
			t.Errorf("%b are %b, want %b", p, got, want)
		}
	}
}

// TestSharesOfAWeight: copies get equal parts of a weight, and the remainder goes to some of them.
func TestSharesOfAWeight(t *testing.T) {
	for weight, want := range map[int][3]int{50: {17, 16, 17}, 51: {17, 17, 17}, 1: {1, 0, 0}, 0: {}} {
		s := Default()
		s.Queues[3].Weight = weight
		if _, err := s.Rise(3); err != nil {
			t.Fatal(err)
		}
		got := [3]int{s.Queues[3].Weight, s.Queues[4].Weight, s.Queues[5].Weight}
		if got != want {
			t.Errorf("%d becomes %v, want %v", weight, got, want)
		}
	}
}

// TestAveragesByHand: the average changes by the difference over a power of two, rounded down.
func TestAveragesByHand(t *testing.T) {
	for _, c := range []struct {
		weight       uint
		avg, q, want unit.Bytes
	}{{0, 5, 1000, 1000}, {1, 0, 1000, 500}, {3, 800, 1600, 900}, {3, 1600, 800, 1500}, {15, 0, 32768, 1},
		{15, 0, 32767, 0}} {
		w := WRED{Weight: c.weight}
		if got := w.Average(c.avg, c.q); got != c.want {
			t.Errorf("weight %d, from %d to %d: %d, want %d", c.weight, c.avg, c.q, got, c.want)
		}
	}
}

// TestDefaultByHand compares the default with the usual configuration lines (random-detect minimum-threshold 150 KB
// maximum-threshold 3000 KB drop-probability 7 ecn, pause xoff 3500 KB xon 100 KB, watchdog intervals of 200 ms).
// RoCE has half of the bandwidth, CNPs have strict priority, and other traffic is lossy.
func TestDefaultByHand(t *testing.T) {
	want := Spec{Buffer: 67_108_864, MTU: 9216, PFCQuanta: 65535,
		Watchdog: Watchdog{Poll: 200_000_000_000, Detect: 200_000_000_000, Restore: 200_000_000_000}}
	want.DSCP[24], want.DSCP[48] = 3, 7
	for _, lossy := range []int{0, 1, 2, 4, 5, 6, 7} {
		want.Queues[lossy].Alpha = 1
	}
	want.Queues[0].Weight = 50
	want.Queues[3] = Class{Weight: 50, Lossless: true, XOff: 3_500_000, XOn: 100_000,
		WRED: WRED{Min: 150_000, Max: 3_000_000, Probability: 7. / 100, ECN: true}}
	want.Queues[7].Strict = true
	if got := Default(); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if s := Default(); s.LosslessMask() != 1<<3 || s.WREDMask() != 0 || s.TrimMask() != 0 {
		t.Errorf("lossless %b, with an eye on every packet %b, trimming %b", s.LosslessMask(), s.WREDMask(),
			s.TrimMask())
	}
	for _, c := range []struct {
		wred WRED
		eye  bool
	}{{WRED{Max: 1}, true}, {WRED{}, false}, {WRED{Weight: 1, ECN: true}, false}, {WRED{Max: 1, ECN: true}, false},
		{WRED{Max: 1, Weight: 1, ECN: true}, true}} {
		s := Default()
		if s.Queues[6].WRED = c.wred; s.WREDMask() != map[bool]uint8{true: 1 << 6}[c.eye] {
			t.Errorf("%+v looks at every packet: %b", c.wred, s.WREDMask())
		}
	}
}
