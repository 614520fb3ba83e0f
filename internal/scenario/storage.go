package scenario

import (
	"slices"

	"railyard/internal/field"
	"railyard/internal/inside"
	"railyard/internal/topo"
	"railyard/internal/workload"
	"railyard/unit"
)

// Storage is the servers that keep data sets and checkpoints, and how they are reached.
type Storage struct {
	Servers    int        `yaml:"servers" range:"0|1,4096" doc:"their number, with a fabric of a kind; a described fabric has them as nodes"`
	Nodes      []string   `yaml:"nodes" doc:"described fabric: the groups of servers that keep data (default all servers without GPUs)"`
	NICs       int        `yaml:"nics" range:"1,64" doc:"of each; they are spread over the leaves, or over the front end's switches"`
	NICRate    unit.Rate  `yaml:"nic_rate" range:"0|1Mbps,100Tbps" doc:"of each; 0bps: fabric.host_link's"`
	Network    string     `yaml:"network" enum:"shared,separate" doc:"shared: GPUs reach storage by their own NICs, over the fabric (converged); separate: by other NICs, over a front end of its own"`
	Switches   int        `yaml:"switches" range:"1,64" doc:"separate: switches of the front end; NIC i of every server is at switch i, counted around"`
	ServerNICs int        `yaml:"server_nics" range:"1,64" doc:"separate: NICs of each GPU server for storage; a described fabric's types have storage_nics"`
	Read       unit.Rate  `yaml:"read" range:"0|1Mbps,100Tbps" doc:"what the media of one server give, as 20GB/s; 0bps, the default: no limit"`
	Write      unit.Rate  `yaml:"write" range:"0|1Mbps,100Tbps" doc:"what they take; 0bps: no limit"`
	Latency    unit.Time  `yaml:"latency" range:"0s,3600s" doc:"of the media, for each request"`
	Request    unit.Bytes `yaml:"request" range:"512B,1GB" doc:"bytes of one read or write"`
	Command    unit.Bytes `yaml:"command" range:"16B,64KB" doc:"bytes that request a read, and that acknowledge a write"`
	Depth      int        `yaml:"depth" range:"1,4096" doc:"requests that each GPU has under way"`
	Stripe     int        `yaml:"stripe" range:"0|1,4096" doc:"servers that a GPU's requests go to in turn; 0: all"`
	Capacity   unit.Bytes `yaml:"capacity" range:"0|1MB,100000GB" doc:"what one server keeps; 0B: no limit"`
	DSCP       *int       `yaml:"dscp" range:"0,63" doc:"of its packets, and so the queue that switches put them in (default transport.data_dscp)"`
}

// Networks that connect storage.
const (
	SharedNetwork   = "shared"
	SeparateNetwork = "separate"
)

// Silent sets the defaults. A command is NVMe's 64 bytes.
func (s *Storage) Silent() {
	*s = Storage{NICs: 2, Network: SharedNetwork, Switches: 1, ServerNICs: 1,
		Request: unit.MiB, Command: 64, Depth: 16}
}

// StoragePlan is the resolved storage of a run.
type StoragePlan struct {
	Network     string
	Read, Write unit.Rate
	Latency     unit.Time
	Service     int
	Access      workload.Storage // First is the end of the first server
}

// storageService names what connections to storage use.
const storageService = "storage"

// unlimited is the rate of media without a limit.
const unlimited = 100 * unit.Tbps

// storage adds storage servers to the fabric, and decides how they are reached.
func (p *resolver) storage() error {
	s := p.File.Storage
	if s == nil {
		return nil
	}
	described := p.types != nil
	var err error
	if described {
		err = p.storedAt(s)
	} else {
		err = p.addStorage(s)
	}
	if err != nil {
		return field.Under("storage", err)
	}
	n := p.Graph.Stores()
	switch {
	case s.Stripe > n:
		return field.New("storage.stripe", "%d servers, and there are %d", s.Stripe, n)
	case s.Command > s.Request:
		return field.New("storage.command", "%v is more than the %v of a request", s.Command, s.Request)
	case s.DSCP != nil && *s.DSCP == p.Default().DSCP:
		s.DSCP = nil
	}
	p.Storage = &StoragePlan{Network: s.Network, Read: s.Read, Write: s.Write, Latency: s.Latency,
		Access: workload.Storage{First: p.Graph.TotalGPUs(), Servers: n, Request: s.Request,
			Command: s.Command, Depth: s.Depth, Stripe: s.Stripe,
			Media: s.Read > 0 || s.Write > 0 || s.Latency > 0}}
	if s.DSCP != nil {
		p.Storage.Service = slices.IndexFunc(p.Services, func(x Service) bool {
			return x.Name == storageService
		})
	}
	return p.fastEnough(s)
}

// addStorage connects storage servers to a fabric of a kind.
func (p *resolver) addStorage(s *Storage) error {
	g, f := p.Graph, &p.File.Fabric
	rails := 0
	for i := range g.NICs {
		rails = max(rails, g.NICs[i].Rail+1)
	}
	separate := s.Network == SeparateNetwork
	switch {
	case s.Servers == 0:
		return field.New("servers", "is missing: how many there are")
	case len(s.Nodes) > 0:
		return field.New("nodes", "are of a described fabric; a %s fabric has servers", f.Kind)
	case p.File.Fabric.Scheduled.On && separate:
		return field.New("network", "separate has switches next to the scheduled fabric, which is one switch: describe both by nodes, or share it")
	case separate && (s.NICs%s.Switches != 0 || s.ServerNICs%s.Switches != 0):
		return field.New("switches", "%d do not divide the %d NICs of a storage server and the %d of a GPU server: each switch has to have as many", s.Switches, s.NICs, s.ServerNICs)
	case !separate && (f.Kind == "rail-only" || g.Isolated) && s.NICs%rails != 0:
		return field.New("nics", "%d of a server do not reach all %d rails, which are isolated from each other; accepted: multiples of %d, or network: separate", s.NICs, rails, rails)
	}
	cable := f.HostLink.cable()
	if s.NICRate > 0 {
		cable.Rate = s.NICRate
	}
	return g.AddStorage(topo.Storage{Servers: s.Servers, NICs: s.NICs, Cable: cable, Separate: separate,
		Front: s.ServerNICs, Switches: s.Switches})
}

// storedAt finds the servers of a described fabric that keep data.
func (p *resolver) storedAt(s *Storage) error {
	g := p.Graph
	for _, key := range []string{"servers", "nics", "nic_rate", "switches", "server_nics"} {
		if p.says("storage." + key) {
			return field.New(key, "has no effect on a fabric of types, nodes and cables: its nodes set it")
		}
	}
	var hosts []int
	used := map[string]bool{}
	for h, node := range g.Hosts {
		first, last := g.GPUsOf(h)
		group := g.Stands[node].Group
		switch named := slices.Contains(s.Nodes, group); {
		case named && first < last:
			return field.New("nodes", "%s has GPUs: storage servers have none", group)
		case named || len(s.Nodes) == 0 && first == last:
			hosts = append(hosts, h)
		}
		used[group] = true
	}
	for i, group := range s.Nodes {
		if !used[group] {
			return field.New(field.At("nodes", i), "unknown group of servers %s", field.Quote(group))
		}
	}
	if len(hosts) == 0 {
		return field.New("nodes", "the scenario has no server without GPUs")
	}
	front := 0
	for h := range g.Hosts {
		if first, last := g.GPUsOf(h); first < last {
			n := p.types[h].StorageNICs
			if front > 0 && n != front {
				return field.New("network", "servers have %d and %d NICs for storage; expected as many each",
					front, n)
			}
			front = max(front, n)
		}
	}
	if front > 0 && p.File.Server.Choice == AnyNIC {
		return field.New("network", "server.nic_choice any sends by all NICs, including the storage NICs of types")
	}
	return g.Store(hosts, s.Network == SeparateNetwork, front)
}

// fastEnough compares the rates of a server's media and NICs.
func (p *resolver) fastEnough(s *Storage) error {
	g, nics := p.Graph, unit.Rate(0)
	for _, n := range g.StoreNICs(0) {
		for _, l := range g.NICs[n].Links {
			nics += g.Links[l].Rate
		}
	}
	for _, x := range []struct {
		word string
		rate unit.Rate
	}{{"read", s.Read}, {"write", s.Write}} {
		if x.rate > nics {
			p.note("storage: media of a server %s at %v, and its NICs carry %v", x.word, x.rate, nics)
		}
	}
	return nil
}

// kept makes the pipes between the memory and the media of storage servers.
func (p *resolver) kept() {
	g, s := p.Graph, p.Storage
	if s == nil || !s.Access.Media {
		return
	}
	read, write := s.Read, s.Write
	if read == 0 {
		read = unlimited
	}
	if write == 0 {
		write = unlimited
	}
	media := inside.Media(read, write, s.Latency)
	if p.Inside == nil {
		p.Inside = make([]*inside.Fabric, g.Domains())
	}
	for i := range g.Stores() {
		p.Inside[g.DomainOf(g.StoreHost(i))] = media
	}
}

// stored returns a job's storage with the positions of its ranks, followed by the ends of storage servers; nil if
// it does not use storage.
func (p *resolver) stored(c crew, ranks int) (*workload.Storage, crew) {
	if p.Storage == nil {
		return nil, c
	}
	s := p.Storage.Access
	place := make(crew, 0, ranks+s.Ends())
	for rank := range ranks {
		place = append(place, c.gpu(rank))
	}
	for end := range s.Ends() {
		place = append(place, s.First+end)
	}
	s.First = ranks
	return &s, place
}

// roomy refuses a checkpoint, or a pattern's writes, beyond the servers' capacity.
func (p *resolver) roomy(bytes float64, what string) error {
	room := float64(p.File.Storage.Capacity) * float64(p.Graph.Stores())
	if room == 0 || bytes <= room {
		return nil
	}
	return field.New("storage.capacity", "%s of %.3g GB is more than the %.3g GB that %s hold", what,
		bytes/1e9, room/1e9, unit.Plural(p.Graph.Stores(), "server"))
}

// accessed makes a job of a pattern of reads and writes.
func (p *resolver) accessed(at task, a *Access) (workload.Job, error) {
	if p.Storage == nil {
		return workload.Job{}, field.New("", "the scenario has no storage: name the servers in the block storage")
	}
	if a.Read == 0 && a.Write == 0 {
		return workload.Job{}, field.New("", "neither reads nor writes; give read, write or both")
	}
	ranks := p.ranks(at.crew)
	if err := p.roomy(float64(ranks)*float64(a.Write), "what GPUs write"); err != nil {
		return workload.Job{}, err
	}
	s, place := p.stored(at.crew, ranks)
	dag, err := s.Access(ranks, a.Read, a.Write)
	return workload.Job{Name: at.name, DAG: dag, Place: place, Storage: p.Storage.Service}, err
}

// Takes returns the rate at which storage receives a checkpoint of all GPU servers: limited by its media, its NICs, or
// theirs; 0 without storage.
func (p *Plan) Takes() (rate unit.Rate) {
	if p.Storage == nil {
		return 0
	}
	g := p.Graph
	lines := func(nics []int) (sum unit.Rate) {
		for _, n := range nics {
			for _, l := range g.NICs[n].Links {
				sum += g.Links[l].Rate
			}
		}
		return sum
	}
	for i := range g.Stores() {
		one := lines(g.StoreNICs(i))
		if p.Storage.Write > 0 {
			one = min(one, p.Storage.Write)
		}
		rate += one
	}
	of := map[int]bool{} // NICs that GPUs write by
	for gpu := range g.TotalGPUs() {
		nic, _ := g.Pair(gpu, g.Memory(0), 0)
		of[nic] = true
	}
	senders := unit.Rate(0)
	for nic := range of {
		senders += lines([]int{nic})
	}
	return min(rate, senders)
}
