package result

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
)

// Trace writes the ranks' operations and the ports' pauses as a JSON trace for Perfetto and chrome://tracing.
// Process 1 has a track per rank for computation and one for communication; process 2 has a track per paused port
// and priority. Times are microseconds with six decimals, so no picosecond is lost.
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
	end := int64(0) // end of the tables' data
	for _, r := range t.Ranks {
		tid := 2 * int(r.Rank)
		track := fmt.Sprintf("rank %d compute", r.Rank)
		if r.Name != r.Class {
			tid++
			track = fmt.Sprintf("rank %d communication", r.Rank)
		}
		name(1, tid, track)
		slice(1, tid, r.Name, r.Class, r.Start, r.End)
		end = max(end, r.End)
	}
	// A port is paused per priority, and several may be at a time: each has a track.
	type class struct{ port, priority int32 }
	began := map[class]int64{}
	paused := func(c class, to int64) {
		tid := int(c.port)<<3 | int(c.priority&7)
		name(2, tid, fmt.Sprintf("%s priority %d", t.Ports[c.port].Name, c.priority))
		slice(2, tid, fmt.Sprintf("paused (priority %d)", c.priority), "pfc", began[c], to)
		delete(began, c)
	}
	for _, p := range t.Pauses {
		end = max(end, p.At)
		c := class{p.Port, p.Priority}
		switch _, on := began[c]; {
		case p.What == "pause" && !on:
			began[c] = p.At
		case p.What == "resume" && on:
			paused(c, p.At)
		}
	}
	left := slices.Collect(maps.Keys(began)) // paused to the end
	slices.SortFunc(left, func(a, b class) int {
		return cmp.Or(cmp.Compare(a.port, b.port), cmp.Compare(a.priority, b.priority))
	})
	for _, c := range left {
		paused(c, end)
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
