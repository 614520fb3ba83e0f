package trace

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"railyard/internal/coll"
	"railyard/internal/workload"
	"railyard/unit"
)

// kind is the kind of an operation of a schedule.
type kind uint8

const (
	send kind = iota + 1
	recv
	calc
)

func (k kind) String() string { return [...]string{"", "send", "recv", "calc"}[k] }

// anybody and anything are the wildcards of a receive's rank and tag.
const anybody, anything = -1, -1

// step is one operation of a rank.
type step struct {
	bytes unit.Bytes
	dur   unit.Time
	rank  int32
	peer  int32 // rank of the peer; anybody: of a receive
	tag   int64
	line  int32 // line of its definition; 0: none
	kind  kind
}

// edge makes an operation wait for another, until that has ended or begun.
type edge struct {
	from, to int32
	begun    bool
}

// schedule is the operations of all ranks before sends are matched with receives.
type schedule struct {
	file  string
	ranks int
	steps []step
	edges []edge
}

// eager is the largest message whose sender continues immediately; LogGOPSim's default S.
const eager = 65_535

// trace makes transfers of matching sends and receives: the same two ranks and the same tag, in file order. A send
// larger than eager ends when its bytes have arrived and the receive was posted; a smaller one ends immediately. A
// receive ends when it was posted and the bytes have arrived. Computations take their time; that a core runs one at
// a time must be expressed by the schedule's own dependencies.
func (s *schedule) trace() (*Trace, error) {
	t := &Trace{Ranks: s.ranks}
	met, err := s.match()
	if err != nil {
		return nil, err
	}
	// An operation is up to three nodes: its start; for a send, its transfer; and its end.
	begin, end := make([]int32, len(s.steps)), make([]int32, len(s.steps))
	wire, begun := make([]int32, len(s.steps)), s.begun()
	next := int32(0)
	number := func(to *int32) { *to = next; next++ }
	for i := range s.steps {
		number(&begin[i])
		switch k := s.steps[i].kind; {
		case k == send:
			number(&wire[i])
			number(&end[i])
		case k == recv || begun[i]:
			number(&end[i])
		default:
			end[i] = begin[i]
		}
	}
	if int64(next) > workload.MaxOps {
		return nil, at(s.file, 0, "has %d operations, which take %d of the %d that a workload may have",
			len(s.steps), next, workload.MaxOps)
	}
	first := s.waits(begin, end)
	b := workload.NewBuilder(s.ranks)
	all := make([]int, s.ranks)
	for r := range all {
		all[r] = r
	}
	var most unit.Bytes
	for i := range s.steps {
		if s.steps[i].kind == send {
			most = max(most, s.steps[i].bytes)
		}
	}
	b.Collective(workload.Collective{Name: "trace", Kind: coll.SendRecv, Ranks: all, Bytes: most}, func() {
		for i := range s.steps {
			x := &s.steps[i]
			rank := int(x.rank)
			switch x.kind {
			case calc:
				if before := first[i]; begun[i] {
					b.Compute(rank, 0, workload.Other, before...)
					b.Compute(rank, x.dur, workload.Computing, begin[i])
				} else {
					b.Compute(rank, x.dur, workload.Computing, before...)
				}
				note(&t.Report.Mapped, "computations", s.file, int(x.line))
			case send:
				b.Compute(rank, 0, workload.Other, first[i]...)
				b.Transfer(rank, int(x.peer), max(1, x.bytes), begin[i])
				if x.bytes > eager {
					b.Compute(rank, 0, workload.Other, wire[i], begin[met[i]])
				} else {
					b.Compute(rank, 0, workload.Other, begin[i])
				}
				note(&t.Report.Mapped, "sends with their receives, as transfers", s.file, int(x.line))
				if x.bytes == 0 {
					note(&t.Report.Guessed, "messages without bytes, sent as one byte", s.file, int(x.line))
				}
			case recv:
				if s.steps[met[i]].bytes != x.bytes {
					note(&t.Report.Guessed, "receives whose size differs from the send; the size of the send is used", s.file,
						int(x.line))
				}
				b.Compute(rank, 0, workload.Other, first[i]...)
				b.Compute(rank, 0, workload.Other, begin[i], wire[met[i]])
			}
		}
	})
	if t.DAG, err = b.Seal(); err != nil {
		return nil, s.cyclic(err, begin)
	}
	return t, nil
}

// cyclic describes operations that depend on one another, with their positions. begin are their first nodes.
func (s *schedule) cyclic(err error, begin []int32) error {
	var ring *workload.CycleError
	if !errors.As(err, &ring) {
		return at(s.file, 0, "%v", err)
	}
	var steps []int
	for _, node := range ring.Ops {
		i, found := slices.BinarySearch(begin, node)
		if !found {
			i-- // a later node of the operation before
		}
		if len(steps) == 0 || steps[len(steps)-1] != i {
			steps = append(steps, i)
		}
	}
	if len(steps) > 1 && steps[0] == steps[len(steps)-1] {
		steps = steps[1:]
	}
	const most = 8
	x, names := &s.steps[steps[0]], []string{}
	for _, i := range steps[1:min(most, len(steps))] {
		names = append(names, s.place(i)+", which is blocked on ")
	}
	if more := len(steps) - most; more > 0 {
		names = append(names, fmt.Sprintf("%d more, the last of which is blocked on ", more))
	}
	return at(s.file, int(x.line), "the schedule is cyclic: the %s here (%s) is blocked on %s%s", x.kind,
		s.place(steps[0]), strings.Join(names, ""), s.place(steps[0]))
}

// place returns the position of an operation: its line, or its number among its rank's operations in a file without
// lines.
func (s *schedule) place(i int) string {
	if line := s.steps[i].line; line > 0 {
		return fmt.Sprintf("line %d", line)
	}
	first := i
	for first > 0 && s.steps[first-1].rank == s.steps[i].rank {
		first--
	}
	return fmt.Sprintf("rank %d's operation %d", s.steps[i].rank, i-first)
}

// begun reports, for each operation, whether others depend on its start.
func (s *schedule) begun() []bool {
	all := make([]bool, len(s.steps))
	for _, e := range s.edges {
		if e.begun {
			all[e.from] = true
		}
	}
	return all
}

// waits returns the nodes for which operations wait before they begin.
func (s *schedule) waits(begin, end []int32) [][]int32 {
	first := make([][]int32, len(s.steps))
	for _, e := range s.edges {
		on := end[e.from]
		if e.begun {
			on = begin[e.from]
		}
		first[e.to] = append(first[e.to], on)
	}
	return first
}

// pair is the key of a message; anybody and anything are wildcards.
type pair struct {
	from, to int32
	tag      int64
}

// inbox is the unmatched sends, by the keys of receives.
type inbox struct {
	of  map[pair][]int32 // sends in order; those matched under another pair are dropped at the head
	met []int32
}

// add makes a send available to receives with any of these keys.
func (b *inbox) add(i int32, keys ...pair) {
	for _, k := range keys {
		b.of[k] = append(b.of[k], i)
	}
}

// take finds the first send for a receive, -1 for none.
func (b *inbox) take(k pair) int32 {
	list := b.of[k]
	for len(list) > 0 && b.met[list[0]] >= 0 {
		list = list[1:]
	}
	b.of[k] = list
	if len(list) == 0 {
		return -1
	}
	return list[0]
}

// match finds the receive of every send, and vice versa.
func (s *schedule) match() ([]int32, error) {
	box, open := &inbox{of: map[pair][]int32{}, met: make([]int32, len(s.steps))}, false
	for i := range s.steps {
		x := &s.steps[i]
		open = open || x.kind == recv && x.open()
		box.met[i] = -1
	}
	for i := range s.steps {
		x := &s.steps[i]
		if x.kind != send {
			continue
		}
		box.add(int32(i), pair{x.rank, x.peer, x.tag})
		if open {
			box.add(int32(i), pair{anybody, x.peer, x.tag}, pair{x.rank, x.peer, anything},
				pair{anybody, x.peer, anything})
		}
	}
	// receives without wildcards first: receives with wildcards match the rest
	for _, open := range []bool{false, true} {
		for i := range s.steps {
			x := &s.steps[i]
			if x.kind != recv || x.open() != open {
				continue
			}
			from := box.take(pair{x.peer, x.rank, x.tag})
			if from < 0 {
				return nil, at(s.file, int(x.line), "rank %d receives %s and no rank sends it", x.rank, s.message(x))
			}
			box.met[i], box.met[from] = from, int32(i)
		}
	}
	for i := range s.steps {
		if x := &s.steps[i]; x.kind == send && box.met[i] < 0 {
			return nil, at(s.file, int(x.line), "rank %d sends %s and no rank receives it", x.rank, s.message(x))
		}
	}
	return box.met, nil
}

// open reports whether a receive leaves the sender or the tag open.
func (x *step) open() bool { return x.peer == anybody || x.tag == anything }

// message describes a step's send or receive.
func (s *schedule) message(x *step) string {
	word := func(n int64) string {
		if n < 0 {
			return "any"
		}
		return fmt.Sprint(n)
	}
	way := "from"
	if x.kind == send {
		way = "to"
	}
	return fmt.Sprintf("%d bytes %s rank %s with tag %s", x.bytes, way, word(int64(x.peer)), word(x.tag))
}
