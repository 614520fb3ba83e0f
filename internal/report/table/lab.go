package table

import (
	"fmt"
	"io"
	"strings"

	"railyard/internal/lab"
	"railyard/internal/lab/load"
	"railyard/internal/report/screen"
	"railyard/unit"
)

// LabStatus prints the nodes of a lab with their ports, and how many of them are down.
func LabStatus(w io.Writer, name string, nodes []lab.NodeStatus) {
	ports, down, gone := 0, 0, 0
	t := screen.Table{Columns: []screen.Column{{Head: "Port"}, {Head: "state", Left: true}, {Head: "rate"}, {Head: "sent"},
		{Head: "packets"}, {Head: "ECN marks", Rare: true}, {Head: "drops", Rare: true}}}
	var notes []string
	for _, n := range nodes {
		switch {
		case !n.There:
			gone++
			notes = append(notes, n.Name+": no namespace")
		case n.Sessions > 0:
			notes = append(notes, fmt.Sprintf("%s: %d of %d BGP sessions established", n.Name, n.Established, n.Sessions))
		case len(n.Addrs) > 0:
			notes = append(notes, n.Name+": "+strings.Join(n.Addrs, " "))
		}
		for _, p := range n.Ports {
			state := "up"
			if ports++; !p.Up {
				down++
				state = "down"
			}
			t.Add(p.Port, state, unit.Rate(p.Rate).Show(), unit.Bytes(p.TxBytes).Show(), unit.ShowCount(p.Packets),
				unit.ShowCount(p.Marked), unit.ShowCount(p.Dropped))
		}
	}
	answer := fmt.Sprintf("lab %s: %s, %s", name, unit.Plural(len(nodes), "node"), unit.Plural(ports, "port"))
	if down > 0 {
		answer += fmt.Sprintf(", %d down", down)
	}
	if gone > 0 {
		answer += fmt.Sprintf("; %s without a namespace", unit.Plural(gone, "node"))
	}
	screen.Painted(w, screen.Answer, "", answer)
	t.Print(w)
	for _, n := range notes {
		screen.Wrap(w, "", n)
	}
}

// Moves prints how MRC reroutes around the events of a lab, the slowest first in words.
func Moves(w io.Writer, moves []load.Move) {
	slowest, stays, corrupt := 0.0, 0, 0
	t := screen.Table{Columns: []screen.Column{{Head: "Event"}, {Head: "rerouted"}, {Head: "path, Gbit/s"},
		{Head: "arriving"}, {Head: "retx.", Rare: true}, {Head: "longest", Spare: true}}}
	between := func(a, b float64) string { return fmt.Sprintf("%.2f → %.2f", a, b) }
	for _, m := range moves {
		moved := "no"
		if slowest = max(slowest, m.Moved); m.Moved >= 0 {
			moved = micros(1e3 * m.Moved)
		} else {
			stays++
		}
		if !m.Verified {
			corrupt++
		}
		t.Add(m.Event, moved, between(m.Before, m.After), between(m.Arrived, m.Arrives), unit.ShowCount(m.Again),
			micros(1e3*m.Longest))
	}
	answer := fmt.Sprintf("Rerouted around %s within %s", unit.Plural(len(moves), "event"), micros(1e3*slowest))
	if stays > 0 {
		answer = fmt.Sprintf("%d of %s not rerouted while the load lasted", stays, unit.Plural(len(moves), "event"))
	}
	if corrupt > 0 {
		answer += fmt.Sprintf("; wrong data received in %d", corrupt)
	}
	screen.Painted(w, screen.Answer, "", answer)
	t.Print(w)
	screen.Wrap(w, "", "rerouted: from the event until a tenth or less of the traffic is left on the path; Gbit/s before and after the event; longest: the longest WRITE")
}

// Variants prints the all-reduces of a lab by congestion control, the fastest first in words.
func Variants(w io.Writer, all []load.Variant) {
	if len(all) == 0 {
		return
	}
	best, wrong := 0, int64(0)
	t := screen.Table{Columns: []screen.Column{{Head: "Congestion control"}, {Head: "time"}, {Head: "busbw, GB/s"},
		{Head: "reductions", Rare: true}, {Head: "ECN marks", Rare: true}, {Head: "CNPs", Rare: true}, {Head: "retx.", Rare: true},
		{Head: "timeouts", Rare: true}, {Head: "drops", Rare: true}, {Head: "wrong", Rare: true}}}
	for i := range all {
		v := &all[i]
		r := &v.Row
		if r.TimeUS < all[best].Row.TimeUS {
			best = i
		}
		wrong += r.Wrong
		t.Add(v.CC, micros(r.TimeUS), unit.Digits(r.BusBW), unit.ShowCount(r.Stats.Cuts), unit.ShowCount(v.Marked),
			unit.ShowCount(r.Stats.CNPs), unit.ShowCount(r.Stats.Retransmissions), unit.ShowCount(r.Stats.Timeouts),
			unit.ShowCount(v.Dropped), unit.ShowCount(r.Wrong))
	}
	answer := fmt.Sprintf("%s: %s", all[best].CC, micros(all[best].Row.TimeUS))
	if len(all) > 1 {
		answer = fmt.Sprintf("%s is fastest: %s", all[best].CC, micros(all[best].Row.TimeUS))
		if best > 0 {
			answer += fmt.Sprintf(" (%s vs %s)", unit.ShowChange(all[best].Row.TimeUS, all[0].Row.TimeUS), all[0].CC)
		}
	}
	if wrong > 0 {
		answer += fmt.Sprintf("; %d wrong elements", wrong)
	}
	screen.Painted(w, screen.Answer, "", answer)
	t.Print(w)
}
