package validate

import (
	"fmt"

	"railyard/internal/rng"
)

const falconSource = "Isekai (falcon-transport/isekai), superblock_permutation_24_800g"

var fourLabels = reason("four flow labels",
	"A connection has at most four flow labels (Isekai, host/falcon/rue/bits.h), which switches hash to 16 paths. Four hashed paths that share links max-min reach 0.782.",
	"lb=spray-least transport.falcon.reorder=1", "0.917")

// falconRows checks what Falcon's four paths make of a fabric without faults: a permutation of 128 hosts over a fat
// tree. Its flow labels are hashed, and the reference is a fluid model of four hashed paths per message.
func falconRows() ([]Row, error) {
	const seeds = 3
	mean := func(hosts string, sets ...string) (us float64, err error) {
		for seed := range seeds {
			r := must(finish(`
name: paths
fabric: {kind: fat-tree, k: 8, host_link: {rate: 100Gbps, delay: 1us}}
server: {nic_latency: 0s, gpus: 1}
workload: {traffic: {`+hosts+`}}
`, append(sets, "transport=falcon", fmt.Sprint("seed=", seed+1))...))
			s, _, _ := r.Outcome("")
			us += float64(s.Flows.Mean) / 1e6 / seeds
		}
		return us, nil
	}
	const all = "permutation: {bytes: 2MB}"
	var got [4]float64
	for i, c := range []struct {
		load string
		sets []string
	}{
		{"flows: [{from: host-1/gpu-1, to: host-114/gpu-1, bytes: 2MB}]", nil},
		{all, nil},
		{all, []string{"transport.falcon.weighted=true"}},
		{all, []string{"lb=spray", "transport.falcon.reorder=1"}},
	} {
		got[i] = must(mean(c.load, c.sets...))
	}
	alone := got[0]
	fluid := 0.0
	for seed := range seeds {
		fluid += hashedPaths(8, 4, uint64(seed+1)) * alone / seeds
	}
	const claim = "Falcon, permutation of 128 hosts, 2 MB at 100 Gbit/s, mean of 3 seeds: "
	share := within(claim+"share of the rate that a message has alone", falconSource, 1, alone/got[1], 0.1, "%.3f")
	return []Row{
		within(claim+"mean message over that of four hashed paths, shared max-min", "fluid model of the same fabric",
			1, got[1]/fluid, 0.08, "%.3f"),
		share.because(fourLabels),
		atMost(claim+"mean message over that of the second generation's weighted turns", falconSource, 1,
			got[1]/got[2], "%.3f"),
		atLeast(claim+"share of the rate alone where switches spray and reorder=1", falconSource, 0.85, alone/got[3]),
	}, nil
}

// hashedPaths is the mean time of a permutation's messages over a fat tree of k ports, in times of a message alone,
// where each has paths that are hashed at every tier, each path has its max-min share, and a message takes what its
// paths leave to it.
func hashedPaths(k, paths int, seed uint64) float64 {
	half, random := k/2, rng.New(seed, "hashed paths")
	hosts := k * half * half
	order := make([]int, hosts)
	for i := range order {
		j := random.Intn(i + 1)
		order[i], order[j] = order[j], i
	}
	type link struct{ kind, a, b int }
	uses := make([][][]link, hosts)
	for i, from := range order {
		to := order[(i+1)%hosts]
		edge, far := from/half, to/half
		for range paths {
			path := []link{{0, from, 0}, {1, to, 0}}
			if edge != far {
				up := random.Intn(half)
				path = append(path, link{2, edge, up}, link{3, far, up})
				if edge/half != far/half {
					core := up*half + random.Intn(half)
					path = append(path, link{4, edge / half, core}, link{5, far / half, core})
				}
			}
			uses[from] = append(uses[from], path)
		}
	}
	left := make([]float64, hosts)
	for i := range left {
		left[i] = 1
	}
	now, sum := 0.0, 0.0
	for active := hosts; active > 0; {
		rates := make([]float64, hosts)
		room, load := map[link]float64{}, map[link]int{}
		var going [][2]int // message, path
		for m := range uses {
			for p := range uses[m] {
				if left[m] <= 0 {
					continue
				}
				going = append(going, [2]int{m, p})
				for _, l := range uses[m][p] {
					room[l] = 1
					load[l]++
				}
			}
		}
		for level := 0.0; len(going) > 0; { // all rates rise together until a link is full
			rise := 1.0
			for l, n := range load {
				if n > 0 {
					rise = min(rise, room[l]/float64(n))
				}
			}
			level += rise
			for l, n := range load {
				room[l] -= rise * float64(n)
			}
			rest := going[:0]
			for _, g := range going {
				full := false
				for _, l := range uses[g[0]][g[1]] {
					full = full || room[l] < 1e-9
				}
				if !full {
					rest = append(rest, g)
					continue
				}
				rates[g[0]] += level
				for _, l := range uses[g[0]][g[1]] {
					load[l]--
				}
			}
			going = rest
		}
		next := 0.0
		for m := range left {
			if left[m] > 0 && (next == 0 || left[m]/rates[m] < next) {
				next = left[m] / rates[m]
			}
		}
		now += next
		for m := range left {
			if left[m] <= 0 {
				continue
			}
			if left[m] -= rates[m] * next; left[m] < 1e-9 {
				left[m] = 0
				active--
				sum += now
			}
		}
	}
	return sum / float64(hosts)
}
