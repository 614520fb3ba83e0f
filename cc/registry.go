package cc

import (
	"fmt"

	"railyard/unit"
)

// Algorithm describes a congestion control to the rest of the program. It stands in the
// algorithm's own file; scenarios, the simulator and the sockets find it by its name.
type Algorithm struct {
	Name     string // in a scenario: cc.algorithm
	Title    string // in sentences
	Params   []Param
	Words    string    // what it is, for a report's head, where it has no profiles
	Profiles []Profile // sets of values for all parameters, the first where none is named
	Sockets  string    // the profile that real queue pairs take where none is named
	Signals  []Term    // what Controller.Signal knows
	Counters []Term    // what Controller.Counter knows
	Needs    Needs     // of what its packets meet (needs.go)

	// Check finds values that cannot be together: one of them, and what is wrong with it, or
	// nothing; nil where any can.
	Check func(v Values) (param, fault string)
	// New returns a constructor of senders that share the values.
	New func(v Values) Make
	// CNPGap returns the least time between CNPs of a flow; nil: the algorithm wants none, and
	// receivers send none.
	CNPGap func(v Values) unit.Time
	// CNPDelay returns the time from a marked packet to its CNP; nil: nothing. Real ones take their
	// own time.
	CNPDelay func(v Values) unit.Time
	// Credit says how receivers grant credit; nil: senders need none.
	Credit func(v Values) Terms
	// FarEnd: receivers say in their acknowledgements how long the far end keeps a packet (Ack.Far), and
	// senders read how many switches these have passed (Ack.Hops).
	FarEnd bool
	// Marks: receivers say in their acknowledgements which packets came in marked (Ack.Marked).
	Marks bool
	// Telemetry returns the kind of telemetry that switches write into data packets and receivers return
	// (Ack.Telemetry); nil: nothing, whatever the values.
	Telemetry func(v Values) Report
	// Tags selects the quantity of congestion signaling tags; zero: the share and the delay in turn.
	Tags Signalled
	// Interval is over how long switches measure the bandwidth that is available, for tags; nil without.
	Interval func(v Values) unit.Time
}

// Reports returns the telemetry that switches write for senders with these values.
func (a *Algorithm) Reports(v Values) Report {
	if a.Telemetry == nil {
		return NoReport
	}
	return a.Telemetry(v)
}

// Make makes the controller of one sender.
type Make func(Path) Controller

// Path describes the path of a controller's packets when it is made.
type Path struct {
	Line unit.Rate  // of the port: the rate to begin with, and the ceiling
	MTU  unit.Bytes // payload of a full packet

	// RTT is the time of a full packet and its acknowledgement on an idle path: serialised at every hop,
	// propagated, through every switch's pipeline. Hops is the number of switches on the path. Both are zero where
	// nobody knows them, as over sockets: an algorithm then has a parameter for it, or takes the least that it
	// measures.
	RTT  unit.Time
	Hops int

	CoreMarks bool // ports to servers mark nothing: a delay without a mark may be theirs
}

// Profile is a set of values.
type Profile struct {
	Name  string
	Doc   string
	Words string                      // for a report's head; %v is the line rate
	Of    func(line unit.Rate) Values // for a line rate
	For   Feature                     // what must be there for it to be taken where none is named
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

// Names of signals and counters that tables and sentences have a place for. An algorithm
// reports those of them that it has, and others as it likes.
const (
	SignalRate   = "rate"        // what it allows now, bit/s
	SignalTarget = "target"      // where the rate is heading, bit/s
	SignalAlpha  = "alpha"       // the estimate of congestion, 0 to 1
	SignalWindow = "window"      // most that may be in flight, bytes
	SignalDelay  = "delay"       // the round trip last measured, seconds
	SignalLoad   = "utilisation" // how full the busiest port on the path is, 1 for full
	CounterCuts  = "cuts"        // how often it allowed less than before
	CounterCNPs  = "cnps"        // congestion notifications heard
)

// algorithms is the registry. A new algorithm is a file and a line here.
var algorithms = []*Algorithm{&dcqcn, &dctcp, &eqds, &hpcc, &hpccPlus, &ndp, &none,
	&nscc, &rccc, &swift, &timely, &uec}

// Register adds an algorithm to the registry: package extend does it for extensions, before scenarios are read.
func Register(a *Algorithm) { algorithms = append(algorithms, a) }

// Owner is the algorithm that has a parameter, besides one that has not; nil where none has it.
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

// Fitting is the profile that is taken where none is named: the first for what is there, or simply the first.
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

// Use returns the constructor for a profile as it is.
func (a *Algorithm) Use(profile string, line unit.Rate) Make {
	p := a.Profile(profile)
	if p == nil && profile != "" {
		panic(fmt.Sprintf("cc: %s has no profile %q", a.Name, profile)) // only code names profiles here
	}
	return a.New(p.Values(line))
}
