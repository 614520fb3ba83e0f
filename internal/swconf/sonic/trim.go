package sonic

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"railyard/internal/queue"
	"railyard/internal/swconf"
	"railyard/internal/swconf/design"
	"railyard/unit"
)

// SONiC's packet trimming (its high-level design of 2025): BUFFER_PROFILE selects the trimming queues, and the one
// row of SWITCH_TRIMMING has their parameters. If ports to servers set another DSCP on trimmed packets, each port
// has a map of a traffic class without other packets. The names of these maps identify the ports.
const (
	trimTable  = "SWITCH_TRIMMING"
	trimServer = "TRIM_SERVER"
	trimFabric = "TRIM_FABRIC"
	fromTC     = "from-tc"
)

// freeTC is a traffic class that no DSCP is in.
func freeTC(s *queue.Spec) (tc int, ok bool) {
	used := [queue.Classes]bool{}
	for _, q := range s.DSCP {
		used[q] = true
	}
	for tc := queue.Classes - 1; tc >= 0; tc-- {
		if !used[tc] {
			return tc, true
		}
	}
	return 0, false
}

// trims refuses settings of trimming that SONiC cannot express.
func trims(s *design.Switch) error {
	t := &s.Spec.Trim
	if s.Spec.TrimMask() == 0 {
		return nil
	}
	if t.Either {
		return errors.New("trimming of the earlier packet (switch.trim.either); SONiC trims the packet that does not fit")
	}
	if _, ok := freeTC(&s.Spec); t.LastHop != t.DSCP && !ok {
		return errors.New("a DSCP of its own for what is trimmed at ports to servers; that takes a traffic class without DSCPs, and all eight have some")
	}
	return nil
}

func trimming(s *queue.Spec, put putter) {
	t := &s.Trim
	if s.TrimMask() == 0 {
		return
	}
	r := row{"size": fmt.Sprint(int64(t.Size)), "dscp_value": fmt.Sprint(t.DSCP), "queue_index": "dynamic"}
	if t.LastHop != t.DSCP {
		tc, _ := freeTC(s)
		n := fmt.Sprint(tc)
		r["dscp_value"], r["tc_value"], r["queue_index"] = fromTC, n, fmt.Sprint(s.DSCP[t.DSCP])
		put("TC_TO_DSCP_MAP", trimServer, row{n: fmt.Sprint(t.LastHop)})
		put("TC_TO_DSCP_MAP", trimFabric, row{n: fmt.Sprint(t.DSCP)})
	}
	put(trimTable, "GLOBAL", r)
}

// trimMap is the map of a port.
func trimMap(s *queue.Spec, server bool) string {
	switch {
	case s.TrimMask() == 0 || s.Trim.LastHop == s.Trim.DSCP:
		return ""
	case server:
		return trimServer
	}
	return trimFabric
}

// trimming reads it.
func (p *parser) trimming() {
	r := p.table(trimTable).get("GLOBAL")
	if r == nil {
		return
	}
	t := &p.c.Trim
	if v, ok := p.number(r, "size", maxBytes); ok {
		t.Size = swconf.Say(unit.Bytes(v), r.get("size").at)
	}
	if n := r.get("queue_index"); n != nil && n.text != "dynamic" {
		if v, ok := p.number(r, "queue_index", queue.Classes-1); ok {
			t.Queue = swconf.Say(int(v), n.at)
		}
	}
	n := r.get("dscp_value")
	if n == nil {
		return
	}
	if n.text != fromTC {
		if v, ok := p.number(r, "dscp_value", 63); ok {
			t.DSCP = swconf.Say(uint8(v), n.at)
		}
		return
	}
	tc := r.get("tc_value")
	if tc == nil {
		p.bad(n, "dscp_value from-tc without a tc_value")
		return
	}
	maps := p.table("TC_TO_DSCP_MAP")
	for _, row := range values(p.table("PORT_QOS_MAP")) {
		name := row.get("tc_to_dscp_map")
		if name == nil {
			continue
		}
		d := maps.get(name.text).get(tc.text)
		if d == nil {
			continue
		}
		v, err := strconv.ParseUint(d.text, 10, 8)
		if err != nil || v > 63 {
			p.bad(d, "TC %s to DSCP %s: DSCPs are 0 to 63", tc.text, d.text)
			continue
		}
		low := strings.ToLower(name.text)
		if strings.Contains(low, "server") || strings.Contains(low, "host") {
			t.LastHop = swconf.Say(uint8(v), d.at)
		} else {
			t.DSCP = swconf.Say(uint8(v), d.at)
		}
	}
	switch { // one DSCP for all ports, under any map name
	case !t.DSCP.Is():
		t.DSCP = t.LastHop
	case !t.LastHop.Is():
		t.LastHop = t.DSCP
	}
}
