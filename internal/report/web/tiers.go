package web

import (
	"cmp"
	"math"
	"net/url"
	"regexp"
	"slices"

	"railyard/internal/result"
)

// Tiers is a fabric too large to be drawn node by node. For the ports of each tier it has quantiles over time and
// the share above a threshold. Idle ports count.
type Tiers struct {
	From   int64   `json:"from_ps"`
	To     int64   `json:"to_ps"`
	Width  float64 `json:"width_ps"`  // of a column
	Sample int64   `json:"sample_ps"` // shortest sample interval of the run; 0: no samples
	Ports  int     `json:"ports"`
	Half   int     `json:"half_ports"` // number of ports that together hold half of all queued bytes
	Flows  []int64 `json:"flows"`      // messages under way in any part of a column
	Tiers  []Tier  `json:"tiers"`
	// Culprits are the ports with the largest bytes held x time.
	Culprits []Culprit `json:"culprits"`
	Groups   []Group   `json:"groups"`
}

// underWay counts messages by column: those posted before its end and not done before its beginning.
func underWay(rows []result.FlowRow, from int64, width float64) []int64 {
	change := make([]int64, tierColumns+1)
	for i := range rows {
		first, last := 0, tierColumns-1
		if rows[i].Posted > from {
			first = int(float64(rows[i].Posted-from) / width)
		}
		if rows[i].Done >= 0 {
			last = min(last, int(math.Ceil(float64(rows[i].Done-from)/width))-1)
		}
		if first < tierColumns && last >= first {
			change[first]++
			change[last+1]--
		}
	}
	for c := 1; c < len(change); c++ {
		change[c] += change[c-1]
	}
	return change[:tierColumns]
}

// Tier is the ports from the nodes of one role to those of another.
type Tier struct {
	Name    string  `json:"name"`
	Ports   int     `json:"ports"`
	WREDMin int64   `json:"wred_min_bytes"` // of most of them; 0: none
	WREDMax int64   `json:"wred_max_bytes"`
	Held    float64 `json:"held_share"` // of all bytes queued x time
	Peak    int64   `json:"queue_peak_bytes"`
	// Queue and Load have a row each for the median, p90, p99 and the maximum, by column: the longest queue in bytes,
	// and the share of line rate.
	Queue [][]int64   `json:"queue_bytes"`
	Load  [][]float64 `json:"load"`
	Above []float64   `json:"above"` // share of ports with a queue above WRED min, by column
}

// Culprit is a port, and whose packets waited there.
type Culprit struct {
	Port  int32     `json:"port"`
	Name  string    `json:"name"`
	Held  float64   `json:"held_share"` // of all bytes queued x time
	Peak  int64     `json:"queue_peak_bytes"`
	Flows []Through `json:"flows"` // flows with the longest queueing time
	Count int       `json:"flow_count"`
}

// Group is the nodes of a place, and the share of their ports in each tier with a peak above WRED min; -1: none.
type Group struct {
	Name  string    `json:"name"`
	Above []float64 `json:"above"`
}

// podOf finds the pod in the names of fat trees: leaf-3-8, agg-3-1.
var podOf = regexp.MustCompile(`^(?:leaf|agg)-(\d+)-\d+$`)

// quantiles returns those of a tier's rows.
var quantiles = []float64{0.5, 0.9, 0.99, 1}

const (
	tierColumns = 120
	maxCulprits = 8
	leastHeld   = 0.0005 // minimum share of all bytes held x time of a listed port
)

// tierOf numbers the tiers of ports, upwards first, and names them.
func (r *Directory) tierOf() (of []int, names []string) {
	type kind struct{ from, to string }
	role, level := map[string]string{}, map[string]int{}
	for _, n := range r.Topology.Nodes {
		role[n.Name], level[n.Role] = n.Role, n.Tier
	}
	var kinds []kind
	at := map[kind]int{}
	for i := range r.ports {
		k := kind{role[r.ports[i].Node], role[r.ports[i].Peer]}
		if _, known := at[k]; !known {
			at[k] = 0
			kinds = append(kinds, k)
		}
	}
	slices.SortFunc(kinds, func(a, b kind) int {
		up := func(k kind) int {
			if level[k.from] <= level[k.to] {
				return level[k.from]
			}
			return 1000 - level[k.from]
		}
		return cmp.Or(cmp.Compare(up(a), up(b)), cmp.Compare(a.from+a.to, b.from+b.to))
	})
	for i, k := range kinds {
		at[k] = i
		names = append(names, k.from+" → "+k.to)
	}
	for i := range r.ports {
		of = append(of, at[kind{role[r.ports[i].Node], role[r.ports[i].Peer]}])
	}
	return of, names
}

// tiers sums samples up by tier and column.
func (r *Directory) tiers(q url.Values) (any, error) {
	from, to, err := r.window(q)
	if err != nil {
		return nil, err
	}
	links, err := table[result.LinkRow](r, "links")
	if err != nil {
		return nil, err
	}
	of, names := r.tierOf()
	width := float64(to-from) / tierColumns
	v := Tiers{From: from, To: to, Width: width, Ports: len(r.ports), Tiers: make([]Tier, len(names))}
	flows, err := table[result.FlowRow](r, "flows")
	if err != nil {
		return nil, err
	}
	v.Flows = underWay(flows, from, width)
	configs := r.thresholds()
	queue := make([]float32, len(r.ports)*tierColumns)
	load := make([]float32, len(r.ports)*tierColumns)
	held := make([]float64, len(r.ports))
	for i := range links {
		l := &links[i]
		if l.Port < 0 || int(l.Port) >= len(r.ports) || l.Length <= 0 || l.Start >= to || l.Start+l.Length <= from {
			continue
		}
		if v.Sample == 0 || l.Length < v.Sample {
			v.Sample = l.Length
		}
		a, b := float64(max(l.Start, from)-from)/width, float64(min(l.Start+l.Length, to)-from)/width
		held[l.Port] += float64(l.Queued) * (b - a)
		use := float64(l.Bytes) * 8e12 / float64(l.Length) / float64(max(r.ports[l.Port].Rate, 1))
		for c := int(a); c < tierColumns && float64(c) < b; c++ {
			at := int(l.Port)*tierColumns + c
			queue[at] = max(queue[at], float32(l.Longest()))
			load[at] += float32(use * (math.Min(b, float64(c+1)) - math.Max(a, float64(c))))
		}
	}
	members := make([][]int, len(names))
	for p, t := range of {
		members[t] = append(members[t], p)
	}
	total := 0.0
	for _, h := range held {
		total += h
	}
	for t := range v.Tiers {
		v.Tiers[t] = r.tier(members[t], queue, load, held, total, configs)
		v.Tiers[t].Name = names[t]
	}
	if v.Culprits, v.Half, err = r.culprits(held, total); err != nil {
		return nil, err
	}
	v.Groups = r.groups(of, len(names), queue, configs)
	return v, nil
}

// thresholds are the WRED thresholds of ports, by port: 0 for none.
func (r *Directory) thresholds() [][2]int64 {
	config := map[string]int{}
	for _, n := range r.Topology.Nodes {
		config[n.Name] = n.Config
	}
	out := make([][2]int64, len(r.ports))
	for p := range r.ports {
		if c, ok := config[r.ports[p].Node]; ok && c >= 0 && c < len(r.Topology.Configs) {
			out[p] = [2]int64{r.Topology.Configs[c].WREDMin, r.Topology.Configs[c].WREDMax}
		}
	}
	return out
}

// tier sums up the ports of one tier.
func (r *Directory) tier(ports []int, queue, load []float32, held []float64, total float64, of [][2]int64) Tier {
	t := Tier{Ports: len(ports), Queue: make([][]int64, len(quantiles)), Load: make([][]float64, len(quantiles)),
		Above: make([]float64, tierColumns)}
	for i := range quantiles {
		t.Queue[i], t.Load[i] = make([]int64, tierColumns), make([]float64, tierColumns)
	}
	for _, p := range ports {
		t.WREDMin, t.WREDMax = max(t.WREDMin, of[p][0]), max(t.WREDMax, of[p][1])
		t.Peak = max(t.Peak, r.ports[p].QueuePeak)
		if total > 0 {
			t.Held += held[p] / total
		}
	}
	some := make([]float32, len(ports))
	at := func(q float64) int { return min(len(some)-1, int(math.Ceil(q*float64(len(some))))-1) }
	for c := range tierColumns {
		above := 0
		for i, p := range ports {
			some[i] = queue[p*tierColumns+c]
			if min := of[p][0]; min > 0 && some[i] >= float32(min) {
				above++
			}
		}
		t.Above[c] = float64(above) / float64(len(ports))
		slices.Sort(some)
		for i, q := range quantiles {
			t.Queue[i][c] = int64(some[at(q)])
		}
		for i, p := range ports {
			some[i] = load[p*tierColumns+c]
		}
		slices.Sort(some)
		for i, q := range quantiles {
			t.Load[i][c] = math.Round(1000*math.Min(1, float64(some[at(q)]))) / 1000
		}
	}
	return t
}

// culprits ranks ports by bytes held x time, and returns how many hold half of the total.
func (r *Directory) culprits(held []float64, total float64) (out []Culprit, half int, err error) {
	order := make([]int, len(held))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(held[b], held[a]) })
	sum := 0.0
	for half < len(order) && sum < total/2 {
		sum += held[order[half]]
		half++
	}
	paths, err := table[result.PathRow](r, "paths")
	if err != nil {
		return nil, 0, err
	}
	qps, err := table[result.QPRow](r, "qps")
	if err != nil {
		return nil, 0, err
	}
	at := map[int32]int{}
	for _, p := range order[:min(maxCulprits, len(order))] {
		if held[p] > leastHeld*total {
			at[int32(p)] = len(out)
			out = append(out, Culprit{Port: int32(p), Name: r.ports[p].Name, Held: held[p] / total,
				Peak: r.ports[p].QueuePeak})
		}
	}
	for _, p := range paths {
		if i, ok := at[p.Port]; ok && p.QP >= 0 && int(p.QP) < len(qps) {
			x := Through{p.QP, qps[p.QP].From, qps[p.QP].To, p.Wait, p.Packets}
			out[i].Flows, out[i].Count = append(out[i].Flows, x), out[i].Count+1
		}
	}
	for i := range out {
		f := out[i].Flows
		slices.SortStableFunc(f, func(a, b Through) int { return cmp.Compare(b.Wait, a.Wait) })
		out[i].Flows = f[:min(3, len(f))]
	}
	return out, half, nil
}

// groups sums ports by the location of their node, or by the pod in its name; of a node without one, by its peer's.
func (r *Directory) groups(of []int, tiers int, queue []float32, configs [][2]int64) (out []Group) {
	at, index := map[string]int{}, map[string]int{}
	for _, n := range r.Topology.Nodes {
		name := ""
		if len(n.Places) > 0 && n.Places[0].Word != "n" {
			name = n.Places[0].Word + " " + itoa(n.Places[0].At)
		} else if m := podOf.FindStringSubmatch(n.Name); m != nil && n.Role != "host" {
			name = "pod " + m[1]
		}
		if name == "" {
			continue
		}
		if _, known := index[name]; !known {
			index[name] = len(index)
			out = append(out, Group{Name: name})
		}
		at[n.Name] = index[name]
	}
	if len(out) < 2 || len(out) > 128 {
		return nil
	}
	count := make([][2]int, len(out)*tiers)
	for p := range r.ports {
		g, ok := at[r.ports[p].Node]
		if !ok && r.ports[p].Role != "host" {
			g, ok = at[r.ports[p].Peer]
		}
		if !ok {
			continue
		}
		c := &count[g*tiers+of[p]]
		c[0]++
		if min := configs[p][0]; min > 0 && slices.Max(queue[p*tierColumns:(p+1)*tierColumns]) >= float32(min) {
			c[1]++
		}
	}
	for g := range out {
		for t := range tiers {
			above := -1.0
			if c := count[g*tiers+t]; c[0] > 0 {
				above = float64(c[1]) / float64(c[0])
			}
			out[g].Above = append(out[g].Above, above)
		}
	}
	return out
}
