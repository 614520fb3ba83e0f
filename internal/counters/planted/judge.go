package planted

import (
	"fmt"
	"maps"
	"slices"

	"railyard/internal/counters"
	"railyard/internal/diagnose"
)

// congested is what is no fault.
var congested = map[string]bool{"incast": true, "polarised": true}

// Read returns what sessions on all devices say, as files of them in a folder would be read. A line that is not
// understood is an error.
func Read(dir string, sessions map[string][]byte) (all []counters.Snapshot, err error) {
	for _, name := range slices.Sorted(maps.Keys(sessions)) {
		got, unknown, err := counters.Read(dir+"/"+name+".txt", sessions[name])
		if err != nil {
			return nil, err
		}
		if len(unknown) > 0 {
			u := unknown[0]
			return nil, fmt.Errorf("%s:%d: %s: %q", u.File, u.Line, u.Why, u.Text)
		}
		all = append(all, got...)
	}
	return all, nil
}

// Diagnose returns what diagnose says of what the devices print.
func (s *Seen) Diagnose(system string) (*diagnose.Report, error) {
	before, after := s.Sessions(system)
	was, err := Read("before", before)
	if err != nil {
		return nil, err
	}
	is, err := Read("after", after)
	if err != nil {
		return nil, err
	}
	return diagnose.Diagnose(diagnose.Input{Before: was, After: is})
}

// Names reports whether a finding names one of those who did it.
func (s *Seen) Names(x *diagnose.Finding) bool {
	return slices.ContainsFunc(s.Culprits, func(c Culprit) bool {
		return c.Device == x.Device && (c.Port == "" || x.Port == "" || c.Port == x.Port)
	})
}

// First reports whether a diagnosis names the fault and one of its culprits before all else, and whether it
// calls somebody else's port a fault first.
func (s *Seen) First(r *diagnose.Report) (right, wrong bool) {
	if len(r.Findings) == 0 {
		return s.fault.Cause == "", false
	}
	x := &r.Findings[0]
	return x.Cause == s.fault.Cause && s.Names(x) &&
		(x.Grade == diagnose.Congestion) == congested[s.fault.Cause], x.Grade == diagnose.Fault && !s.Names(x)
}
