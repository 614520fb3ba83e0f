package explain

import (
	"cmp"
	"fmt"
	"slices"

	"railyard/internal/queue"
	"railyard/internal/result"
	"railyard/internal/topo"
	"railyard/internal/workload"
	"railyard/unit"
)

// Happening is something that a fidelity saw happen to a queue or a rate for the first time.
type Happening struct {
	At, Last unit.Time
	Times    int64
	What     string // mark, xoff, xon, pause, resume, storm, restore; cut, raise, recovered
	Port     int32  // -1: none
	Priority int
	Cause    int32 // of a pause: the port whose congestion it began with, -1 for none
	Conn     int32 // -1: none
	Bytes    unit.Bytes
	From, To unit.Rate
}

// story lists the events of the run in order: requests and their completion, and the changes of queues, pauses and
// rates between them.
func (r *reading) story() (out []result.Happened) {
	roots := r.rootOfEach()
	for i := range r.seen.Story {
		h := &r.seen.Story[i]
		what := r.words(h)
		if h.What == "pause" {
			what += r.heldBy(h, roots)
		}
		out = append(out, result.Happened{At: int64(h.At), Times: h.Times, Last: int64(h.Last), What: what})
	}
	out = append(out, r.phases()...)
	slices.SortStableFunc(out, func(a, b result.Happened) int { return cmp.Compare(a.At, b.At) })
	return out
}

// pauseAt is a pause of a port.
type pauseAt struct {
	port int32
	at   int64
}

// rootOfEach returns the root of each pause, that of most bytes of several, as pause_roots.parquet has it.
func (r *reading) rootOfEach() map[pauseAt]*result.PauseRootRow {
	roots := map[pauseAt]*result.PauseRootRow{}
	if !slices.ContainsFunc(r.seen.Story, func(h Happening) bool { return h.What == "pause" }) {
		return roots
	}
	rows := r.rootRows()
	for i := range rows {
		x := &rows[i]
		k := pauseAt{x.Port, x.From}
		if had := roots[k]; had == nil || x.Time > had.Time {
			roots[k] = x
		}
	}
	return roots
}

// heldBy names the egress port whose bytes a port is paused for, and the root of that.
func (r *reading) heldBy(h *Happening, roots map[pauseAt]*result.PauseRootRow) (s string) {
	x := roots[pauseAt{h.Port, int64(h.At)}]
	if h.Cause >= 0 && (x == nil || x.Root != h.Cause) {
		s = " for bytes at " + r.portName(h.Cause)
	}
	switch {
	case x == nil:
		return s
	case x.Kind == result.RootReceiver:
		return s + ", root " + r.portName(x.Root) + ", whose server receives too slowly"
	case x.Root >= 0:
		return s + ", root " + r.portName(x.Root)
	}
	return s
}

// words describes an event in a sentence.
func (r *reading) words(h *Happening) string {
	if h.Conn >= 0 {
		return r.paced(h)
	}
	link := int(r.seen.Ports[h.Port].Link)
	node := int(r.seen.Ports[h.Port].Node)
	end, far := r.graph.End(link, node), r.peer(h.Port).Name
	here, class := r.graph.Nodes[node].Name, queue.Class{}
	if spec := r.plan.SpecOf(node); spec != nil {
		class = spec.Queues[h.Priority]
	}
	nic := r.graph.Nodes[node].Role == topo.Host
	switch h.What {
	case "mark":
		return fmt.Sprintf("%s: %s in queue %d exceed the WRED minimum (%s): packets to %s are marked CE", end,
			h.Bytes.Show(), h.Priority, class.WRED.Min.ShowSet(), far)
	case "xoff":
		level := "xOFF"
		if class.XOff > 0 {
			level = fmt.Sprintf("xOFF (%s)", class.XOff.ShowSet())
		}
		if nic {
			return fmt.Sprintf("%s: receive buffer reaches rx_xoff; sends a PFC pause to %s for priority %d",
				end, far, h.Priority)
		}
		return fmt.Sprintf("%s: ingress bytes of class %d reach %s; %s sends a PFC pause to %s", end, h.Priority, level,
			here, far)
	case "xon":
		return fmt.Sprintf("%s: ingress bytes of class %d fall to xON (%s); %s resumes %s", end, h.Priority,
			class.XOn.ShowSet(), here, far)
	case "pause":
		return fmt.Sprintf("%s stops sending priority %d: paused by %s", end, h.Priority, far)
	case "resume":
		return fmt.Sprintf("%s resumes priority %d to %s", end, h.Priority, far)
	}
	return fmt.Sprintf("%s: %s of priority %d", end, h.What, h.Priority)
}

// paced describes the course of a queue pair's rate.
func (r *reading) paced(h *Happening) string {
	from, to := r.seen.peers(h.Conn)
	nic, far := r.graph.NICName(int(from)), r.graph.NICName(int(to))
	control := r.plan.Services[r.seen.Conns[h.Conn].Service].CC
	switch {
	case h.What == "cut" && control.Name == "dcqcn":
		return fmt.Sprintf("%s receives a CNP from %s and reduces the rate of queue pair %d from %s to %s", nic, far,
			h.Conn, h.From.Show(), h.To.Show())
	case h.What == "cut":
		return fmt.Sprintf("%s reduces the rate of queue pair %d to %s from %s to %s", nic, h.Conn, far, h.From.Show(), h.To.Show())
	case h.What == "raise":
		return fmt.Sprintf("%s increases the rate of queue pair %d from %s to %s", nic, h.Conn, h.From.Show(), h.To.Show())
	}
	return fmt.Sprintf("%s: queue pair %d has recovered to %s, within 1 %% of line rate", nic, h.Conn, h.To.Show())
}

// fewTransfers is the maximum number of transfers that are listed one by one.
const fewTransfers = 8

// phases returns the start of the requests, and their end.
func (r *reading) phases() (out []result.Happened) {
	for j := range r.exec.Work.Jobs {
		part := &r.exec.Work.Jobs[j]
		whose := ""
		if name := r.jobName(j); name != "" {
			whose = name + ": "
		}
		var spans []*span
		named := map[string]*span{}
		for i := part.Ops[0]; i < part.Ops[1]; i++ {
			name, first, last := r.named(i)
			s := named[name]
			if name == "" || r.exec.End[i] == unit.Never {
				continue
			}
			if s == nil {
				s = &span{first: first, last: last, from: r.exec.Start[i]}
				named[name], spans = s, append(spans, s)
			}
			s.from, s.to = min(s.from, r.exec.Start[i]), max(s.to, r.exec.End[i])
		}
		for _, s := range spans {
			out = append(out, result.Happened{At: int64(s.from), Last: int64(s.from), Times: 1,
				What: whose + s.first},
				result.Happened{At: int64(s.to), Last: int64(s.to), Times: 1,
					What: fmt.Sprintf("%s%s after %s", whose, s.last, (s.to - s.from).Show())})
		}
	}
	return out
}

// span is the period of the operations of one name.
type span struct {
	first, last string
	from, to    unit.Time
}

// named returns the name of an operation in a report: its own if there are few, else that of its group.
func (r *reading) named(i int32) (name, first, last string) {
	o := &r.dag.Ops[i]
	switch {
	case o.Compute() && (o.Class == workload.Other || o.Class == workload.OnHost):
		return "", "", ""
	case o.Compute():
		c := o.Class.String()
		words := map[workload.Class][2]string{
			workload.Forward:   {"forward pass starts", "forward pass complete on all ranks"},
			workload.Backward:  {"backward pass starts", "backward pass complete on all ranks"},
			workload.Computing: {"computing starts", "computing complete on all ranks"},
			workload.Optimizer: {"optimizer step starts", "optimizer step complete on all ranks"}}[o.Class]
		if words[0] == "" {
			words = [2]string{c + " starts", c + " complete"}
		}
		return c, words[0], words[1]
	case o.Coll < 0 || r.few(o.Coll):
		a, b := r.graph.GPUName(int(o.Rank)), r.graph.GPUName(int(o.Peer))
		return fmt.Sprint(i), fmt.Sprintf("%s posts %s to %s", a, o.Bytes.ShowSet(), b),
			fmt.Sprintf("%s from %s complete at %s", o.Bytes.ShowSet(), a, b)
	}
	c := &r.dag.Colls[o.Coll]
	return c.Name, fmt.Sprintf("first rank posts %s, %s on each of %d ranks", c.Name, c.Bytes.ShowSet(), len(c.Ranks)),
		fmt.Sprintf("%s complete on all ranks", c.Name)
}

// few reports whether a collective is nothing but some transfers.
func (r *reading) few(coll int32) bool {
	return r.dag.Colls[coll].By == "" && len(r.dag.Ops) <= fewTransfers
}
