package swconf

import (
	"fmt"

	"railyard/internal/queue"
	"railyard/unit"
)

// Trim is the configuration of packets that queues with Queue.Trim trim.
type Trim struct {
	Size    Said[unit.Bytes]
	DSCP    Said[uint8]
	LastHop Said[uint8] // DSCP at ports to servers, if different
	Queue   Said[int]   // queue at this switch, if it differs from their DSCP's
}

// sonicTrim is the default length of trimmed packets in SONiC.
const sonicTrim = 128 * unit.Byte

// trim fills a Spec, and notes deviations of the simulator.
func (c *Config) trim(spec *queue.Spec, note func(format string, args ...any)) {
	if spec.TrimMask() == 0 {
		return
	}
	t := &c.Trim
	if !t.DSCP.Is() {
		note("queues trim, and the size is not configured: they drop")
		for i := range spec.Queues {
			spec.Queues[i].Trim = false
		}
		return
	}
	spec.Trim = queue.Trim{Size: sonicTrim, DSCP: t.DSCP.V, LastHop: t.DSCP.V}
	if t.Size.Is() {
		spec.Trim.Size = t.Size.V
	}
	if t.LastHop.Is() {
		spec.Trim.LastHop = t.LastHop.V
	}
	if q := spec.DSCP[t.DSCP.V&63]; t.Queue.Is() && t.Queue.V != int(q) {
		note("trimmed packets leave by queue %d and are simulated in queue %d, where their DSCP goes", t.Queue.V, q)
	}
}

// says returns the description of a queue that trims, for show.
func (t *Trim) says() string {
	if !t.DSCP.Is() {
		return "trims, size not configured"
	}
	s := "trims"
	if t.Size.Is() {
		s += fmt.Sprintf(" to %v", t.Size.V)
	}
	s += fmt.Sprintf(", DSCP %d", t.DSCP.V)
	if t.LastHop.Is() && t.LastHop.V != t.DSCP.V {
		s += fmt.Sprintf(", to servers %d", t.LastHop.V)
	}
	return s
}
