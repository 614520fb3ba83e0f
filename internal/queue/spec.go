package queue

import (
	"fmt"

	"railyard/internal/field"
	"railyard/unit"
)

// Classes is the number of queues per port and of PFC priorities.
const Classes = 8

// Spec is the configuration of one switch. Its tags define the scenario's keys: the key (yaml), the range in the
// key's unit (range), the two words for off and on (enum) and the meaning (doc).
type Spec struct {
	DSCP   [64]uint8      `json:"dscp" yaml:"dscp" range:"0,7" doc:"DSCP to queue; all other DSCPs use queue 0"`
	Queues [Classes]Class `json:"queues" yaml:"queues" doc:"queues 0 to 7, each also the PFC priority of its number"`
	Buffer unit.Bytes     `json:"buffer_bytes" yaml:"buffer" range:"1KB,2000MB" doc:"packet memory"`
	// Ethernet header to FCS
	MTU       unit.Bytes `json:"mtu_bytes" yaml:"mtu" range:"256B,16KiB" doc:"largest frame"`
	PFCQuanta int        `json:"pfc_quanta" yaml:"pfc_quanta" range:"1,65535" doc:"pause time of a PFC frame, in 512 bit times"`
	Watchdog  Watchdog   `json:"watchdog" yaml:"watchdog" doc:"PFC storm watchdog"`
	Trim      Trim       `json:"trim,omitzero" yaml:"trim,omitzero" doc:"packet trimming: what queues with trim make of packets that they have no room for"`
	CoreMarks bool       `json:"core_marks,omitzero" yaml:"mark_core_only,omitzero" doc:"ports to servers mark nothing: a mark then means that paths are loaded unevenly, and no incast (default false)"`
	Timed     bool       `json:"timed,omitzero" yaml:"limits_in_time,omitzero" doc:"limit, wred_min and wred_max of a port whose cable runs slower than its own rate are less in proportion, as where they are configured in us (default false): they are bytes"`
	NoIFA     bool       `json:"no_ifa,omitzero" yaml:"ifa,omitzero" enum:"supported,unsupported" doc:"whether switches write metadata of the in-band flow analyzer into packets that request it (default supported)"`
	// SameSeed and SameLagSeed cause polarization, between switches and inside one.
	SameSeed    bool `json:"same_seed,omitzero" yaml:"hash_seed" enum:"per-switch,same" doc:"same: every switch hashes equally, which polarizes"`
	SameLagSeed bool `json:"same_lag_seed,omitzero" yaml:"lag_seed,omitzero" enum:"own,ecmp" doc:"how a layer 3 port channel hashes its members: with a seed of its own, or with that of ECMP, which polarises (default own)"`
}

// Class is one queue of every port, and the PFC priority of the same number.
type Class struct {
	// Of several strict classes the one with the higher number sends first.
	Strict bool `json:"strict" yaml:"strict" doc:"strict priority"`
	// Weight is the share of the bandwidth after strict priority; a class with 0 sends only when no other can.
	Weight    int        `json:"weight" yaml:"weight" range:"0,100" doc:"bandwidth remaining percent"`
	Lossless  bool       `json:"lossless" yaml:"lossless" doc:"protected by PFC"`
	WRED      WRED       `json:"wred" yaml:",inline"`
	XOff      unit.Bytes `json:"xoff_bytes" yaml:"xoff" range:"0B,2000MB" doc:"ingress bytes that pause the sender; 0B: dynamic by alpha"`
	XOn       unit.Bytes `json:"xon_bytes" yaml:"xon" range:"0B,2000MB" doc:"ingress bytes that let it go on"`
	Alpha     float64    `json:"alpha" yaml:"alpha" range:"0,1024" doc:"dynamic threshold, share of the free buffer"`
	XOnOffset unit.Bytes `json:"xon_offset_bytes" yaml:"xon_offset" range:"0B,2000MB" doc:"resume also this far below xoff or the dynamic threshold; 0B: only at xon"`
	Headroom  unit.Bytes `json:"headroom_bytes" yaml:"headroom" range:"0B,2000MB" doc:"per port; 0B: computed from rate, cable, MTU and response time"`
	Limit     unit.Bytes `json:"limit_bytes" yaml:"limit" range:"0B,2000MB" doc:"lossy: egress bytes above which packets drop; 0B: by alpha"`
	Trim      bool       `json:"trim,omitzero" yaml:"trim,omitzero" doc:"lossy: instead of dropping, packets are trimmed to their headers, as set by switch.trim"`
}

// Unnamed makes c the class of a queue that no configuration names: lossy, its dynamic threshold the free buffer.
func (c *Class) Unnamed() { *c = Class{Alpha: 1} }

// WRED is random early detection on an egress queue.
type WRED struct {
	Min         unit.Bytes `json:"min_bytes" yaml:"wred_min" range:"0B,2000MB" doc:"marking starts above; queue 3 has 150KB and wred_max 3MB with 7 % at any rate, as one vendor writes (docs: Congestion control)"`
	Max         unit.Bytes `json:"max_bytes" yaml:"wred_max" range:"0B,2000MB" doc:"everything is marked above; 0B: no WRED"`
	Probability unit.Share `json:"probability" yaml:"probability" range:"0,100" doc:"percent marked just below wred_max"`
	// avg += (q-avg) >> Weight
	Weight uint `json:"weight" yaml:"wred_weight" range:"0,15" doc:"averaging exponent; 0: instantaneous"`
	ECN    bool `json:"ecn" yaml:"ecn" doc:"mark instead of drop"`
}

// Watchdog is the PFC storm watchdog (docs/references.md, watchdog).
type Watchdog struct {
	On      bool      `json:"on" yaml:"on" doc:"watch for queues that stay paused"`
	Poll    unit.Time `json:"poll_ps" yaml:"poll" range:"10us,3600s" doc:"polling interval"`
	Detect  unit.Time `json:"detect_ps" yaml:"detect" range:"10us,3600s" doc:"time paused without sending after which a storm is detected"`
	Restore unit.Time `json:"restore_ps" yaml:"restore" range:"10us,3600s" doc:"time without pause frames after which the storm is over"`
	Forward bool      `json:"forward" yaml:"action" enum:"drop,forward" doc:"what happens to packets of a stormed queue"`
}

// Reached reports whether n consecutive polls take at least t.
func (w *Watchdog) Reached(polls int, t unit.Time) bool {
	return polls > 0 && unit.Time(polls) >= (t+w.Poll-1)/w.Poll
}

// Validate refuses a Spec no switch could run, with a path as in queues.3.xoff. The order of thresholds (xON < WRED
// min < WRED max < xOFF) is checked where both sides are set.
func (s *Spec) Validate() error {
	if s.Buffer <= 0 {
		return field.New("buffer", "must be positive")
	}
	if s.MTU < 256 || s.MTU > 16384 {
		return field.New("mtu", "%v is out of range 256B–16KiB", s.MTU)
	}
	if s.PFCQuanta < 1 || s.PFCQuanta > 0xffff {
		return field.New("pfc_quanta", "%d is out of range 1–65535", s.PFCQuanta)
	}
	for d, q := range s.DSCP {
		if q >= Classes {
			return field.New("dscp", "DSCP %d goes to queue %d; queues are 0 to 7", d, q)
		}
	}
	weights := 0
	for i := range s.Queues {
		if err := s.Queues[i].validate(s.Buffer); err != nil {
			return field.Under(fmt.Sprintf("queues.%d", i), err)
		}
		if !s.Queues[i].Strict {
			weights += s.Queues[i].Weight
		}
	}
	if weights > 100 {
		return field.New("queues", "bandwidth shares add up to %d %%, at most 100", weights)
	}
	if err := s.trims(); err != nil {
		return err
	}
	w := s.Watchdog
	if w.On && (w.Poll <= 0 || w.Detect < w.Poll || w.Restore < w.Poll) {
		return field.New("watchdog", "poll must be positive, detect and restore at least one poll")
	}
	return nil
}

func (c *Class) validate(buffer unit.Bytes) error {
	w := c.WRED
	switch {
	case c.Weight < 0 || c.Weight > 100:
		return field.New("weight", "%d is out of range 0–100", c.Weight)
	case w.Max < 0 || w.Min < 0:
		return field.New("wred_min", "must not be negative")
	case w.Max > 0 && w.Min > w.Max: // equal values make marking a step
		return field.New("wred_min", "%v is above wred_max %v", w.Min, w.Max)
	case w.Max > buffer:
		return field.New("wred_max", "%v is above the buffer of %v: no queue can reach it", w.Max, buffer)
	case w.Probability < 0 || w.Probability > 1:
		return field.New("probability", "%g %% is out of range 0–100 %%", 100*w.Probability)
	case w.Weight > 15:
		return field.New("wred_weight", "%d is out of range 0–15", w.Weight)
	case c.XOff > 0 && c.XOn >= c.XOff:
		return field.New("xon", "%v is not below xoff %v: traffic would never resume", c.XOn, c.XOff)
	case c.XOff > buffer:
		return field.New("xoff", "%v is above the buffer of %v", c.XOff, buffer)
	case c.Lossless && c.XOff == 0 && c.Alpha <= 0:
		return field.New("xoff", "a lossless queue needs xoff and xon, or alpha")
	case c.Alpha < 0 || c.Alpha > 1024:
		return field.New("alpha", "%v is out of range 0–1024", c.Alpha)
	case c.XOn < 0 || c.XOnOffset < 0:
		return field.New("xon", "xon and xon_offset must not be negative, found %v and %v",
			c.XOn, c.XOnOffset)
	case c.XOnOffset > buffer:
		return field.New("xon_offset", "%v is above the buffer of %v", c.XOnOffset, buffer)
	case c.Headroom < 0 || c.Limit < 0:
		return field.New("headroom", "must not be negative")
	case c.Trim && c.Lossless:
		return field.New("trim", "a lossless queue drops nothing that could be trimmed: lossless or trim")
	case !c.Lossless && c.Limit == 0 && c.Alpha <= 0:
		return field.New("limit", "a lossy queue needs a limit or alpha")
	}
	return nil
}

// Resume returns the ingress bytes at which a paused sender may resume while the threshold is limit: SAI's
// max(XON_TH, limit - XON_OFFSET_TH). Without an offset xON alone decides; a dynamic threshold without both resumes
// two frames below itself.
func (c *Class) Resume(limit, mtu unit.Bytes) unit.Bytes {
	switch {
	case c.XOnOffset > 0:
		return max(c.XOn, limit-c.XOnOffset)
	case c.XOff == 0 && c.XOn == 0:
		return max(limit-2*mtu, 0)
	}
	return c.XOn
}

// Default is a switch as the source documents configure it: RoCE (DSCP 24) in queue 3 with ECN 150..3000 KB at 7 %
// and PFC, CNP (DSCP 48) in queue 7 with strict priority, other traffic in queue 0. xOFF and xON keep xON < WRED
// min < WRED max < xOFF.
func Default() Spec {
	s := Spec{Buffer: 64 * unit.MiB, MTU: 9216, PFCQuanta: 0xffff}
	s.DSCP[24], s.DSCP[48] = 3, 7
	for i := range s.Queues {
		s.Queues[i].Unnamed()
	}
	s.Queues[0].Weight = 50
	s.Queues[3] = Class{Weight: 50, Lossless: true,
		WRED: WRED{Min: 150 * unit.KB, Max: 3000 * unit.KB, Probability: 0.07, ECN: true},
		XOff: 3500 * unit.KB, XOn: 100 * unit.KB}
	s.Queues[7] = Class{Strict: true, Alpha: 1}
	s.Watchdog = Watchdog{Poll: 200 * unit.Millisecond, Detect: 200 * unit.Millisecond,
		Restore: 200 * unit.Millisecond}
	return s
}

// LosslessMask returns the bit set of lossless classes.
func (s *Spec) LosslessMask() (m uint8) {
	for i := range s.Queues {
		if s.Queues[i].Lossless {
			m |= 1 << i
		}
	}
	return m
}

// WREDMask returns the bit set of classes whose WRED checks every arriving packet, because it drops instead of
// marking or its average needs each packet.
func (s *Spec) WREDMask() (m uint8) {
	for i := range s.Queues {
		if w := &s.Queues[i].WRED; w.Max > 0 && (!w.ECN || w.Weight > 0) {
			m |= 1 << i
		}
	}
	return m
}
