package scenario

import (
	"railyard/internal/field"
	"railyard/internal/workload"
	"railyard/unit"
)

// MaxPackets bounds what packet fidelity starts: about a day at ten million packets a second. Flows have no packets.
const MaxPackets = 1_000_000_000_000

// manyPackets is the number of packets from which a workload described by another program gets fidelity: auto:
// about a billion packet-hops.
const manyPackets = 250_000_000

// packetFidelity is the name of the default fidelity.
const packetFidelity = "packet"

// Packets returns how many packets a plan's transfers between servers have, without acknowledgements; more than
// MaxPackets are not counted further.
func (p *Plan) Packets() (n int64) {
	for j := range p.Jobs {
		job := &p.Jobs[j]
		for i := range job.DAG.Ops {
			o := &job.DAG.Ops[i]
			if o.Compute() || p.Graph.Together(job.GPU(o.Rank), job.GPU(o.Peer)) {
				continue
			}
			if n += int64(o.Bytes)/int64(p.RC.MTU) + 1; n < 0 || n > MaxPackets {
				return MaxPackets + 1
			}
		}
	}
	return n
}

// Large reports whether a plan has so many packets that fidelity: auto may choose flows.
func (p *Plan) Large() bool { return p.Packets() > manyPackets }

// Prefer sets a fidelity if neither the file nor an override does, and reports whether it did.
func (d *Document) Prefer(fidelity string) bool {
	if d.says("fidelity") {
		return false
	}
	d.File.Fidelity = fidelity
	return true
}

// work builds the workload.
func (p *resolver) work() error {
	if err := p.accelerators(); err != nil {
		return err
	}
	if p.says("jobs") && len(p.File.Jobs) == 0 {
		return field.New("jobs", "is empty; give each a name and a workload")
	}
	if len(p.File.Jobs) > 0 {
		if err := p.jobs(); err != nil {
			return err
		}
		return p.bound()
	}
	at := task{key: "workload", name: p.Name}
	if w := &p.File.Workload; w.Traffic == nil || len(w.Traffic.Flows) == 0 {
		at.crew = p.spared()
	}
	job, err := p.job(at, &p.File.Workload)
	if err != nil {
		return err
	}
	p.Jobs = []workload.Job{job}
	return p.bound()
}

// task is a workload that a job is made of.
type task struct {
	key, name string
	crew      crew
}

// whose describes the owner of the GPUs that a task may use.
func (t task) whose() string {
	if t.crew == nil {
		return "the fabric"
	}
	return "the job"
}

// job builds one workload.
func (p *resolver) job(at task, w *Workload) (workload.Job, error) {
	n := 0
	for _, set := range []bool{w.Training != nil, w.Traffic != nil, len(w.Ops) > 0, w.Trace != nil} {
		if set {
			n++
		}
	}
	beside := ""
	if at.key == "workload" {
		beside = ", or jobs"
	}
	switch {
	case n != 1:
		return workload.Job{}, field.New(at.key, "holds %d workloads, expected exactly one of training, traffic, ops, trace%s", n, beside)
	case w.Training != nil:
		return p.delayed(p.training(at, w.Training))
	case w.Traffic != nil:
		return p.delayed(p.traffic(at, w.Traffic))
	case w.Trace != nil:
		return p.delayed(p.trace(at, w.Trace))
	}
	return p.ops(at, w.Ops)
}

// endOfTime is half the range of a clock in picoseconds, 53 days.
const endOfTime = float64(unit.Never / 2)

// bound refuses work that could not end in reasonable time, or not before the clock overflows. It takes the longest
// chain of computations, and all transfers one after another on the slowest link.
func (p *resolver) bound() error {
	if p.amount == asSums || p.Unfit != "" {
		return nil
	}
	if p.Packets() > MaxPackets && p.Fidelity == packetFidelity {
		return field.New("workload", "needs more than %d packets, the most of fidelity: packet; accepted: fewer bytes, or fidelity: flow", int64(MaxPackets))
	}
	bytes, computing := 0.0, 0.0
	for j := range p.Jobs {
		job := &p.Jobs[j]
		for i := range job.DAG.Ops {
			bytes += float64(job.DAG.Ops[i].Bytes)
		}
		computing = max(computing, float64(job.Start)+job.DAG.Computing(endOfTime))
	}
	slowest := p.NVLink
	for _, k := range p.Kinds {
		slowest = min(slowest, k.Reach())
	}
	for _, l := range p.Graph.Links {
		slowest = min(slowest, l.Rate)
	}
	for i := range p.Events {
		slowest = min(slowest, p.Events[i].Rate, p.Events[i].Back)
	}
	if end := computing + bytes*8/float64(slowest)*float64(unit.Second); end > endOfTime {
		return field.New("workload",
			"could take %.3g days by its computing and transfers; simulated time ends after 53",
			end/float64(unit.Second)/86400)
	}
	return nil
}
