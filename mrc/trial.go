package mrc

// trial is the test that a value with a lost packet must pass before data use it again. It needs consecutive
// answered probes, more each time that it loses packets far more often than the others. A path that loses one
// packet of 50 is thus left although single probes succeed. If all paths lose equally, all stay in use.
type trial struct {
	back    int64 // the round in which the value was taken into use again
	strikes uint8
	need    uint16 // answers
	asked   bool   // the last probe is not answered yet
}

// trials are the trials of a profile's values.
type trials struct {
	of     []trial
	losses int64 // packets that were lost, by all values
}

// mostStrikes bounds the answers in a row: 4 to the power of strikes, so 1,024.
const mostStrikes = 5

func (t *trial) begin() { t.need, t.asked = 1<<(2*t.strikes), false }

// strike counts a loss. A value is worse if it carried less than a quarter of the other values' packets per loss. A
// round gives each active value a packet, or a burst.
func (p *profile) strike(i uint16) {
	t := &p.trials.of[i]
	carried, all := p.rounds-t.back, p.rounds*int64(max(1, p.wanted))
	switch {
	case 4*carried*p.trials.losses >= all:
		t.strikes -= min(t.strikes, 1)
	case t.strikes < mostStrikes:
		t.strikes++
	}
	t.begin()
}

// trying records a probe. A probe after an unanswered one restarts the count of consecutive answers.
func (p *profile) trying(i uint16) {
	t := &p.trials.of[i]
	if t.asked {
		t.begin()
	}
	t.asked = true
}

// passes processes an answer and reports whether the value needs no more answers.
func (p *profile) passes(i uint16) bool {
	t := &p.trials.of[i]
	t.asked = false
	if t.need > 1 {
		t.need--
		return false
	}
	t.back = p.rounds
	return true
}
