package validate

import (
	"fmt"
	"strings"

	"railyard/internal/engine"
	"railyard/internal/sim"
	"railyard/unit"
)

// stormPeriod is what watchdog rows simulate: a storm from some time on for 900 ms, and what
// follows.
const stormPeriod = 1700 * unit.Millisecond

// watchdog pauses a switch's port for 900 ms and times SONiC's watchdog (docs/references.md, watchdog).
func watchdog() ([]Row, error) {
	const source = "docs/references.md, watchdog: SONiC's watchdog at 200/200/200 ms"
	var detect, restore [2]unit.Time // least and most
	var through [2]int64
	for _, action := range []string{"drop", "forward"} {
		for i, from := range []unit.Time{1, 50, 100, 199, 201, 399} {
			s := must(storm(action, from*unit.Millisecond))
			if i == 0 && action == "drop" {
				detect, restore = [2]unit.Time{s.detected, s.detected}, [2]unit.Time{s.restored, s.restored}
			}
			detect = [2]unit.Time{min(detect[0], s.detected), max(detect[1], s.detected)}
			restore = [2]unit.Time{min(restore[0], s.restored), max(restore[1], s.restored)}
			if action == "drop" {
				through[0] += s.through
			} else {
				through[1] += s.through
			}
		}
	}
	window := func(claim string, got [2]unit.Time) Row {
		return Row{Claim: claim, Source: source, Expected: "in (200, 400] ms",
			Ours: fmt.Sprintf("%v to %v", got[0], got[1]), Diff: "-",
			OK: got[0] > 200*unit.Millisecond && got[1] <= 400*unit.Millisecond}
	}
	return []Row{
		window("PFC watchdog: a storm is detected after, from 12 starts", detect),
		window("PFC watchdog: a queue is restored after the storm's end, from 12 starts", restore),
		exact("PFC watchdog, action drop: packets through the stormed queue", source, int64(0), through[0]),
		{Claim: "PFC watchdog, action forward: packets through the stormed queue", Source: source,
			Expected: "> 0",
			Ours:     fmt.Sprint(through[1]), Diff: "-", OK: through[1] > 0},
	}, nil
}

type stormed struct {
	detected, restored unit.Time // times after the storm's begin, and after its end
	through            int64     // frames sent by the stormed port during the storm
}

// storm sends a message every 10 ms to a host that pauses its switch from a time on.
func storm(action string, from unit.Time) (out stormed, err error) {
	var flows strings.Builder
	for i := range int(stormPeriod / (10 * unit.Millisecond)) {
		fmt.Fprintf(&flows, "      - {from: host-1/gpu-1, to: host-2/gpu-1, bytes: 8KB, start: %dms}\n", 10*i)
	}
	r := must(start(`
name: storm
fabric: {kind: rail-only, hosts: 2, host_link: {rate: 100Gbps, cable: 3m}}
server: {gpus: 1, nics: 1}
cc: {algorithm: none}
transport: {timeout: 12}
switch: {watchdog: {on: true, poll: 200ms, detect: 200ms, restore: 200ms, action: ` + action + `}}
workload:
  traffic:
    flows:
` + flows.String()))
	nic := r.Port(r.Graph.NICs[1].Links[0], r.Graph.Hosts[1])
	port := r.Net.Ports[nic].Peer
	end := from + 900*unit.Millisecond
	var frames int64
	r.Net.Trace = func(at unit.Time, what string, p int32, _ int) {
		switch {
		case what == "storm" && p == port:
			out.detected, frames = at-from, r.Net.Ports[port].TxFrames
		case what == "restore" && p == port:
			out.restored = at - end
		}
	}
	r.Begin()
	until(r, from)
	r.Net.SendPause(nic, 3)
	until(r, end)
	out.through = r.Net.Ports[port].TxFrames - frames
	r.Net.SendResume(nic, 3)
	until(r, stormPeriod)
	return out, r.Net.Audit()
}

// until runs a simulation that has begun up to a time.
func until(r *sim.Run, t unit.Time) {
	const kindUntil engine.Kind = 60
	stop := false
	r.Net.Q.Push(engine.OfRun, t, kindUntil, 0, 0)
	r.RunUntil(&stop, 1<<62, func(e engine.Event) {
		if e.Kind() == kindUntil {
			stop = true
			return
		}
		r.Event(e)
	})
}
