package cc

import (
	"fmt"

	"railyard/unit"
)

// Algorithm describes a congestion control to the rest of the program. Each entry is defined in the algorithm's own
// file; scenarios, the simulator and the sockets find it by name.
type Algorithm struct {
	Name     string // in a scenario: cc.algorithm
	Title    string // in sentences
	Params   []Param
	Words    string    // description for a report's head, where it has no profiles
	Profiles []Profile // sets of values for all parameters; the first is the default
	Sockets  string    // default profile of real queue pairs
	Signals  []Term    // the names that Controller.Signal supports
	Counters []Term    // the names that Controller.Counter supports
	Needs    Needs     // required features of switches and NICs (needs.go)

	// Check finds values that exclude each other. It returns the parameter at fault and the error, or two empty
	// strings; nil: all combinations are valid.
	Check func(v Values) (param, fault string)
	// New returns a constructor of senders that share the values.
	New func(v Values) Make
	// CNPGap returns the least time between CNPs of a flow; nil: the algorithm uses none, and receivers send none.
	CNPGap func(v Values) unit.Time
	// CNPDelay returns the time from a marked packet to its CNP; nil: nothing. Real receivers have their own delay.
	CNPDelay func(v Values) unit.Time
	// Credit returns how receivers grant credit; nil: senders need no credit.
	Credit func(v Values) Terms
	// FarEnd: acknowledgements report the far end's delay (Ack.Far) and the number of switches passed (Ack.Hops).
	FarEnd bool
	// Marks: acknowledgements report which packets arrived marked (Ack.Marked).
	Marks bool
	// Telemetry returns the kind of telemetry that switches write into data packets and that receivers return
	// (Ack.Telemetry). nil: none for any values.
	Telemetry func(v Values) Report
	// Tags selects the quantity of congestion signaling tags; zero: the share and the delay in turn.
	Tags Signalled
	// Interval returns the period over which switches measure the available bandwidth, for tags; nil without tags.
	Interval func(v Values) unit.Time
}

// Reports returns the telemetry that switches write for senders with these values.
func (a *Algorithm) Reports(v Values) Report {
	if a.Telemetry == nil {
		return NoReport
	}
	return a.Telemetry(v)
}

// Make creates the controller of one sender.
type Make func(Path) Controller

// Path describes the path of a controller's packets when it is made.
type Path struct {
	Line unit.Rate  // the port's rate: initial and maximum rate
	MTU  unit.Bytes // payload of a full packet

	// RTT is the time of a full packet and its acknowledgement on an idle path: serialised at every hop,
	// propagated, through every switch's pipeline. Hops is the number of switches on the path. Both are zero if
	// unknown, as on sockets. An algorithm then has a parameter for it, or uses the minimum that it measures.
	RTT  unit.Time
	Hops int

	CoreMarks bool // ports to servers mark nothing: a delay without a mark may be theirs
}

// Profile is a set of values.
type Profile struct {
	Name  string
	Doc   string
	Words string                      // description for a report's head; %v is the line rate
	Of    func(line unit.Rate) Values // values at a line rate
	For   Feature                     // feature for which the profile is the default
}

// Term is a signal or a counter.
type Term struct{ Name, Unit, Doc string }

// named returns the value of the term with a name; values are in the order of terms.
func named[T int64 | float64](terms []Term, name string, values ...T) (T, bool) {
	for i := range values {
		if terms[i].Name == name {
			return values[i], true
		}
	}
	return 0, false
}

// Names of signals and counters that tables and sentences have a place for. An algorithm reports the ones that it has,
// and may add others.
const (
	SignalRate   = "rate"        // current rate, bit/s
	SignalTarget = "target"      // target rate, bit/s
	SignalAlpha  = "alpha"       // the estimate of congestion, 0 to 1
	SignalWindow = "window"      // most that may be in flight, bytes
	SignalDelay  = "delay"       // the round trip last measured, seconds
	SignalLoad   = "utilisation" // load of the busiest port on the path, 1 for full
	CounterCuts  = "cuts"        // number of rate reductions
	CounterCNPs  = "cnps"        // congestion notifications received
)

// algorithms is the registry. A new algorithm is a file and a line here.
var algorithms = []*Algorithm{&dcqcn, &dctcp, &eqds, &hpcc, &hpccPlus, &ndp, &none,
	&nscc, &rccc, &swift, &timely, &uec}

// Register adds an algorithm to the registry: package extend does it for extensions, before scenarios are read.
func Register(a *Algorithm) { algorithms = append(algorithms, a) }

// Owner returns another algorithm that has a parameter, or nil.
func Owner(param, besides string) *Algorithm {
	for _, a := range algorithms {
		for _, p := range a.Params {
			if p.Name == param && a.Name != besides {
				return a
			}
		}
	}
	return nil
}

// Names lists the algorithms.
func Names() (names []string) {
	for _, a := range algorithms {
		names = append(names, a.Name)
	}
	return names
}

// Lookup returns an algorithm, nil when there is none of that name.
func Lookup(name string) *Algorithm {
	for _, a := range algorithms {
		if a.Name == name {
			return a
		}
	}
	return nil
}

// Profile returns a profile, the first for an empty name, nil when there is none of that name.
func (a *Algorithm) Profile(name string) *Profile {
	for i := range a.Profiles {
		if p := &a.Profiles[i]; p.Name == name || name == "" {
			return p
		}
	}
	return nil
}

// Fitting returns the default profile: the first for an available feature, or the first of all.
func (a *Algorithm) Fitting(there Feature) *Profile {
	for i := range a.Profiles {
		if p := &a.Profiles[i]; p.For&^there == 0 {
			return p
		}
	}
	return a.Profile("")
}

// Values are the profile's for a line rate; a nil profile has none.
func (p *Profile) Values(line unit.Rate) Values {
	if p == nil {
		return nil
	}
	return p.Of(line)
}

// Use returns the constructor for an unchanged profile.
func (a *Algorithm) Use(profile string, line unit.Rate) Make {
	p := a.Profile(profile)
	if p == nil && profile != "" {
		panic(fmt.Sprintf("cc: %s has no profile %q", a.Name, profile)) // only code names profiles here
	}
	return a.New(p.Values(line))
}
