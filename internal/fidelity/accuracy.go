package fidelity

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"railyard/internal/coll"
	"railyard/internal/exec"
	"railyard/internal/flows"
	"railyard/internal/scenario"
	"railyard/internal/workload"
	"railyard/unit"
)

// Accuracy is one case that was simulated by packets and as flows; `go run ./internal/ci/accuracy` measures all.
type Accuracy struct {
	Case    string    `json:"case"`
	Traffic string    `json:"traffic"` // one of Traffics
	Control string    `json:"control"` // name from flows.ControlOf
	Paths   string    `json:"paths"`   // name from PathsOf
	Packet  unit.Time `json:"packet_ps"`
	Flow    unit.Time `json:"flow_ps"`
}

// Error returns the flow fidelity's error, relative to the time with packets.
func (a *Accuracy) Error() float64 { return float64(a.Flow-a.Packet) / float64(a.Packet) }

//go:embed accuracy.json
var accuracyFile []byte

// Accuracies lists the cases that were measured.
var Accuracies = func() (all []Accuracy) {
	if err := json.Unmarshal(accuracyFile, &all); err != nil {
		panic("fidelity: accuracy.json: " + err.Error())
	}
	return all
}()

// Kinds of traffic.
const (
	training  = "training"
	experts   = "training with experts"
	rings     = "ring collectives"
	trees     = "tree collectives" // also halving, and all collectives other than rings and chains
	toAll     = "all-to-all"
	incasts   = "incast"
	transfers = "transfers"
	several   = "several jobs" // jobs with any traffic, which overlap at random times
)

// Kinds of load balancing.
const (
	onePath = "one path per queue pair"
	evenly  = "sprayed in turn or at random"
	byLoad  = "sprayed by load"
	byNIC   = "sprayed by NICs or cells"
	flowlet = "flowlet switching"
)

// PathsOf names how packets of a plan choose paths.
func PathsOf(p *scenario.Plan) string {
	switch name := p.LB.Name; {
	case p.Scheduled != nil, p.Default().Carried != nil, p.LB.NIC != nil:
		return byNIC
	case name == "flowlet":
		return flowlet
	case !p.LB.Reorders(p.LBValues):
		return onePath
	case name == "spray" || name == "spray-random":
		return evenly
	}
	return byLoad
}

// TrafficOf lists the kinds of traffic in a plan.
func TrafficOf(p *scenario.Plan) (kinds []string) {
	if len(p.Jobs) > 1 {
		return []string{several}
	}
	add := func(kind string) {
		if !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	for i := range p.Jobs {
		job := &p.Jobs[i]
		all := slices.ContainsFunc(job.DAG.Colls, func(c workload.Collective) bool { return c.Kind == coll.ToAll })
		of := func(ring bool) bool {
			return slices.ContainsFunc(job.DAG.Colls, func(c workload.Collective) bool {
				return c.Kind != coll.ToAll && c.Kind != coll.SendRecv &&
					ring == (c.By == coll.ByRing || c.By == coll.ByChain)
			})
		}
		switch {
		case job.Training != nil && all:
			add(experts)
		case job.Training != nil:
			add(training)
		case all:
			add(toAll)
		case of(false):
			add(trees)
		case of(true):
			add(rings)
		case meets(p, job):
			add(incasts)
		default:
			add(transfers)
		}
	}
	return kinds
}

// incastOf is the minimum number of GPUs of other servers that send to one GPU in an incast.
const incastOf = 4

// meets reports whether many GPUs of a job send to one.
func meets(p *scenario.Plan, job *workload.Job) bool {
	from := map[int32][]int32{}
	for i := range job.DAG.Ops {
		o := &job.DAG.Ops[i]
		if o.Compute() || p.Graph.Together(job.GPU(o.Rank), job.GPU(o.Peer)) {
			continue
		}
		if of := from[o.Peer]; !slices.Contains(of, o.Rank) {
			if from[o.Peer] = append(of, o.Rank); len(of)+1 >= incastOf {
				return true
			}
		}
	}
	return false
}

// Expected is the error that a fidelity is expected to have.
type Expected struct {
	Worst, Mean float64 // absolute shares of the time by packets
	Rows        int     // cases that were measured
	Of          string  // similarity to the plan
}

// Expect returns the expected error of flows on a plan, from the cases of its traffic, congestion control and load
// balancing. If none has all three, it is from those with the first and the last, else from those with the first
// alone.
func Expect(p *scenario.Plan) Expected {
	kinds, paths := TrafficOf(p), PathsOf(p)
	var controls []string
	for i := range p.Services {
		if name := flows.ControlOf(p, &p.Services[i]); !slices.Contains(controls, name) {
			controls = append(controls, name)
		}
	}
	worst := Expected{}
	for _, kind := range kinds {
		for _, control := range controls {
			if e := expect(kind, control, paths); worst.Rows == 0 || e.Worst > worst.Worst {
				worst = e
			}
		}
	}
	return worst
}

func expect(kind, control, paths string) (e Expected) {
	for _, x := range []struct {
		is func(a *Accuracy) bool
		of string
	}{
		{func(a *Accuracy) bool { return a.Control == control && a.Paths == paths }, inWords(control) + ", " + paths},
		{func(a *Accuracy) bool { return a.Paths == paths }, "all congestion controls, " + paths},
		{func(*Accuracy) bool { return true }, "all congestion controls and paths"},
	} {
		e = Expected{Of: kind + ", " + x.of}
		for i := range Accuracies {
			a := &Accuracies[i]
			if a.Traffic != kind || !x.is(a) {
				continue
			}
			off := math.Abs(a.Error())
			e.Rows, e.Mean, e.Worst = e.Rows+1, e.Mean+off, max(e.Worst, off)
		}
		if e.Rows > 0 {
			e.Mean /= float64(e.Rows)
			return e
		}
	}
	return e
}

// inWords names a congestion control that flows.ControlOf returned.
func inWords(control string) string {
	part := strings.Split(control, "/")
	words := part[1]
	if part[0] != "rc" {
		words = part[0] + " (" + part[1] + ")"
	}
	switch part[2] {
	case "drops", "trims":
		words += ", switches with " + map[string]string{"drops": "drops", "trims": "trimming"}[part[2]]
	case "scheduled":
		words += ", scheduled fabric"
	}
	return words
}

// Accurate simulates a scenario by packets and as flows.
func Accurate(name, text string, read scenario.ReadFile, sets ...string) (a Accuracy, err error) {
	a.Case = name
	for _, fidelity := range []string{Default, flows.Name} {
		d, err := scenario.Parse(name, []byte(text), append(slices.Clone(sets), "fidelity="+fidelity))
		if err != nil {
			return a, err
		}
		p, err := d.Resolve(read)
		if err != nil {
			return a, err
		}
		run, err := New(fidelity, p, 0)
		if err != nil {
			return a, err
		}
		if err := run.Go(func(at exec.Progress) bool { return at.Now < mostTime }); err != nil {
			return a, err
		}
		if err := run.Failed(); err != nil {
			return a, err
		}
		if run.Interrupted() {
			return a, fmt.Errorf("%s has not ended after %v of simulated time (%s)", name, mostTime, fidelity)
		}
		s, _, _ := run.Outcome("")
		if fidelity == Default {
			a.Packet = unit.Time(s.StepTime)
		} else {
			a.Flow = unit.Time(s.StepTime)
		}
		a.Traffic, a.Control, a.Paths = TrafficOf(p)[0], flows.ControlOf(p, p.Default()), PathsOf(p)
	}
	return a, nil
}

// mostTime bounds the simulated time of a case.
const mostTime = 10 * unit.Second
