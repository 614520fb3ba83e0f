package reuse

// Whole has labs simulate the middles of messages, too.
func (r *Run) Whole() { r.whole = true }
