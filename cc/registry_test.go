package cc_test

import (
	"testing"

	"railyard/cc"
	"railyard/cc/cctest"
	"railyard/unit"
)

// Every algorithm that a scenario can name passes cctest, with each of its profiles.
func TestRegistered(t *testing.T) {
	for _, name := range cc.Names() {
		a := cc.Lookup(name)
		profiles := []string{""}
		for _, p := range a.Profiles {
			profiles = append(profiles, p.Name)
		}
		for _, p := range profiles {
			t.Run(name+" "+p, func(t *testing.T) { cctest.Run(t, a, line, a.Use(p, line)) })
		}
	}
	if cc.Lookup("unheard of") != nil || cc.Lookup("dcqcn").Profile("unheard of") != nil {
		t.Error("an algorithm or a profile that nobody wrote is found")
	}
}

// A NIC's form with the byte counter on is neither profile.
func TestByteCounterInANIC(t *testing.T) {
	p := cc.DCQCNNIC(line)
	p.ByteCounter = 100_000
	cctest.Run(t, cc.Lookup("dcqcn"), line, func(cc.Path) cc.Controller { return cc.NewDCQCN(&p, line) })
}

// The values of every profile fit the algorithm's table of parameters.
func TestProfilesHaveEveryParameter(t *testing.T) {
	for _, name := range cc.Names() {
		a := cc.Lookup(name)
		if len(a.Params) > 0 && len(a.Profiles) == 0 {
			t.Errorf("%s has parameters and no values for them", name)
		}
		if (a.Profile(a.Sockets) == nil || a.Sockets == "") != (len(a.Profiles) == 0) {
			t.Errorf("%s: real queue pairs take the profile %q", name, a.Sockets)
		}
		for _, p := range a.Profiles {
			if err := p.Of(line).Fits(a.Params); err != nil {
				t.Errorf("%s, profile %s: %v", name, p.Name, err)
			}
		}
	}
}

// Sampling changes no result. A sender whose samples are read every 50 us has the same rates, to the last bit, as
// one that is not sampled. A run's result therefore does not depend on output.sample.
func TestReadingChangesNothing(t *testing.T) {
	for _, name := range cc.Names() {
		a := cc.Lookup(name)
		for _, p := range a.Profiles {
			path := cc.Path{Line: line, MTU: 4096}
			read, unread := a.Use(p.Name, line)(path), a.Use(p.Name, line)(path)
			for i := range unit.Time(40) {
				cnp := (i*7 + i*i) * 83 * unit.Microsecond
				for at := cnp - 6*i*unit.Microsecond*83; at < cnp; at += 50 * unit.Microsecond {
					runTimers(read, at)
					for _, s := range a.Signals {
						read.Signal(at, s.Name)
					}
				}
				runTimers(read, cnp)
				runTimers(unread, cnp)
				read.OnCNP(cnp)
				unread.OnCNP(cnp)
				for _, s := range a.Signals {
					x, _ := read.Signal(cnp, s.Name)
					y, _ := unread.Signal(cnp, s.Name)
					if x != y {
						t.Fatalf("%s %s: at %v %s is %v, and %v where nobody looked before", name, p.Name,
							cnp, s.Name, x, y)
					}
				}
			}
		}
	}
}

// runTimers fires a controller's timers until a time, as a driver does.
func runTimers(c cc.Controller, until unit.Time) {
	for d := c.Decision(); d.TimerAt <= until; d = c.Decision() {
		c.OnTimer(d.TimerAt)
	}
}

// A NIC checks for CNPs periodically (HPCC rdma-hw.cc 618 to 737). Three CNPs between two checks count as three
// received and one reduction. In the paper's form each CNP reduces the rate (SIGCOMM 2015, equation 1).
func TestCountersOfDCQCN(t *testing.T) {
	for profile, cuts := range map[string]int64{"nic": 1, "paper": 3} {
		c := cc.Lookup("dcqcn").Use(profile, line)(cc.Path{Line: line, MTU: 4096})
		for i := range unit.Time(3) {
			c.OnCNP(i * unit.Microsecond)
		}
		runTimers(c, 5*unit.Microsecond)
		heard, _ := c.Counter(cc.CounterCNPs)
		if cut, _ := c.Counter(cc.CounterCuts); heard != 3 || cut != cuts {
			t.Errorf("%s: %d CNPs heard and %d cuts, want 3 and %d", profile, heard, cut, cuts)
		}
	}
}
