package rcudp

// monitor tells the connections by MRC when a port of ours loses its cable, or has it back, so that they drop
// the plane at once and their peers hear of it.
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

// planeIs tells all connections, and sends what they have to say of it.
func (d *Device) planeIs(plane int, up bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.now()
	d.ep.PlaneIs(now, plane, up)
	d.flush(now)
	d.rearm(now)
}
