package swconf

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"railyard/internal/field"
	"railyard/internal/queue"
	"railyard/unit"
)

// Typical returns the QoS of most ports that classify received packets, and a port that has it, preferably one with
// PFC. If no port classifies it returns the switch's own QoS.
func (c *Config) Typical() (*QoS, *Port) {
	count := map[*QoS]int{}
	port := map[*QoS]*Port{}
	var best *QoS
	for _, p := range c.Ports {
		if p.QoS == nil || !p.QoS.Input.Is() || p.Down.V {
			continue
		}
		count[p.QoS]++
		if best == nil || count[p.QoS] > count[best] {
			best = p.QoS
		}
		if old := port[p.QoS]; old == nil || old.PFC.V == PFCOff {
			port[p.QoS] = p
		}
	}
	if best == nil {
		return c.QoS, nil
	}
	return best, port[best]
}

// Lossless reports whether a queue of a port is protected by PFC: the configuration pauses it, and the port does PFC at
// all and sends its pauses.
func (q *QoS) Lossless(i int, p *Port) bool {
	return q.Queues[i].Pause.Is() && !q.Queues[i].Silent && (p == nil || p.PFC.V != PFCOff)
}

// ErrNoQoS reports that a language has no settings of queues.
var ErrNoQoS = errors.New("contains no queues: an FRR configuration routes, the switch's queues are configured elsewhere")

// Spec returns the switch that the configuration describes. Unset values are taken from base, the platform, and are
// listed in the notes.
func (c *Config) Spec(base queue.Spec) (spec queue.Spec, notes []string, err error) {
	if !c.HasQoS() || c.QoS == nil {
		return base, nil, fmt.Errorf("%s: %w", c.File, ErrNoQoS)
	}
	note := func(format string, args ...any) { notes = append(notes, c.File+": "+fmt.Sprintf(format, args...)) }
	q, port := c.Typical()
	spec = base
	spec.CoreMarks = false // unless some ports differ
	alike := (*QoS).plain
	if marks, at, without := c.marking(q); marks != nil {
		q, port, spec.CoreMarks, alike = marks, at, true, (*QoS).unmarked
		note("%s mark nothing while others do: simulated as ports to servers that mark nothing",
			Compress(namesOf(without)))
	}
	if c.Buffer.Is() {
		spec.Buffer = c.Buffer.V
	}
	for d := range q.DSCP {
		spec.DSCP[d] = q.DSCP[d].V
	}
	var silent []string
	for i := range q.Queues {
		spec.Queues[i] = q.Queues[i].class(q.Lossless(i, port), platform(&base, i), &base.Queues[i])
		if k := &spec.Queues[i]; k.Lossless && !q.Queues[i].paces() {
			silent = append(silent, fmt.Sprintf("queue %d pauses at the platform's %v and resumes at %v", i,
				k.XOff, k.XOn))
		}
	}
	for i := range q.Queues {
		if w := &q.Queues[i].WRED; w.Is() && w.V.MaxText+w.V.MinText != "" {
			note("queue %d marks at %s, which are not bytes here; simulated with the platform's thresholds", i,
				w.V.span())
		}
	}
	if q.Away.Is() {
		note("classified by %s: simulated with every DSCP in queue 0", q.away())
	}
	for _, b := range c.ByPort {
		note("%s: the DSCPs belong to such packets (line %d)", b.V, b.At.Line)
	}
	for _, a := range c.Apart {
		note("not simulated: %s (line %d)", a.V, a.At.Line)
	}
	if open := q.openPriority(); c.Strict && open != "" {
		note("no line sets the priority of queue %s: strict by the platform's default", open)
	}
	if q.Ratio {
		percent(&spec)
	}
	if len(silent) > 0 {
		note("xOFF and xON not configured; %s", strings.Join(silent, ", "))
	}
	at := port
	for i := 0; at == nil && i < len(c.Ports); i++ { // no port classifies
		if p := c.Ports[i]; p.QoS != nil && !p.Down.V {
			at = p
		}
	}
	if mtu, ok := q.mtu(at); ok {
		spec.MTU = mtu
	} else {
		note("MTU not configured; the platform's %v", base.MTU)
	}
	c.trim(&spec, note)
	spec.Watchdog = c.watchdog(base.Watchdog, note)
	c.headrooms(q, alike, &spec)
	if off := c.unlike(q, alike); len(off) > 0 {
		note("%s differ from the other ports; all are simulated like %s", strings.Join(shorten(off, 4), ", "),
			c.like(q, port))
	}
	if port != nil && len(c.Ports) == 1 {
		note("only %s is configured; all ports are simulated like it", port.Name)
	}
	if err := spec.Validate(); err != nil {
		return spec, notes, c.locate(q, err)
	}
	return Normal(spec), notes, nil
}

// watchdog returns the switch's watchdog, with the platform's times if neither the configuration nor its language
// sets any.
func (c *Config) watchdog(base queue.Watchdog, note func(string, ...any)) queue.Watchdog {
	w := queue.Watchdog{On: c.guards(), Poll: c.Watchdog.Poll.V, Detect: c.Watchdog.Detect.V,
		Restore: c.Watchdog.Restore.V, Forward: c.Watchdog.Forward.V}
	if !w.On {
		if c.Watchdog.On.V {
			note("the switch has the watchdog on, and no port has; simulated without it")
		}
		return w
	}
	if !c.Watchdog.Poll.Is() && w.Detect > 0 && w.Restore > 0 { // the switch polls as often as its times require
		w.Poll = min(w.Poll, w.Detect, w.Restore)
	}
	if base.Poll == 0 || base.Detect == 0 || base.Restore == 0 {
		base = queue.Default().Watchdog
	}
	var silent []string
	fill := func(t *unit.Time, by unit.Time, what string) {
		if *t == 0 {
			*t = by
			silent = append(silent, fmt.Sprintf("%s %v", what, by))
		}
	}
	fill(&w.Detect, max(base.Detect, w.Poll), "timeout")
	fill(&w.Restore, max(base.Restore, w.Poll), "recovery time")
	fill(&w.Poll, min(base.Poll, w.Detect, w.Restore), "polling every")
	if len(silent) > 0 {
		note("not configured for the watchdog, and simulated with the platform's: %s", strings.Join(silent, ", "))
	}
	return w
}

// platform returns the class whose thresholds are the defaults: the queue's own, or the platform's first lossless one.
func platform(base *queue.Spec, i int) *queue.Class {
	if base.Queues[i].Lossless {
		return &base.Queues[i]
	}
	for j := range base.Queues {
		if base.Queues[j].Lossless {
			return &base.Queues[j]
		}
	}
	d := queue.Default()
	return &d.Queues[3]
}

// class returns the queue for the simulator. Missing thresholds are the platform's of a lossless class, or the
// platform's own of the queue's number.
func (q *Queue) class(lossless bool, platform, own *queue.Class) queue.Class {
	k := queue.Class{Strict: q.Strict.V, Lossless: lossless, Alpha: 1}
	if !k.Strict {
		k.Weight = q.Share.V
	}
	if w := q.WRED.V; q.WRED.Is() {
		k.WRED = queue.WRED{Min: w.Min, Max: w.Max, Probability: unit.Share(w.Percent / 100),
			Weight: uint(max(w.Weight, 0)), ECN: w.ECN}
		if w.Open {
			k.WRED.Probability = platform.WRED.Probability
		}
		if w.Max == 0 { // thresholds of the platform's choosing
			if k.WRED = platform.WRED; own.WRED.Max > 0 {
				k.WRED = own.WRED
			}
			k.WRED.ECN = w.ECN
		}
	}
	if !lossless {
		if q.Alpha.Is() {
			k.Alpha = q.Alpha.V
		}
		k.Limit, k.Trim = q.Limit.V, q.Trim.V
		return k
	}
	if g := q.PG.V; q.paces() {
		k.XOff, k.XOn, k.XOnOffset, k.Alpha, k.Headroom = g.XOff, g.XOn, g.XOnOffset, g.Alpha, g.Headroom
	} else {
		k.Headroom = g.Headroom
		k.XOff, k.XOn, k.XOnOffset, k.Alpha = platform.XOff, platform.XOn, platform.XOnOffset, platform.Alpha
	}
	return k
}

// openPriority lists the queues with traffic that have neither a priority nor a share, and above which none shares;
// otherwise they would share too.
func (q *QoS) openPriority() string {
	var open []int
	for i := len(q.Queues) - 1; i >= 0; i-- {
		k := &q.Queues[i]
		if k.Share.Is() || k.Strict.Is() && !k.Strict.V {
			break
		}
		if !k.Strict.Is() && (k.WRED.Is() || k.Pause.Is()) {
			open = append(open, i)
		}
	}
	slices.Sort(open)
	return ranges(open)
}

// paces reports whether the configuration sets the pause threshold of a lossless queue, not only its headroom.
func (q *Queue) paces() bool { return q.PG.Is() && (q.PG.V.XOff > 0 || q.PG.V.Alpha > 0) }

// mtu returns the largest frame of a port: its own, else its lossless class's.
func (q *QoS) mtu(p *Port) (mtu unit.Bytes, ok bool) {
	if p != nil && p.MTU.V > 0 { // set, or the language's default
		return p.MTU.V, true
	}
	for i := range q.Queues {
		if k := &q.Queues[i]; k.MTU.Is() && (k.Pause.Is() || !ok) {
			mtu, ok = k.MTU.V, true
			if k.Pause.Is() {
				break
			}
		}
	}
	return mtu, ok
}

// headrooms sets the headroom of a Spec, which has one for all ports, to the maximum of any port like q. Code that
// knows the cables computes it per port (scenario.PortHeadroom).
func (c *Config) headrooms(q *QoS, by func(*QoS) Print, spec *queue.Spec) {
	for _, o := range c.others(q, by, true) {
		for i := range spec.Queues {
			if k := &spec.Queues[i]; k.Lossless {
				k.Headroom = max(k.Headroom, o.Queues[i].PG.V.Headroom)
			}
		}
	}
}

// others returns the QoS of ports that are up, besides q: QoS that is equal in relevant fields, or all the rest.
func (c *Config) others(q *QoS, by func(*QoS) Print, alike bool) (out []*QoS) {
	plain, seen := by(q), map[*QoS]bool{q: true, nil: true}
	for _, p := range c.Ports {
		if !p.Down.V && !seen[p.QoS] {
			seen[p.QoS] = true
			if (by(p.QoS) == plain) == alike {
				out = append(out, p.QoS)
			}
		}
	}
	return out
}

// plain is equal for two that differ in headroom alone.
func (q *QoS) plain() Print {
	o := *q
	for i := range o.Queues {
		g := &o.Queues[i].PG.V
		*g = Pause{XOff: g.XOff, XOn: g.XOn, XOnOffset: g.XOnOffset, Alpha: g.Alpha}
	}
	return o.Fingerprint()
}

// unlike names the cabled ports that treat packets differently from q.
func (c *Config) unlike(q *QoS, by func(*QoS) Print) (names []string) {
	any, others := false, c.others(q, by, false)
	for _, p := range c.Ports {
		any = any || p.QoS == q
	}
	for _, p := range c.Ports {
		if any && !p.Down.V && slices.Contains(others, p.QoS) {
			names = append(names, p.Name)
		}
	}
	return names
}

// like names the port that represents a switch in the simulation: the typical one, or the first with equal QoS if
// none classifies.
func (c *Config) like(q *QoS, port *Port) string {
	for i := 0; port == nil && i < len(c.Ports); i++ {
		if c.Ports[i].QoS == q {
			port = c.Ports[i]
		}
	}
	if port == nil {
		return "a port without configuration"
	}
	return port.Name
}

func namesOf(ports []*Port) (names []string) {
	for _, p := range ports {
		names = append(names, p.Name)
	}
	return names
}

func shorten(s []string, n int) []string {
	if len(s) > n {
		return append(append([]string(nil), s[:n]...), fmt.Sprintf("%d more", len(s)-n))
	}
	return s
}

// locate adds the configuration line to an error of the Spec.
func (c *Config) locate(q *QoS, err error) error {
	var e *field.Error
	if !errors.As(err, &e) {
		return fmt.Errorf("%s: %w", c.File, err)
	}
	at := Place{File: c.File}
	var i int
	var name string
	if n, _ := fmt.Sscanf(strings.ReplaceAll(e.Path, ".", " "), "queues %d %s", &i, &name); n == 2 {
		k := &q.Queues[i]
		switch {
		case strings.HasPrefix(name, "x") && k.PG.Is() || name == "headroom":
			at = k.PG.At
		case strings.HasPrefix(name, "wred") || name == "probability":
			at = k.WRED.At
		case name == "weight":
			at = k.Share.At
		default:
			at = k.At
		}
	}
	placed := *e
	placed.File, placed.Line, placed.Col = at.File, at.Line, at.Col
	return &placed
}

// Normal clears the fields of a Spec without effect, so that equivalent ones are equal.
func Normal(s queue.Spec) queue.Spec {
	for i := range s.Queues {
		k := &s.Queues[i]
		if k.Strict {
			k.Weight = 0
		}
		if k.WRED.Max == 0 {
			k.WRED = queue.WRED{}
		}
		switch {
		case !k.Lossless:
			k.XOff, k.XOn, k.XOnOffset, k.Headroom = 0, 0, 0, 0
			if k.Limit > 0 {
				k.Alpha = 0
			}
		case k.XOff > 0:
			k.XOn, k.XOnOffset = k.Resume(k.XOff, s.MTU), 0
			k.Alpha, k.Limit = 0, 0
		default:
			k.Limit = 0
		}
	}
	if s.TrimMask() == 0 {
		s.Trim = queue.Trim{}
	}
	if !s.Watchdog.On || s.LosslessMask() == 0 {
		s.Watchdog = queue.Watchdog{}
	}
	return s
}

// percent converts weights that sum to more than 100 to percents.
func percent(s *queue.Spec) {
	sum := 0
	for i := range s.Queues {
		sum += s.Queues[i].Weight
	}
	if sum <= 100 {
		return
	}
	for i := range s.Queues {
		if w := &s.Queues[i].Weight; *w > 0 {
			*w = max(*w*100/sum, 1)
		}
	}
}
