package trace

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/stream"
	"railyard/unit"
)

// isRecorder recognizes a dump of PyTorch's Flight Recorder by its keys, as JSON or as a pickle.
func isRecorder(name string, head []byte) bool {
	text := bytes.TrimSpace(head)
	keys := bytes.Contains(head, []byte("pg_config")) || bytes.Contains(head, []byte("profiling_name")) ||
		bytes.Contains(head, []byte("collective_seq_id"))
	if bytes.HasPrefix(text, []byte("{")) {
		return keys && !bytes.Contains(head, []byte(`"traceEvents"`)) &&
			!bytes.Contains(head, []byte(`"distributedInfo"`))
	}
	if len(head) > 1 && head[0] == 0x80 && head[1] >= 2 && head[1] <= 5 {
		ext := strings.ToLower(path.Ext(name))
		return keys || ext == ".pkl" || ext == ".pickle" || strings.HasPrefix(path.Base(name), "nccl_trace")
	}
	return false
}

// recorder is one rank's dump: a ring buffer of its last calls.
type recorder struct {
	file    string
	rank    int
	groups  map[string]recorderGroup
	entries []recorded
}

type recorderGroup struct {
	name, desc string
	ranks      []int
}

// recorded is an entry.
type recorded struct {
	group   int32
	what    op
	seq     int64 // of collectives
	bytes   unit.Bytes
	size    string // size in the dump's notation
	peer    int32
	created int64 // ns
	state   string
	number  int // of the entry
	where   string
}

// readRecorder reads the dumps of ranks: a file each.
func readRecorder(o *Options, files []File) (*Trace, error) {
	c := &calls{file: files[0].Name, fit: fitter{on: o.On}}
	var all []*recorder
	for i, f := range files {
		v, err := recorderValue(o, f)
		if err != nil {
			return nil, err
		}
		r := &recorder{file: f.Name, rank: -1}
		if err := r.read(c, v, i, len(files)); err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	found := disagreements(c, all)
	start := common(all)
	for _, r := range all {
		c.members = append(c.members, r.member(c, start[r.rank]))
	}
	note(&c.report.Guessed, "computation between calls: the time between their launches on the host, as if no call blocked the host", c.file, 0)
	t, err := c.trace()
	if err != nil {
		if len(found) > 0 {
			err = at(files[0].Name, 0, "%s; and the rest is not a workload: %v", found[0], err)
		}
		return nil, err
	}
	t.Findings = found
	return t, nil
}

// maxDump bounds a dump; a buffer of 20,000 calls with their stacks has 50 MB.
const maxDump = 512 << 20

// recorderValue returns the content of a dump, pickled or JSON.
func recorderValue(o *Options, f File) (v any, err error) {
	err = o.stream(f, func(s *stream.Source) error {
		var b []byte
		if head := s.Head(2); len(head) == 2 && head[0] == 0x80 {
			if b, err = s.All(maxDump); err == nil {
				v, err = unpickle(f.Name, b)
			}
			return err
		}
		if b, err = s.All(maxDump); err != nil {
			return err
		}
		d := json.NewDecoder(bytes.NewReader(b))
		d.UseNumber()
		if err := d.Decode(&v); err != nil {
			what := err.Error()
			if err == io.ErrUnexpectedEOF || err == io.EOF {
				what = "it ends within a value: the file is truncated"
			}
			return at(f.Name, lineAt(b, d.InputOffset()), "is not JSON: %s", what)
		}
		return nil
	})
	return v, err
}

// items returns the values of a list of either kind.
func items(v any) []any {
	switch v := v.(type) {
	case []any:
		return v
	case *pyList:
		return v.items
	}
	return nil
}

// whole returns an integer of either kind.
func whole(v any) (int64, bool) {
	switch v := v.(type) {
	case int64:
		return v, true
	case float64:
		return int64(v), v > -1e18 && v < 1e18
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n, true
		}
		f, err := v.Float64()
		return int64(f), err == nil && f > -1e18 && f < 1e18
	case string:
		n, err := strconv.ParseInt(v, 10, 64)
		return n, err == nil
	}
	return 0, false
}

// rankOf finds a rank at the end of a dump's name: nccl_trace_rank_3, trace_3.json.
var rankOf = regexp.MustCompile(`(\d{1,6})(\.[a-z]+)*$`)

// read takes a dump.
func (r *recorder) read(c *calls, v any, place, of int) error {
	dump, ok := v.(map[string]any)
	list := items(dump["entries"])
	if !ok || dump["entries"] == nil || list == nil {
		return at(r.file, 0, "is not a dump of the Flight Recorder: it has no entries")
	}
	if len(list) > maxActs/2 {
		return at(r.file, 0, "has %d entries, at most %d are read", len(list), maxActs/2)
	}
	if n, ok := whole(dump["rank"]); ok && n >= 0 && n < maxRanks {
		r.rank = int(n)
	} else if m := rankOf.FindStringSubmatch(path.Base(r.file)); m != nil {
		r.rank, _ = strconv.Atoi(m[1])
		note(&c.report.Guessed, "ranks taken from the file name", r.file, 0)
	} else {
		r.rank = place
		note(&c.report.Guessed, "ranks taken from the order of the files", r.file, 0)
	}
	if r.rank >= maxRanks {
		return at(r.file, 0, "is of rank %d, at most %d are read", r.rank, maxRanks)
	}
	r.config(dump["pg_config"])
	before := map[callKey]int64{} // earlier entries with the same number, as coalesced ones have
	for i, x := range list {
		e, ok := x.(map[string]any)
		if !ok {
			note(&c.report.Left, "entries not in the format of the Flight Recorder", r.file, 0)
			continue
		}
		if a, why := r.entry(c, e, of); why != "" {
			note(&c.report.Left, why, r.file, 0)
		} else {
			a.number = i
			if a.what != opSend && a.what != opRecv {
				key := callKey{group: a.group, seq: a.seq}
				a.seq = a.seq<<16 | min(before[key], 1<<16-1)
				before[key]++
			}
			r.entries = append(r.entries, a)
		}
	}
	return nil
}

// config reads the ranks of each group: a list, or its string form.
func (r *recorder) config(v any) {
	r.groups = map[string]recorderGroup{}
	all, _ := v.(map[string]any)
	for name, x := range all {
		g, _ := x.(map[string]any)
		group := recorderGroup{name: name}
		group.desc, _ = g["desc"].(string)
		list := items(g["ranks"])
		if text, ok := g["ranks"].(string); ok {
			for _, w := range strings.FieldsFunc(text, func(c rune) bool { return c < '0' || c > '9' }) {
				list = append(list, w)
			}
		}
		for _, x := range list {
			if n, ok := whole(x); ok && n >= 0 && n < maxRanks && len(group.ranks) < maxRanks {
				group.ranks = append(group.ranks, int(n))
			}
		}
		if len(group.ranks) == len(list) && len(list) > 0 {
			r.groups[name] = group
		}
	}
}

// arrow finds the peer of a message in its name: nccl:send 0->1, nccl:recv 1<-0.
var arrow = regexp.MustCompile(`(\d{1,6}) ?(->|<-) ?(\d{1,6})`)

// entry parses an entry, or returns why it is omitted.
func (r *recorder) entry(c *calls, e map[string]any, of int) (a recorded, why string) {
	title, _ := e["profiling_name"].(string)
	what, known := opsByName[plain(title)]
	if !known {
		return a, "entries of " + strconv.Quote(clip(title))
	}
	a.what, a.peer = what, 0
	pg := items(e["process_group"])
	name, desc := "", ""
	if len(pg) > 0 {
		name, _ = pg[0].(string)
	}
	if len(pg) > 1 {
		desc, _ = pg[1].(string)
	}
	if name == "" {
		if n, ok := whole(e["pg_id"]); ok {
			name = fmt.Sprint(n)
		}
	}
	g, ok := r.groups[name]
	switch {
	case ok:
	case of > 1 && (desc == "default_pg" || name == "0"):
		g.ranks = seqOf(of)
		note(&c.report.Guessed, "groups without a list of ranks, assumed to contain all ranks with a file", r.file, 0)
	default:
		return a, "entries of groups of unknown ranks"
	}
	if !slices.Contains(g.ranks, r.rank) {
		return a, "entries of groups that the rank is not in"
	}
	a.group = c.grouped(groupName(desc, name), g.ranks)
	in, ok1 := sizeOf(e["input_sizes"], e["input_dtypes"])
	out, ok2 := sizeOf(e["output_sizes"], e["output_dtypes"])
	if !ok1 || !ok2 {
		return a, "entries of unknown or impossible size"
	}
	a.bytes = unit.Bytes(max(in, out))
	a.size = sizeWords(e["input_sizes"], e["input_dtypes"])
	a.created, _ = whole(e["time_created_ns"])
	a.state, _ = e["state"].(string)
	a.where = frame(items(e["frames"]))
	seq, ok := whole(e["collective_seq_id"])
	if !ok {
		seq, ok = whole(e["seq_id"]) // before version 2.0
	}
	if what != opSend && what != opRecv {
		if !ok || seq < 0 || seq > 1<<40 {
			return a, "entries without a number"
		}
		a.seq = seq
		return a, ""
	}
	m := arrow.FindStringSubmatch(title)
	if m == nil {
		return a, "sends and receives without a peer"
	}
	peer, _ := strconv.Atoi(m[3])
	if peer >= len(g.ranks) {
		return a, "sends and receives with ranks outside their group"
	}
	a.peer = int32(peer)
	return a, ""
}

// frame returns the program line that made a call: the last line outside PyTorch.
func frame(frames []any) string {
	for _, x := range frames {
		f, _ := x.(map[string]any)
		file, _ := f["filename"].(string)
		line, ok := whole(f["line"])
		if file == "" || !ok || strings.Contains(file, "/torch/distributed/") {
			continue
		}
		return fmt.Sprintf("%s:%d", clip(path.Base(file)), line)
	}
	return ""
}

// sizeOf returns the total bytes of tensors; false: an impossible type or shape.
func sizeOf(shapes, types any) (int64, bool) {
	total := int64(0)
	names := items(types)
	for i, shape := range items(shapes) {
		name := ""
		if i < len(names) {
			name, _ = names[i].(string)
		} else if len(names) > 0 {
			name, _ = names[len(names)-1].(string)
		}
		size, known := typeSizes[strings.ToLower(name)]
		if !known {
			return 0, false
		}
		for _, x := range items(shape) {
			n, ok := whole(x)
			if !ok || n < 0 || n > 1<<50 || size > 0 && n > (1<<50)/size {
				return 0, false
			}
			size *= n
		}
		if total += size; total > 1<<50 {
			return 0, false
		}
	}
	return total, true
}

// sizeWords is a shape as the dump has it: [[3, 4]] Float.
func sizeWords(shapes, types any) string {
	var all []string
	for _, shape := range items(shapes) {
		var dims []string
		for _, x := range items(shape) {
			n, _ := whole(x)
			dims = append(dims, fmt.Sprint(n))
		}
		all = append(all, "["+strings.Join(dims, ", ")+"]")
	}
	s := "[" + strings.Join(all, ", ") + "]"
	if names := items(types); len(names) > 0 {
		if name, ok := names[0].(string); ok {
			s += " " + clip(name)
		}
	}
	return clip(s)
}

// common returns, for each rank, the first entry of the calls that all ranks with a file have. Buffers are
// overwritten at different rates.
func common(all []*recorder) map[int]int {
	made := map[callKey]int{}
	present := map[int32]int{} // by group: number of ranks with entries of it
	for _, r := range all {
		seen := map[int32]bool{}
		for i := range r.entries {
			e := &r.entries[i]
			if made[callKey{group: e.group, seq: e.seq}]++; !seen[e.group] {
				seen[e.group] = true
				present[e.group]++
			}
		}
	}
	first := map[int]int{}
	for _, r := range all {
		first[r.rank] = len(r.entries)
		for i := range r.entries {
			e := &r.entries[i]
			if e.what != opSend && e.what != opRecv && made[callKey{group: e.group, seq: e.seq}] >= present[e.group] {
				first[r.rank] = i
				break
			}
		}
	}
	return first
}

// member converts entries to acts. The host makes calls in sequence, at their recorded times, and calls of a group
// are in order.
func (r *recorder) member(c *calls, start int) member {
	m := member{rank: r.rank, file: r.file}
	host, last := int32(-1), int64(0)
	groups := map[int32][]int32{} // the last call of each, or sends and receives since
	for i := range r.entries {
		e := &r.entries[i]
		if i < start {
			note(&c.report.Left, "entries before the first one that all ranks with a file recorded", r.file, 0)
			continue
		}
		gap := e.created - last
		if last == 0 || e.created <= 0 {
			gap = 0
		}
		if e.created > 0 {
			if gap < 0 {
				note(&c.report.Guessed, "entries earlier than the previous one, without time between them", r.file, 0)
				gap = 0
			}
			last = e.created
		}
		if gap > 3600e9 {
			note(&c.report.Guessed, "gaps above one hour, shortened to one hour", r.file, 0)
			gap = 3600e9
		}
		var after []int32
		if host >= 0 {
			after = append(after, host)
		}
		host = m.add(act{what: opCompute, dur: unit.Time(gap) * unit.Nanosecond}, after...)
		message := e.what == opSend || e.what == opRecv
		seq := e.seq
		if message {
			seq = -1
		}
		at := m.add(act{what: e.what, bytes: e.bytes, seq: seq, group: e.group, peer: e.peer},
			append([]int32{host}, groups[e.group]...)...)
		if !message {
			groups[e.group] = []int32{at}
		}
	}
	return m
}
