package scenario

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"railyard/internal/field"
	"railyard/internal/site"
	"railyard/internal/swconf"
	"railyard/internal/topo"
)

// ReadFile fetches a file the scenario names, relative to the scenario.
type ReadFile func(path string) ([]byte, error)

// resolver makes a plan of a document, block by block. It decides open values in a copy of the file, which the plan
// stores as the run's values. The document does not change.
type resolver struct {
	*Document // the user's document, and the resolver's decisions
	*Plan     // the resulting plan
	read      ReadFile
	amount    amount
	roleKeys  map[topo.Role][]string // keys of switches, by role
	types     []*site.Type           // by server, of a described fabric
	configs   []*swconf.Config       // configurations of switches that have one, by name
	ocs       []*optics
	hosted    hosted
	hostSaid  map[string]taken     // values from servers' configurations, by key
	narrow    map[int]bool         // switches whose MTU a deviation has changed
	chipsDown map[int]map[int]bool // by domain, by NVSwitch: whether it is down at the current event
	storming  map[int]bool         // NICs that send PFC pauses continuously, at the time of the current event
}

// Resolve checks a document and builds the plan of a run. Sizes are checked before memory is allocated for them.
func (d *Document) Resolve(read ReadFile) (*Plan, error) { return d.resolve(read, asOps) }

// Sums is Resolve without a simulation: for a training it computes the bytes between ranks, without limits on
// operations and packets.
func (d *Document) Sums(read ReadFile) (*Plan, error) { return d.resolve(read, asSums) }

// Checked is Resolve for commands that only read a scenario. A step of more operations than a simulation accepts is
// a note, and the plan has sums in its place (Plan.Unfit).
func (d *Document) Checked(read ReadFile) (*Plan, error) { return d.resolve(read, asChecked) }

// Network checks and builds everything but the workload, which a scenario may lack: the plan has no jobs.
func (d *Document) Network(read ReadFile) (*Plan, error) { return d.resolve(read, noWork) }

// Fabric is Resolve with a permutation of single bytes instead of the workload, for callers that send their own
// workload. Of the workload the plan keeps the efficiency of a training, and whether it is folded.
func (d *Document) Fabric(read ReadFile) (*Plan, error) {
	said, folded := 0.0, 0
	if t := d.File.Workload.Training; t != nil {
		if d.says("workload.training.efficiency") {
			said = t.Efficiency
		}
		if t.Fold {
			folded = t.TP
		}
	}
	d.File.Workload = Workload{Traffic: &Traffic{Permutation: &Pattern{Bytes: 1}}}
	p, err := d.Resolve(read)
	if err == nil {
		p.Efficiency, p.Folded = said, folded
	}
	return p, err
}

// Servers is Network with what servers have inside.
func (d *Document) Servers(read ReadFile) (*Plan, error) { return d.resolve(read, asServers) }

// amount is how much of its work a plan has.
type amount uint8

const (
	noWork    amount = iota
	asServers        // and of the insides of servers
	asSums
	asChecked // operations, or sums of operations that are too many to simulate
	asOps
)

func (d *Document) resolve(read ReadFile, work amount) (*Plan, error) {
	own, origin := *d, d
	own.File = d.File.clone()
	d = &own
	f := &d.File
	p := &resolver{Document: d, Plan: &Plan{Name: f.Name, Seed: f.Seed, Fidelity: f.Fidelity, Services: f.services(),
		Patience: f.OnFailure.Patience, Checkpoint: f.OnFailure.Checkpoint,
		Restart: f.OnFailure.Restart,
		Sample:  f.Output.Sample, Rows: f.Output.Rows, Causes: f.Output.Causes, doc: d, origin: origin, read: read},
		roleKeys: map[topo.Role][]string{}, amount: work}
	if read != nil {
		p.read = func(name string) ([]byte, error) {
			p.files = append(p.files, name)
			text, err := read(name)
			if err == nil {
				p.keep(name, text)
			}
			return text, err
		}
	}
	if f.Output.Steps != nil {
		p.Steps = *f.Output.Steps
	}
	steps := []func() error{p.hostTexts, p.inBounds, p.named, p.network, p.calibrated, p.edged, p.presets, p.switches,
		p.hostPorts, p.scheduled,
		p.carried, p.followed, p.structured, p.segments, p.twoStages, p.transport, p.reorder,
		p.congestion, p.fits, p.framed, p.unstamped, p.idle, p.linkEvents, p.tunnel, p.telemetry}
	switch {
	case work == asServers:
		steps = append(steps, p.accelerators)
	case work > noWork:
		steps = append(steps, p.work, p.phased, p.starving)
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, d.placed(err)
		}
	}
	p.read = read // runs that differ read for themselves, at once
	return p.Plan, nil
}

// named refuses a name that contains control characters of a terminal.
func (p *resolver) named() error {
	name := p.Name
	if i := strings.IndexFunc(name, unicode.IsControl); i >= 0 || !utf8.ValidString(name) {
		return field.New("name", "%q holds what cannot be printed", name)
	}
	return nil
}
