package explain

import (
	"fmt"
	"slices"

	"railyard/internal/cause"
	"railyard/internal/exec"
	"railyard/internal/facts"
	"railyard/internal/result"
	"railyard/internal/scenario"
	"railyard/internal/workload"
	"railyard/unit"
)

// Outcome converts an execution, finished or not, to the contents of the run directory. The caller fills in wall-clock
// times; limits lists the truncations of tables. Totals have no tables, and nothing of single messages and jobs.
func Outcome(p *scenario.Plan, x *exec.Execution, o *Observation, version string) (
	s *result.Summary, t *result.Tables, limits []string) {
	r := newReading(p, x, o)
	counted, recorded := o.Counted, o.Recorded
	s, t, limits = &counted, &recorded, o.Limits
	s.Name, s.Version, s.Seed, s.Fidelity = p.Name, version, p.Seed, o.Fidelity
	s.LB, s.Congestion = p.LB.Name, p.Default().Words
	for i := range p.Services[1:] {
		of := &p.Services[1+i]
		whose := "jobs with " + of.Name
		if p.Storage != nil && &p.Services[p.Storage.Service] == of {
			whose = of.Name
		}
		s.Congestion += "; of " + whose + ": " + of.Words
	}
	if marks := p.DefaultMarks(); marks != "" {
		s.Congestion += "; " + marks
	}
	if s.PFCFull > 0 {
		s.Congestion += fmt.Sprintf("; %d of %d PFC pauses began at a full shared buffer, below xOFF", s.PFCFull, s.PFCPauses)
	}
	if c := p.Default().Carried; c != nil {
		s.Transport = c.Words
	}
	s.Complete, s.GPUs, s.NVLinkBytes = x.Done(), r.graph.TotalGPUs(), int64(x.NVBytes)
	s.Step = r.timeline(r.all(), 0)
	r.flows(s, t)
	r.ports(s, t)
	r.figures(s, t.Flows)
	s.Collectives = r.collectives()
	b := r.newBlamer()
	s.Outcome = r.outcome()
	if last, _ := r.lastOf(r.all()); last >= 0 && (x.Done() || s.Outcome != nil) {
		if s.Unaccounted = unaccounted(p, o); s.Unaccounted == "" {
			b.acc = b.newAccounts()
			if s.Unaccounted = b.acc.sum(s.StepTime); s.Unaccounted != "" {
				b.acc.account(&s.Step, r.all(), 0) // the cost of slow ranks is known
				s.Chain, b.acc = nil, nil
			}
		}
		if s.Unaccounted == "" {
			b.acc.account(&s.Step, r.all(), 0)
			latency := float64(s.Chain.Own[cause.Latency])
			b.step, s.NVLinkLatency, s.StoredLatency = s.Chain, int64(b.acc.nvlink*latency), int64(b.acc.stored*latency)
			facts.CountPath(b.acc.known, s)
			s.Busiest = r.busiestNIC()
			s.LimitSavings()
			s.Remedies = b.acc.remedies(s)
		} else if p.Causes {
			limits = append(limits, s.Unaccounted)
		}
	}
	if len(p.Jobs) == 1 {
		s.Trained = trained(p.Jobs[0].Training, unit.Time(s.StepTime), s.Complete)
	}
	if p.Totals {
		return s, &result.Tables{}, limits
	}
	t.Topology = r.topology()
	r.queuePairs(t)
	r.critical(t, unit.Time(s.StepTime))
	r.pauseRoots(s, t)
	s.Slowest = b.slowest()
	s.TablesCut = slices.Clone(o.Cuts)
	cut := func(table string, rows int, total int64) {
		s.TablesCut = append(s.TablesCut, result.TableCut{Table: table, Rows: int64(rows), Total: total})
	}
	if o.PausesUntil > 0 {
		cut("pause_roots", len(t.PauseRoots), 0)
	}
	colls := b.causes(t)
	momentsOf(t.Collectives, t.Links)
	s.Places = b.places(s, t)
	t.Causes = causeRows(s.Chain, t.Collectives, b.messages(t.Flows))
	if n := len(t.Collectives); colls > n {
		cut("collectives", n, int64(colls))
		cut("causes", len(t.Causes), 0)
	}
	if all := r.ranks(t); all > len(t.Ranks) {
		cut("ranks", len(t.Ranks), int64(all))
	}
	s.Jobs, s.Meetings = b.jobs(s), b.meetings()
	if b.acc != nil && b.acc.outside != nil {
		s.Cut = b.acc.outside.notes
	}
	if p.Storage != nil {
		s.Storage, s.Stalls = r.storage(), r.stalls()
	}
	if p.Steps > 0 {
		s.Story = r.story()
	}
	var later []result.LinkEvent
	s.LinkEvents, later = r.linkEvents()
	if s.Deadlock = r.chains(); len(later) > 0 && (x.Done() || s.Outcome != nil) {
		s.Missed = &result.Missed{Events: len(later), First: later[0]}
	}
	s.Moves = r.moves()
	return s, t, limits
}

// Limits of runs without packets, in messages; variables for tests. Up to mostReplayed messages, lost time is divided
// among causes by about 15 replays, each as long as the run; up to mostSummed, 3 replays sum all causes.
var mostReplayed, mostSummed = 500_000, 2_000_000

// tooMany reports whether a run has more messages than lost time is divided among causes for.
func tooMany(o *Observation) bool { return o.Packets == nil && len(o.Messages) > mostReplayed }

// Cost of a run's replays on one core, measured on a training step, an all-to-all and a permutation of 64 and 128 GPUs,
// by packets and as flows: accurate to a factor of two.
const (
	secondsOfMessage = 20e-6
	secondsOfPair    = 80e-6 // per sending pair, so many flows may share links
)

// Seconds estimates the time of one core for dividing a run's lost time among causes, from the number of messages and
// communicating pairs of GPUs.
func Seconds(p *scenario.Plan, messages, pairs int64, packets bool) float64 {
	if !p.Causes || !packets && messages > int64(mostReplayed) {
		return 0
	}
	return secondsOfMessage*float64(messages) + secondsOfPair*float64(pairs)
}

// unaccounted returns the reason why lost time is not divided among causes, or "".
func unaccounted(p *scenario.Plan, o *Observation) string {
	switch {
	case !p.Causes:
		return notComputed + "output.causes is false"
	case tooMany(o) && (p.Totals || len(o.Messages) > mostSummed):
		return notComputed + fewer(p, o)
	}
	return ""
}

const notComputed = "causes of lost time were not computed: "

// fewer returns a run's number of messages, and the settings that reduce it.
func fewer(p *scenario.Plan, o *Observation) string {
	by := ""
	for _, j := range p.Jobs {
		switch {
		case j.Training == nil:
		case j.Training.Microbatches > 1:
			by = ", for example with half the global_batch, which halves the microbatches of a replica"
		case by == "":
			by = ", for example with dp and global_batch of the training halved"
		}
	}
	return fmt.Sprintf("%s exceed the limit of %s for about 15 replays; simulate fewer%s",
		unit.Plural(len(o.Messages), "message"), unit.ShowCount(mostReplayed), by)
}

// sum returns the total cost of all causes in a step that is not divided among them, or "" if it is.
func (a *accounts) sum(step int64) string {
	if a.undivided == 0 {
		return ""
	}
	r := a.m.b.r
	return fmt.Sprintf("all causes together cost %s (%s of the step), not divided among them: %s", a.undivided.Show(),
		unit.ShowShare(float64(a.undivided)/float64(step)), fewer(r.plan, r.seen))
}

// causeRows spells accounts out as rows, without causes that cost nothing.
func causeRows(chain *cause.Account, colls []result.CollectiveRow, messages []messageAccount) (rows []result.CauseRow) {
	add := func(scope string, instance int32, a *cause.Account) {
		for _, c := range cause.All() {
			if own, reaction, saving := a.Own[c.ID], a.Reaction[c.ID], a.Saving[c.ID]; own|reaction|saving != 0 {
				rows = append(rows, result.CauseRow{Scope: scope, Instance: instance, Cause: c.Key, Time: own,
					Reaction: reaction, Saving: saving})
			}
		}
	}
	if chain != nil {
		add(result.OfCriticalPath, -1, chain)
	}
	for i := range colls {
		add("collective", colls[i].Instance, &colls[i].Lost)
	}
	for i := range messages {
		add(result.OfMessage, messages[i].message, &messages[i].lost)
	}
	return rows
}

// trained returns the throughput of a training step of the given duration.
func trained(m *workload.Training, took unit.Time, complete bool) (s result.Trained) {
	if m == nil {
		return s
	}
	s.Params = m.Model.Params()
	n := m.StepsInRow()
	if n > 1 {
		s.Steps = n
	}
	s.Tokens, s.TrainingGPUs, s.IdleGPUs = m.Global()*m.Seq*int64(n), m.GPUs(), m.Idle
	s.FLOPs = m.Model.StepFLOPs(s.Tokens, m.Seq)
	if took > 0 && complete {
		all := float64(s.TrainingGPUs+s.IdleGPUs) / float64(s.TrainingGPUs)
		s.MFU = s.FLOPs / took.Seconds() / (m.Peak() * all)
	}
	return s
}
