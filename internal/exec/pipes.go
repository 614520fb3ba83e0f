package exec

import (
	"railyard/internal/inside"
	"railyard/unit"
)

// pipes are the links between GPUs inside the servers. Pipes are numbered server by server.
type pipes struct {
	of    []*inside.Fabric // by server
	first []int32          // by server: its first pipe
	start []int32          // by server: its first GPU
	owner []int32          // by pipe: its server
	rate  []unit.Rate
	free  []unit.Time
	parts map[int][]inside.Change // by server whose NVLinks change, in the order of time; nil: none
}

func newPipes(m *Machine) (p pipes) {
	alike := map[int]*inside.Fabric{}
	for gpu := 0; gpu < len(m.Server); {
		server, next := m.Server[gpu], gpu
		for next < len(m.Server) && m.Server[next] == server {
			next++
		}
		for len(p.of) <= server { // servers without GPUs have none
			p.of, p.first, p.start = append(p.of, nil), append(p.first, 0), append(p.start, 0)
		}
		f := alike[next-gpu]
		if f == nil {
			f = inside.Switched(next-gpu, m.NVLink.Rate)
			alike[next-gpu] = f
		}
		if server < len(m.Inside) && m.Inside[server] != nil {
			f = m.Inside[server]
		}
		p.of[server], p.first[server], p.start[server] = f, int32(len(p.rate)), int32(gpu)
		for _, rate := range f.Rates {
			p.rate, p.owner = append(p.rate, rate), append(p.owner, int32(server))
		}
		gpu = next
	}
	p.free = make([]unit.Time, len(p.rate))
	for _, c := range m.Changes {
		if p.parts == nil {
			p.parts = map[int][]inside.Change{}
		}
		p.parts[c.Domain] = append(p.parts[c.Domain], c)
	}
	return p
}

// serialize returns the time that bytes take on a pipe from begin on. NVLinks that fail or recover meanwhile leave
// the pipe exactly their share of its rate, because packets are striped over all working links.
func (p *pipes) serialize(bytes unit.Bytes, pipe int32, begin unit.Time) unit.Time {
	took := unit.Serialize(bytes, p.rate[pipe])
	if p.parts == nil {
		return took
	}
	now, left, of := begin, 1, 1
	for _, c := range p.parts[int(p.owner[pipe])] {
		if c.At > now { // up to then, bytes pass at the full rate, with left parts active
			if done := (c.At - now) * unit.Time(left) / unit.Time(of); done < took {
				took, now = took-done, c.At
			} else {
				break
			}
		}
		left, of = c.Left, c.Of
	}
	return now - begin + (took*unit.Time(of)+unit.Time(left)-1)/unit.Time(left)
}

// inside sends a transfer through the pipes between two GPUs of a server. Each pipe is first come, first served,
// and cuts through if idle.
func (x *Execution) inside(i int32, from, to int, stage int32) {
	p, bytes, now := &x.pipes, x.DAG.Ops[i].Bytes, x.carrier.Now()
	var buf [inside.MaxWay]int32
	way := x.Way(from, to, buf[:])
	begin, end := now, now
	latency := p.of[x.Machine.Server[from]].Delay(x.Machine.NVLink.Latency)
	for k, pipe := range way {
		if k == 1 {
			begin, end = begin+latency, end+latency
		}
		begin = max(begin, p.free[pipe])
		end = max(begin+p.serialize(bytes, pipe, begin), end)
		p.free[pipe] = end
	}
	if len(way) == 1 {
		end += latency
	}
	x.after(end-now, i, stage)
}

// Way returns the numbers of the pipes of a transfer inside a server, in order. The result uses buf if it is large
// enough.
func (x *Execution) Way(from, to int, buf []int32) []int32 {
	p, server := &x.pipes, x.Machine.Server[from]
	first, start := p.first[server], int(p.start[server])
	way := p.of[server].Way(from-start, to-start, buf)
	out := buf[:0]
	for _, pipe := range way {
		out = append(out, first+pipe)
	}
	return out
}

// Pipes returns the number of pipes inside all servers.
func (x *Execution) Pipes() int { return len(x.pipes.rate) }

// PipeRate is the rate of a pipe.
func (x *Execution) PipeRate(pipe int32) unit.Rate { return x.pipes.rate[pipe] }

// PipeKind returns the name of a pipe's kind for reports.
func (x *Execution) PipeKind(pipe int32) string { return x.pipes.of[x.pipes.owner[pipe]].Kind() }

// Alone returns the time of a transfer inside an idle server: on the
// slowest of its pipes, and the latency.
func (x *Execution) Alone(from, to int, bytes unit.Bytes) (line, latency unit.Time) {
	p, server := &x.pipes, x.Machine.Server[from]
	start := int(p.start[server])
	if rate := p.of[server].Rate(from-start, to-start); rate > 0 {
		line = unit.Serialize(bytes, rate)
	}
	return line, p.of[server].Delay(x.Machine.NVLink.Latency)
}
