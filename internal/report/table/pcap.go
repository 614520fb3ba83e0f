package table

import (
	"fmt"
	"io"
	"strings"

	"railyard/internal/capture"
	"railyard/internal/report"
	"railyard/internal/report/screen"
	"railyard/unit"
)

// eventWidth is the width of an event's text after its time, of 80 columns.
const eventWidth = 80 - 17

// Event prints an event of a capture.
func Event(w io.Writer, ev capture.Event) {
	more := ""
	if ev.Times > 1 {
		more = fmt.Sprintf(" (%d times until %.3f)", ev.Times, ev.Until)
	}
	for i, l := range screen.Fold(ev.Who, eventWidth+2, true) { // IPv6 addresses take a line each
		at := ""
		if i == 0 {
			at = fmt.Sprintf("%.3f", ev.Micros)
		}
		fmt.Fprintf(w, "%13s  %s\n", at, l)
	}
	for _, l := range screen.Fold(ev.Text+more, eventWidth, true) {
		fmt.Fprintf(w, "%15s  %s\n", "", l)
	}
}

// tcpFlows prints the directions of TCP connections.
func tcpFlows(w io.Writer, flows []*capture.TCPFlow) {
	for i, f := range flows {
		if i == 0 {
			fmt.Fprintf(w, "\n%-40s %8s %13s %8s\n", "TCP flow", "packets", "payload, B", "retrans.")
		}
		if i == 50 {
			fmt.Fprintf(w, "%d more flows: --json\n", len(flows)-i)
			break
		}
		name := f.Src + " > " + f.Dst
		if len(name) > 40 { // IPv6
			fmt.Fprintln(w, name)
			name = ""
		}
		fmt.Fprintf(w, "%-40s %8d %13d %8d\n", name, f.Packets, f.Payload, f.Again)
	}
}

// Story prints the summary of a capture.
func Story(w io.Writer, s *capture.Story) {
	if s.Omitted > 0 {
		fmt.Fprintf(w, "%d more events (raise --limit)\n", s.Omitted)
	}
	fmt.Fprintf(w, "\n%s in %s: %d RoCE, %d pause, %d LLDP, %d other", unit.Plural(s.Packets, "packet"),
		unit.ShowSeconds(s.Seconds), s.RoCE, s.Pause, s.LLDP, s.Other)
	if s.Broken > 0 {
		fmt.Fprintf(w, ", %d broken", s.Broken)
	}
	fmt.Fprintf(w, "\nICRC: %d good, %d wrong", s.ICRCGood, s.ICRCBad)
	if s.Cut > 0 {
		fmt.Fprintf(w, "; %d packets truncated by the capture, not checked", s.Cut)
	}
	fmt.Fprintln(w)
	if s.Damaged != "" {
		report.Wrap(w, "", "Incomplete: the file "+s.Damaged)
	}
	tcpFlows(w, s.TCP)
	for i, f := range s.Flows {
		if i == 0 {
			fmt.Fprintf(w, "\n%-34s %8s %8s %8s %5s %5s %5s\n", "Flow", "packets", "messages", "retrans.",
				"NAKs", "CNPs", "CE")
		}
		if i == 50 {
			fmt.Fprintf(w, "%d more flows: --json\n", len(s.Flows)-i)
			break
		}
		name := fmt.Sprintf("%s > %s QP %#06x", f.Src, f.Dst, f.QP)
		if len(name) > 34 { // IPv6
			fmt.Fprintln(w, name)
			name = ""
		}
		fmt.Fprintf(w, "%-34s %8d %8d %8d %5d %5d %5d\n", name, f.Packets, f.Messages, f.Again, f.Naks,
			f.CNPs, f.CE)
		if len(f.Also) > 0 {
			fmt.Fprintf(w, "    also over %s\n", strings.Join(f.Also, ", "))
		}
		if f.Grants+f.Requests > 0 {
			fmt.Fprintf(w, "    %s of credit and %s, %s on the wire\n",
				unit.Plural(f.Grants, "grant"), unit.Plural(f.Requests, "request"),
				unit.Plural(f.Credit, "byte"))
		}
		if f.Elsewhere > 0 {
			fmt.Fprintf(w, "    %s captured at two points, counted once\n",
				unit.Plural(f.Elsewhere, "packet"))
		}
		if f.Payload > 0 {
			with, without := "", ""
			if f.Again > 0 {
				with, without = " with retransmissions", " without"
			}
			fmt.Fprintf(w, "    %s%s, %.3f Gbit/s%s", unit.Plural(f.Payload, "payload byte"), with, f.Gbps, without)
			if f.Missing > f.Late {
				fmt.Fprintf(w, ", %s not captured", unit.Plural(f.Missing-f.Late, "packet"))
			}
			fmt.Fprintln(w)
		}
		if len(f.SourcePorts) > 1 {
			fmt.Fprintf(w, "    %d source ports\n", len(f.SourcePorts))
		}
		if f.Trimmed > 0 {
			fmt.Fprintf(w, "    %s trimmed by a switch\n", unit.Plural(f.Trimmed, "packet"))
		}
		if f.MRC != nil {
			printMRC(w, f.MRC)
		}
		if f.Told > 0 {
			fmt.Fprintf(w, "    telemetry in %s, %s; longest queue %s\n", unit.Plural(f.Told, "packet"),
				unit.Plural(f.ToldBytes, "byte"), unit.Plural(f.ToldQueue, "byte"))
		}
	}
}
