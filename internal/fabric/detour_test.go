package fabric

import (
	"fmt"
	"strings"
	"testing"

	"railyard/internal/engine"
	"railyard/internal/queue"
	"railyard/internal/route"
	"railyard/internal/story"
	"railyard/roce"
	"railyard/unit"
)

// around is a Steerer that sends all packets through one region.
type around struct {
	route.Chooser
	region int
}

func (a around) Via(unit.Time, int, uint32, []route.Port) int { return a.region }
func (a around) Vias(out []int, _ int) []int                  { return append(out, a.region) }

// triangle is three regions of one switch each, R0, R1 and R2, with a link between each pair. Host A is at R0 and
// host C at R2. Packets that enter at R0 go through R1.
func triangle(t *testing.T, spec *queue.Spec, rise *queue.Rising) (net *Net, a int32, name map[int32]string) {
	b := Build(8)
	var sw [3]int32
	for i := range sw {
		sw[i] = b.AddSwitch(SwitchConfig{Name: fmt.Sprintf("R%d", i), Spec: spec})
	}
	hosts := [2]int32{b.AddHost(), b.AddHost()}
	cable := Link{Rate: 100 * unit.Gbps, Prop: 100 * unit.Nanosecond, Response: unit.Nanosecond}
	name = map[int32]string{}
	var to [3][3]int32 // ports between switches
	connect := func(x, y int) {
		to[x][y], to[y][x] = b.Connect(sw[x], sw[y], cable)
		name[to[x][y]], name[to[y][x]] = fmt.Sprintf("R%d → R%d", x, y), fmt.Sprintf("R%d → R%d", y, x)
	}
	connect(0, 1)
	connect(1, 2)
	connect(0, 2)
	a, atA := b.Connect(hosts[0], sw[0], cable)
	slow := cable
	slow.Rate = 25 * unit.Gbps
	c, atC := b.Connect(hosts[1], sw[2], slow)
	name[a], name[atC], name[c] = "A → R0", "R2 → C", "C → R2"
	net, err := b.Finish(func(int32) string { return "R" })
	if err != nil {
		t.Fatal(err)
	}
	// Locators: 0 to 2 are the regions, and the switches in them.
	net.SetDetours([]int32{0, 1, 2, -1, -1}, rise)
	for i := range sw {
		table := route.NewTable(3)
		table.Home, table.Regions = i, &route.Regions{Loc: []int{0, 1, 2}, Of: []int{0, 1, 2}}
		for loc := range sw {
			if loc == i {
				table.SetAttached(loc)
			} else {
				table.SetGroup(loc, []int32{to[i][loc]})
			}
		}
		switch i {
		case 0:
			table.Attach(0, atA)
		case 2:
			table.Attach(1, atC)
		}
		chooser := route.ECMP.Make(nil, route.Site{Seed: 1})
		net.SetRoutes(sw[i], table, around{chooser, 1})
	}
	return net, a, name
}

// A packet through a region, hop by hop, and a pause that stops the class in which it arrived.
func TestADetour(t *testing.T) {
	spec := queue.Default()
	spec.Queues[3].XOff, spec.Queues[3].XOn, spec.Queues[3].WRED = 12*unit.KB, 5*unit.KB, queue.WRED{}
	rise, err := spec.Rise(route.Levels)
	if err != nil {
		t.Fatal(err)
	}
	net, a, name := triangle(t, &spec, &rise)
	page := story.Open(`Packets that do not take the shortest way, and the classes they rise through.
		Eight of class 3 go from A at R0 to C at R2 by way of region R1, though R0 has a cable to R2. Each
		region is one switch. The class rises behind every cable between regions, so it is 4 on the second;
		towards C, whose cable is the slow one, it is 3 again. R2 counts what came from R1 in the class that
		R1 sent it in: its pause stops R1's queue 4. (docs/references.md, deadlock-free; Kim et al., ISCA 2008)`)
	for p := range net.Ports {
		net.TapPort(int32(p), true)
	}
	net.TapPFC = func(at unit.Time, port int32, out bool, prio, quanta int) {
		if out {
			what := map[bool]string{true: "lets go on", false: "pauses"}[quanta == 0]
			page.Tell(at, "%s: %s priority %d", name[port], what, prio)
		}
	}
	told := map[string]bool{}
	net.Tap = func(at unit.Time, port int32, out bool, p *Packet) {
		if !out || p.PSN > 1 && p.PSN < 8 {
			return
		}
		leg := ""
		if p.Flags&FlagLeg != 0 {
			leg = ", on its leg"
		}
		page.Tell(at, "%s: packet %d in class %d%s", name[port], p.PSN, p.Class, leg)
		told[name[port]] = true
	}
	for i := range 8 {
		pi := net.Alloc()
		p := &net.Packets[pi]
		p.Dst, p.Loc, p.Payload, p.Size, p.Opcode = 1, 2, 4000, frame, roce.WriteMiddle
		p.TOS, p.PSN, p.Class = 24<<2|ECT0, uint32(i+1), 3
		tx := &net.Ports[a]
		for now := net.Q.Now(); tx.BusyUntil > now; now = net.Q.Now() { // A sends them back to back
			e, _ := net.Q.Pop()
			deliver(net, &e)
		}
		net.Transmit(net.Q.Now(), a, tx, pi, p)
	}
	for net.InUse() > 0 {
		e, _ := net.Q.Pop()
		deliver(net, &e)
	}
	if err := net.Audit(); err != nil || net.Drops > 0 || net.Pauses == 0 || told["R0 → R2"] {
		t.Errorf("%v, %d packets lost, %d pauses", err, net.Drops, net.Pauses)
	}
	page.Check(t, "detour")
	var ways []string
	for _, ports := range net.Choices(a, 1, 2) {
		for _, p := range ports {
			ways = append(ways, name[p])
		}
	}
	if got := strings.Join(ways, ", "); got != "R0 → R1, R1 → R2, R2 → C" {
		t.Errorf("the ports among which packets choose are %s", got)
	}
}

// deliver runs an event; hosts accept all packets.
func deliver(net *Net, e *engine.Event) {
	switch {
	case e.Kind() == KindHost:
		net.Free(e.B)
	case e.Kind() < KindHost:
		net.Handle(e)
	}
}
