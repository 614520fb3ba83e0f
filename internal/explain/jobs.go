package explain

import (
	"railyard/internal/result"
	"railyard/internal/workload"
	"railyard/unit"
)

// jobName returns a job's name if there are several jobs.
func (r *reading) jobName(job int) string {
	if len(r.exec.Work.Jobs) == 1 {
		return ""
	}
	return r.exec.Work.Jobs[job].Name
}

// jobOf returns the name of an operation's job if there are several jobs.
func (r *reading) jobOf(op int32) string { return r.jobName(r.exec.Work.Of(op)) }

// jobs returns for each job its run time and the division of its time.
func (b *blamer) jobs(s *result.Summary) []result.Job {
	r := b.r
	var out []result.Job
	times := make([][]int64, len(r.exec.Work.Jobs))
	bytes := make([]int64, len(times))
	for i := range r.seen.Messages {
		if m := &r.seen.Messages[i]; m.Done > 0 {
			j := r.exec.Work.Of(m.Op)
			times[j] = append(times[j], int64(m.Done-m.Posted))
			bytes[j] += int64(m.Bytes)
		}
	}
	for i := range r.exec.Work.Jobs {
		p := &r.exec.Work.Jobs[i]
		j := result.Job{Name: p.Name, Start: int64(p.Start), GPUs: p.GPUs, NetworkBytes: bytes[i],
			Flows: flowTimes(times[i])}
		if len(r.exec.Work.Jobs) == 1 && p.Start == 0 {
			j.Step = s.Step
		} else {
			j.Step = b.stepOf(p)
		}
		last, done := r.lastOf(p.Ops)
		j.Complete = done || p.Ops[0] == p.Ops[1]
		if j.End = j.Start + j.StepTime; !j.Complete && s.Outcome != nil { // the rest hangs
			if j.End = j.Start; last >= 0 {
				j.End = int64(r.exec.End[last])
			}
		}
		j.Trained = trained(p.Training, unit.Time(j.StepTime), j.Complete)
		out = append(out, j)
	}
	return out
}

// stepOf splits a job's time.
func (b *blamer) stepOf(p *workload.Part) result.Step {
	s := b.r.timeline(p.Ops, p.Start)
	if last, _ := b.r.lastOf(p.Ops); last >= 0 && b.acc != nil {
		b.acc.account(&s, p.Ops, p.Start)
	}
	return s
}
