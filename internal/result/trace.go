package result

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
)

// Trace writes the ranks' operations and the ports' pauses as a JSON trace that
// Perfetto and chrome://tracing open: process 1 holds a track per rank for
// compute and one for communication, process 2 a track per paused port. Times
// are microseconds with six decimals, so no picosecond is lost.
func Trace(out io.Writer, t *Tables) error {
	w := bufio.NewWriter(out)
	fmt.Fprint(w, `{"displayTimeUnit":"ns","traceEvents":[`,
		`{"ph":"M","pid":1,"name":"process_name","args":{"name":"ranks"}},`,
		`{"ph":"M","pid":2,"name":"process_name","args":{"name":"paused ports"}}`)
	named := map[int]bool{}
	name := func(pid, tid int, s string) {
		if key := pid<<28 | tid; !named[key] {
			named[key] = true
			fmt.Fprintf(w,
				",\n{\"ph\":\"M\",\"pid\":%d,\"tid\":%d,\"name\":\"thread_name\",\"args\":{\"name\":%s}}",
				pid, tid, quote(s))
		}
	}
	slice := func(pid, tid int, what, cat string, from, to int64) {
		fmt.Fprintf(w, ",\n{\"ph\":\"X\",\"pid\":%d,\"tid\":%d,\"name\":%s,\"cat\":%s,\"ts\":%s,\"dur\":%s}",
			pid, tid, quote(what), quote(cat), micros(from), micros(to-from))
	}
	for _, r := range t.Ranks {
		tid := 2 * int(r.Rank)
		track := fmt.Sprintf("rank %d compute", r.Rank)
		if r.Name != r.Class {
			tid++
			track = fmt.Sprintf("rank %d communication", r.Rank)
		}
		name(1, tid, track)
		slice(1, tid, r.Name, r.Class, r.Start, r.End)
	}
	began := map[int32]int64{}
	for _, p := range t.Pauses {
		switch p.What {
		case "pause":
			if _, on := began[p.Port]; !on {
				began[p.Port] = p.At
			}
		case "resume":
			if from, on := began[p.Port]; on {
				delete(began, p.Port)
				name(2, int(p.Port), t.Ports[p.Port].Name)
				slice(2, int(p.Port), fmt.Sprintf("paused (priority %d)", p.Priority), "pfc", from, p.At)
			}
		}
	}
	fmt.Fprint(w, "]}\n")
	return w.Flush()
}

// quote is a name as JSON has it.
func quote(s string) string {
	b, _ := json.Marshal(s) // no string fails
	return string(b)
}

func micros(ps int64) string { return fmt.Sprintf("%d.%06d", ps/1_000_000, ps%1_000_000) }
