package swconf

// Marking in the core only (queue.Spec.CoreMarks) is expressed by port settings: ports to servers lack a queue's ECN
// and are otherwise equal.

// unmarked is equal for two that differ in headroom and ECN alone.
func (q *QoS) unmarked() Print {
	o := *q
	for i := range o.Queues {
		if o.Queues[i].WRED.V.ECN {
			o.Queues[i].WRED = Said[WRED]{}
		}
	}
	return o.plain()
}

// marks reports whether some queue does.
func (q *QoS) marks() bool {
	for i := range q.Queues {
		if q.Queues[i].WRED.V.ECN {
			return true
		}
	}
	return false
}

// marking returns the QoS of ports that mark, one of these ports, and the ports like q's that do not. It returns
// nil if all mark, or none.
func (c *Config) marking(q *QoS) (marks *QoS, at *Port, without []*Port) {
	same := q.unmarked()
	for _, p := range c.Ports {
		switch {
		case p.QoS == nil || p.Down.V || p.QoS.unmarked() != same:
		case !p.QoS.marks():
			without = append(without, p)
		case marks == nil:
			marks, at = p.QoS, p
		}
	}
	if len(without) == 0 {
		return nil, nil, nil
	}
	return marks, at, without
}

// Unmarked are the ports whose ECN is omitted while others have it.
func (c *Config) Unmarked() (ports map[*Port]bool) {
	q, _ := c.Typical()
	if q == nil {
		return nil
	}
	if marks, _, without := c.marking(q); marks != nil {
		ports = map[*Port]bool{}
		for _, p := range without {
			ports[p] = true
		}
	}
	return ports
}
