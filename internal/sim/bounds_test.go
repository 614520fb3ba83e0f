package sim

import (
	"math"
	"os"
	"strings"
	"testing"

	"railyard/cc"
	"railyard/internal/cause"
	"railyard/internal/exec"
	"railyard/internal/long"
	"railyard/internal/result"
	"railyard/internal/scenario"
	"railyard/internal/topo"
	"railyard/scenarios"
	"railyard/unit"

	"pgregory.net/rapid"
)

// possible reports every figure of a run, in its directory or in its report, that exceeds its physical bound.
func possible(t interface {
	Helper()
	Errorf(string, ...any)
}, r *Run, s *result.Summary, tab *result.Tables) {
	t.Helper()
	below := func(what string, got, bound float64) {
		t.Helper()
		if !(got >= 0 && got <= bound) { // a NaN fails both comparisons
			t.Errorf("%s: %s is %.10g, possible is 0 to %.10g", s.Name, what, got, bound)
		}
	}
	end := float64(r.Net.Q.Now())
	for _, c := range s.Collectives {
		below(c.Name+", mean bus bandwidth", c.BusBW, c.Bound)
		below(c.Name+", best bus bandwidth", c.BusBest, c.Bound)
		below(c.Name+", least time", float64(c.TimeMin), float64(c.Time))
		below(c.Name+", mean time", float64(c.Time), float64(c.TimeMax))
		below(c.Name+", longest time", float64(c.TimeMax), end)
	}
	share := map[string]float64{"MFU": s.MFU, "busiest link": s.Links.Max, "mean link": s.Links.Mean,
		"busiest uplink": s.Links.UplinkMax,
		"mean uplink":    s.Links.UplinkMean, "least used uplink": s.Links.UplinkMin}
	for _, h := range s.Links.Hottest {
		share["link "+h.Name] = h.Utilisation
		below(h.Name+", paused", float64(h.Paused), end)
	}
	for what, x := range share {
		below(what, x, 1)
	}
	for what, x := range map[string]int64{"computing": s.Compute, "TP": s.ExposedTP, "PP": s.ExposedPP,
		"DP": s.ExposedDP, "CP": s.ExposedCP,
		"EP": s.ExposedEP, "other": s.ExposedOther, "bubble": s.Bubble, "waiting": s.Waiting,
		"all parts": s.Compute + s.ExposedComm + s.Bubble + s.Waiting} {
		below(what, float64(x), float64(s.StepTime))
	}
	below("data packets", float64(s.DataPackets), float64(s.Packets))
	below("packets", float64(s.Packets), float64(s.PacketHops))
	below("retransmitted", float64(s.Retransmissions), float64(s.DataPackets))
	below("drops", float64(s.Drops), float64(s.Packets))
	below("payload", float64(s.NetworkBytes), float64(r.Exec.NetBytes))
	possibleLinks(below, r, tab)
	possibleFlows(below, r, tab)
}

// possibleLinks checks the recorded figures of ports and of samples.
func possibleLinks(below func(string, float64, float64), r *Run, tab *result.Tables) {
	end := r.Net.Q.Now()
	sum := make([]int64, len(tab.Ports))
	for _, row := range tab.Links {
		name, rate := tab.Ports[row.Port].Name, unit.Rate(tab.Ports[row.Port].Rate)
		below(name+", bytes of a sample", float64(row.Bytes),
			float64(unit.InTime(rate, unit.Time(row.Length))))
		below(name+", pauses of a sample", float64(row.Paused), float64(row.Length))
		below(name+", end of a sample", float64(row.Start+row.Length), float64(end))
		sum[row.Port] += row.Bytes
	}
	for i, p := range tab.Ports {
		below(p.Name+", bytes", float64(p.WireBytes), float64(unit.InTime(unit.Rate(p.Rate), end)))
		below(p.Name+", bytes of all samples", float64(sum[i]), float64(p.WireBytes))
		below(p.Name+", bytes missing in samples", float64(p.WireBytes-sum[i]), 1)
		below(p.Name+", paused", float64(p.Paused), float64(end))
		below(p.Name+", marks", float64(p.Marks), float64(p.Frames))
		if spec := r.Net.Sw[r.Net.Ports[i].Node].Spec; spec != nil {
			below(p.Name+", queue", float64(p.QueuePeak), float64(spec.Buffer))
			below(p.Name+", ingress", float64(p.IngressPeak), float64(spec.Buffer))
			below(p.Name+", headroom", float64(p.HeadroomPeak), float64(p.IngressPeak))
		}
		if p.Role == topo.Host.String() && p.Marks > 0 {
			below(p.Name+", marks of a NIC", float64(p.Marks), 0)
		}
	}
}

// possibleFlows checks the recorded figures of queue pairs and messages.
func possibleFlows(below func(string, float64, float64), r *Run, tab *result.Tables) {
	end := float64(r.Net.Q.Now())
	sent := make([]float64, len(tab.QPs))
	for i := range r.Hosts.Messages {
		m := &r.Hosts.Messages[i]
		// a message without bytes is a packet
		sent[m.Conn] += max(1, math.Ceil(float64(m.Bytes)/float64(r.Setup.Host.RC.MTU)))
	}
	for i, q := range tab.QPs {
		sent[i] += float64(q.Retrans)
		below(q.From+" to "+q.To+", marked packets", float64(q.Marked), sent[i])
	}
	for _, p := range tab.Paths {
		below(tab.Ports[p.Port].Name+", packets of a queue pair", float64(p.Packets), sent[p.QP])
		below(tab.Ports[p.Port].Name+", wait of a queue pair's packet", float64(p.Wait),
			end*float64(p.Packets))
	}
	for _, x := range tab.Signals {
		most := math.Inf(1)
		switch x.Signal {
		case cc.SignalRate, cc.SignalTarget:
			most = float64(tab.QPs[x.QP].Line)
		case cc.SignalAlpha:
			most = 1
		case cc.SignalDelay:
			most = unit.Time(x.At).Seconds()
		case cc.CounterCuts:
			most = float64(tab.QPs[x.QP].Cuts)
		case "gradient", "credit": // delay falls, and a sender with any credit may overdraw it
			continue
		}
		below(x.Signal+" of "+tab.QPs[x.QP].From, x.Value, most)
	}
	for _, f := range tab.Flows {
		if f.Done >= 0 {
			below(f.From+" to "+f.To+", ideal time", float64(f.Ideal), float64(f.Done-f.Posted))
		}
	}
	for _, c := range tab.Collectives {
		below(c.Name+", ideal time", float64(c.Lost.Of(cause.LineRate)), float64(c.End-c.Start))
	}
}

// No figure that is printed or written of a shipped scenario is above its bound. Long runs are checked after some
// hundred thousand or a few million events, because partial results must be possible, too.
func TestNothingAboveItsBound(t *testing.T) {
	enough := uint64(long.N(350_000, 3_000_000))
	for name, text := range scenarios.Texts() {
		t.Run(name, func(t *testing.T) {
			d, err := scenario.Parse(name, []byte(text), nil)
			if err != nil {
				t.Fatal(err)
			}
			p, err := d.Resolve(func(name string) ([]byte, error) {
				return os.ReadFile("../../scenarios/" + name)
			})
			if err != nil {
				t.Fatal(err)
			}
			r, err := New(p)
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Go(func(exec.Progress) bool { return r.Net.Q.Popped() < enough }); err != nil {
				t.Fatal(err)
			}
			s, tab, _ := r.Outcome("test")
			possible(t, r, s, tab)
		})
	}
}

// A ring all-reduce over the eight NICs of each server has eight times the bound of one NIC, or NVLink's if that is
// less. The report printed "50.00 GB/s by NIC (784 %)".
func TestBoundOfChannels(t *testing.T) {
	text := `
name: channels
fabric: {kind: rail-only, hosts: 2, host_link: {rate: 400Gbps, cable: 3m}}
server: {gpus: 8, nics: 8}
cc: {algorithm: none}
workload: {traffic: {collective: {kind: all-reduce, bytes: 64MB, algorithm: ring}}}
`
	for channels, bound := range map[string]float64{"1": 50e9, "2": 100e9, "8": 400e9} {
		r, s, tab := runAll(t, text, "workload.traffic.collective.channels="+channels)
		c := s.Collectives[0]
		if math.Abs(c.Bound/bound-1) > 0.001 || c.BusBW > c.Bound || c.BusBW < 0.8*c.Bound {
			t.Errorf("%s channels: %.1f GB/s of %.1f by %s, want a bound of %.0f", channels, c.BusBW/1e9,
				c.Bound/1e9, c.BoundWhy, bound/1e9)
		}
		possible(t, r, s, tab)
	}
}

// A NIC that is slow from the start has no sample above its slow rate. Samples were bounded by its cable's rate,
// and rounding made a sample of 543 bytes where 542 are possible.
func TestSamplesOfASlowNIC(t *testing.T) {
	text := strings.Replace(twoHosts, "bytes: 4096B}", "bytes: 4MB}", 1) +
		"events: [{nic: host-1/nic-1, at: 0s, rate_share: 0.04337}]\n"
	r, s, tab := runAll(t, text, "output.sample=1us", "switch.watchdog.on=false")
	possible(t, r, s, tab)
}

// An hour of computation between two transfers costs no more than a minute's, because no events occur. Samples
// after it are as fine as before.
func TestIdleTimeIsFree(t *testing.T) {
	text := strings.Replace(twoHosts, "bytes: 4096B}", "bytes: 4MB}, {from: host-1/gpu-1, to: "+
		"host-2/gpu-1, bytes: 4MB, start: 3600s}", 1)
	r, s, tab := runAll(t, text, "switch.watchdog.on=false")
	if s.Events > 20_000 || s.StepTime < int64(3600*unit.Second) {
		t.Errorf("%d events for two transfers an hour apart, end %v", s.Events, unit.Time(s.StepTime))
	}
	possible(t, r, s, tab)
	late := 0
	for _, row := range tab.Links {
		if row.Start >= int64(3600*unit.Second) && row.Bytes > 1e5 {
			late++
			if row.Length > int64(10*unit.Microsecond) {
				t.Errorf("a sample of %v after the wait", unit.Time(row.Length))
			}
		}
	}
	if late < 10 {
		t.Errorf("%d samples of the second transfer", late)
	}
}

// The same of small scenarios drawn at random: fabrics, queues, transports, loads.
func TestRandomNothingAboveItsBound(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text, sets := randomScenario(rt)
		sets = append(sets, "output.sample="+rapid.SampledFrom([]string{"1us", "3us", "10us"}).Draw(rt,
			"sample"),
			"output.rows="+rapid.SampledFrom([]string{"100", "400000"}).Draw(rt, "rows"),
			"server.bond="+rapid.SampledFrom([]string{"hash", "affinity", "spray"}).Draw(rt, "bond"))
		d, err := scenario.Parse("random.yaml", []byte(text), sets)
		if err != nil {
			rt.Fatal(err)
		}
		p, err := d.Resolve(nil)
		if err != nil {
			rt.Fatal(err)
		}
		r, err := New(p)
		if err != nil {
			rt.Skip(err)
		}
		stop := rapid.Bool().Draw(rt, "interrupted")
		if err := r.Go(func(exec.Progress) bool { return !stop }); err != nil {
			rt.Fatal(err)
		}
		s, tab, _ := r.Outcome("test")
		possible(rt, r, s, tab)
	})
}
