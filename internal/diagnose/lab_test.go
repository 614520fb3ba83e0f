package diagnose

import (
	"fmt"

	"railyard/internal/counters"
	"railyard/unit"
)

// lab is a small fabric whose counters are written by hand, so that a test can say what one
// mechanism does to them and nothing else: two leaves with two hosts each, one spine. Data
// is in class 3, CNPs in 6; ten seconds go by.
type lab struct {
	before, after map[string]*counters.Snapshot
	names         []string
	mute          map[string]bool // devices of which there are no outputs
}

const (
	data  = 3
	cnps  = 6
	often = 1_000_000
)

// healthy is a lab in which every host sends and nothing waits for long.
func healthy() *lab {
	l := &lab{before: map[string]*counters.Snapshot{}, after: map[string]*counters.Snapshot{},
		mute: map[string]bool{}}
	for i, d := range []string{"leaf1", "leaf2", "spine1"} {
		ports := []string{"Ethernet1/1", "Ethernet1/2", "Ethernet1/9"}
		l.device(d, counters.Switch, "sonic-pfc", ports[:3-i/2])
	}
	for i := 1; i <= 4; i++ {
		l.device(fmt.Sprintf("host-%d", i), counters.Host, "ethtool", []string{"eth0"})
	}
	l.cable("leaf1", "Ethernet1/1", "host-1", "eth0")
	l.cable("leaf1", "Ethernet1/2", "host-2", "eth0")
	l.cable("leaf2", "Ethernet1/1", "host-3", "eth0")
	l.cable("leaf2", "Ethernet1/2", "host-4", "eth0")
	l.cable("leaf1", "Ethernet1/9", "spine1", "Ethernet1/1")
	l.cable("leaf2", "Ethernet1/9", "spine1", "Ethernet1/2")
	return l
}

func (l *lab) device(name string, kind counters.Kind, format string, ports []string) {
	l.names = append(l.names, name)
	for i, m := range []map[string]*counters.Snapshot{l.before, l.after} {
		s := &counters.Snapshot{Device: name, Kind: kind, Format: format, File: name + ".txt", Line: 1,
			At: counters.Moment{Seconds: int64(100 + 10*i), Is: true}}
		for k, p := range ports {
			s.Ports = append(s.Ports, normal(p, kind, 10*(k+1), uint64(i)))
		}
		m[name] = s
	}
}

// normal is a port that counts what a port counts, before (0) or after (1).
func normal(name string, kind counters.Kind, line int, after uint64) counters.Port {
	p := counters.Port{Name: name, Line: line, Up: counters.Say(true), Speed: counters.Say(400 * unit.Gbps),
		MTU: counters.Say[unit.Bytes](9216), PFC: counters.Say(true),
		Lossless: counters.Say[uint8](1 << data)}
	zero := func(cs ...*counters.Count) {
		for _, c := range cs {
			*c = counters.Count{V: 7, Is: true, Line: line} // what it counted once
		}
	}
	zero(&p.InErrors, &p.CRC, &p.OutDiscards, &p.InDiscards, &p.Flaps, &p.Giants)
	for k := range counters.Priorities {
		q := &p.Queues[k]
		zero(&p.RxPFC[k], &p.TxPFC[k], &q.TxPackets, &q.TxBytes, &q.DropPackets, &q.Marked)
		zero(&p.Groups[k].RxPackets, &p.Groups[k].RxBytes, &p.Groups[k].DropPackets)
	}
	p.Queues[data].TxPackets.V += often * after
	p.Queues[data].TxBytes.V += 4200 * often * after
	p.Queues[data].Marked.V += 100 * after
	p.Groups[data].RxPackets.V += often * after
	p.Groups[data].RxBytes.V += 4200 * often * after
	p.Queues[cnps].TxPackets.V += 50 * after
	p.Queues[cnps].TxBytes.V += 50 * 78 * after
	if kind == counters.Host {
		zero(&p.RoCE.CNPSent, &p.RoCE.OutOfSequence, &p.RoCE.SeqErr, &p.RoCE.Timeouts)
		p.RoCE.CNPSent.V += 50 * after
		p.Queues[data].Marked = counters.Count{}
	}
	return p
}

func (l *lab) cable(a, ap, b, bp string) {
	for _, m := range []map[string]*counters.Snapshot{l.before, l.after} {
		m[a].Find(ap).Peer = counters.Peer{Device: b, Port: bp}
		m[b].Find(bp).Peer = counters.Peer{Device: a, Port: ap}
	}
}

// now is a port's later counters, to be changed.
func (l *lab) now(device, port string) *counters.Port { return l.after[device].Find(port) }

// pause lets a port pause its peer so often.
func (l *lab) pause(device, port string, times uint64) {
	p := l.now(device, port)
	p.TxPFC[data].V += times
	l.now(p.Peer.Device, p.Peer.Port).RxPFC[data].V += times
}

func (l *lab) input() (in Input) {
	in.Before = []counters.Snapshot{}
	for _, n := range l.names {
		if !l.mute[n] {
			in.Before, in.After = append(in.Before, *l.before[n]), append(in.After, *l.after[n])
		}
	}
	return in
}
