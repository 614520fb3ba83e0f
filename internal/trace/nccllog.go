package trace

import (
	"bytes"
	"errors"
	"regexp"
	"strconv"
	"strings"

	"railyard/internal/stream"
	"railyard/internal/tally"
	"railyard/internal/workload"
	"railyard/unit"
)

// isNCCLLog recognizes a log by its mark.
func isNCCLLog(_ string, head []byte) bool {
	return bytes.Contains(head, []byte(" NCCL INFO ")) && !bytes.HasPrefix(bytes.TrimSpace(head), []byte("{"))
}

// ncclLog parses NCCL's output with NCCL_DEBUG=INFO: the members of communicators (INIT), the NICs (NET), the order
// of rings (GRAPH), the choice for a size (TUNING), the settings (ENV), and each call (COLL). Versions from 2.7 on
// differ in words between numbers, which are read by their names.
type ncclLog struct {
	o      *Options
	c      *calls
	procs  []*ncclProc
	byName map[string]*ncclProc
	comms  map[string]*ncclComm // by the name that all of its ranks use
	chosen map[ncclSize]how     // algorithms and protocols
	nics   map[string]int       // by host
	env    map[string]string
	local  int
	file   string
	acts   int
}

// ncclProc is a process's GPU.
type ncclProc struct {
	name  string // host:pid[device]
	file  string
	ranks map[string]int    // by communicator
	comms map[string]string // by pointer
	calls []ncclCall
	rank  int // rank in the whole job; -1: unknown
}

// ncclComm is a communicator.
type ncclComm struct {
	id    string
	size  int
	procs map[int]*ncclProc      // by rank
	rings map[string][]int       // by channel
	of    int                    // channels, if logged
	next  map[string]map[int]int // by channel: next ranks, as logged by each rank
	group int32
}

// ncclCall is a line of COLL.
type ncclCall struct {
	what   op
	count  int64
	kind   int64
	root   int32
	size   int32
	op     int64
	comm   string
	stream string
	line   int32
}

type ncclSize struct {
	what  op
	bytes int64
}

// ncclTypes are the sizes of NCCL's data types, by their numbers.
var ncclTypes = []int64{1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1}

// ncclFrom matches the process of a line, and the rest.
var ncclFrom = regexp.MustCompile(`([^\s:]+):(\d+):\d+ \[(\d+)\] NCCL INFO (.*)`)

func readNCCLLog(o *Options, files []File) (*Trace, error) {
	x := &ncclLog{o: o, c: &calls{file: files[0].Name, fit: fitter{on: o.On}}, byName: map[string]*ncclProc{},
		comms: map[string]*ncclComm{}, chosen: map[ncclSize]how{}, nics: map[string]int{},
		env: map[string]string{}}
	for _, f := range files {
		x.file = f.Name
		err := o.stream(f, func(s *stream.Source) error {
			return s.Lines(func(line []byte, cut bool) error { return x.line(string(line), cut, s.Line()) })
		})
		if err != nil {
			return nil, err
		}
	}
	if x.acts == 0 {
		return nil, at(files[0].Name, 0, "has no call (AllReduce: opCount ...): log them with NCCL_DEBUG=INFO and NCCL_DEBUG_SUBSYS=INIT,GRAPH,TUNING,COLL,NET,ENV")
	}
	if err := x.settle(); err != nil {
		return nil, err
	}
	t, err := x.c.trace()
	if err != nil {
		return nil, err
	}
	t.Site.GPUs = x.local
	for _, n := range x.nics {
		t.Site.NICs = max(t.Site.NICs, n)
	}
	t.Settings = x.settings(&t.Report)
	return t, nil
}

// line parses one.
func (x *ncclLog) line(line string, cut bool, n int) error {
	if !strings.Contains(line, " NCCL INFO ") {
		return nil
	}
	m := ncclFrom.FindStringSubmatch(line)
	if m == nil {
		note(&x.c.report.Left, "lines of NCCL without host and process", x.file, n)
		return nil
	}
	host, said := m[1], m[4]
	words := strings.Fields(said)
	if len(words) == 0 {
		return nil
	}
	proc := func() *ncclProc {
		name := host + ":" + m[2] + "[" + m[3] + "]"
		p := x.byName[name]
		if p == nil {
			p = &ncclProc{name: name, file: x.file, ranks: map[string]int{}, comms: map[string]string{}, rank: -1}
			x.byName[name], x.procs = p, append(x.procs, p)
		}
		return p
	}
	used := true
	switch {
	case len(words) > 4 && words[1] == "opCount":
		if err := x.call(proc(), words, cut, n); err != nil {
			return err
		}
	case strings.Contains(said, " - Init ") || strings.Contains(said, "- Init START"):
		x.init(proc(), words, n)
	case strings.Contains(said, " localRanks "):
		x.localRanks(words)
	case strings.Contains(said, "NET/IB : Using"):
		x.nets(host, words, n)
	case words[0] == "Ring" && len(words) == 8:
		x.ringOf(proc(), words)
	case words[0] == "Channel" && len(words) > 4 && words[2] == ":":
		x.ring(proc(), words)
	case strings.Contains(said, "Bytes -> Algo"):
		x.tuned(words, n)
	case strings.Contains(said, " set by environment to "):
		name, value, _ := strings.Cut(said, " set by environment to ")
		if len(x.env) < 1000 {
			x.env[strings.TrimSpace(name)] = strings.TrimSuffix(strings.TrimSpace(value), ".")
		}
	default:
		used = false
	}
	if used {
		x.o.kept(x.file, line, "\n")
	}
	if len(x.procs) > maxRanks || len(x.comms) > 1<<20 {
		return at(x.file, n, "has more than %d processes or %d communicators", maxRanks, 1<<20)
	}
	return nil
}

// said are values by the preceding names: rank 3 nranks 8 comm 0x55.
func said(words []string, name string) string {
	for i := 0; i+1 < len(words); i++ {
		if strings.EqualFold(words[i], name) {
			return words[i+1]
		}
	}
	return ""
}

// init reads: comm 0x55 rank 0 nranks 8 cudaDev 0 busId 1000 commId 0x7 - Init COMPLETE. A communicator split from
// another one has no id; the parent and its color identify it.
func (x *ncclLog) init(p *ncclProc, words []string, n int) {
	ptr := said(words, "comm")
	rank, err1 := strconv.Atoi(said(words, "rank"))
	size, err2 := strconv.Atoi(said(words, "nranks"))
	if ptr == "" || err1 != nil || err2 != nil || rank < 0 || rank >= size || size > maxRanks {
		note(&x.c.report.Left, "inconsistent communicators", x.file, n)
		return
	}
	id := said(words, "commId")
	if parent := said(words, "parent"); id == "" && parent != "" && parent != "(nil)" {
		id = p.comms[parent] + " " + said(words, "splitCount") + " " + strings.Trim(said(words, "color"), "-")
	}
	if id == "" { // no id before 2.14: the kth of its size in every process
		id = strconv.Itoa(size)
		for _, other := range p.comms {
			if size, _, _ := strings.Cut(other, " "); size == strconv.Itoa(x.comms[other].size) {
				id += "'"
			}
		}
		if old, ok := p.comms[ptr]; ok {
			id = old
		}
	}
	p.comms[ptr] = id
	c := x.comms[id]
	if c == nil {
		c = &ncclComm{id: id, size: size, procs: map[int]*ncclProc{}, next: map[string]map[int]int{},
			rings: map[string][]int{}, group: -1}
		x.comms[id] = c
	}
	if other := c.procs[rank]; other != nil && other != p || c.size != size {
		note(&x.c.report.Left, "communicators on which processes disagree", x.file, n)
		return
	}
	if c.procs[rank] == nil { // Init START and Init COMPLETE have the same values
		note(&x.c.report.Mapped, "ranks of communicators of "+unit.Plural(size, "rank"), x.file, n)
	}
	c.procs[rank], p.ranks[id] = p, rank
}

// localRanks reads: comm 0x55 rank 0 nRanks 16 nNodes 2 localRanks 8 localRank 0.
func (x *ncclLog) localRanks(words []string) {
	if n, err := strconv.Atoi(said(words, "localRanks")); err == nil && n > 0 && n <= 1024 {
		x.local = max(x.local, n)
	}
}

// nets reads: NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_1:1/RoCE [RO]; OOB eth0:10.0.0.1<0>.
func (x *ncclLog) nets(host string, words []string, n int) {
	nics := 0
	for _, w := range words {
		if w == "OOB" || strings.HasPrefix(w, "OOB") {
			break
		}
		if strings.HasPrefix(w, "[") && strings.Contains(w, "]") && strings.Contains(w, "/") {
			nics++
		}
	}
	if len(x.nics) < maxRanks {
		x.nics[host] = max(x.nics[host], nics)
	}
	note(&x.c.report.Mapped, "lists of NICs, "+strconv.Itoa(nics)+" in each", x.file, n)
}

// latest is the communicator of a process in which it has a rank, the largest.
func (x *ncclLog) latest(p *ncclProc, rank int) (found *ncclComm) {
	for _, id := range p.comms {
		c := x.comms[id]
		if c != nil && (rank < 0 || p.ranks[id] == rank) && (found == nil || c.size > found.size ||
			c.size == found.size && c.id < found.id) {
			found = c
		}
	}
	return found
}

// ncclAlgorithms by their numbers.
var ncclAlgorithms = []string{"TREE", "RING", "COLLNET_DIRECT", "COLLNET_CHAIN", "NVLS", "NVLS_TREE", "PAT"}

// ncclProtocols by their numbers.
var ncclProtocols = []string{"LL", "LL128", "SIMPLE"}

// tuned reads: AllReduce: 33554432 Bytes -> Algo RING proto SIMPLE channel{Lo..Hi}={0..31}; before 2.24
// without the collective, and with numbers.
func (x *ncclLog) tuned(words []string, n int) {
	what := opAllReduce
	if name, ok := strings.CutSuffix(words[0], ":"); ok {
		if what, ok = opsByName[plain(name)]; !ok {
			return
		}
		words = words[1:]
	}
	bytes, err := strconv.ParseInt(words[0], 10, 64)
	protocol := strings.ToUpper(said(words, "proto"))
	if i, err := strconv.Atoi(protocol); err == nil && i >= 0 && i < len(ncclProtocols) {
		protocol = ncclProtocols[i]
	}
	algorithm := strings.ToUpper(said(words, "Algo"))
	if i, err := strconv.Atoi(algorithm); err == nil && i >= 0 && i < len(ncclAlgorithms) {
		algorithm = ncclAlgorithms[i]
	}
	if err != nil || algorithm == "" || len(x.chosen) > 1<<16 {
		return
	}
	note(&x.c.report.Mapped, "choices of "+algorithm+" for "+what.String()+"s", x.file, n)
	x.chosen[ncclSize{what, bytes}] = how{algorithm: ncclNames[algorithm], protocol: ncclProtos[protocol]}
}

// call parses: AllReduce: opCount 1a sendbuff 0x7 recvbuff 0x7 count 64 datatype 7 op 0 root 0 comm 0x55 [nranks=8]
// stream 0x66.
func (x *ncclLog) call(p *ncclProc, words []string, cut bool, n int) error {
	name := strings.TrimSuffix(words[0], ":")
	what, known := opsByName[plain(name)]
	if !known {
		note(&x.c.report.Left, "calls of "+strconv.Quote(clip(name)), x.file, n)
		return nil
	}
	call := ncclCall{what: what, comm: said(words, "comm"), stream: said(words, "stream"),
		line: int32(min(n, 1<<31-1))}
	var errs [5]error
	var root, size int64
	call.count, errs[0] = strconv.ParseInt(said(words, "count"), 10, 64)
	call.kind, errs[1] = strconv.ParseInt(said(words, "datatype"), 10, 64)
	root, errs[2] = strconv.ParseInt(said(words, "root"), 10, 32)
	call.op, errs[3] = strconv.ParseInt(said(words, "opCount"), 16, 64)
	for _, w := range words {
		if number, ok := strings.CutPrefix(w, "[nranks="); ok {
			size, errs[4] = strconv.ParseInt(strings.TrimSuffix(number, "]"), 10, 32)
		}
	}
	call.root, call.size = int32(root), int32(size)
	if errors.Join(errs[:]...) != nil || cut || call.count < 0 || call.kind < 0 ||
		call.kind >= int64(len(ncclTypes)) || call.count > 1<<46/int64(max(1, size)) || size < 0 ||
		size > maxRanks || root < 0 {
		note(&x.c.report.Left, "calls whose line is incomplete or inconsistent", x.file, n)
		return nil
	}
	if x.acts++; x.acts > maxActs {
		return at(x.file, n, "has more than the %d calls that are read", maxActs)
	}
	p.calls = append(p.calls, call)
	return nil
}

// settle finds each process's rank, and builds members.
func (x *ncclLog) settle() error {
	world := x.world()
	for _, p := range x.procs {
		if world == nil {
			break
		}
		if rank, ok := p.ranks[world.id]; ok {
			p.rank = rank
		}
	}
	n := 0
	for _, p := range x.procs {
		switch {
		case len(p.calls) == 0:
		case world != nil && p.rank < 0:
			tally.Add(&x.c.report.Left, len(p.calls), "calls of processes that are in no communicator of all",
				p.file, int(p.calls[0].line))
		case world == nil:
			p.rank = n
			note(&x.c.report.Guessed, "ranks taken from the order of processes: the log has no INIT", p.file, 0)
		}
		if len(p.calls) > 0 {
			n++
		}
	}
	if world != nil {
		x.c.ranks = world.size
	}
	for _, p := range x.procs {
		if p.rank >= 0 && len(p.calls) > 0 {
			x.member(p, n)
		}
	}
	note(&x.c.report.Guessed, "computation between calls, absent from a log: none", x.file, 0)
	return nil
}

// world is the communicator of most ranks; nil: none is known.
func (x *ncclLog) world() (found *ncclComm) {
	for _, p := range x.procs {
		if c := x.latest(p, -1); c != nil && (found == nil || c.size > found.size) {
			found = c
		}
	}
	return found
}

// member converts a process's calls to acts: calls on one stream in sequence, calls of a group in parallel.
func (x *ncclLog) member(p *ncclProc, procs int) {
	m := member{rank: p.rank, file: p.file}
	type tail struct {
		before, last []int32 // dependencies of a group, and its calls
		op           int64
		comm         string
		message      bool
	}
	streams := map[string]*tail{}
	for i := range p.calls {
		call := &p.calls[i]
		group := x.groupOf(p, call, procs)
		if group < 0 {
			note(&x.c.report.Left, "calls of communicators without ranks in the log", p.file, int(call.line))
			continue
		}
		ranks := int64(len(x.c.groups[group].ranks))
		bytes := call.count * ncclTypes[call.kind]
		a := act{what: call.what, seq: -1, group: group, peer: call.root, line: call.line}
		a.by = x.chosen[ncclSize{call.what, bytes}]
		if call.what == opAllGather || call.what == opReduceScatter || call.what == opAllToAll {
			bytes *= ranks
		}
		a.bytes = unit.Bytes(bytes)
		s := streams[call.stream]
		if s == nil {
			s = &tail{}
			streams[call.stream] = s
		}
		message := call.what == opSend || call.what == opRecv
		if !message || !s.message || s.op != call.op || s.comm != call.comm {
			s.before, s.last = s.last, nil
		}
		s.op, s.comm, s.message = call.op, call.comm, message
		s.last = append(s.last, m.add(a, s.before...))
	}
	x.c.members = append(x.c.members, m)
}

// groupOf is the group of a call's communicator; below 0: its ranks are not known.
func (x *ncclLog) groupOf(p *ncclProc, call *ncclCall, procs int) int32 {
	c := x.comms[p.comms[call.comm]]
	if c == nil {
		if int(call.size) != procs || x.c.ranks > 0 {
			return -1
		}
		return x.c.grouped("", seqOf(procs)) // the log contains only calls
	}
	if c.group >= 0 {
		return c.group
	}
	ranks := make([]int, c.size)
	for r := range ranks {
		switch other := c.procs[r]; {
		case c.size == x.c.ranks:
			ranks[r] = r
		case other == nil || other.rank < 0:
			return -1
		default:
			ranks[r] = other.rank
		}
	}
	name := ""
	if c.size < x.c.ranks {
		name = "of " + strconv.Itoa(c.size)
	}
	c.group = x.c.grouped(name, ranks)
	g := &x.c.groups[c.group]
	g.class = workload.Other
	g.rings = c.orders()
	tally.Add(&x.c.report.Mapped, len(g.rings), "orders of rings", x.file, 0)
	return c.group
}
