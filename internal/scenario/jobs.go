package scenario

import (
	"fmt"
	"slices"

	"railyard/internal/field"
	"railyard/internal/workload"
	"railyard/unit"
)

// Job is one of several workloads that run side by side.
type Job struct {
	Name  string    `yaml:"name" doc:"name of the job"`
	GPUs  int       `yaml:"gpus" range:"0|1,1048576" doc:"how many it gets; 0: as many as its training layout or trace needs, or the GPUs that on names"`
	Place string    `yaml:"placement" enum:"@place" doc:"which of the GPUs without an earlier job it gets; its ranks are in the order of hosts (rail: of rails), on sets another; default the scenario's placement"`
	On    []string  `yaml:"on" doc:"its GPUs in the order of ranks, instead of a placement: host-1/gpu-1, host-1 for all of a server, ranges as host-[3-6]"`
	Start unit.Time `yaml:"start" range:"0s,3600s" doc:"when it starts"`
	DSCP  *int      `yaml:"dscp" range:"0,63" doc:"of its data and ACKs, and so the queue that switches put it in (default transport.data_dscp)"`
	CC    string    `yaml:"cc" enum:"@cc" doc:"its congestion control, with the values of that block of cc (default cc.algorithm)"`
	Workload
}

// maxJobs is the maximum number of jobs of a scenario.
const maxJobs = 1024

// named reports whether a job's workload names its GPUs.
func (j *Job) named() bool {
	return len(j.Ops) > 0 || j.Traffic != nil && len(j.Traffic.Flows) > 0 ||
		j.Trace != nil && j.Trace.Nodes != ""
}

// service sets the service of its connections.
func (j *Job) service() string {
	if j.DSCP == nil && j.CC == "" {
		return DefaultService
	}
	name := "jobs"
	if j.CC != "" {
		name = j.CC
	}
	if j.DSCP != nil {
		name += fmt.Sprintf("@%d", *j.DSCP)
	}
	return name
}

// followed gives jobs with their own class the congestion control and the transport of the file.
func (p *resolver) followed() error {
	own := p.Default()
	for i := range p.Services[1:] {
		s := &p.Services[i+1]
		if s.Follows {
			s.CC = own.CC
		} else if own.Carried != nil {
			job := slices.IndexFunc(p.File.Jobs, func(j Job) bool { return j.service() == s.Name })
			return field.New(field.At("jobs", job)+".cc", "connections are %s's, which all jobs share with its congestion control: leave the key out", own.Carried.Title)
		}
		s.Carried = own.Carried
	}
	return nil
}

// jobs builds each job on its GPUs: first jobs that name theirs, then the others one after another.
func (p *resolver) jobs() error {
	if p.says("workload") {
		return field.New("jobs", "exclude workload; set one of the two")
	}
	if n := len(p.File.Jobs); n > maxJobs {
		return field.New("jobs", "are %d, at most %d are taken", n, maxJobs)
	}
	f := newFloor(p)
	p.Jobs = make([]workload.Job, len(p.File.Jobs))
	for _, turn := range []func(*Job) bool{(*Job).named, func(j *Job) bool { return len(j.On) > 0 },
		func(j *Job) bool { return !j.named() && len(j.On) == 0 }} {
		for i := range p.File.Jobs {
			if !turn(&p.File.Jobs[i]) {
				continue
			}
			if err := p.seated(f, i); err != nil {
				return err
			}
		}
	}
	return nil
}

// seated builds a job and takes its GPUs.
func (p *resolver) seated(f *floor, i int) error {
	j, key := &p.File.Jobs[i], field.At("jobs", i)
	if j.Name == "" {
		j.Name = fmt.Sprintf("job-%d", i+1)
	}
	for k := range p.File.Jobs {
		if k != i && p.File.Jobs[k].Name == j.Name {
			return field.New(key+".name", "two jobs are called %s", field.Quote(j.Name))
		}
	}
	at := task{key: key, name: j.Name}
	var err error
	if !j.named() {
		at.crew, err = p.crewOf(f, i)
	} else if j.GPUs != 0 || j.Place != "" || len(j.On) > 0 {
		err = field.New(key, "its operations name their GPUs: gpus, placement and on have no effect")
	}
	if err != nil {
		return err
	}
	if at.crew == nil && !j.named() {
		at.crew = crew{}
	}
	job, err := p.job(at, &j.Workload)
	if err != nil {
		return err
	}
	if own := p.Default().DSCP; j.DSCP != nil && p.Spec.DSCP[*j.DSCP] != p.Spec.DSCP[own] {
		at := p.Spec.DSCP[*j.DSCP]
		p.note("job %s: DSCP %d goes to queue %d, %s; DSCP %d of transport.data_dscp goes to queue %d",
			j.Name, *j.DSCP, at, lossless(p.Spec.Queues[at].Lossless), own, p.Spec.DSCP[own])
	}
	job.Start = j.Start
	job.Service = slices.IndexFunc(p.Services, func(s Service) bool { return s.Name == j.service() })
	p.unused(&job, at.crew)
	p.Jobs[i] = job
	return f.take(key, &p.Jobs[i])
}

// unused notes that a job has GPUs without work: reports count only GPUs with work.
func (p *resolver) unused(job *workload.Job, has crew) {
	works := map[int32]bool{}
	for i := range job.DAG.Ops {
		works[job.DAG.Ops[i].Rank] = true
		if to := job.DAG.Ops[i].Peer; to >= 0 {
			works[to] = true
		}
	}
	if len(works) < len(has) {
		p.note("job %s has %s, and its work is for %d of them: the rest is taken and idle, and reports count those that work", job.Name, unit.Plural(len(has), "GPU"), len(works))
	}
}

// lossless reports whether a full queue pauses its sender.
func lossless(is bool) string {
	if is {
		return "which is lossless"
	}
	return "which drops when it is full"
}

// crewOf finds a job's GPUs.
func (p *resolver) crewOf(f *floor, i int) (crew, error) {
	j, key := &p.File.Jobs[i], field.At("jobs", i)
	need, together, err := p.needs(j, key)
	if err != nil {
		return nil, err
	}
	if len(j.On) > 0 {
		if j.Place != "" {
			return nil, field.New(key+".placement", "on already sets the job's GPUs")
		}
		all, err := f.on(key+".on", j.On)
		if err == nil && need > 0 && need != len(all) {
			err = field.New(key+".on", "names %d GPUs, and the job has %d", len(all), need)
		}
		return all, err
	}
	if need == 0 {
		return nil, field.New(key+".gpus", "is missing: how many GPUs the job gets (%d of %d are free)",
			f.free(), p.Graph.TotalGPUs())
	}
	if j.Place == "" {
		j.Place = p.File.Placement
	}
	all, err := f.place(key, j, need, together)
	if j.Place != placements[0].name && len(all) == p.Graph.TotalGPUs() && slices.IsSorted(all) {
		p.idleNote("placement %s has no effect: job %s has all GPUs, and its ranks are in the order of hosts; jobs.%s.on sets another order, as on: [host-2, host-1]", j.Place, j.Name, j.Name)
	}
	return all, err
}

// needs returns the number of GPUs of a job, 0 if unset, and the number of them that must share a server.
func (p *resolver) needs(j *Job, key string) (gpus, together int, err error) {
	if j.Trace != nil && j.GPUs == 0 && len(j.On) == 0 {
		x, err := p.traced(key+".trace", j.Trace, nil)
		if err != nil {
			return 0, 0, err
		}
		return x.Ranks, 1, nil
	}
	t := j.Training
	if t == nil {
		return j.GPUs, 1, nil
	}
	if t.Fold {
		return 0, 0, field.New(key+".training.fold", "needs the whole fabric, and jobs share this one")
	}
	step := *t
	if err := step.Divide(); err != nil {
		return 0, 0, field.Under(key+".training", err)
	}
	if n := step.Ranks(); j.GPUs != 0 && j.GPUs != n {
		return 0, 0, field.New(key+".gpus", "%d, and its training layout is for %d", j.GPUs, n)
	}
	return step.Ranks(), step.TP, nil
}
