package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/field"
	"railyard/internal/rng"
	"railyard/internal/topo"
	"railyard/internal/workload"
)

// floor is the servers with the GPUs that no job has yet.
type floor struct {
	p       *resolver
	owner   []string // by GPU: its job
	servers []seats
}

// seats are the free GPUs of a server, or of the servers that share NVLink.
type seats struct {
	domain    int
	free      []int
	rack, pod int // servers on the same leaf; leaves below the same spines
}

func newFloor(p *resolver) *floor {
	f := &floor{p: p, owner: make([]string, p.Graph.TotalGPUs())}
	racks, pods := p.Graph.Racks()
	for d := range p.Graph.Domains() {
		f.servers = append(f.servers, seats{domain: d, rack: racks[d], pod: pods[d]})
	}
	f.sweep()
	return f
}

// sweep looks which GPUs are free.
func (f *floor) sweep() {
	for i := range f.servers {
		s := &f.servers[i]
		s.free = nil
		first, last := f.p.Graph.GPUsIn(s.domain)
		for gpu := first; gpu < last; gpu++ {
			if f.owner[gpu] == "" {
				s.free = append(s.free, gpu)
			}
		}
	}
}

// free returns how many GPUs no job has.
func (f *floor) free() (n int) {
	for i := range f.servers {
		n += len(f.servers[i].free)
	}
	return n
}

// take assigns its GPUs to a job.
func (f *floor) take(key string, job *workload.Job) error {
	g := f.p.Graph
	mine := func(gpu int) error {
		if g.StoreOf(gpu) >= 0 { // all jobs'
			return nil
		}
		if was := f.owner[gpu]; was != "" && was != job.Name {
			return field.New(key, "job %s is on %s, which job %s has", field.Quote(job.Name), g.GPUName(gpu),
				field.Quote(was))
		}
		f.owner[gpu] = job.Name
		return nil
	}
	for _, gpu := range job.Place {
		if err := mine(gpu); err != nil {
			return err
		}
	}
	if job.Place == nil {
		for i := range job.DAG.Ops {
			o := &job.DAG.Ops[i]
			for _, rank := range []int32{o.Rank, o.Peer} {
				if rank < 0 {
					continue
				}
				if err := mine(int(rank)); err != nil {
					return err
				}
			}
		}
	}
	f.sweep()
	return nil
}

// on reads a list of GPUs and servers.
func (f *floor) on(key string, words []string) (all crew, err error) {
	g := f.p.Graph
	seen := map[int]bool{}
	for i, word := range words {
		names, err := ranged(word)
		if err != nil {
			return nil, field.Under(field.At(key, i), err)
		}
		for _, name := range names {
			gpus := []int{0}
			if node := g.Node(name); node >= 0 && g.Nodes[node].Role == topo.Host {
				first, last := g.GPUsOf(slices.Index(g.Hosts, node))
				gpus = gpus[:0]
				for gpu := first; gpu < last; gpu++ {
					gpus = append(gpus, gpu)
				}
			} else if gpus[0], err = g.FindGPU(name); err != nil {
				return nil, field.Under(field.At(key, i), err)
			}
			for _, gpu := range gpus {
				if seen[gpu] {
					return nil, field.New(field.At(key, i), "%s is repeated", g.GPUName(gpu))
				}
				seen[gpu] = true
				all = append(all, gpu)
			}
		}
	}
	return all, nil
}

// maxRange is the maximum number of names of a range.
const maxRange = 1 << 17

// ranged expands a name with a range: host-[1-4] or host-2/gpu-[1-8].
func ranged(word string) ([]string, error) {
	head, rest, ok := strings.Cut(word, "[")
	if !ok {
		return []string{word}, nil
	}
	inner, tail, ok := strings.Cut(rest, "]")
	a, b, to := strings.Cut(inner, "-")
	first, err1 := strconv.Atoi(a)
	last, err2 := strconv.Atoi(b)
	if !ok || !to || err1 != nil || err2 != nil || first < 0 || last < first || last-first >= maxRange {
		return nil, field.New("", "%s is not a range such as host-[1-4]", field.Quote(word))
	}
	tails, err := ranged(tail)
	if err != nil || len(tails)*(last-first+1) > maxRange {
		return nil, cmp.Or(err, error(field.New("", "%s expands to more than %d names", field.Quote(word), maxRange)))
	}
	var all []string
	for n := first; n <= last; n++ {
		for _, t := range tails {
			all = append(all, fmt.Sprintf("%s%0*d%s", head, width(a), n, t))
		}
	}
	return all, nil
}

// width returns the digits of a number with leading zeros, else 0.
func width(number string) int {
	if strings.HasPrefix(number, "0") {
		return len(number)
	}
	return 0
}

// place finds n GPUs, in multiples of the GPUs that must share a server.
func (f *floor) place(key string, j *Job, need, together int) (crew, error) {
	way := placements[slices.IndexFunc(placements, func(w placement) bool { return w.name == j.Place })]
	r := rng.New(f.p.Seed, "place/"+j.Name)
	all, err := way.take(&hall{floor: f, need: need, together: together, rand: &r})
	if err != nil {
		return nil, field.Under(key+".placement", err)
	}
	if len(all) == need {
		return all, nil
	}
	if together > 1 {
		return nil, field.New(key, "needs %d GPUs in groups of %d that share NVLink; %d are free of %d, %d of them in such groups", need, together, f.free(), f.p.Graph.TotalGPUs(), len(all))
	}
	return nil, field.New(key, "needs %d GPUs; %d are free of %d", need, f.free(), f.p.Graph.TotalGPUs())
}
