package goodput

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"railyard/internal/field"

	"pgregory.net/rapid"
)

// every is a job of 8,192 GPUs that fails every N seconds, by a component that takes a server.
func every(mtbf float64) Input {
	return Input{GPUs: 8192, PerServer: 8, Days: 54, Spares: -1, Seed: 1, Seeds: 40,
		Rates: &Rates{Rates: []Rate{{Component: "gpu", Second: 1 / mtbf / 8192}}},
		Stall: 30 * Second, Detect: Minute, Restart: 5 * Minute}
}

func mustRun(t *testing.T, in Input) *Result {
	t.Helper()
	r, err := Run(in, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Without failures only checkpoints cost time.
func TestNothingFails(t *testing.T) {
	in := every(1)
	in.Rates, in.Interval = &Rates{}, 10*Minute
	r := mustRun(t, in)
	want := 600.0 / 630
	if got := r.Chosen.Effective; math.Abs(got.Mean-want) > 1e-4 || got.SD > 1e-12 ||
		r.Chosen.Expected != want {
		t.Errorf("%+v, want %g", got, want)
	}
	if r.MTBF != 0 || r.PerDay != 0 {
		t.Errorf("%+v", r)
	}
}

// The simulation agrees with Daly's formula for intervals from an eighth of his optimum to eight times as long, and
// is best at the optimum.
func TestFollowsDaly(t *testing.T) {
	for _, mtbf := range []float64{1200, 3 * 3600, 86400} {
		r := mustRun(t, every(mtbf))
		n := math.Sqrt(float64(r.Seeds))
		for _, p := range r.Points {
			if d := p.Effective.Mean - p.Expected; math.Abs(d) > 4*p.Effective.SD/n+2e-4 {
				t.Errorf("mtbf %g s, every %g s: %.5f, Daly %.5f, standard deviation %.5f", mtbf, p.Interval,
					p.Effective.Mean, p.Expected, p.Effective.SD)
			}
			if p.Effective.Mean > r.Chosen.Effective.Mean+2*r.Chosen.Effective.SD/n {
				t.Errorf("mtbf %g s: %.5f every %g s, %.5f at Daly's %g", mtbf, p.Effective.Mean, p.Interval,
					r.Chosen.Effective.Mean, r.Chosen.Interval)
			}
		}
		if r.Best < r.Daly/1.5 || r.Best > r.Daly*1.5 || len(r.Points) < 7 {
			t.Errorf("mtbf %g s: the best of %d is every %g s, Daly %g", mtbf, len(r.Points), r.Best, r.Daly)
		}
	}
}

// TestBestIsInside checks that the best simulated interval is no edge of the simulated ones, also where the chosen one
// is far from the optimum.
func TestBestIsInside(t *testing.T) {
	for _, times := range []float64{1.0 / 40, 1, 40} {
		in := every(3 * 3600)
		in.Interval = Seconds(times * mustRun(t, in).Daly)
		r := mustRun(t, in)
		edge := r.Best == r.Points[0].Interval || r.Best == r.Points[len(r.Points)-1].Interval
		if r.Best < r.Daly/2 || r.Best > 2*r.Daly || edge {
			t.Errorf("every %g s: the best is every %g s, Daly's %g s", in.Interval.Seconds(), r.Best, r.Daly)
		}
		if !slices.IsSortedFunc(r.Points, func(a, b Point) int { return cmp.Compare(a.Interval, b.Interval) }) {
			t.Errorf("%+v", r.Points)
		}
	}
}

// Daly's interval is the optimum of his formula, more precise than Young's.
func TestDalysOptimum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mtbf := rapid.Float64Range(600, 1e6).Draw(t, "mtbf")
		stall := rapid.Float64Range(1e-4, 0.3).Draw(t, "stall") * mtbf
		e := func(tau float64) float64 { return Expected(tau, stall, mtbf, 60, 300) }
		best, daly, young := 0.0, Daly(stall, mtbf), Young(stall, mtbf)
		for x := daly / 4; x < daly*4; x *= 1.002 {
			best = max(best, e(x))
		}
		if e(daly) < best*0.998 || e(daly) < e(young)*0.9999 {
			t.Fatalf("%.6f at Daly's, %.6f at Young's, %.6f at best", e(daly), e(young), best)
		}
	})
}

// All time is accounted for, and equal seeds give equal results.
func TestTimeAddsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		span := func(name string, most Span) Span {
			return Span(rapid.Int64Range(0, int64(most)).Draw(t,
				name))
		}
		in := Input{PerServer: rapid.SampledFrom([]int{1, 4, 8}).Draw(t, "per server"), Days: 3, Seeds: 1,
			Detect: span("detect", Hour), Restart: span("restart", Hour), Stall: span("stall", 10*Minute),
			Write: span("write", Hour), Step: span("step", Minute), Repair: span("repair", 2*Day),
			Spares: rapid.IntRange(-1, 3).Draw(t, "spares")}
		in.GPUs = in.PerServer * rapid.IntRange(1, 64).Draw(t, "servers")
		if rapid.Bool().Draw(t, "short") {
			for in.Replica = rapid.IntRange(1, in.GPUs).Draw(t,
				"replica"); in.GPUs%in.Replica > 0; in.Replica-- {
			}
		}
		in.Rates = &Rates{Rates: []Rate{{Component: "gpu", MTBF: rapid.Float64Range(1, 1e4).Draw(t, "mtbf")},
			{Component: "software", MTBF: 10}}}
		parts, err := in.Rates.parts(in.GPUs, in.PerServer)
		if err != nil {
			t.Fatal(err)
		}
		tau := in.steps(1 + span("interval", Day))
		a := simulate(&in, parts, tau, 7)
		if a.total() != in.length() || min(a.Useful, a.Checkpoint, a.Lost, a.Wait, a.Short) < 0 {
			t.Fatalf("%+v is %v of %v", a, a.total(), in.length())
		}
		if in.Replica == 0 && a.Short > 0 || in.Spares < 0 && a.Wait > 0 {
			t.Fatalf("%+v", a)
		}
		// Each failure costs what follows it. Without replicas no restart only adds servers.
		cost, follows := Span(0), a.Lost+a.Detect+a.Restart+a.Wait
		for _, c := range a.Cost {
			cost += c
		}
		if cost > follows || in.Replica == 0 && cost != follows {
			t.Fatalf("failures cost %v of %v: %+v", cost, follows, a)
		}
		one, _ := json.Marshal(a)
		two, _ := json.Marshal(simulate(&in, parts, tau, 7))
		if string(one) != string(two) {
			t.Fatalf("%s and %s", one, two)
		}
	})
}

// A cycle is followed moment by moment.
func TestCycle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string, least, most int64) Span {
			return Span(rapid.Int64Range(least,
				most).Draw(t, name))
		}
		c := cycle{draw("interval", 1, 9), draw("stall", 0, 5), draw("write", 0, 20)}
		var work, kept, made, into, stalled, since Span
		var counts []Span // times at which checkpoints count
		since = c.write
		end := draw("end", 0, 200)
		for now := Span(0); now < end; now++ {
			switch {
			case into < c.interval:
				into++
				work++
			case since < c.write || c.stall == 0:
				// waits for the last write
			default:
				stalled++
			}
			since++
			if into == c.interval && stalled == c.stall && (c.stall > 0 || since >= c.write) {
				made++
				counts = append(counts, now+1+c.write)
				into, stalled, since = 0, 0, 0
			}
		}
		for i, at := range counts {
			if at <= end {
				kept = Span(i+1) * c.interval
			}
		}
		if w, k := c.run(end); w != work || k != kept {
			t.Fatalf("%+v after %d: work %d of which %d counts, want %d and %d", c, end, w, k, work, kept)
		}
		if at := c.after(end); at < end {
			t.Fatalf("%d lies before %d", at, end)
		} else if _, k := c.run(at); k != 0 && at > 0 {
			if _, before := c.run(at - 1); before == k {
				t.Fatalf("no checkpoint counts from %d on", at)
			}
		}
	})
}

// More servers that stand by never hurt; running short beats waiting.
func TestSpares(t *testing.T) {
	in := every(6 * 3600)
	in.Repair, in.Seeds = 2*Day, 10
	last := 0.0
	for _, n := range []int{0, 2, 4, 8, 16} {
		in.Spares, in.Replica = n, 0
		waits := mustRun(t, in).Chosen
		in.Replica = 512
		short := mustRun(t, in).Chosen
		if waits.Effective.Mean < last-0.002 || short.Effective.Mean < waits.Effective.Mean-0.002 {
			t.Errorf("%d stand by: %.4f, before %.4f; running short %.4f", n, waits.Effective.Mean, last,
				short.Effective.Mean)
		}
		if n == 0 && (waits.Where.Wait < 0.3 || short.Where.Wait > 0 || short.Where.Short < 0.05) {
			t.Errorf("nothing stands by: %+v, short: %+v", waits.Where, short.Where)
		}
		if n == 16 && waits.Where.Wait > 0.005 {
			t.Errorf("16 stand by for 8 in repair: %+v", waits.Where)
		}
		last = waits.Effective.Mean
	}
}

// Without spare servers a failure costs its repair: the share is that of an alternating renewal process.
func TestWaitsForRepair(t *testing.T) {
	in := every(12 * 3600)
	in.Spares, in.Repair, in.Stall, in.Detect, in.Restart, in.Interval, in.Days = 0, 6*Hour, 0, 0, 0,
		Second, 300
	r := mustRun(t, in)
	if want := 12.0 / 18; math.Abs(r.Chosen.Effective.Mean-want) > 0.006 {
		t.Errorf("%.4f, want %.4f", r.Chosen.Effective.Mean, want)
	}
}

// Asynchronous checkpoints cost their snapshot, and a failure costs the training since the last checkpoint that was
// written.
func TestWritesBehind(t *testing.T) {
	in := every(3 * 3600)
	in.Stall, in.Write, in.Interval = 3*Second, 5*Minute, 10*Minute
	r := mustRun(t, in)
	m := r.MTBF
	// half an interval and the write are lost, to first order
	lost := (300 + 300 + 1.5) / m
	if w := r.Chosen.Where; math.Abs(w.Lost/r.Chosen.Effective.Mean-lost) > 0.1*lost || w.Checkpoint > 0.006 {
		t.Errorf("%+v, lost about %.4f", w, lost)
	}
	if r.Chosen.Expected != 0 {
		t.Error("a closed form that does not hold")
	}
}

func TestRefused(t *testing.T) {
	for want, change := range map[string]func(*Input){
		"is out of range 1–":                           func(in *Input) { in.GPUs = 0 },
		"gpus: 8193 are not a whole number of servers": func(in *Input) { in.GPUs++ },
		"days: must be more than 0":                    func(in *Input) { in.Days = math.NaN() },
		"is out of range 1–1000":                       func(in *Input) { in.Seeds = 0 },
		"replica: 7 GPUs do not divide":                func(in *Input) { in.Replica = 7 },
		"is out of range 0–":                           func(in *Input) { in.Detect = -1 },
		"failures would be drawn, the limit": func(in *Input) {
			in.Rates = rate("software",
				1)
			in.Days = 3650
		},
		"rates[0].per_second: 2 failures a second of": func(in *Input) { in.Rates = rate("gpu", 2) },
		"rates[0].per_second: is negative":            func(in *Input) { in.Rates = rate("gpu", -1) },
		"rates: together 819.2 failures a second":     func(in *Input) { in.Rates = rate("gpu", 0.1) },
		`rates[0].component: unknown component "g`:    func(in *Input) { in.Rates = rate("gpus", 0.1) },
		"rates[1].component: gpu is repeated": func(in *Input) {
			in.Rates = &Rates{Rates: []Rate{{Component: "gpu"}, {Component: "gpu"}}}
		},
		"rates[0]: give one of": func(in *Input) {
			in.Rates = &Rates{Rates: []Rate{{Component: "gpu", MTBF: 1, Second: 1}}}
		},
		"rates[0].events: needs days and units": func(in *Input) {
			in.Rates = &Rates{Rates: []Rate{{Component: "gpu", Events: 1}}}
		},
		"rates[0]: days and units have no effect": func(in *Input) {
			in.Rates = &Rates{Rates: []Rate{{Component: "gpu", Days: 1, Second: 1e-9}}}
		},
	} {
		in := every(3600)
		change(&in)
		_, err := Run(in, nil)
		if err == nil || !strings.Contains(err.Error(), want) || field.All(err) == nil {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func rate(component string, second float64) *Rates {
	return &Rates{Rates: []Rate{{Component: component, Second: second}}}
}

// Llama 3's table is whole, and stops when told to.
func TestLlama3(t *testing.T) {
	sum := 0.0
	for _, r := range Llama3().Rates {
		sum += r.Events
	}
	if sum != 419 || len(Llama3().Rates) != len(Components) {
		t.Errorf("%g interruptions", sum)
	}
	in := every(1)
	in.Rates = Llama3()
	in.GPUs = 16384
	parts, err := in.Rates.parts(in.GPUs, 8)
	if err != nil {
		t.Fatal(err)
	}
	perDay := 0.0
	for _, p := range parts {
		perDay += p.second * 86400
	}
	if math.Abs(perDay-419.0/54) > 1e-9 {
		t.Errorf("%g a day", perDay)
	}
	if _, err := Run(in, func(float64) bool { return false }); err != ErrStopped {
		t.Error(err)
	}
}

func (a *Account) total() Span {
	return a.Useful + a.Checkpoint + a.Lost + a.Detect + a.Restart + a.Wait + a.Short
}
