package rcudp

// monitor reports a port's link failure or repair to MRC connections. They stop or start using the plane
// immediately and notify their peers.
func (d *Device) monitor() {
	defer d.done.Done()
	up := make([]bool, len(d.opt.Planes))
	for i := range up {
		up[i] = true
	}
	for first := true; first || d.links.next(); first = false {
		for plane := range up {
			if is := d.links.up(plane); is != up[plane] {
				up[plane] = is
				d.planeIs(plane, is)
			}
		}
	}
}

// planeIs notifies all connections, and sends their port updates.
func (d *Device) planeIs(plane int, up bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.now()
	d.ep.PlaneIs(now, plane, up)
	d.flush(now)
	d.rearm(now)
}
