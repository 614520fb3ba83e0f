package swconf

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"railyard/unit"
)

// Row is one queue in show's table: the treatment of packets of some DSCPs.
type Row struct {
	DSCP     string `json:"dscp"`
	COS      string `json:"cos,omitempty"` // 802.1p priorities of tagged packets
	Group    int    `json:"group"`
	Queue    string `json:"queue"`
	Schedule string `json:"scheduling"`
	ECN      string `json:"ecn"`
	PFC      string `json:"pfc"`
	Line     int    `json:"line,omitempty"` // line that sets the queue's class
}

// View is the table of the ports that treat packets equally.
type View struct {
	Ports    []string `json:"ports"`
	Input    string   `json:"classification,omitempty"`
	Trust    string   `json:"trust,omitempty"`
	Output   string   `json:"queueing,omitempty"`
	PFC      string   `json:"pfc_mode"`
	Watchdog bool     `json:"watchdog"`
	MTU      int64    `json:"mtu,omitempty"`
	Rows     []Row    `json:"rows"`
}

// Views returns the treatment of packets port by port, equal ones together.
func (c *Config) Views() []View {
	type key struct {
		q        *QoS
		pfc      PFCMode
		watchdog bool
		mtu      unit.Bytes
	}
	index := map[key]int{}
	var out []View
	add := func(q *QoS, p *Port) {
		k := key{q: q}
		if p != nil {
			k.pfc, k.watchdog, k.mtu = p.PFC.V, c.watches(p), p.MTU.V
		}
		i, ok := index[k]
		if !ok {
			i = len(out)
			index[k] = i
			v := View{Input: q.Input.V, Output: q.Output.V, PFC: k.pfc.String(), Watchdog: k.watchdog,
				Rows: c.rows(q, p)}
			if q.Away.Is() {
				v.Input = q.away()
			}
			if q.Trust.Is() {
				v.Trust = q.Trust.V.String()
			}
			if mtu, ok := q.mtu(p); ok {
				v.MTU = int64(mtu)
			}
			if p == nil {
				v.PFC = "not configured"
			}
			out = append(out, v)
		}
		if p != nil {
			out[i].Ports = append(out[i].Ports, p.Name)
		}
	}
	for _, p := range c.Ports {
		if p.QoS != nil {
			add(p.QoS, p)
		}
	}
	for _, p := range c.Subs {
		if p.QoS != nil { // ports with their own classification
			add(p.QoS, p)
		}
	}
	if len(out) == 0 && c.QoS != nil {
		add(c.QoS, nil)
	}
	return out
}

func (c *Config) rows(q *QoS, p *Port) []Row {
	var dscps [8][]int
	for d := range q.DSCP {
		dscps[q.DSCP[d].V&7] = append(dscps[q.DSCP[d].V&7], d)
	}
	var rows []Row
	for i := len(q.Queues) - 1; i >= 0; i-- {
		k := &q.Queues[i]
		cos := q.COSOf(i)
		if len(dscps[i]) == 0 && cos == "" && k.At.Line == 0 && !k.Pause.Is() && !k.WRED.Is() {
			continue
		}
		r := Row{DSCP: ranges(dscps[i]), COS: cos, Group: i, Queue: k.Name, Schedule: q.schedule(i),
			ECN: k.ecn(), PFC: k.pfc(p), Line: k.At.Line}
		if k.Trim.V {
			r.PFC += ", " + c.Trim.says()
		}
		if len(dscps[i]) == 0 {
			r.DSCP = "none"
		}
		if q.Away.Is() {
			r.DSCP = "not set"
		}
		rows = append(rows, r)
	}
	return rows
}

// away names the classification in another file.
func (q *QoS) away() string {
	if q.Away.V == "" {
		return "not configured"
	}
	return q.Away.V + " (not configured)"
}

// schedule returns the scheduling of a queue in words. Shares that are ratios are percents of their sum.
func (q *QoS) schedule(i int) string {
	k := &q.Queues[i]
	switch sum := 0; {
	case k.Strict.V && !k.Strict.Is():
		return "strict by default"
	case k.Strict.V:
		return "strict"
	case k.Share.Is() && q.Ratio:
		for j := range q.Queues {
			if o := &q.Queues[j]; !o.Strict.V {
				sum += o.Share.V
			}
		}
		return fmt.Sprintf("%.3g %%", 100*float64(k.Share.V)/float64(max(sum, 1)))
	case k.Share.Is():
		return strconv.Itoa(k.Share.V) + " %"
	case !slices.ContainsFunc(q.Queues[:], func(k Queue) bool { return k.Share.Is() || k.Strict.V }):
		return "not set"
	}
	return "leftover"
}

func (k *Queue) ecn() string {
	w := k.WRED.V
	if !k.WRED.Is() {
		return "no"
	}
	if w.Away != "" {
		return "by " + w.Away + " (not configured)"
	}
	what := "marks"
	if !w.ECN {
		what = "drops"
	}
	if w.MinText != "" || w.MaxText != "" {
		return what + " " + w.span() + w.percent()
	}
	if w.Max == 0 {
		return what + ", platform's thresholds"
	}
	s := fmt.Sprintf("%s %v..%v%s", what, size(w.Min), size(w.Max), w.percent())
	if w.Weight > 0 {
		s += fmt.Sprintf(" weight %d", w.Weight)
	}
	return s
}

// percent returns the probability as in the configuration.
func (w *WRED) percent() string {
	if w.Open {
		return ", default %"
	}
	return " " + strconv.FormatFloat(w.Percent, 'g', 4, 64) + "%"
}

// span returns the range of random detection, in bytes or as in the configuration.
func (w *WRED) span() string {
	low, high := w.MinText, w.MaxText
	if low == "" {
		low = w.Min.String()
	}
	if high == "" {
		high = w.Max.String()
	}
	return low + ".." + high
}

// silent ends the text of a priority whose pauses a switch obeys and does not send.
const silent = ", sends no pauses"

// PFCWorks reports whether pauses of a row protect its packets.
func (r *Row) PFCWorks() bool {
	return strings.HasPrefix(r.PFC, "priority") && !strings.Contains(r.PFC, "off on the port") &&
		!strings.Contains(r.PFC, silent)
}

func (k *Queue) pfc(p *Port) string {
	if !k.Pause.Is() {
		return "no"
	}
	if p != nil && p.PFC.V == PFCOff {
		return fmt.Sprintf("priority %d, off on the port", k.Pause.V)
	}
	s := fmt.Sprintf("priority %d", k.Pause.V)
	if k.Silent {
		return s + silent
	}
	if k.Sized.Is() {
		s += ", " + k.Sized.V
	}
	if g := k.PG.V; k.PG.Is() && g.XOff > 0 {
		s += fmt.Sprintf(", xoff %v xon %v", size(g.XOff), size(g.XOn))
	} else if k.paces() {
		s += fmt.Sprintf(", alpha %g", g.Alpha)
		if g.XOn > 0 {
			s += fmt.Sprintf(" xon %v", size(g.XOn))
		}
		if g.XOnOffset > 0 {
			s += fmt.Sprintf(" offset %v", size(g.XOnOffset))
		}
	}
	return s
}

// Compress writes a list of ports shortly: Ethernet1/1-4, Ethernet1/9.
func Compress(names []string) string {
	var parts []string
	for _, r := range runs(names) {
		if len(r) > 1 {
			_, last, _ := numbered(r[len(r)-1])
			parts = append(parts, fmt.Sprintf("%s-%d", r[0], last))
		} else {
			parts = append(parts, r[0])
		}
	}
	return strings.Join(parts, ", ")
}

// Switches writes a list of switches shortly: leaf-1 to leaf-16, spine-1. Of many it names the first.
func Switches(names []string) string {
	const most = 6
	names = slices.Clone(names)
	slices.SortFunc(names, func(a, b string) int {
		x, n, _ := numbered(a)
		y, m, _ := numbered(b)
		return cmp.Or(cmp.Compare(x, y), cmp.Compare(n, m), cmp.Compare(a, b))
	})
	var parts []string
	for _, r := range runs(names) {
		if len(parts) >= most {
			return fmt.Sprintf("%s and %d more", strings.Join(parts, ", "), len(names))
		}
		if names = names[len(r):]; len(r) > 2 {
			parts = append(parts, r[0]+" to "+r[len(r)-1])
		} else {
			parts = append(parts, r...)
		}
	}
	return strings.Join(parts, ", ")
}

// runs splits names into runs of consecutive numbers.
func runs(names []string) (out [][]string) {
	for i := 0; i < len(names); {
		head, n, ok := numbered(names[i])
		j := i + 1
		for ; ok && j < len(names); j++ {
			if h, m, ok2 := numbered(names[j]); !ok2 || h != head || m != n+j-i {
				break
			}
		}
		out = append(out, names[i:j])
		i = j
	}
	return out
}

// numbered splits a port name into its head and its last number.
func numbered(name string) (head string, n int, ok bool) {
	cut := strings.LastIndexFunc(name, func(r rune) bool { return r < '0' || r > '9' }) + 1
	n, err := strconv.Atoi(name[cut:])
	return name[:cut], n, err == nil
}

// Brackets writes host names as Slurm does: host-[1-4,7],login.
func Brackets(names []string) string {
	var heads []string
	list := map[string][]int{}
	for _, n := range names {
		h, i, ok := numbered(n)
		if !ok || h+strconv.Itoa(i) != n { // no number, or leading zeros
			h, i = n, -1
		}
		if list[h] == nil {
			heads = append(heads, h)
		}
		list[h] = append(list[h], i)
	}
	var parts []string
	for _, h := range heads {
		l := list[h]
		switch {
		case l[0] < 0:
			parts = append(parts, h)
		case len(l) == 1:
			parts = append(parts, h+strconv.Itoa(l[0]))
		default:
			sort.Ints(l)
			parts = append(parts, h+"["+ranges(l)+"]")
		}
	}
	return strings.Join(parts, ",")
}
