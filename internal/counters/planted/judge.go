package planted

import (
	"fmt"
	"maps"
	"slices"

	"railyard/internal/counters"
	"railyard/internal/diagnose"
)

// congested is the finding of congestion without a fault.
var congested = map[string]bool{"incast": true, "polarised": true, "uneven-uplinks": true}

// Read returns the parsed sessions of all devices, as if read from files in a directory. An unrecognized line is an
// error.
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

// Diagnose returns the diagnosis of the devices' outputs.
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

// Names reports whether a finding names a port or host that has the fault.
func (s *Seen) Names(x *diagnose.Finding) bool {
	return slices.ContainsFunc(s.Culprits, func(c Culprit) bool {
		return c.Device == x.Device && (c.Port == "" || x.Port == "" || c.Port == x.Port)
	})
}

// First reports whether a diagnosis lists the fault and one of its culprits first, and whether its first finding
// calls an innocent port a fault.
func (s *Seen) First(r *diagnose.Report) (right, wrong bool) {
	if len(r.Findings) == 0 {
		return s.fault.Cause == "", false
	}
	x := &r.Findings[0]
	return x.Cause == s.fault.Cause && s.Names(x) &&
		(x.Grade == diagnose.Congestion) == congested[s.fault.Cause], x.Grade == diagnose.Fault && !s.Names(x)
}
