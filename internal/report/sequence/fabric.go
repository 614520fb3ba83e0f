package sequence

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"railyard/internal/result"
	"railyard/unit"
)

// mostRanks is the maximum number of rows and lanes of a readable diagram.
const mostRanks = 16

// ranks is the path from rank to switch port.
func ranks(r run, s *Sequence) error {
	t := r.Topology
	s.Title, s.Timeless, s.Lanes = "From rank to GPU, NIC and switch", true, []string{"rank", "GPU", "NIC", "switch"}
	n := 0
	for i := range t.Nodes {
		for g := 1; g <= t.Nodes[i].GPUs; g++ {
			if n++; n > mostRanks {
				continue
			}
			for _, nic := range t.NICs {
				if nic.Host != i || !slices.Contains(nic.GPUs, g) {
					continue
				}
				s.Steps = append(s.Steps, Step{From: 0, To: 1, Label: fmt.Sprintf("rank %d", n-1),
					Detail: fmt.Sprintf("%s, GPU %d", t.Nodes[i].Name, g), Kind: Here},
					Step{From: 1, To: 2, Label: nic.Name, Detail: "PCIe", Kind: Here})
				for _, l := range nic.Links {
					link := t.Links[l]
					far, port := link.B, link.BPort
					if far == i {
						far, port = link.A, link.APort
					}
					s.Steps = append(s.Steps, Step{From: 2, To: 3, Kind: Data, Label: t.Nodes[far].Name + ":" + port,
						Detail: rate(float64(link.Rate))})
				}
			}
		}
	}
	if n > mostRanks {
		s.Notes = append(s.Notes, fmt.Sprintf("The first %d of %d ranks.", mostRanks, n))
	}
	if len(s.Steps) == 0 {
		return errors.New("the run's topology.json has no GPUs of NICs: it is of an older version; run the scenario again")
	}
	return nil
}

// port returns the name of a port and of its ends.
func (r run) port(ports []result.PortRow, i int32) (name, from, to string) {
	if int(i) >= len(ports) || i < 0 {
		return "", "", ""
	}
	return ports[i].Name, ports[i].Node, ports[i].Peer
}

// reverse returns the port at the other end of a port's cable; -1: there is none.
func (r run) reverse(port int32) int32 {
	for _, l := range r.Topology.Links {
		switch port {
		case l.FromA:
			return l.FromB
		case l.FromB:
			return l.FromA
		}
	}
	return -1
}

// mostSteps bounds a cascade.
const mostSteps = 40

// pauses is the first cascade of pauses, from its root on: each paused port and its cause, until all resume.
func pauses(r run, s *Sequence) error {
	rows, err := table[result.PauseRow](r, "pauses")
	if err != nil {
		return err
	}
	ports, err := table[result.PortRow](r, "ports")
	if err != nil {
		return err
	}
	paused := map[[2]int32]bool{} // by port and priority: of the cascade
	begun := false
	more := 0
	for _, p := range rows {
		name, from, to := r.port(ports, p.Port)
		if name == "" {
			return fmt.Errorf("pauses.parquet names port %d, which the run does not have", p.Port)
		}
		key := [2]int32{p.Port, p.Priority}
		switch {
		case p.What == "pause" && !paused[key] && (!begun || paused[[2]int32{p.Cause, p.Priority}]):
			root, _, _ := r.port(ports, p.Cause)
			if root == "" {
				root = "what its server takes in"
			}
			if !begun {
				s.Title = fmt.Sprintf("PFC pauses of priority %d, spreading from %s", p.Priority, root)
			}
			begun, paused[key] = true, true
			s.add(r.sent(rows, &p), p.At, to, from, Pause, "PFC pause", "most bytes wait at "+root)
		case p.What == "resume" && paused[key]:
			delete(paused, key)
			s.add(r.sent(rows, &p), p.At, to, from, Answer, "resume", "")
		}
		if len(s.Steps) >= mostSteps {
			more++
			break
		}
		if begun && len(paused) == 0 {
			break
		}
	}
	if !begun {
		return errors.New("no port was paused in this run")
	}
	if more > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("The first %d pauses and resumes of the cascade; pauses.parquet has all.",
			mostSteps))
	}
	s.sort()
	return nil
}

// sent returns when the frame left that paused or resumed a port: the xOFF or xON at the other end of its cable.
func (r run) sent(rows []result.PauseRow, p *result.PauseRow) int64 {
	what, at, far := map[string]string{"pause": "xoff", "resume": "xon"}[p.What], p.At, r.reverse(p.Port)
	for _, x := range rows {
		if x.At > p.At {
			break
		}
		if x.What == what && x.Port == far && x.Priority == p.Priority {
			at = x.At
		}
	}
	return at
}

// marks returns a queue pair's reaction to marks at the port where its packets waited longest, and when its rate
// had recovered. It is the slowest message's queue pair, or the one with most rate reductions.
func marks(r run, s *Sequence) error {
	if r.Summary.CNPs == 0 {
		return errors.New("no CNP was sent in this run")
	}
	qps, err := table[result.QPRow](r, "qps")
	if err != nil {
		return err
	}
	q, err := r.slowed(qps)
	if err != nil {
		return err
	}
	if q == nil {
		return errors.New("no queue pair of this run reduced its rate after a mark")
	}
	rates, cuts, err := r.rates(q.QP)
	if err != nil {
		return err
	}
	mark, first, err := r.marked(q, rates)
	if err != nil {
		return err
	}
	ports, err := table[result.PortRow](r, "ports")
	if err != nil {
		return err
	}
	name, at, _ := r.port(ports, mark.Port)
	s.Title = fmt.Sprintf("Queue pair %d, %s to %s, slows down for %s", q.QP, q.From, q.To, name)
	s.QP, s.Port = q.QP, mark.Port
	s.lane(q.From)
	s.lane(at)
	end := mark.Start + mark.Length
	s.add(mark.Start, end, at, at, Mark, fmt.Sprintf("queue reaches %s", bytes(mark.Longest())),
		fmt.Sprintf("%s marked CE in %s", unit.Plural(mark.Marks, "packet"), dur(mark.Length)))
	s.add(mark.Start, end, at, q.To, Data, "packets, some marked CE", "")
	s.add(mark.Start, rates[first].At, q.To, q.From, Answer, "CNP",
		unit.Plural(q.Marked, "marked packet")+" arrived in total")
	s.slows(q, rates, cuts, first)
	s.Notes = append(s.Notes, "Rates and queues are samples: what happens between two of them is drawn at the later one.")
	s.sort()
	return nil
}

// rates are the samples of a queue pair's rate, and of how often it was reduced.
func (r run) rates(qp int32) (rates, cuts []result.SignalRow, err error) {
	signals, err := table[result.SignalRow](r, "signals")
	if err != nil {
		return nil, nil, err
	}
	for _, x := range signals {
		switch {
		case x.QP == qp && x.Signal == "rate":
			rates = append(rates, x)
		case x.QP == qp && x.Signal == "cuts":
			cuts = append(cuts, x)
		}
	}
	if len(rates) == 0 {
		return nil, nil, noRate(r.Summary, len(signals))
	}
	return rates, cuts, nil
}

// noRate returns why a run with a number of signal samples has none of a rate. Its fidelity records no signals, or
// its congestion control has no rate.
func noRate(s *result.Summary, signals int) error {
	if signals == 0 && s.Fidelity != "" && s.Fidelity != "packet" {
		return fmt.Errorf("fidelity %s records no rates; simulate the run with --set fidelity=packet", s.Fidelity)
	}
	return fmt.Errorf("congestion control %s has no rate: this sequence is of controls by rate", s.Congestion)
}

// slowed returns the queue pair of the slowest message if marks reduced its rate, else the one reduced most often.
// It returns nil if marks reduced none.
func (r run) slowed(qps []result.QPRow) (q *result.QPRow, err error) {
	flows, err := table[result.FlowRow](r, "flows")
	if err != nil {
		return nil, err
	}
	own := int32(-1)
	if x := r.Summary.Slowest; x != nil {
		for i := range flows {
			if f := &flows[i]; f.From == x.From && f.To == x.To && f.Done-f.Posted == x.Time {
				own = f.QP
			}
		}
	}
	for i := range qps {
		switch x := &qps[i]; {
		case x.Cuts == 0 || x.Marked == 0:
		case x.QP == own:
			return x, nil
		case q == nil || x.Cuts > q.Cuts:
			q = x
		}
	}
	return q, nil
}

// marked returns the first interval with marks before a reduction of the rate, at the port where a queue pair's
// packets waited longest, or at the next port of its path. first is the sample of that reduction.
func (r run) marked(q *result.QPRow, rates []result.SignalRow) (mark result.LinkRow, first int, err error) {
	paths, err := table[result.PathRow](r, "paths")
	if err != nil {
		return mark, 0, err
	}
	links, err := table[result.LinkRow](r, "links")
	if err != nil {
		return mark, 0, err
	}
	waits := map[int32]int64{}
	for _, p := range paths {
		if p.QP == q.QP {
			waits[p.Port] += p.Wait
		}
	}
	early := map[int32]result.LinkRow{}
	for _, l := range links {
		if x, seen := early[l.Port]; l.Marks > 0 && (!seen || l.Start < x.Start) {
			early[l.Port] = l
		}
	}
	on := slices.SortedFunc(maps.Keys(waits), func(a, b int32) int {
		return cmp.Or(cmp.Compare(waits[b], waits[a]), cmp.Compare(a, b))
	})
	for _, port := range on {
		mark, ok := early[port]
		before := float64(q.Line)
		for i := 0; ok && i < len(rates); i++ {
			if rates[i].At > mark.Start && rates[i].Value < before {
				return mark, i, nil
			}
			before = rates[i].Value
		}
	}
	return mark, 0, errors.New("links.parquet has no mark on its path before a reduction of its rate")
}

// slows adds the samples of a rate: the first after the mark, the lowest, the return to half of line rate, and to
// 99 % of it.
func (s *Sequence) slows(q *result.QPRow, rates, cuts []result.SignalRow, first int) {
	add := func(x *result.SignalRow, label, detail string) {
		s.add(x.At, x.At, q.From, q.From, Mark, label, detail)
	}
	reduced := func(at int64) string {
		n := 0.0
		for _, c := range cuts {
			if c.At <= at {
				n = c.Value
			}
		}
		return unit.Plural(int64(n), "reduction") + " so far"
	}
	low := first
	for i := first; i < len(rates); i++ {
		if rates[i].Value < rates[low].Value {
			low = i
		}
	}
	add(&rates[first], "rate "+rate(rates[first].Value), reduced(rates[first].At))
	if low > first {
		add(&rates[low], "lowest rate "+rate(rates[low].Value), reduced(rates[low].At))
	}
	seen := low
	for _, share := range []float64{0.5, 0.99} {
		for i := seen; i < len(rates); i++ {
			if x := &rates[i]; x.Value >= share*float64(q.Line) {
				if i > seen {
					add(x, "rate "+rate(x.Value)+" again", fmt.Sprintf("%.0f %% of line rate", 100*x.Value/float64(q.Line)))
				}
				seen = i
				break
			}
		}
	}
}
