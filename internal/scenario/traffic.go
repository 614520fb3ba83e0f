package scenario

import (
	"railyard/internal/coll"
	"railyard/internal/field"
	"railyard/internal/rng"
	"railyard/internal/workload"
	"railyard/unit"
)

// traffic makes a job of a pattern.
func (p *resolver) traffic(at task, t *Traffic) (workload.Job, error) {
	ranks, key := p.ranks(at.crew), at.key+".traffic"
	job := workload.Job{Name: at.name, Place: at.crew}
	n := 0
	var build func() (*workload.DAG, error)
	for _, c := range []struct {
		s         *Pattern
		kind      coll.Kind
		algorithm string
	}{{t.AllToAll, coll.ToAll, ""}, {t.RingAllReduce, coll.AllReduce, ""}, {t.AllGather, coll.AllGather, ""},
		{t.TreeAllReduce, coll.AllReduce, coll.ByTree}, {t.Halving, coll.AllReduce, coll.ByHalving},
		{t.ReduceScatter, coll.ReduceScatter, ""}, {t.Broadcast, coll.Bcast, ""}} {
		if c.s == nil {
			continue
		}
		n++
		run := workload.CollectiveRun{Kind: c.kind, Algorithm: c.algorithm, Bytes: c.s.Bytes}
		if c.kind != coll.ToAll && c.algorithm == "" && c.kind != coll.Bcast && c.s.Groups != "rail" && p.mesh(at.crew) {
			run.Channels = p.rings(at.crew)
		}
		build = func() (*workload.DAG, error) { return p.collective(at.crew, c.s.Groups, run) }
	}
	if s := t.Collective; s != nil {
		n++
		run, err := p.choose(at, s)
		if err != nil {
			return job, err
		}
		build = func() (*workload.DAG, error) { return p.collective(at.crew, s.Groups, run) }
	}
	if s := t.Permutation; s != nil {
		n++
		build = func() (*workload.DAG, error) {
			return workload.Permutation(ranks, p.groups(at.crew, s.Groups), s.Bytes, p.Seed)
		}
	}
	if s := t.Incast; s != nil {
		n++
		target := 0
		if s.Target != "" {
			var err error
			if target, err = p.rankOf(at, s.Target); err != nil {
				return job, field.Under(key+".incast.target", err)
			}
		}
		build = func() (*workload.DAG, error) {
			dag, err := workload.Incast(ranks, s.FanIn, target, s.Bytes)
			if err == nil {
				p.besideNetwork(at.crew, key+".incast", dag)
			}
			return dag, err
		}
	}
	if len(t.Flows) > 0 {
		n++
		flows, err := p.flows(key, t.Flows)
		if err != nil {
			return job, err
		}
		build = func() (*workload.DAG, error) { return workload.Flows(ranks, flows) }
	}
	if t.Background != nil {
		n++
		job.Open, job.Apart = true, t.Background.Pairs != "per-pair"
		build = func() (*workload.DAG, error) { return p.background(at, t.Background) }
	}
	if t.Storage != nil {
		n++
	}
	if t.Matrix != "" {
		n++
		build = func() (*workload.DAG, error) { return p.matrix(ranks, t.Matrix) }
	}
	if n != 1 {
		return job, field.New(key, "holds %d patterns, expected exactly one", n)
	}
	if t.Storage != nil {
		job, err := p.accessed(at, t.Storage)
		if e := field.All(err); len(e) > 0 && e[0].Path == "storage.capacity" {
			return job, err
		}
		return job, field.Under(key+".storage", err)
	}
	var err error
	if job.DAG, err = build(); err != nil {
		if t.Collective != nil {
			key += ".collective"
		}
		if t.Matrix != "" {
			key += ".matrix"
		}
		if t.Background != nil {
			key += ".background"
		}
		return job, field.Under(key, err)
	}
	return job, nil
}

// besideNetwork notes how many senders of an incast share NVLink with the receiver: their messages pass no link of the
// fabric.
func (p *resolver) besideNetwork(c crew, key string, dag *workload.DAG) {
	beside, all := 0, 0
	for i := range dag.Ops {
		if o := &dag.Ops[i]; !o.Compute() {
			all++
			if p.Graph.Together(c.gpu(int(o.Rank)), c.gpu(int(o.Peer))) {
				beside++
			}
		}
	}
	if beside > 0 {
		p.note("%s: %d of %s share NVLink with the receiver and do not use the network", key, beside, unit.Plural(all, "sender"))
	}
}

// background draws messages for all ranks; GPUs that share a NIC share its rate.
func (p *resolver) background(at task, b *Background) (*workload.DAG, error) {
	g := p.Graph
	sizes, err := p.sizesOf(b.Sizes)
	if err != nil {
		return nil, field.Under("sizes", err)
	}
	users := make([]int, len(g.NICs))
	for rank := range p.ranks(at.crew) {
		users[g.WayOf(at.crew.gpu(rank), 0)]++
	}
	if b.Load > 100 {
		p.note("background.load %g %% is more than NICs send: queues grow until it ends, and times grow with background.for", b.Load)
	}
	x := workload.Background{Sizes: sizes, Load: b.Load / 100, For: b.For,
		Beside: func(a, b int) bool { return g.Together(at.crew.gpu(a), at.crew.gpu(b)) }}
	if b.To == "next-group" {
		if x.To, err = p.nextGroup(at.crew); err != nil {
			return nil, err
		}
	}
	for rank := range p.ranks(at.crew) {
		nic := g.WayOf(at.crew.gpu(rank), 0)
		x.Rates = append(x.Rates, p.lineOf(nic)/unit.Rate(users[nic]))
	}
	flows, err := x.Flows(rng.New(p.Seed, "background/"+at.name))
	if err != nil {
		return nil, err
	}
	return workload.Flows(len(x.Rates), flows)
}

// nextGroup returns, by rank, its destination: the job's rank in the next group of the dragonfly. The first group
// follows the last one.
func (p *resolver) nextGroup(c crew) (func(rank int) []int, error) {
	g := p.Graph
	if len(g.Regions) < 2 {
		return nil, field.New("to", "next-group needs groups of switches, and this fabric has %d; accepted: all, or fabric.kind dragonfly", len(g.Regions))
	}
	of, members := g.RegionOf(), make([][]int, len(g.Regions))
	at := make([]int, p.ranks(c))
	for rank := range at {
		nic := &g.NICs[g.WayOf(c.gpu(rank), 0)]
		l := &g.Links[nic.Links[0]]
		if at[rank] = int(of[l.A+l.B-g.Hosts[nic.Host]]); at[rank] < 0 {
			return nil, field.New("to", "next-group: %s is in no group", g.GPUName(c.gpu(rank)))
		}
		members[at[rank]] = append(members[at[rank]], rank)
	}
	return func(rank int) []int { return members[(at[rank]+1)%len(members)] }, nil
}

// sizesOf reads a size or a file of them.
func (p *resolver) sizesOf(word string) (*workload.Sizes, error) {
	if word == "" {
		return nil, field.New("", "is missing: one size, as 64KB, or a file with a cumulative distribution")
	}
	if size, err := unit.ParseBytes(word); err == nil && size > 0 {
		return workload.Always(size), nil
	} else if err == nil {
		return nil, field.New("", "messages have a byte or more, found %s", field.Quote(word))
	}
	if p.read == nil {
		return nil, field.New("", "files cannot be read here")
	}
	text, err := p.read(word)
	if err != nil {
		return nil, err
	}
	return workload.ParseSizes(word, text)
}

// matrix reads the connections of a file.
func (p *resolver) matrix(ranks int, file string) (*workload.DAG, error) {
	if p.read == nil {
		return nil, field.New("", "files cannot be read here")
	}
	text, err := p.read(file)
	if err != nil {
		return nil, err
	}
	m, err := workload.ParseMatrix(file, text, nil)
	if err != nil {
		return nil, err
	}
	return m.DAG(ranks)
}

func (p *resolver) flows(above string, specs []FlowSpec) ([]workload.Flow, error) {
	flows := make([]workload.Flow, len(specs))
	for i, s := range specs {
		key := field.At(above+".flows", i)
		src, err := p.Graph.FindGPU(s.From)
		if err != nil {
			return nil, field.Under(key+".from", err)
		}
		dst, err := p.Graph.FindGPU(s.To)
		if err != nil {
			return nil, field.Under(key+".to", err)
		}
		if src == dst {
			return nil, field.New(key+".to", "a GPU does not send to itself")
		}
		flows[i] = workload.Flow{Src: src, Dst: dst, Bytes: s.Bytes, Start: s.Start}
	}
	return flows, nil
}
