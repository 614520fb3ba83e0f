package swconf

import "slices"

// watchdogFloor: where the watchdog looks at queues with guaranteed bandwidth alone, those that it is on for
// have some. A queue that strict ones starve would look like one that is stuck.
func (l *linter) watchdogFloor() {
	for _, c := range l.Configs {
		if !c.Floors || !c.Watchdog.On.V {
			continue
		}
		said := map[Place]bool{}
		for _, p := range c.Ports {
			if !p.Watchdog.V || p.Down.V || p.QoS == nil {
				continue
			}
			for i := range p.QoS.Queues {
				k := &p.QoS.Queues[i]
				if !p.QoS.Lossless(i, p) || p.Floors>>i&1 == 1 {
					continue
				}
				at := first(k.At, k.Pause.At)
				if slices.ContainsFunc(c.Ports, func(o *Port) bool { return o.QoS == p.QoS && o.Floors>>i&1 == 1 }) {
					at = p.At // the queue's line may be in the block of a port that has the bandwidth
				}
				if said[at] {
					continue
				}
				said[at] = true
				l.say(at, "write bandwidth guaranteed 100, in kbps, below the queue",
					"%s is lossless, watched at %s, and has no guaranteed bandwidth", k.Name, p.Name)
			}
		}
	}
}
