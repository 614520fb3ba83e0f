package swconf

import (
	"slices"
	"strings"

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

// watches reports whether the watchdog monitors a port: the switch has it on, and the port does, by its own line or
// by its language. NX-OS needs both lines (source documents, chapter 11).
func (c *Config) watches(p *Port) bool { return c.Watchdog.On.V && p.Watchdog.V }

// guards reports whether the watchdog monitors any port, or the ports are missing in the configuration.
func (c *Config) guards() bool {
	return c.Watchdog.On.V && (len(c.Ports) == 0 || slices.ContainsFunc(c.Ports, c.watches))
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
			lines := setWatchdog.in(c.OS)
			if c.OS == NXOS {
				for _, p := range c.unwatched() {
					lines = append(lines, c.watching(p)...)
				}
			}
			l.paste(lines)
			continue
		}
		for _, p := range c.unwatched() {
			if c.guards() {
				l.say(first(p.Watchdog.At, p.At), fixWatchdogPort.in(c), "%s is lossless and its watchdog is off", p.Name)
			} else { // one finding of all
				l.on = &[]string{p.Name}
				l.say(c.Watchdog.On.At, fixWatchdogPort.in(c), "the switch has the watchdog on, and no port has")
			}
			l.paste(c.watching(p))
			l.on = nil
		}
	}
}

// unwatched returns the lossless ports without the watchdog.
func (c *Config) unwatched() (ports []*Port) {
	for _, p := range c.Ports {
		if p.Paused() != 0 && !p.Down.V && !c.watches(p) {
			ports = append(ports, p)
		}
	}
	return ports
}

// watching returns the commands that enable the watchdog for a port; a line that disables it is removed.
func (c *Config) watching(p *Port) []string {
	if own := c.words(p.Watchdog.At.Line); c.OS == EOS && strings.HasSuffix(own, "watchdog disable") {
		return c.beside(p.Watchdog.At, "no "+own)
	}
	return setWatchdogPort.in(c.OS, "port", p.Name)
}
