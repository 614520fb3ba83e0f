package planner

import (
	"cmp"
	"math"

	"railyard/internal/coll"
	"railyard/internal/field"
	"railyard/internal/model"
	"railyard/internal/partition"
	"railyard/internal/topo"
	"railyard/internal/workload"
	"railyard/unit"
)

// Site describes the fabric to a search.
type Site struct {
	GPU       model.GPU
	GPUs      int
	PerServer int       // GPUs that share NVLink
	NVLink    unit.Rate // per GPU and direction; in a mesh to each other GPU
	Mesh      bool      // GPUs of a server are connected in pairs
	Switch    float64   // share of NVLink's rate at which NVSwitch reduces; 0: it cannot
	NIC       unit.Rate // per GPU
	Latency   unit.Time // latency of a message between servers
	NVLatency unit.Time // inside one
	Segment   int       // servers attached to one set of leaves
	Ports     int       // links of a NIC, to as many leaves; 0 is 1
	Down      int       // links of a leaf to NICs; 0 is Segment
	Uplinks   int       // uplinks of a leaf; 0: no switch above it
	Uplink    unit.Rate // uplink of one of them
	Ratio     float64   // oversubscription of the leaves, 1 is none
	Upper     float64   // oversubscription of a pod's traffic to others, over all tiers
	Pod       int       // servers of a pod; 0: there is one
	Spread    bool      // packets or flowlets are spread: flows do not collide
	QPs       int       // number of queue pairs of a transfer
	Waste     float64   // factor by which congestion control lengthens transfers between servers
	Others    float64   // mean peak rate of all GPUs over that of GPU, the slowest; 0 is 1
	Mixed     bool      // servers differ; all are estimated as the one with the least NIC rate per GPU
}

// SiteOf describes a fabric as a site: its servers as the one with the least NIC rate per GPU.
func SiteOf(g *topo.Graph, gpu model.GPU, gpus int, nvlink unit.Rate) Site {
	s := Site{GPU: gpu, GPUs: gpus, NVLink: nvlink, Ratio: 1, Upper: 1, QPs: 1}
	nic := s.leastServer(g)
	leaf := g.Links[nic.Links[0]].A
	if g.Nodes[leaf].Role == topo.Host {
		leaf = g.Links[nic.Links[0]].B
	}
	down, up, cables := unit.Rate(0), unit.Rate(0), 0
	servers := map[int]bool{}
	for _, l := range g.Links {
		other := -1
		switch leaf {
		case l.A:
			other = l.B
		case l.B:
			other = l.A
		}
		switch {
		case other < 0:
		case g.Nodes[other].Role == topo.Host:
			down += l.Rate
			cables++
			servers[other] = true
		default:
			up += l.Rate
			s.Uplink = l.Rate
			s.Uplinks++
		}
	}
	s.Segment = max(1, len(servers))
	s.Ports, s.Down = len(nic.Links), cables
	if s.Segment == len(g.Hosts) {
		s.Uplinks, up = 0, 0 // a leaf without an upper tier
	}
	if up > 0 {
		s.Ratio = max(1, float64(down)/float64(up))
	}
	s.Upper = s.Ratio
	for _, t := range g.Tiers() {
		if t.Tier > 1 && t.Oversubscription > 0 {
			s.Upper *= max(1, t.Oversubscription)
		}
	}
	return s
}

// leastServer sets what the servers that share NVLink have where the NIC rate per GPU is least, of equal ones where the
// fewest GPUs share it, and returns one of their NICs.
func (s *Site) leastServer(g *topo.Graph) (of *topo.NIC) {
	rates, nics := make([]unit.Rate, g.Domains()), make([]*topo.NIC, g.Domains())
	for i := range g.NICs {
		n := &g.NICs[i]
		d := g.DomainOf(n.Host)
		for _, l := range n.Links {
			rates[d] += g.Links[l].Rate
		}
		if nics[d] == nil {
			nics[d] = n
		}
	}
	for d, n := range nics {
		first, last := g.GPUsIn(d)
		if n == nil || first == last {
			continue
		}
		rate := rates[d] / unit.Rate(last-first)
		s.Mixed = s.Mixed || of != nil && (rate != s.NIC || last-first != s.PerServer)
		if of == nil || rate < s.NIC || rate == s.NIC && last-first < s.PerServer {
			of, s.NIC, s.PerServer = n, rate, last-first
		}
	}
	if of == nil { // GPUs use NICs of servers that have none
		of, s.PerServer = &g.NICs[0], g.PerDomain()
		for _, r := range rates {
			s.NIC += r / unit.Rate(g.TotalGPUs())
		}
	}
	return of
}

// peak is the rate of all GPUs together in a training's precision.
func (s *Site) peak(t *workload.Training, gpus int) float64 {
	return float64(gpus) * t.PeakOf(s.GPU) * cmp.Or(s.Others, 1)
}

func (s Site) check() error {
	switch {
	case s.GPUs < 1 || s.GPUs > 1<<17:
		return field.New("gpus", "%[2]d is out of range 1–%[1]d", 1<<17, s.GPUs)
	case s.NIC <= 0 || s.NVLink <= 0 || s.PerServer < 1 || s.Segment < 1:
		return field.New("", "the fabric's rates must be positive")
	case !(s.Ratio >= 1 && s.Upper >= 1) || s.Uplinks < 0 || s.QPs < 1:
		return field.New("", "oversubscription starts at 1, queue pairs at 1")
	}
	return nil
}

// reach returns whether transfers to the rank at a distance stay in the server, and the share that leaves the leaf.
func (s Site) reach(ranks int) (local bool, crossing float64) {
	if ranks < s.PerServer {
		return true, 0
	}
	if s.Uplinks == 0 {
		return false, 0
	}
	return false, min(1, float64(ranks)/float64(s.PerServer)/float64(s.Segment))
}

// rate returns the rate of a GPU's transfers to the rank at a distance. It is the NIC's rate minus three losses:
// the uplinks' oversubscription, queue pairs that hash to one uplink (or to one link of a NIC with two), and the
// waste of congestion control. It is for the slowest of n transfers.
func (s Site) rate(ranks int, waiting float64) unit.Rate {
	if s.Waste > 1 {
		return unit.Rate(float64(s.share(ranks, waiting)) / s.Waste)
	}
	return s.share(ranks, waiting)
}

// share is the same under no congestion control.
func (s Site) share(ranks int, waiting float64) unit.Rate {
	_, crossing := s.reach(max(ranks, s.PerServer))
	if crossing == 0 {
		return s.NIC
	}
	ports, down := max(1, s.Ports), s.Down
	if down == 0 {
		down = s.Segment
	}
	flows, link := max(1, crossing*float64(down)), float64(s.NIC)/float64(ports) // of a leaf
	load := flows * link / (float64(s.Uplinks) * float64(s.Uplink))              // the mean load of an uplink
	if !s.Spread {
		each := float64(s.NIC) / float64(s.QPs)
		leaves := max(1, waiting*float64(ports)/flows)
		// up and down
		load = max(load, fullest(int(math.Round(flows*float64(s.QPs)/float64(ports))), s.Uplinks,
			2*leaves)*each/float64(s.Uplink),
			fullest(s.QPs, ports, waiting)*each/link)
	}
	if s.Pod > 0 {
		load = max(load, min(1, float64(ranks)/float64(s.PerServer)/float64(s.Pod))*s.Upper)
	}
	return unit.Rate(float64(s.NIC) / max(1, load))
}

// fullest returns the expected maximum load of n bins after random throws of balls, with independent bins: the sum
// over k of 1 - P(one bin has fewer than k)^(n times).
func fullest(balls, n int, times float64) float64 {
	if n == 1 || balls < 2 {
		return float64(balls)
	}
	p := 1 / float64(n)
	mass := math.Exp(float64(balls) * math.Log1p(-p)) // probability of k-1 balls, at first of none
	below, sum := 0.0, 0.0
	for k := 1; k <= balls; k++ {
		below += mass
		more := 1 - math.Pow(min(below, 1), float64(n)*max(1, times))
		if k <= (balls+n-1)/n {
			more = 1 // some bin has as many
		}
		if sum += more; more < 1e-6 && float64(k) > float64(balls)*p {
			break
		}
		mass *= float64(balls-k+1) / float64(k) * p / (1 - p)
	}
	return sum
}

// group is a group of ranks whose members are a stride of ranks apart.
type group struct {
	n, stride int
}

// inServer returns the number of a group's ranks that share a server.
func (s Site) inServer(g group) int { return min(g.n, max(1, s.PerServer/g.stride)) }

// ring returns the time of one round of rings over a group that send bytes in consecutive pieces. Each ring is on
// the rail of one of the group's GPUs in a server.
func (s Site) ring(g group, rings int, bytes, pieces float64) float64 {
	if g.n < 2 || bytes == 0 {
		return 0
	}
	k := s.inServer(g)
	n := float64(g.n)
	inside := s.inside(k, g.n, rings)
	rate, hops := inside, 0.0
	if k < g.n {
		used := min(k, rings)
		_, crossing := s.reach(max(g.stride, s.PerServer))
		// transfers of all such groups between leaves
		all := float64(s.GPUs) / float64(k) * float64(used) * crossing
		rate = s.rate(g.stride, all) * unit.Rate(used)
		if k > 1 {
			rate = min(rate, inside)
		}
		hops = n / float64(k)
	}
	latency := hops*s.Latency.Seconds() + (n-hops)*s.NVLatency.Seconds()
	return (n - 1) / n * (bytes*8/float64(rate) + pieces*latency)
}

// inside returns the total rate of parallel rings over a group of n ranks between the k that share a server.
func (s Site) inside(k, n, rings int) unit.Rate {
	if !s.Mesh {
		return s.NVLink
	}
	lanes := coll.Lanes(k, (n+k-1)/k, true)
	return s.NVLink * unit.Rate(rings) / unit.Rate((rings+lanes-1)/lanes)
}

// send is the time of one transfer to a rank a stride away.
func (s Site) send(stride int, bytes float64) float64 {
	if local, _ := s.reach(stride); local {
		return bytes*8/float64(s.NVLink) + s.NVLatency.Seconds()
	}
	return bytes*8/float64(s.rate(stride, 1)) + s.Latency.Seconds()
}

// groupsOf returns the strides of a layout's groups.
func groupsOf(l partition.Layout) (context, data, pipeline int) {
	if l.Order == partition.PipelineInside {
		return l.TP, l.TP * l.CP * l.PP, l.TP * l.CP
	}
	return l.TP, l.TP * l.CP, l.TP * l.CP * l.DP
}
