package diagnose

// pauseRing is switches that pause each other in a circle: each waits for the next, and none can begin. Ports that are
// paused and send now and then are congested; in a ring nothing of the class leaves any of them.
var pauseRing = Cause{Name: "pause-ring", About: "circular pause dependency (deadlock)", find: findRings,
	By: []string{"pauses received", "pauses sent", "packets sent"}}

func findRings(f *Fabric, c *Cause) (out []Finding) {
	f.classes(func(k int) {
		ring := f.ring(k)
		if len(ring) == 0 {
			return
		}
		d := c.on(ring[0].From.On, k, Proven, "priority %d is in a circular pause dependency", k)
		for _, x := range ring {
			d.Says += sprintf(": %s pauses %s", x.From.On.Name, x.To.On.Name)
			d.show(x.Seen(), x.To.read(txPackets(k)))
		}
		d.Why = "each switch of the circle is blocked on buffer space in the next one; the deadlock lasts until a watchdog drops packets or a port is shut down"
		d.Fix = "enable the PFC watchdog; remove the route that closes the circle (up-down routing has none; config lint --fabric finds circular dependencies)"
		d.next(ring[0].To, askPFC, "is the port still paused?")
		d.harm = 1
		out = append(out, d)
	})
	return out
}

// ring follows pauses between switches whose paused ports send nothing at all, until one
// comes again.
func (f *Fabric) ring(class int) []Pause {
	stuck := map[*Device][]Pause{}
	for _, x := range f.Pauses {
		r := x.To.read(txPackets(max(class, 0)))
		if x.Class == class && x.From.On.Kind == Switch && x.To.On.Kind == Switch && r.None() && r.Two {
			stuck[x.From.On] = append(stuck[x.From.On], x)
		}
	}
	const open, shut = 1, 2
	state := map[*Device]int{}
	var path []Pause
	var visit func(d *Device) []Pause
	visit = func(d *Device) []Pause {
		state[d] = open
		for _, x := range stuck[d] {
			path = append(path, x)
			switch to := x.To.On; state[to] {
			case open:
				for i := range path {
					if path[i].From.On == to {
						return path[i:]
					}
				}
			case 0:
				if r := visit(to); r != nil {
					return r
				}
			}
			path = path[:len(path)-1]
		}
		state[d] = shut
		return nil
	}
	for _, d := range f.Devices {
		if state[d] == 0 {
			if r := visit(d); r != nil {
				return r
			}
		}
	}
	return nil
}
