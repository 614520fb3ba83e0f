package junos

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"railyard/internal/queue"
	"railyard/internal/swconf"
	"railyard/internal/swconf/design"
	"railyard/unit"
)

// fabric is the name of the common settings of the switch's ports.
const fabric = "FABRIC"

// Ranges of the watchdog's times. The least are the defaults (Junos CoS User Guide, PFC Watchdog: 100 ms, two polls,
// 200 ms); the most are unsourced.
const (
	leastPoll, mostPoll       = 100 * unit.Millisecond, 1000 * unit.Millisecond
	leastDetect, mostDetect   = 2, 10 // polls
	leastRestore, mostRestore = 200 * unit.Millisecond, 10_000 * unit.Millisecond
	mostMTU                   = 9216
)

// fit refuses settings that the statements cannot express. Values that the switch computes are removed from the Spec:
// headroom, by cable length and MRU. The notes list rounded and omitted values.
func fit(d *design.Design, s *design.Switch) (notes []string, err error) {
	refuse := func(format string, args ...any) error { return design.Refuse(swconf.Junos, s, format, args...) }
	spec := &s.Spec
	asked := d.Spec(s.Node)
	if spec.TrimMask() != 0 {
		return nil, refuse("packet trimming (switch.queues.*.trim), which is written for SONiC only")
	}
	if err := s.Unsayable(swconf.Junos); err != nil {
		return nil, err
	}
	if spec.MTU > mostMTU {
		return nil, refuse("an MTU of %d; 256 to %d are accepted (switch.mtu)", spec.MTU, mostMTU)
	}
	for _, c := range s.Channels() {
		if len(s.Trunks) > 0 && c.Channel >= design.Aggregated(s.Trunks[0].ID) {
			return nil, refuse("more than %d bundles of servers next to channels to switches (lag)", c.Channel-1)
		}
	}
	first := -1
	for i := range spec.Queues {
		k := &spec.Queues[i]
		p := k.WRED.Probability.Percent()
		switch {
		case k.WRED.Max > 0 && math.Abs(p-math.Round(p)) > 1e-9:
			return nil, refuse("queue %d: a mark probability of %g %%; whole percents are accepted", i, p)
		case k.WRED.Max > 0 && k.WRED.Weight > 0:
			return nil, refuse("queue %d: WRED averages with weight %d; no averaging weight is known", i, k.WRED.Weight)
		case !k.Lossless && k.Limit > 0:
			return nil, refuse("queue %d: a limit of %v; dynamic thresholds are accepted (limit 0B, alpha)", i, k.Limit)
		case (!k.Lossless || k.XOff == 0) && threshold(k.Alpha) < 0:
			return nil, refuse("queue %d: alpha %g; powers of two from 1/128 to 8 are accepted", i, k.Alpha)
		case k.Lossless && k.XOff == 0 && k.XOnOffset > 0:
			return nil, refuse("queue %d: an offset of %v below a dynamic threshold; none is accepted", i, k.XOnOffset)
		case k.Lossless && asked.Queues[i].Headroom > 0:
			return nil, refuse("queue %d: a headroom of %v; it follows from cable length and MRU (headroom 0B)", i,
				asked.Queues[i].Headroom)
		}
		if !k.Lossless {
			continue
		}
		if first < 0 {
			first = i
		} else if o := &spec.Queues[first]; o.XOff > 0 != (k.XOff > 0) || k.XOff == 0 && o.Alpha != k.Alpha {
			return nil, refuse("queues %d and %d have other pause thresholds each; one buffer partition has them for all", first, i)
		}
		if k.XOff > 0 {
			notes = append(notes, fmt.Sprintf("queue %d: pause thresholds of %v and %v are not written: the shared buffer decides", i, k.XOff, k.XOn))
		}
		k.Headroom = 0
	}
	return slices.Concat(notes, fitWatchdog(s), marks(s)), nil
}

// fitWatchdog sets the watchdog to the nearest times that Junos accepts, and notes differences from the request. If
// detection would take fewer polls than accepted, it polls more often; if more, less often.
func fitWatchdog(s *design.Switch) (notes []string) {
	w := &s.Spec.Watchdog
	if !w.On {
		return nil
	}
	asked := *w
	within := func(t, least, most, step unit.Time) unit.Time {
		return min(max((t+step-1)/step*step, least), most)
	}
	poll := min(w.Poll, w.Detect/leastDetect) / unit.Millisecond * unit.Millisecond
	w.Poll = within(max(poll, w.Detect/mostDetect), leastPoll, mostPoll, unit.Millisecond)
	w.Detect = within(w.Detect, leastDetect*w.Poll, mostDetect*w.Poll, w.Poll)
	w.Restore = within(w.Restore, leastRestore, mostRestore, unit.Millisecond)
	if w.Detect != asked.Detect || w.Restore != asked.Restore {
		const says = "the watchdog detects after %v and restores after %v, not %v and %v: Junos takes %v to %v, by %d to %d polls, and %v to %v"
		notes = append(notes, fmt.Sprintf(says, w.Detect, w.Restore, asked.Detect, asked.Restore, leastDetect*leastPoll,
			mostDetect*mostPoll, leastDetect, mostDetect, leastRestore, mostRestore))
	}
	return notes
}

// threshold returns a dynamic threshold: 7 is the free size, each step doubles it; -1 for none.
func threshold(alpha float64) int {
	if n := math.Log2(alpha) + 7; alpha > 0 && n == math.Round(n) && n >= 0 && n <= 10 {
		return int(n)
	}
	return -1
}

// room returns the bytes that a lone queue may use of the buffer, by its dynamic threshold. A lossless queue drops
// nothing: its threshold is the largest.
func room(spec *queue.Spec, i int) (bytes float64, threshold10 int) {
	n := 10
	if k := &spec.Queues[i]; !k.Lossless {
		n = threshold(k.Alpha)
	}
	alpha := math.Exp2(float64(n - 7))
	return float64(spec.Buffer) * alpha / (1 + alpha), n
}

// fill returns a WRED threshold as a fill level: whole percents of its queue's room, 1 at least.
func fill(spec *queue.Spec, i int, b unit.Bytes) int {
	of, _ := room(spec, i)
	return int(min(max(math.Round(100*float64(b)/of), 1), 100))
}

// levels are both fill levels of a queue, which differ.
func levels(spec *queue.Spec, i int) (low, high int) {
	r := spec.Queues[i].WRED
	low, high = fill(spec, i, r.Min), fill(spec, i, r.Max)
	low = min(low, 99)
	return low, max(high, low+1)
}

// marks notes the rounding of WRED thresholds to whole percents.
func marks(s *design.Switch) (notes []string) {
	for i := range s.Spec.Queues {
		if r := s.Spec.Queues[i].WRED; r.Max > 0 {
			low, high := levels(&s.Spec, i)
			of, _ := room(&s.Spec, i)
			notes = append(notes, fmt.Sprintf("queue %d: WRED of %v to %v is %d %% to %d %% of the queue's %v", i, r.Min, r.Max,
				low, high, unit.Bytes(math.Round(of/1e5))*100*unit.KB))
		}
	}
	return notes
}

// className is the forwarding class of a queue.
func className(i int) string { return fmt.Sprintf("CLASS-%d", i) }

// classes writes forwarding classes and the classifier.
func (w *writer) classes() {
	spec := &w.S.Spec
	for i := range spec.Queues {
		w.set("class-of-service forwarding-classes class %s queue-num %d", className(i), i)
		if spec.Queues[i].Lossless {
			w.set("class-of-service forwarding-classes class %s no-loss", className(i))
			w.set("class-of-service forwarding-classes class %s pfc-priority %d", className(i), i)
		}
	}
	one := slices.Max(spec.DSCP[:]) == 0 // a classifier without a line is none
	for i := range spec.Queues {
		var points []string
		for _, d := range codes(spec, i) {
			points = append(points, fmt.Sprintf("%06b", d))
		}
		list := strings.Join(points, " ")
		if len(points) > 1 {
			list = "[ " + list + " ]"
		}
		if len(points) > 0 && (i > 0 || one) { // DSCPs that no line names go to queue 0
			w.set("class-of-service classifiers dscp %s forwarding-class %s loss-priority low code-points %s", fabric,
				className(i), list)
		}
	}
	w.set("class-of-service interfaces et-* unit 0 classifiers dscp %s", fabric)
	if aggregated(w.S) > 0 {
		w.set("class-of-service interfaces ae* unit 0 classifiers dscp %s", fabric)
	}
}

// codes are the DSCPs of a queue.
func codes(spec *queue.Spec, i int) (out []int) {
	for d, q := range spec.DSCP {
		if int(q) == i {
			out = append(out, d)
		}
	}
	return out
}

// schedulers writes scheduling, drop profiles and ECN.
func (w *writer) schedulers() {
	spec := &w.S.Spec
	for i := range spec.Queues {
		k := &spec.Queues[i]
		c := "class-of-service schedulers " + className(i) + " "
		switch {
		case k.Strict:
			w.set(c + "priority strict-high")
		case k.Weight > 0:
			w.set(c+"transmit-rate percent %d", k.Weight)
		}
		_, n := room(spec, i)
		w.set(c+"buffer-dynamic-threshold %d", n)
		if k.WRED.Max > 0 {
			low, high := levels(spec, i)
			drop := "class-of-service drop-profiles " + className(i) + " interpolate "
			w.set(drop+"fill-level %d", low)
			w.set(drop+"fill-level %d", high)
			w.set(drop + "drop-probability 0")
			w.set(drop+"drop-probability %.0f", k.WRED.Probability.Percent())
			w.set(c+"drop-profile-map loss-priority any protocol any drop-profile %s", className(i))
			if k.WRED.ECN {
				w.set(c + "explicit-congestion-notification")
			}
		}
		w.set("class-of-service scheduler-maps %s forwarding-class %s scheduler %s", fabric, className(i), className(i))
	}
	w.set("class-of-service interfaces et-* scheduler-map %s", fabric)
	if aggregated(w.S) > 0 {
		w.set("class-of-service interfaces ae* scheduler-map %s", fabric)
	}
}

// pauses writes the shared buffer and PFC: a profile for each length of cable, from which the switch computes headroom.
func (w *writer) pauses() {
	s := w.S
	if s.Spec.LosslessMask() == 0 {
		return
	}
	w.buffers()
	count, longest := map[int64]int{}, map[int]int64{}
	for _, p := range s.Ports {
		count[metres(p)]++
		if c := channel(p); c > 0 {
			longest[c] = max(longest[c], metres(p))
		}
	}
	lengths := slices.SortedFunc(maps.Keys(count), func(a, b int64) int { // most ports' first
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(b, a))
	})
	for i, m := range lengths {
		if w.profiles[m] = fabric; i > 0 {
			w.profiles[m] = fmt.Sprintf("%s-%dM", fabric, m)
		}
		w.profile(w.profiles[m], m)
	}
	use := func(interfaces, profile string) {
		w.set("class-of-service interfaces %s congestion-notification-profile %s", interfaces, profile)
	}
	use("et-*", fabric)
	for _, p := range s.Ports {
		if own := w.profiles[metres(p)]; own != fabric {
			use(p.Name, own)
		}
	}
	if len(longest) > 0 {
		use("ae*", fabric)
	}
	for _, c := range slices.Sorted(maps.Keys(longest)) {
		if own := w.profiles[longest[c]]; own != fabric {
			use(name(c), own)
		}
	}
}

// metres returns the cable length of a port, rounded up; a delay is converted.
func metres(p *design.Port) int64 {
	mm := max(p.LengthMM, int64(float64(p.Prop)*1.98e8/1e9))
	return max(1, (mm+999)/1000)
}

// profile writes a congestion notification profile.
func (w *writer) profile(name string, metres int64) {
	spec := &w.S.Spec
	c := "class-of-service congestion-notification-profile " + name + " "
	for i := range spec.Queues {
		if !spec.Queues[i].Lossless {
			continue
		}
		for _, d := range codes(spec, i) {
			w.set(c+"input dscp code-point %06b pfc mru %d", d, spec.MTU)
		}
		w.set(c+"output ieee-802.1 code-point %03b flow-control-queue %d", i, i)
	}
	w.set(c+"input cable-length %d", metres)
	if wd := spec.Watchdog; wd.On {
		w.set(c+"pfc-watchdog poll-interval %d", wd.Poll/unit.Millisecond)
		w.set(c+"pfc-watchdog detection %d", wd.Detect/wd.Poll)
		w.set(c+"pfc-watchdog recovery %d", wd.Restore/unit.Millisecond)
		action := "drop"
		if wd.Forward {
			action = "forward"
		}
		w.set(c+"pfc-watchdog watchdog-action %s", action)
	}
}

// Shares of the buffer that lossy and multicast queues keep, in percent.
const (
	lossyShare     = 20
	multicastShare = 10
)

// buffers divides the shared buffer: headroom for all ports, a share for lossy queues, the rest lossless.
func (w *writer) buffers() {
	const c = "class-of-service shared-buffer "
	spec := &w.S.Spec
	var reserved unit.Bytes
	for _, p := range w.S.Ports {
		for i, h := range p.Headroom {
			if spec.Queues[i].Lossless {
				reserved += h
			}
		}
	}
	room := min(max(int(math.Ceil(100*float64(reserved)/float64(spec.Buffer))), 10), 40)
	w.set(c+"ingress buffer-partition lossless percent %d", 100-lossyShare-room)
	for i := range spec.Queues {
		if k := &spec.Queues[i]; k.Lossless && k.XOff == 0 {
			w.set(c+"ingress buffer-partition lossless dynamic-threshold %d", threshold(k.Alpha))
			break
		}
	}
	w.set(c+"ingress buffer-partition lossless-headroom percent %d", room)
	w.set(c+"ingress buffer-partition lossy percent %d", lossyShare)
	w.set(c+"egress buffer-partition lossless percent %d", 100-lossyShare-multicastShare)
	w.set(c+"egress buffer-partition lossy percent %d", lossyShare)
	w.set(c+"egress buffer-partition multicast percent %d", multicastShare)
}
