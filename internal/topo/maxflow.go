package topo

// flowNet is a capacity network for Dinic's maximum flow algorithm (1970).
type flowNet struct {
	head []int
	next []int
	to   []int
	cap  []int64
	dist []int
	iter []int
}

func newFlowNet(n int) *flowNet {
	f := &flowNet{head: make([]int, n), dist: make([]int, n), iter: make([]int, n)}
	for i := range f.head {
		f.head[i] = -1
	}
	return f
}

// add joins a and b with capacity ab one way and ba the other.
func (f *flowNet) add(a, b int, ab, ba int64) {
	f.to = append(f.to, b, a)
	f.cap = append(f.cap, ab, ba)
	f.next = append(f.next, f.head[a], f.head[b])
	f.head[a], f.head[b] = len(f.to)-2, len(f.to)-1
}

func (f *flowNet) max(s, t int) (total int64) {
	for f.levels(s, t) {
		copy(f.iter, f.head)
		for {
			d := f.push(s, t, 1<<62)
			if d == 0 {
				break
			}
			total += d
		}
	}
	return total
}

func (f *flowNet) levels(s, t int) bool {
	for i := range f.dist {
		f.dist[i] = -1
	}
	f.dist[s] = 0
	queue := []int{s}
	for len(queue) > 0 {
		n := queue[0]
		queue = queue[1:]
		for e := f.head[n]; e >= 0; e = f.next[e] {
			if f.cap[e] > 0 && f.dist[f.to[e]] < 0 {
				f.dist[f.to[e]] = f.dist[n] + 1
				queue = append(queue, f.to[e])
			}
		}
	}
	return f.dist[t] >= 0
}

func (f *flowNet) push(n, t int, limit int64) int64 {
	if n == t {
		return limit
	}
	for ; f.iter[n] >= 0; f.iter[n] = f.next[f.iter[n]] {
		e := f.iter[n]
		if f.cap[e] <= 0 || f.dist[f.to[e]] != f.dist[n]+1 {
			continue
		}
		if d := f.push(f.to[e], t, min(limit, f.cap[e])); d > 0 {
			f.cap[e] -= d
			f.cap[e^1] += d
			return d
		}
	}
	return 0
}
