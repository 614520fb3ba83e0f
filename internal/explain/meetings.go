package explain

import (
	"cmp"
	"slices"

	"railyard/internal/result"
	"railyard/unit"
)

// maxMeetings is the maximum number of listed ports that several jobs shared.
const maxMeetings = 100

// meetings finds the ports that carried bytes of several jobs at a time: which jobs, when, and what each sent there
// meanwhile. A message counts as sending at a constant rate from the time when no older message preceded it until its
// arrival.
func (b *blamer) meetings() (out []result.Meeting) {
	s := b.share
	if len(b.r.exec.Work.Jobs) < 2 {
		return nil
	}
	for port, u := range s.carried {
		out = b.met(out, int32(port), u)
	}
	for nic, n := range b.r.graph.NICs {
		if len(n.Links) > 1 { // its ports have been checked
			continue
		}
		host := b.r.graph.Hosts[n.Host]
		port := b.r.port(n.Links[0], host)
		out = b.met(out, port, users{qps: s.bySender[nic]})
		out = b.met(out, b.r.seen.Ports[port].Peer, users{qps: s.byReceiver[nic]})
	}
	slices.SortStableFunc(out, func(x, y result.Meeting) int {
		return cmp.Or(cmp.Compare(y.Second(), x.Second()), cmp.Compare(x.Port, y.Port))
	})
	return out[:min(len(out), maxMeetings)]
}

// edge is a time when a job begins or ends to have a message in flight.
type edge struct {
	at   unit.Time
	job  int32
	more int32   // +1, -1
	pace float64 // bytes per picosecond
}

// met appends what several jobs did at a port, if they did.
func (b *blamer) met(out []result.Meeting, port int32, u users) []result.Meeting {
	edges, jobs := b.edges(u)
	if len(jobs) < 2 {
		return out
	}
	slices.SortStableFunc(edges, func(x, y edge) int {
		return cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(x.more, y.more), cmp.Compare(x.job, y.job))
	})
	active, pace := make([]int32, len(jobs)), make([]float64, len(jobs))
	sent := make([]float64, len(jobs))
	m := result.Meeting{Port: b.r.portName(port), From: -1}
	var last unit.Time
	there := 0 // jobs with a message in flight
	for _, e := range edges {
		if span := e.at - last; there > 1 && span > 0 {
			if m.From < 0 {
				m.From = int64(last)
			}
			m.To, m.Together = int64(e.at), m.Together+int64(span)
			for j := range jobs {
				sent[j] += float64(pace[j] * float64(span))
			}
		}
		last = e.at
		j, _ := slices.BinarySearch(jobs, e.job)
		was := active[j] > 0
		active[j] += e.more
		pace[j] += float64(float64(e.more) * e.pace)
		if is := active[j] > 0; is != was {
			there += int(e.more)
		}
		if active[j] == 0 {
			pace[j] = 0
		}
	}
	if m.From < 0 {
		return out
	}
	all := 0.0
	for _, bytes := range sent {
		all += bytes
	}
	line := float64(b.r.rate(port)) / 8 * unit.Time(m.Together).Seconds()
	over := max(1, all/line) // messages are not as steady: the port carried no more than its rate
	for j, job := range jobs {
		m.Jobs = append(m.Jobs, result.MeetingJob{Job: b.r.exec.Work.Jobs[job].Name,
			Bytes: int64(sent[j] / over)})
	}
	m.Load = all / line / over
	return append(out, m)
}

// edges returns when messages of a port's queue pairs begin and end, and whose they are.
func (b *blamer) edges(u users) (all []edge, jobs []int32) {
	s := b.share
	for i, c := range u.qps {
		share := 1.0
		if u.shares != nil {
			share = u.shares[i]
		}
		for _, m := range s.byQP[c] {
			from, to := s.began[m], s.done(m)
			if to <= from {
				continue
			}
			msg := &s.r.seen.Messages[m]
			job := int32(s.r.exec.Work.Of(msg.Op))
			if at, ok := slices.BinarySearch(jobs, job); !ok {
				jobs = slices.Insert(jobs, at, job)
			}
			pace := float64(s.r.wireBytes(msg.Bytes)) * share / float64(to-from)
			all = append(all, edge{from, job, 1, pace}, edge{to, job, -1, pace})
		}
	}
	return all, jobs
}
