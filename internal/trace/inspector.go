package trace

import (
	"bytes"
	"fmt"
	"slices"

	"railyard/internal/measured"
	"railyard/internal/stream"
	"railyard/unit"
)

// isInspector recognizes the records of NCCL's profiler plugin Inspector by their keys.
func isInspector(_ string, head []byte) bool {
	return slices.ContainsFunc([]string{`"coll_perf"`, `"p2p_perf"`, `"inspector_output_format_version"`}, func(key string) bool {
		return bytes.Contains(head, []byte(key))
	})
}

// inspected is the content of Inspector's records: each call of each communicator, by number. The order of calls of
// different communicators, and computations between them, are unknown.
type inspected struct {
	c     *calls
	comms map[string]*inspectedComm
	order []string
	n     int
}

type inspectedComm struct {
	name         string
	ranks, nodes int
	procs        map[int]string // by rank
	calls        map[int][]inspectedCall
	members      []int // ranks with calls, in order of appearance
}

type inspectedCall struct {
	act
	file string
}

// readInspector reads the files of processes.
func readInspector(o *Options, files []File) (*Trace, error) {
	x := &inspected{c: &calls{file: files[0].Name, fit: fitter{on: o.On}}, comms: map[string]*inspectedComm{}}
	for _, f := range files {
		err := o.stream(f, func(s *stream.Source) error {
			return measured.Records(f.Name, s, &x.c.report, func(r *measured.Record, line int) error {
				return x.record(f.Name, r, line)
			})
		})
		if err != nil {
			return nil, err
		}
	}
	world := x.world()
	if world == nil {
		why := "has no record of a collective, or of a send or receive"
		if len(x.c.report.Left) > 0 {
			why += "; left out: " + x.c.report.Left[0].Words()
		}
		return nil, at(files[0].Name, 0, "%s", why)
	}
	x.c.ranks = world.ranks
	rank := map[string]int{} // of processes
	several := map[string]bool{}
	for r := range world.ranks {
		if p := world.procs[r]; p != "" {
			_, twice := rank[p]
			rank[p], several[p] = r, several[p] || twice
		}
	}
	x.members(world, rank, several)
	note(&x.c.report.Guessed, "computation between calls, and the order of calls of different communicators, absent from Inspector's records: none", x.c.file, 0)
	t, err := x.c.trace()
	if err == nil && world.nodes > 0 && world.ranks%world.nodes == 0 {
		t.Site.GPUs = world.ranks / world.nodes
	}
	return t, err
}

// record processes one record.
func (x *inspected) record(file string, r *measured.Record, line int) error {
	h := r.Header
	c := x.comms[h.ID]
	if c == nil {
		if len(x.comms) >= maxRanks || h.Ranks > maxRanks {
			return at(file, line, "more than %d communicators, or ranks in one", maxRanks)
		}
		c = &inspectedComm{name: h.Name, ranks: h.Ranks, nodes: h.Nodes, procs: map[int]string{},
			calls: map[int][]inspectedCall{}}
		x.comms[h.ID], x.order = c, append(x.order, h.ID)
	}
	if c.ranks != h.Ranks {
		note(&x.c.report.Left, "records that contradict their communicator", file, line)
		return nil
	}
	proc := fmt.Sprintf("%s:%d", r.Metadata.Host, r.Metadata.PID)
	if r.Metadata.Host == "" {
		proc = file
	}
	c.procs[h.Rank] = proc
	a := act{line: int32(min(line, 1<<31-1)), seq: -1}
	var bytes int64
	switch {
	case r.Coll != nil:
		what, known := opsByName[plain(r.Coll.Coll)]
		if !known || what == opSend || what == opRecv {
			note(&x.c.report.Left, "records of "+clip(r.Coll.Coll), file, line)
			return nil
		}
		a.what, a.seq, bytes = what, r.Coll.Number, r.Coll.Bytes
		if what == opAllGather || what == opReduceScatter || what == opAllToAll {
			bytes *= int64(h.Ranks)
		}
	case opsByName[plain(r.P2P.Op)] == opSend || opsByName[plain(r.P2P.Op)] == opRecv:
		a.what, a.peer, bytes = opsByName[plain(r.P2P.Op)], int32(r.P2P.Peer), r.P2P.Bytes
	default:
		note(&x.c.report.Left, "records of "+clip(r.P2P.Op), file, line)
		return nil
	}
	if bytes < 0 || bytes > 1<<50 || a.what != opSend && a.what != opRecv && a.seq < 0 {
		note(&x.c.report.Left, "records with an impossible size or number", file, line)
		return nil
	}
	if x.n++; x.n > maxActs {
		return at(file, line, "more than the %d records that are read", maxActs)
	}
	a.bytes = unit.Bytes(bytes)
	if c.calls[h.Rank] == nil {
		c.members = append(c.members, h.Rank)
	}
	c.calls[h.Rank] = append(c.calls[h.Rank], inspectedCall{a, file})
	return nil
}

// world is the communicator of most ranks.
func (x *inspected) world() (found *inspectedComm) {
	for _, id := range x.order {
		if c := x.comms[id]; len(c.members) > 0 && (found == nil || c.ranks > found.ranks) {
			found = c
		}
	}
	return found
}

// members builds each rank's acts: a chain for each communicator, and for each partner of its messages.
func (x *inspected) members(world *inspectedComm, rank map[string]int, several map[string]bool) {
	all := map[int]*member{}
	var order []int
	for _, id := range x.order {
		c := x.comms[id]
		ranks, ok := seqOf(c.ranks), true
		for r := range c.ranks {
			if c == world || c.ranks == world.ranks {
				break
			}
			p := c.procs[r]
			n, known := rank[p]
			ranks[r], ok = n, ok && known && !several[p]
		}
		name := ""
		if c.name != "unknown" {
			name = clip(c.name)
		}
		for _, r := range c.members {
			list := c.calls[r]
			if !ok {
				for _, a := range list {
					note(&x.c.report.Left, "records of communicators whose ranks are not all known", a.file,
						int(a.line))
				}
				continue
			}
			m := all[ranks[r]]
			if m == nil {
				m = &member{rank: ranks[r], file: list[0].file}
				all[ranks[r]], order = m, append(order, ranks[r])
			}
			group := x.c.grouped(name, ranks)
			last := map[string]int32{}
			for _, a := range list {
				chain := "collectives"
				if a.what == opSend || a.what == opRecv {
					chain = fmt.Sprint(a.what, a.peer)
				}
				a.group = group
				var after []int32
				if n, ok := last[chain]; ok {
					after = append(after, n)
				}
				last[chain] = m.add(a.act, after...)
			}
		}
	}
	for _, r := range order {
		x.c.members = append(x.c.members, *all[r])
	}
}
