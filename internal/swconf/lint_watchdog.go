package swconf

import (
	"slices"

	"railyard/internal/queue"
)

// watchdogFloor: if the watchdog monitors only queues with guaranteed bandwidth, monitored queues must have some. A
// queue that is starved by strict ones would look stuck.
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

// watches reports whether the watchdog monitors a port: one that enables it, or all if no port does.
func (c *Config) watches(p *Port) bool {
	return c.Watchdog.On.V && (p.Watchdog.V || !p.Watchdog.Is() &&
		!slices.ContainsFunc(c.Ports, func(p *Port) bool { return p.Watchdog.V }))
}

// watchdogMissing requires the watchdog wherever a class is lossless.
func (l *linter) watchdogMissing() {
	for _, c := range l.Configs {
		var lossless Place
		for _, p := range c.Ports {
			if p.Paused() != 0 && lossless.Line == 0 {
				lossless = p.At
			}
		}
		if lossless.Line == 0 && l.anyPaused(c) {
			lossless = c.top()
			for i := range queue.Classes {
				if q := c.QoS.Queues[i].Pause; q.Is() {
					lossless = q.At
				}
			}
		}
		if lossless.Line == 0 {
			continue
		}
		if !c.Watchdog.On.V {
			at := c.Watchdog.On.At
			if at.Line == 0 {
				at = lossless
				if c.QoS != nil {
					for i := range queue.Classes {
						if q := c.QoS.Queues[i].Pause; q.Is() {
							at = q.At
						}
					}
				}
			}
			l.say(at, fixWatchdog.in(c), "classes are lossless and no watchdog looks after them")
			l.paste(setWatchdog.in(c.OS))
			continue
		}
		for _, p := range c.Ports {
			if p.Paused() != 0 && !p.Down.V && !c.watches(p) {
				l.say(first(p.Watchdog.At, p.At), "turn the watchdog on for the port",
					"%s is lossless and its watchdog is off", p.Name)
				l.pastePort(c, p, setWatchdogPort, "")
			}
		}
	}
}
