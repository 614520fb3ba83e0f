package workload

import (
	"slices"

	"railyard/internal/coll"
	"railyard/internal/field"
	"railyard/unit"
)

// Storage describes the reads and writes of ranks to storage servers. Each server has two ends among the ranks: its
// memory, which sends and receives packets, and its media.
type Storage struct {
	First   int        // the memory of the first server; its media follow, then the next server
	Servers int        //
	Request unit.Bytes // bytes of one read or write
	Command unit.Bytes // the request, and the reply to a write
	Depth   int        // outstanding requests of a rank
	Stripe  int        // number of servers among which a rank's requests alternate; 0: all
	Media   bool       // a request waits for the media; otherwise a server has everything in memory
}

// Ends returns the number of ranks that represent the servers.
func (s *Storage) Ends() int {
	if s == nil {
		return 0
	}
	return 2 * s.Servers
}

// requests returns the number of requests of a transfer.
func (s *Storage) requests(bytes unit.Bytes) int { return int((bytes + s.Request - 1) / s.Request) }

// Ops returns the number of operations of a read or write of that size.
func (s *Storage) Ops(bytes unit.Bytes) float64 { return 3 * float64((bytes+s.Request-1)/s.Request) }

// server returns the server of a rank's i-th request; neighbours begin at different servers.
func (s *Storage) server(rank, i int) int {
	if s.Stripe == 0 || s.Stripe >= s.Servers {
		return (rank + i) % s.Servers
	}
	return (rank*s.Stripe + i%s.Stripe) % s.Servers
}

// ends returns a rank's end and the ends of the servers of its requests.
func (s *Storage) ends(rank, requests int) []int {
	all := []int{rank}
	for i := range min(requests, s.Servers) {
		if end := s.First + 2*s.server(rank, i); !slices.Contains(all, end) {
			all = append(all, end)
		}
	}
	return all
}

// access makes a rank read or write, request by request. depth of them are outstanding, and each completion starts
// the next. It returns the completions of the last request of each turn.
func (s *Storage) access(b *Builder, rank int, bytes unit.Bytes, after []int32,
	one func(end, times int, size unit.Bytes, after []int32) int32) (done []int32) {
	n := s.requests(bytes)
	if b.Summing() && n > fewRequests {
		s.share(rank, n, bytes, one)
		return nil
	}
	done = make([]int32, min(n, s.Depth))
	for i := range n {
		size := bytes*unit.Bytes(i+1)/unit.Bytes(n) - bytes*unit.Bytes(i)/unit.Bytes(n)
		before := after
		if i >= s.Depth {
			before = done[i%s.Depth : i%s.Depth+1]
		}
		done[i%s.Depth] = one(s.First+2*s.server(rank, i), 1, size, before)
	}
	return done
}

// fewRequests is the number of requests up to which sums add up each.
const fewRequests = 4096

// share is access for sums of many requests: each server's have their share of the bytes.
func (s *Storage) share(rank, n int, bytes unit.Bytes, one func(end, times int, size unit.Bytes, after []int32) int32) {
	period := s.Servers
	if s.Stripe > 0 {
		period = min(s.Stripe, s.Servers)
	}
	each, more := bytes/unit.Bytes(n), bytes%unit.Bytes(n)
	before := 0
	// Each server has its share of the remainder, which is less than a request.
	until := func(requests int) unit.Bytes { return unit.Bytes(float64(more) * float64(requests) / float64(n)) }
	for i := range period {
		times := (n - i + period - 1) / period
		left := until(before+times) - until(before)
		before += times
		one(s.First+2*s.server(rank, i), times, each*unit.Bytes(times)+left, nil)
	}
}

// read fetches bytes. A command is sent, the media copy the data to the server's memory, and the memory sends them.
// (NVMe over Fabrics, and object stores over RDMA: the server writes into the reader's memory.)
func (s *Storage) read(b *Builder, name string, rank int, bytes unit.Bytes, after ...int32) (done []int32) {
	c := Collective{name, coll.SendRecv, DataLoading, bytes, s.ends(rank, s.requests(bytes)), "", 0}
	b.Collective(c, func() {
		done = s.access(b, rank, bytes, after, func(end, times int, size unit.Bytes, after []int32) int32 {
			id := b.Transfer(rank, end, s.Command*unit.Bytes(times), after...)
			if s.Media {
				id = b.Transfer(end+1, end, size, id)
			}
			return b.Transfer(end, rank, size, id)
		})
	})
	return done
}

// write stores bytes: the command is sent with the data, and the server answers once the media have them.
func (s *Storage) write(b *Builder, name string, rank int, bytes unit.Bytes, after ...int32) (done []int32) {
	c := Collective{name, coll.SendRecv, Saving, bytes, s.ends(rank, s.requests(bytes)), "", 0}
	b.Collective(c, func() {
		done = s.access(b, rank, bytes, after, func(end, times int, size unit.Bytes, after []int32) int32 {
			command := s.Command * unit.Bytes(times)
			id := b.Transfer(rank, end, size+command, after...)
			if s.Media {
				id = b.Transfer(end, end+1, size, id)
			}
			return b.Transfer(end, rank, command, id)
		})
	})
	return done
}

// Access is a pattern: each rank reads, then writes, a number of bytes.
func (s *Storage) Access(ranks int, reads, writes unit.Bytes) (*DAG, error) {
	if ops := float64(ranks) * (s.Ops(reads) + s.Ops(writes)); ops > MaxOps {
		return nil, field.New("request", "%v each make about %.3g operations, at most %d are taken",
			s.Request, ops, MaxOps)
	}
	b := NewBuilder(ranks + s.Ends())
	for rank := range ranks {
		var after []int32
		if reads > 0 {
			after = s.read(b, "storage read", rank, reads)
		}
		if writes > 0 {
			s.write(b, "storage write", rank, writes, after...)
		}
	}
	return b.Seal()
}
