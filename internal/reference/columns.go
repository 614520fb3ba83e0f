package reference

import (
	"fmt"
	"regexp"
	"strings"

	"railyard/internal/manual"
)

var (
	rowType = regexp.MustCompile(`^type (\w+) struct \{`)
	field   = regexp.MustCompile("^\t\\w+ +([\\w.]+) +`parquet:\"(\\w+)[^`]*`(?: +// (.*))?$")
	file    = regexp.MustCompile(`(\w+\.parquet)`)
)

// units are the units of columns by the end of their name.
var units = []struct{ end, unit string }{{"_ps", "ps"}, {"_bps", "bit/s"}, {"bytes", "B"}, {"packets", "packets"},
	{"marks", "packets"}, {"drops", "packets"}, {"trims", "packets"}, {"frames", "frames"}, {"frames_sent", "frames"},
	{"frames_received", "frames"}}

// plain are the columns that their name explains.
var plain = map[string]string{"message": "number of the message", "from": "sender", "to": "receiver",
	"qp": "queue pair, row of qps.parquet", "class": "kind of operation", "name": "name",
	"port": "row of ports.parquet", "node": "device", "peer": "device at the other end",
	"role": "place of the port in the fabric", "priority": "PFC priority", "rank": "rank", "start_ps": "begin",
	"end_ps": "end", "from_ps": "begin", "to_ps": "end", "at_ps": "time of the event", "bytes": "payload", "wire_bytes": "bytes with all headers",
	"posted_ps": "time of the request", "ideal_ps": "time alone at line rate", "frames": "frames sent",
	"ecn_marks": "packets with an ECN mark", "drops": "packets dropped", "paused_ps": "time paused by PFC",
	"rate_bps": "rate of the link", "queue_peak_bytes": "longest queue", "ingress_peak_bytes": "most in its ingress buffer",
	"headroom_peak_bytes": "most in its headroom", "pause_frames_sent": "PFC frames sent that pause, refreshes included; resume frames (pause time 0) are not counted",
	"pause_frames_received": "PFC frames received that pause; resume frames are not counted", "length_ps": "length of the interval", "line_bps": "line rate",
	"ce_marked_packets": "packets that arrived with an ECN mark", "rate_cuts": "rate reductions",
	"retransmitted_packets": "packets retransmitted", "messages": "messages sent", "service": "service of the NIC",
	"signal": "name of the signal", "value": "value in the signal's unit", "instance": "number of the collective",
	"kind": "kind of collective", "ranks": "number of ranks", "first_rank": "its first rank",
	"why": "the leading cause in words", "peak_packets": "most packets at one time", "root_port": "root of the pause tree"}

// Columns returns the page of all columns of a run's tables, from the Go source of their rows.
func Columns(sources []string) manual.Page {
	var b strings.Builder
	b.WriteString(`# Columns of run directories

Times are picoseconds since the begin of the run, rates bit/s, sizes bytes. A column of rows of another table has the
number of the row, from 0.
`)
	for _, source := range sources {
		var comments []string // above the next line
		inside := false
		for line := range strings.Lines(source) {
			line = strings.TrimRight(line, "\n")
			text, isComment := strings.CutPrefix(strings.TrimLeft(line, "\t"), "// ")
			switch m := field.FindStringSubmatch(line); {
			case isComment:
				comments = append(comments, text)
				continue
			case inside && m != nil && m[2] != "-":
				about := strings.TrimSpace(strings.Join(comments, " ") + " " + m[3])
				fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", m[2], kindOf(m[1]), unitOf(m[2]), cell(meaning(m[2], about)))
			case line == "}":
				inside = false
			case rowType.MatchString(line):
				about := strings.Join(comments, " ")
				if name := file.FindString(about); name != "" {
					inside = true
					_, about, _ = strings.Cut(about, " is ")
					fmt.Fprintf(&b, "\n## %s\n\n%s\n\n| column | type | unit | meaning |\n|---|---|---|---|\n", name,
						sentence(about))
				}
			}
			comments = nil
		}
	}
	return manual.Page{Path: "reference/columns", Text: b.String()}
}

// meaning joins the meaning of a column's name with the comment of its declaration.
func meaning(column, comment string) string {
	switch about := plain[column]; {
	case about == "":
		return comment
	case comment == "":
		return about
	default:
		return about + "; " + comment
	}
}

// unitOf returns the unit of a column, or –.
func unitOf(column string) string {
	for _, u := range units {
		if strings.HasSuffix(column, u.end) {
			return u.unit
		}
	}
	return "–"
}

// kindOf returns the word for a Go type.
func kindOf(t string) string {
	switch t {
	case "string":
		return "text"
	case "float64":
		return "number"
	}
	return "whole number"
}
