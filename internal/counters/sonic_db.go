package counters

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"railyard/unit"
)

// named is a counter and its name in a database or a list.
type named struct {
	name string
	at   func(p *Port, i int) *Count
}

// The names of SAI (saiport.h, saiqueue.h, saibuffer.h), %d a priority.
var (
	saiPort = []named{
		{"SAI_PORT_STAT_PFC_%d_RX_PKTS", func(p *Port, i int) *Count { return &p.RxPFC[i] }},
		{"SAI_PORT_STAT_PFC_%d_TX_PKTS", func(p *Port, i int) *Count { return &p.TxPFC[i] }},
		{"SAI_PORT_STAT_PFC_%d_RX_PAUSE_DURATION_US", func(p *Port, i int) *Count { return &p.RxDur[i] }},
		{"SAI_PORT_STAT_PFC_%d_TX_PAUSE_DURATION_US", func(p *Port, i int) *Count { return &p.TxDur[i] }},
		{"SAI_PORT_STAT_IF_IN_OCTETS", func(p *Port, _ int) *Count { return &p.RxBytes }},
		{"SAI_PORT_STAT_IF_OUT_OCTETS", func(p *Port, _ int) *Count { return &p.TxBytes }},
		{"SAI_PORT_STAT_IF_IN_UCAST_PKTS", func(p *Port, _ int) *Count { return &p.RxPackets }},
		{"SAI_PORT_STAT_IF_OUT_UCAST_PKTS", func(p *Port, _ int) *Count { return &p.TxPackets }},
		{"SAI_PORT_STAT_IF_IN_ERRORS", func(p *Port, _ int) *Count { return &p.InErrors }},
		{"SAI_PORT_STAT_IF_OUT_ERRORS", func(p *Port, _ int) *Count { return &p.OutErrors }},
		{"SAI_PORT_STAT_IF_IN_DISCARDS", func(p *Port, _ int) *Count { return &p.InDiscards }},
		{"SAI_PORT_STAT_IF_OUT_DISCARDS", func(p *Port, _ int) *Count { return &p.OutDiscards }},
		{"SAI_PORT_STAT_ETHER_RX_OVERSIZE_PKTS", func(p *Port, _ int) *Count { return &p.Giants }},
		{"SAI_PORT_STAT_ETHER_STATS_CRC_ALIGN_ERRORS", func(p *Port, _ int) *Count { return &p.CRC }},
		{"SAI_PORT_STAT_IF_IN_FEC_NOT_CORRECTABLE_FRAMES", func(p *Port, _ int) *Count { return &p.Uncorrected }},
		{"SAI_PORT_STAT_PAUSE_RX_PKTS", func(p *Port, _ int) *Count { return &p.RxPause }},
		{"SAI_PORT_STAT_PAUSE_TX_PKTS", func(p *Port, _ int) *Count { return &p.TxPause }},
	}
	saiQueue = []named{
		{"SAI_QUEUE_STAT_PACKETS", func(p *Port, i int) *Count { return &p.Queues[i].TxPackets }},
		{"SAI_QUEUE_STAT_BYTES", func(p *Port, i int) *Count { return &p.Queues[i].TxBytes }},
		{"SAI_QUEUE_STAT_DROPPED_PACKETS", func(p *Port, i int) *Count { return &p.Queues[i].DropPackets }},
		{"SAI_QUEUE_STAT_DROPPED_BYTES", func(p *Port, i int) *Count { return &p.Queues[i].DropBytes }},
		{"SAI_QUEUE_STAT_WRED_ECN_MARKED_PACKETS", func(p *Port,
			i int) *Count {
			return &p.Queues[i].Marked
		}},
		{"SAI_QUEUE_STAT_CURR_OCCUPANCY_BYTES", func(p *Port, i int) *Count { return &p.Queues[i].Depth }},
		{"SAI_QUEUE_STAT_SHARED_WATERMARK_BYTES", func(p *Port, i int) *Count { return &p.Queues[i].Peak }},
		{"PFC_WD_QUEUE_STATS_DEADLOCK_DETECTED", func(p *Port,
			i int) *Count {
			return &p.Queues[i].Detected
		}},
		{"PFC_WD_QUEUE_STATS_DEADLOCK_RESTORED", func(p *Port,
			i int) *Count {
			return &p.Queues[i].Restored
		}},
		{"PFC_WD_QUEUE_STATS_TX_DROPPED_PACKETS", func(p *Port,
			i int) *Count {
			return &p.Queues[i].Flushed
		}},
	}
	saiGroup = []named{
		{"SAI_INGRESS_PRIORITY_GROUP_STAT_PACKETS", func(p *Port,
			i int) *Count {
			return &p.Groups[i].RxPackets
		}},
		{"SAI_INGRESS_PRIORITY_GROUP_STAT_BYTES", func(p *Port,
			i int) *Count {
			return &p.Groups[i].RxBytes
		}},
		{"SAI_INGRESS_PRIORITY_GROUP_STAT_SHARED_CURR_OCCUPANCY_BYTES",
			func(p *Port, i int) *Count { return &p.Groups[i].Shared }},
		{"SAI_INGRESS_PRIORITY_GROUP_STAT_SHARED_WATERMARK_BYTES",
			func(p *Port, i int) *Count { return &p.Groups[i].SharedPeak }},
		{"SAI_INGRESS_PRIORITY_GROUP_STAT_XOFF_ROOM_CURR_OCCUPANCY_BYTES",
			func(p *Port, i int) *Count { return &p.Groups[i].Headroom }},
		{"SAI_INGRESS_PRIORITY_GROUP_STAT_XOFF_ROOM_WATERMARK_BYTES",
			func(p *Port, i int) *Count { return &p.Groups[i].HeadroomPeak }},
		{"SAI_INGRESS_PRIORITY_GROUP_STAT_DROPPED_PACKETS",
			func(p *Port, i int) *Count { return &p.Groups[i].DropPackets }},
	}
)

// hash is an entry of the database with the line of its key.
type hash struct {
	line   int
	fields map[string]string
	at     map[string]int
	order  []string

	wrapped bool // whether the fields are under "value"
}

// readSonicDB reads a dump: a name map identifies the owner of an object's counters.
func readSonicDB(r *reading) {
	db, ok := r.hashes()
	if !ok {
		return
	}
	for _, m := range []struct {
		key   string
		names []named
		eight bool
	}{{"COUNTERS_PORT_NAME_MAP", saiPort, false}, {"COUNTERS_QUEUE_NAME_MAP", saiQueue, true},
		{"COUNTERS_PG_NAME_MAP", saiGroup, true}} {
		h := db[m.key]
		if h == nil {
			continue
		}
		for _, name := range h.order {
			at := line{h.at[name], name}
			values := db["COUNTERS:"+h.fields[name]]
			port, i := name, 0
			if m.eight {
				var queue string
				var err error
				port, queue, _ = strings.Cut(name, ":")
				if i, err = strconv.Atoi(queue); strings.Contains(port, "|") {
					continue // a queue towards another chassis' port
				} else if err != nil || i < 0 {
					r.not(at, "%s is not a queue of an interface", quote(name))
					continue
				} else if i >= Priorities {
					continue
				}
			}
			p := r.port(port, at)
			if values != nil {
				r.sai(p, i, m.names, values, m.eight)
			}
		}
	}
	r.portTable(db)
}

// sai takes the counters of an object.
func (r *reading) sai(p *Port, i int, names []named, h *hash, eight bool) {
	for _, n := range names {
		for k := range Priorities {
			name, at := n.name, i
			if strings.Contains(name, "%d") {
				name, at = fmt.Sprintf(name, k), k
			} else if k > 0 {
				break
			}
			v, is := h.fields[name]
			if !is {
				continue
			}
			l := line{h.at[name], name + " " + v}
			c, ok := number(v, l)
			if !ok {
				r.not(l, "has %s where a counter is expected", quote(v))
				continue
			}
			if c.Is {
				*n.at(p, at) = c
			}
		}
	}
}

// portTable also reads the ports in APPL_DB, if dumped.
func (r *reading) portTable(db map[string]*hash) {
	for i := range r.Ports {
		p := &r.Ports[i]
		h := db["PORT_TABLE:"+p.Name]
		if h == nil {
			continue
		}
		if v, ok := h.fields["oper_status"]; ok {
			p.Up = Said[bool]{v == "up", h.at["oper_status"], true}
		}
		if n, err := strconv.ParseInt(h.fields["speed"], 10, 32); err == nil {
			p.Speed = Said[unit.Rate]{unit.Rate(n) * unit.Mbps, h.at["speed"], true}
		}
		if n, err := strconv.ParseInt(h.fields["mtu"], 10, 32); err == nil {
			p.MTU = Said[unit.Bytes]{unit.Bytes(n), h.at["mtu"], true}
		}
		if v, ok := h.fields["flap_count"]; ok {
			if c, ok := number(v, line{n: h.at["flap_count"]}); ok {
				p.Flaps = c
			}
		}
	}
}

// hashes parses the entries of a dump, bare or with type and time to live around them.
func (r *reading) hashes() (map[string]*hash, bool) {
	w := r.walker()
	out := map[string]*hash{}
	err := w.object(func(key string) error {
		h := &hash{line: w.at(), fields: map[string]string{}, at: map[string]int{}}
		out[key] = h
		return w.hash(h, 0)
	})
	if err != nil {
		at := w.at()
		r.all.fail(at, "is not JSON that a database's dump could be: %v; is it truncated?", err)
		return nil, false
	}
	if len(out) == 0 {
		r.not(r.lines[0], "a dump without entries")
	}
	return out, true
}

// walker reads JSON and tracks the line.
type walker struct {
	d    *json.Decoder
	text string
	done int // bytes whose lines are counted
	line int
}

// walker reads the JSON of the input.
func (r *reading) walker() walker {
	var b strings.Builder
	for _, l := range r.lines {
		b.WriteString(l.text + "\n")
	}
	d := json.NewDecoder(strings.NewReader(b.String()))
	d.UseNumber()
	return walker{d: d, text: b.String(), line: r.lines[0].n}
}

// at is the current line.
func (w *walker) at() int {
	to := min(int(w.d.InputOffset()), len(w.text))
	w.line += strings.Count(w.text[w.done:to], "\n")
	w.done = to
	return w.line
}

// object visits the keys of an object; the visitor reads the value.
func (w *walker) object(visit func(key string) error) error {
	t, err := w.d.Token()
	if err != nil {
		return err
	}
	if t != json.Delim('{') {
		return fmt.Errorf("%v where an object is expected", t)
	}
	for w.d.More() {
		k, err := w.d.Token()
		if err != nil {
			return err
		}
		if err := visit(k.(string)); err != nil {
			return err
		}
	}
	_, err = w.d.Token()
	return err
}

// hash parses an entry's fields; those below "value" are its own.
func (w *walker) hash(h *hash, depth int) error {
	return w.object(func(key string) error {
		at := w.at()
		var raw json.RawMessage
		if key == "value" && depth == 0 { // fields next to it belong to the database itself
			*h = hash{line: h.line, fields: map[string]string{}, at: map[string]int{}, wrapped: true}
			return w.hash(h, 1)
		}
		if err := w.d.Decode(&raw); err != nil {
			return err
		}
		s := string(raw)
		if json.Unmarshal(raw, &s) != nil && (raw[0] == '{' || raw[0] == '[') {
			return nil // of no counters
		}
		if h.wrapped && depth == 0 {
			return nil
		}
		if _, twice := h.fields[key]; !twice {
			h.order = append(h.order, key)
		}
		h.fields[key], h.at[key] = s, at
		return nil
	})
}

// writeSonicDB writes a dump with the objects that have counters, in the order of ports.
func writeSonicDB(w *bytes.Buffer, s *Snapshot) {
	d := dump{}
	ports, queues, groups := [][2]string{}, [][2]string{}, [][2]string{}
	for i := range s.Ports {
		p := &s.Ports[i]
		oid := fmt.Sprintf("oid:0x1%012x", i)
		var own [][2]string
		for k := range Priorities {
			own = append(own, saiFields(saiPort, p, k, k == 0)...)
		}
		if len(own) == 0 {
			continue
		}
		ports = append(ports, [2]string{p.Name, oid})
		d.add("COUNTERS:"+oid, own)
		for k := range Priorities {
			name := fmt.Sprintf("%s:%d", p.Name, k)
			if f := saiFields(saiQueue, p, k, true); len(f) > 0 {
				oid := fmt.Sprintf("oid:0x15%08x%04x", i, k)
				queues = append(queues, [2]string{name, oid})
				d.add("COUNTERS:"+oid, f)
			}
			if f := saiFields(saiGroup, p, k, true); len(f) > 0 {
				oid := fmt.Sprintf("oid:0x1a%08x%04x", i, k)
				groups = append(groups, [2]string{name, oid})
				d.add("COUNTERS:"+oid, f)
			}
		}
		d.port(p)
	}
	if len(ports) == 0 {
		return
	}
	d.add("COUNTERS_PORT_NAME_MAP", ports)
	d.add("COUNTERS_QUEUE_NAME_MAP", queues)
	d.add("COUNTERS_PG_NAME_MAP", groups)
	w.WriteString("{\n" + strings.Join(d.entries, ",\n") + "\n}\n")
}

// saiFields are the counters of an object by their names. whole selects those without a priority.
func saiFields(names []named, p *Port, k int, whole bool) (out [][2]string) {
	for _, n := range names {
		name := n.name
		if each := strings.Contains(name, "%d"); each {
			name = fmt.Sprintf(name, k)
		} else if !whole {
			continue
		}
		if c := n.at(p, k); c.Is {
			out = append(out, [2]string{name, c.String()})
		}
	}
	return out
}

type dump struct{ entries []string }

func (d *dump) add(key string, fields [][2]string) {
	if len(fields) == 0 {
		return
	}
	var all []string
	for _, f := range fields {
		all = append(all, fmt.Sprintf("      %q: %q", f[0], f[1]))
	}
	d.entries = append(d.entries, fmt.Sprintf("  %q: {\n    \"ttl\": -1,\n    \"type\": \"hash\",\n    \"value\": {\n%s\n    }\n  }", key, strings.Join(all, ",\n")))
}

// port adds what APPL_DB has of a port.
func (d *dump) port(p *Port) {
	var f [][2]string
	if p.Up.Is {
		f = append(f, [2]string{"oper_status", p.state("up", "down")})
	}
	if p.Speed.Is {
		f = append(f, [2]string{"speed", fmt.Sprint(int64(p.Speed.V / unit.Mbps))})
	}
	if p.MTU.Is {
		f = append(f, [2]string{"mtu", fmt.Sprint(int64(p.MTU.V))})
	}
	if p.Flaps.Is {
		f = append(f, [2]string{"flap_count", p.Flaps.String()})
	}
	d.add("PORT_TABLE:"+p.Name, f)
}
