package host

import (
	"testing"

	"railyard/internal/queue"
	"railyard/unit"
)

// Two NICs behind one bus share its bandwidth, half each, for sending and receiving. With a slower PCIe link of its
// own, each has at most that link's bandwidth.
func TestSharedBus(t *testing.T) {
	const bytes = 4 * unit.MB
	for _, c := range []struct {
		name    string
		buses   []Bus
		senders [2]int32
		to      [2]int32
		want    unit.Rate // rate of each
	}{
		{"the senders' bus", []Bus{{rate, []int32{0, 1}}}, [2]int32{0, 1}, [2]int32{2, 3}, rate / 2},
		{"the receivers' bus", []Bus{{rate, []int32{2, 3}}}, [2]int32{0, 1}, [2]int32{2, 3}, rate / 2},
		{"and a slower link", []Bus{{rate, []int32{0, 1}}, {rate / 4, []int32{0}}, {rate / 4, []int32{1}}},
			[2]int32{0, 1}, [2]int32{2, 3}, rate / 4},
		{"wide enough", []Bus{{3 * rate, []int32{0, 1}}}, [2]int32{0, 1}, [2]int32{2, 3}, rate},
	} {
		l := newLab(t, func(c *Config, _ *queue.Spec) { c.RxXOff, c.RxXOn = 100*unit.KB, 50*unit.KB },
			1, 1, 1, 1)
		for _, b := range c.buses {
			l.Share(b)
		}
		var sent []int32
		for i := range c.senders {
			sent = append(sent, l.Send(l.connect(c.senders[i], c.to[i], 0), bytes, 0))
		}
		l.run(10 * unit.Millisecond)
		least := unit.Serialize(bytes, c.want)
		for _, m := range sent {
			if took := l.Messages[m].Done; took < least || took > least*11/10 || l.Net.Drops != 0 {
				t.Errorf("%s: took %v, alone it is %v", c.name, took, least)
			}
		}
	}
}
