package queue

import (
	"math"
	"strings"
	"testing"

	"railyard/internal/rng"
	"railyard/unit"
)

// The source's WRED line: nothing below 150 KB, up to 7 % just below 3000 KB,
// everything above.
func TestWREDCurve(t *testing.T) {
	w := WRED{Min: 150 * unit.KB, Max: 3000 * unit.KB, Probability: 0.07, ECN: true}
	r := rng.New(1, "wred")
	share := func(q unit.Bytes) float64 {
		n := 0
		for range 200_000 {
			if w.Hit(q, &r) {
				n++
			}
		}
		return float64(n) / 200_000
	}
	for q, want := range map[unit.Bytes]float64{
		0:              0,
		150 * unit.KB:  0,
		1575 * unit.KB: 0.035,
		3000 * unit.KB: 0.07,
		3001 * unit.KB: 1,
	} {
		if got := share(q); math.Abs(got-want) > 0.002 {
			t.Errorf("a queue of %v marks %.4f, want %.4f", q, got, want)
		}
	}
}

func TestAverage(t *testing.T) {
	w := WRED{Weight: 3}
	avg := unit.Bytes(0)
	for range 200 {
		avg = w.Average(avg, 1000)
	}
	if avg < 990 {
		t.Errorf("the average settles at %d, want about 1000", avg)
	}
	if (&WRED{}).Average(5, 1000) != 1000 {
		t.Error("weight 0 is not instantaneous")
	}
}

func TestDefaultIsValidAndFaultsAreNamed(t *testing.T) {
	s := Default()
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	for want, spoil := range map[string]func(*Spec){
		"queues.3.xon":           func(s *Spec) { s.Queues[3].XOn = s.Queues[3].XOff },
		"queues.3.wred_min":      func(s *Spec) { s.Queues[3].WRED.Min = s.Queues[3].WRED.Max + 1 },
		"queues.3.wred_max":      func(s *Spec) { s.Queues[3].WRED.Max = s.Buffer + 1 },
		"buffer":                 func(s *Spec) { s.Buffer = 0 },
		"mtu":                    func(s *Spec) { s.MTU = 100 },
		"bandwidth shares":       func(s *Spec) { s.Queues[1].Weight = 60 },
		"watchdog":               func(s *Spec) { s.Watchdog = Watchdog{On: true} },
		"pfc_quanta":             func(s *Spec) { s.PFCQuanta = 70_000 },
		"DSCP 5 goes to queue 9": func(s *Spec) { s.DSCP[5] = 9 },
	} {
		s := Default()
		spoil(&s)
		if err := s.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// Two equal thresholds are a step: no packet is marked up to it, all are above, and no random number is drawn.
func TestStepMarksAll(t *testing.T) {
	w := WRED{Min: 320 * unit.KB, Max: 320 * unit.KB, Probability: 0.1, ECN: true}
	for q, want := range map[unit.Bytes]bool{0: false, 320 * unit.KB: false, 320*unit.KB + 1: true} {
		if got := w.Hit(q, nil); got != want {
			t.Errorf("at %v: %v", q, got)
		}
	}
}
