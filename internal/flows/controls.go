package flows

import (
	_ "embed"
	"encoding/json"
	"math"
	"slices"

	"railyard/internal/scenario"
	"railyard/rc"
	"railyard/unit"
)

// retriesExceeded is the error of a queue pair that gave up.
var retriesExceeded = rc.RetryExceeded.String()

// Age returns when window w of a Curve begins, since senders began to share a link, or since the others have ended.
// Windows double every second time, from 10 us to 164 ms.
func Age(w int) unit.Time { return ages[w] }

// ages has windows that begin before 82 days.
var ages = func() (all [80]unit.Time) {
	for w := 1; w < len(all); w++ {
		all[w] = unit.Time(float64(10*unit.Microsecond) * math.Pow(2, float64(w-1)/2))
	}
	return all
}()

// There are equal numbers of windows after the other senders have ended, and fewer before.
const (
	sharedWindows = 18
	aloneWindows  = 29
)

// Curve is the use of one link by senders that began at line rate, measured with packets.
type Curve struct {
	Control string    `json:"control"` // name from ControlOf
	Rate    unit.Rate `json:"rate_bps"`
	Senders int       `json:"senders"`
	// Shared is the part of the link's rate that they used together, by window; the last value continues.
	Shared []float64 `json:"shared"`
	// Alone is the use of the link by one sender after the others had ended, by window; the last value continues.
	Alone []float64 `json:"alone"`

	top float64 // final share of the link's rate; 1 if the measurement did not wait for it
}

//go:embed controls.json
var controlsFile []byte

// curves are the curves of a control at a rate, by the number of senders.
type curves []Curve

// known lists the curves that were measured.
var known = func() (all []Curve) {
	if err := json.Unmarshal(controlsFile, &all); err != nil {
		panic("flows: controls.json: " + err.Error())
	}
	for i := range all {
		c := &all[i]
		if c.top = in(c.Alone, len(c.Alone)); c.top < lowest {
			c.top = 1
		}
		for w := range c.Alone {
			c.Alone[w] /= c.top
		}
	}
	return all
}()

// ControlOf names how a service of a plan reacts to congestion: the transport, the congestion control, and the
// switches' action when its queue is full.
func ControlOf(p *scenario.Plan, s *scenario.Service) string {
	kind := "rc"
	if s.Carried != nil {
		kind = s.Carried.Name
	}
	q := &p.Spec.Queues[p.Spec.DSCP[uint8(s.DSCP)]]
	does := "drops"
	switch {
	case p.Scheduled != nil:
		does = "scheduled"
	case q.Lossless:
		does = "pauses"
	case q.Trim:
		does = "trims"
	}
	return kind + "/" + s.CC.Name + "/" + does
}

// curvesOf returns the measured curves of a control at the nearest rate. It returns none if the control was not
// measured, or leaves nothing unused.
func curvesOf(control string, rate unit.Rate) (all curves) {
	nearest := unit.Rate(0)
	off := func(r unit.Rate) float64 { return math.Abs(math.Log(float64(r) / float64(rate))) }
	for i := range known {
		if c := &known[i]; c.Control == control && (nearest == 0 || off(c.Rate) < off(nearest)) {
			nearest = c.Rate
		}
	}
	for _, c := range known {
		if c.Control == control && c.Rate == nearest {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b Curve) int { return a.Senders - b.Senders })
	if !slices.ContainsFunc(all, func(c Curve) bool {
		return c.top < 1 || slices.Min(c.Shared[1:]) < nearlyAll || slices.Min(c.Alone[1:]) < nearlyAll
	}) {
		return nil
	}
	return all
}

// nearlyAll is the part of a rate that counts as the whole rate.
const nearlyAll = 0.99

// window returns the window of an age.
func window(age unit.Time) int {
	if age < Age(1) {
		return 0
	}
	w := 1 + int(2*math.Log2(float64(age)/float64(Age(1))))
	for Age(w+1) <= age { // corrects rounding
		w++
	}
	return w
}

// lowest is the part of a link's rate above which a lone sender counts as recovered, because HPCC leaves 13 % idle.
const lowest = 0.8

// in returns the value at window w, or the last value if w is beyond the curve.
func in(values []float64, w int) float64 { return values[min(w, len(values)-1)] }

// at interpolates curves for a link whose demand is a multiple of its rate, between two numbers of senders.
func (all curves) at(times float64, of func(*Curve) float64) float64 {
	if len(all) == 0 || times <= 1 {
		return 1
	}
	below, last := 1.0, 1.0
	for i := range all {
		v := of(&all[i])
		if n := float64(all[i].Senders); times <= n {
			return last + (v-last)*(times-below)/(n-below)
		}
		below, last = float64(all[i].Senders), v
	}
	return last
}
