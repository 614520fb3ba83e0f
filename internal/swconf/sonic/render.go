package sonic

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"railyard/internal/queue"
	"railyard/internal/swconf"
	"railyard/internal/swconf/design"
	"railyard/internal/swconf/frr"
	"railyard/unit"
)

// row is a row of a table: fields, or for maps their entries.
type row = map[string]string

// names of the profiles and maps.
const (
	mapName        = "ROCE"
	ingressPool    = "ingress_lossless_pool"
	ingressDynamic = "ingress_dynamic_pool"
	egress         = "egress_lossy_pool"
	egressLossless = "egress_lossless_pool"

	// names in SONiC images
	lossyGroup    = "ingress_lossy_profile"
	losslessQueue = "egress_lossless_profile"
)

// Render writes a switch's config_db.json, and its frr.conf: routing is in FRR's
// own file (docker_routing_config_mode split-unified).
func Render(d *design.Design, s *design.Switch) ([]design.File, error) {
	if err := fits(d, s); err != nil {
		return nil, err
	}
	db := map[string]map[string]row{}
	put := func(table, key string, r row) {
		if db[table] == nil {
			db[table] = map[string]row{}
		}
		db[table][key] = r
	}
	system(d, s, put)
	maps(s, put)
	profiles(s, put)
	trimming(&s.Spec, put)
	for _, p := range s.Ports {
		ports(d, s, p, put)
	}
	put("CABLE_LENGTH", "AZURE", cables(s))
	segments(s, put)
	vlans(d, s, put)
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "    ")
	if err := e.Encode(db); err != nil {
		panic(err) // maps of strings always encode
	}
	files := []design.File{{Path: s.Name + "/config_db.json", Text: b.String()}}
	if s.Routed() {
		files = append(files, design.File{Path: s.Name + "/frr.conf", Text: frr.Config(d, s, false)})
	}
	return files, nil
}

func fits(d *design.Design, s *design.Switch) error {
	no := func(format string, args ...any) error { return design.Refuse(swconf.SONiC, s, format, args...) }
	spec := &s.Spec
	if s.Panel == nil || s.Panel.Device == nil {
		return &NoProfile{s.Name}
	}
	for _, p := range s.Ports {
		if _, ok := s.Panel.Socket(p.Jack); !ok {
			return no("port %d, to %s, is not one of %s", p.Jack.Port, p.FarName, s.Panel.Device.From)
		}
	}
	if s.Peer != nil && d.Multihome == design.ESI {
		return no("EVPN multihoming is not written for SONiC; use --multihoming mlag")
	}
	if spec.MTU > 9216 {
		return no("an MTU of %d; at most 9216 is accepted", spec.MTU)
	}
	lossless := 0
	for i := range spec.Queues {
		k := &spec.Queues[i]
		if k.Lossless {
			lossless++
		}
		if p := k.WRED.Probability.Percent(); math.Abs(p-math.Round(p)) > 1e-9 {
			return no("queue %d: a drop probability of %g %%; whole percents are accepted", i, p)
		}
		if k.WRED.Weight > 0 {
			return no("queue %d: WRED has no averaging weight", i)
		}
		if _, ok := exponent(k.Alpha); k.Alpha > 0 && !ok {
			return no("queue %d: alpha %g; powers of two from 1/256 to 256 are accepted", i, k.Alpha)
		}
	}
	if need := reserved(s); need >= spec.Buffer {
		return no("the headroom of %s, %v by SONiC's calculation, leaves nothing of the buffer of %v (switch.buffer) to share", unit.Plural(len(s.Ports), "port"), need, spec.Buffer)
	}
	if err := trims(s); err != nil {
		return no("%v", err)
	}
	if lossless > 2 {
		return no("%d lossless classes; the YANG model takes two", lossless)
	}
	if w := spec.Watchdog; w.On && (w.Detect < 100*unit.Millisecond || w.Detect > 5000*unit.Millisecond ||
		w.Restore < 100*unit.Millisecond || w.Restore > 60*unit.Second || w.Poll > 3*unit.Second ||
		w.Poll < 100*unit.Millisecond) {
		return no("a watchdog of %v, %v, %v; detection is 100ms to 5s, restoration 100ms to 60s, polling 100ms to 3s", w.Poll, w.Detect, w.Restore)
	}
	return nil
}

// reserved is the headroom that all ports keep for all their classes.
func reserved(s *design.Switch) (n unit.Bytes) {
	for i := range s.Spec.Queues {
		for _, p := range s.Ports {
			if s.Spec.Queues[i].Lossless {
				n += p.Headroom[i]
			}
		}
	}
	return n
}

// groupProfile is the profile of a port's priority group. If ports need different headroom each speed and length
// has its own, as in SONiC's pg_profile_lookup.ini.
func groupProfile(s *design.Switch, p *design.Port, i int) string {
	name := fmt.Sprintf("pg_lossless_%d", i)
	for _, other := range s.Ports {
		if other.Headroom[i] != p.Headroom[i] {
			return fmt.Sprintf("%s_%d_%s", name, p.Rate/unit.Mbps, metres(p.LengthMM))
		}
	}
	return name
}

func exponent(a float64) (int, bool) {
	for n := int64(-8); n <= 8; n++ {
		if alpha(n) == a {
			return int(n), true
		}
	}
	return 0, false
}

type putter func(table, key string, r row)

func system(d *design.Design, s *design.Switch, put putter) {
	role := "LeafRouter"
	switch {
	case s.Tier == 1:
		role = "ToRRouter"
	case s.Tier > 2:
		role = "SpineRouter"
	}
	meta := row{"hostname": s.Name, "type": role, "default_bgp_status": "up",
		"docker_routing_config_mode": "split-unified"}
	if len(s.SIDs) > 0 {
		// bgpcfgd writes FRR's locators, SIDs and static routes from these tables, and ignores them if FRR has its
		// own file
		meta["docker_routing_config_mode"] = "separated"
	}
	if s.Routed() {
		meta["bgp_asn"] = fmt.Sprint(s.ASN)
	}
	if s.Panel.Device.HwSKU != "" {
		meta["hwsku"] = s.Panel.Device.HwSKU
	}
	if s.Panel.Device.Platform != "" {
		meta["platform"] = s.Panel.Device.Platform
	}
	put("DEVICE_METADATA", "localhost", meta)
	put("FEATURE", "lldp", row{"state": "enabled", "auto_restart": "enabled"})
	put("LOOPBACK_INTERFACE", "Loopback0", row{})
	put("LOOPBACK_INTERFACE", fmt.Sprintf("Loopback0|%v/32", s.RouterID), row{})
}

// maps writes classification: DSCP to traffic class, and the identity from
// there to queues, priority groups and PFC priorities.
func maps(s *design.Switch, put putter) {
	dscp, same := row{}, row{}
	for d, q := range s.Spec.DSCP {
		dscp[fmt.Sprint(d)] = fmt.Sprint(q)
	}
	groups := row{} // lossy classes share priority group 0
	for i := range queue.Classes {
		n := fmt.Sprint(i)
		same[n] = n
		groups[n] = "0"
		if s.Spec.Queues[i].Lossless {
			groups[n] = n
		}
	}
	put("DSCP_TO_TC_MAP", mapName, dscp)
	put("TC_TO_QUEUE_MAP", mapName, same)
	put("TC_TO_PRIORITY_GROUP_MAP", mapName, groups)
	put("MAP_PFC_PRIORITY_TO_QUEUE", mapName, same)
}

// profiles writes schedulers, WRED and buffers.
func profiles(s *design.Switch, put putter) {
	spec := &s.Spec
	for i := range spec.Queues {
		k := &spec.Queues[i]
		n := fmt.Sprint(i)
		if k.Strict {
			put("SCHEDULER", "scheduler."+n, row{"type": "STRICT"})
		} else if k.Weight > 0 {
			put("SCHEDULER", "scheduler."+n, row{"type": "DWRR", "weight": fmt.Sprint(k.Weight)})
		}
		if w := k.WRED; w.Max > 0 {
			put("WRED_PROFILE", "WRED_Q"+n, wredRow(w))
		}
		lossyBuffer(k, n, spec.Buffer, put)
		if k.Lossless {
			for name, headroom := range groupProfiles(s, i) {
				put("BUFFER_PROFILE", name, groupRow(k, headroom))
			}
		}
	}
	for name, size := range pools(spec) {
		mode := "static"
		if name == ingressDynamic {
			mode = "dynamic"
		}
		put("BUFFER_POOL", name, row{"type": "ingress", "mode": mode, "size": fmt.Sprint(int64(size))})
	}
	put("BUFFER_POOL", egress, row{"type": "egress", "mode": "dynamic", "size": fmt.Sprint(int64(spec.Buffer))})
	stockProfiles(spec, put)
}

// stockProfiles are profiles that images also have: of priority group 0 with all lossy classes, and of lossless
// queues, which drop nothing because groups pause before them.
func stockProfiles(spec *queue.Spec, put putter) {
	size := fmt.Sprint(int64(spec.Buffer))
	switch in := pools(spec); {
	case in[ingressDynamic] > 0:
		put("BUFFER_PROFILE", lossyGroup, row{"pool": ingressDynamic, "size": "0", "dynamic_th": "3"})
	case in[ingressPool] > 0:
		put("BUFFER_PROFILE", lossyGroup, row{"pool": ingressPool, "size": "0", "static_th": size})
	default:
		return
	}
	put("BUFFER_POOL", egressLossless, row{"type": "egress", "mode": "static", "size": size})
	put("BUFFER_PROFILE", losslessQueue, row{"pool": egressLossless, "size": "0", "static_th": size})
}

// poolOf returns the pool of a lossless class: one mode of threshold per pool, as the YANG model requires.
func poolOf(k *queue.Class) string {
	if k.XOff == 0 {
		return ingressDynamic
	}
	return ingressPool
}

// pools divides the packet memory between the ingress pools in use.
func pools(spec *queue.Spec) map[string]unit.Bytes {
	out := map[string]unit.Bytes{}
	for i := range spec.Queues {
		if k := &spec.Queues[i]; k.Lossless {
			out[poolOf(k)] = spec.Buffer
		}
	}
	if len(out) == 2 {
		out[ingressPool] = spec.Buffer / 2
		out[ingressDynamic] = spec.Buffer - spec.Buffer/2
	}
	return out
}

// groupProfiles returns the profiles of a lossless class with their headroom: the maximum among cables of one length in
// whole metres.
func groupProfiles(s *design.Switch, i int) map[string]unit.Bytes {
	out := map[string]unit.Bytes{}
	for _, p := range s.Ports {
		name := groupProfile(s, p, i)
		out[name] = max(out[name], p.Headroom[i])
	}
	return out
}

// groupRow is such a profile.
func groupRow(k *queue.Class, headroom unit.Bytes) row {
	r := row{"pool": poolOf(k), "size": "0", "xoff": fmt.Sprint(int64(headroom)), "xon": fmt.Sprint(int64(k.XOn))}
	if k.XOnOffset > 0 {
		r["xon_offset"] = fmt.Sprint(int64(k.XOnOffset))
	}
	if k.XOff > 0 {
		r["static_th"] = fmt.Sprint(int64(k.XOff))
	} else {
		e, _ := exponent(k.Alpha)
		r["dynamic_th"] = fmt.Sprint(e)
	}
	return r
}

// lossyBuffer writes an egress profile if it differs from the default, an equal share of the free buffer (alpha 1).
func lossyBuffer(k *queue.Class, n string, buffer unit.Bytes, put putter) {
	action := func(r row) row {
		if k.Trim {
			r["packet_discard_action"] = "trim"
		}
		return r
	}
	switch {
	case k.Lossless:
	case k.Limit > 0:
		put("BUFFER_POOL", "egress_static_pool", row{"type": "egress", "mode": "static",
			"size": fmt.Sprint(int64(buffer))})
		put("BUFFER_PROFILE", "egress_q"+n, action(row{"pool": "egress_static_pool", "size": "0",
			"static_th": fmt.Sprint(int64(k.Limit))}))
	default:
		e, _ := exponent(k.Alpha)
		put("BUFFER_PROFILE", "egress_q"+n, action(row{"pool": egress, "size": "0", "dynamic_th": fmt.Sprint(e)}))
	}
}

// wredRow gives all colours the same thresholds: RoCE traffic is not coloured.
func wredRow(w queue.WRED) row {
	r := row{"ecn": "ecn_none"}
	if w.ECN {
		r["ecn"] = "ecn_all"
	}
	for _, c := range []string{"green", "yellow", "red"} {
		r[c+"_min_threshold"] = fmt.Sprint(int64(w.Min))
		r[c+"_max_threshold"] = fmt.Sprint(int64(w.Max))
		r[c+"_drop_probability"] = fmt.Sprintf("%.0f", w.Probability.Percent())
		r["wred_"+c+"_enable"] = "true"
	}
	return r
}

func ports(d *design.Design, s *design.Switch, p *design.Port, put putter) {
	name := p.Name
	put("PORT", name, portRow(s, p))
	if k, _ := s.Panel.Socket(p.Jack); k.Mode != "" {
		put("BREAKOUT_CFG", k.Cage, row{"brkout_mode": k.Mode})
	}
	qos := row{"dscp_to_tc_map": mapName, "tc_to_queue_map": mapName, "tc_to_pg_map": mapName,
		"pfc_to_queue_map": mapName}
	if m := lossless(&s.Spec); m != "" && p.Mode() != swconf.PFCOff {
		qos["pfc_enable"] = m
		if s.Spec.Watchdog.On {
			qos["pfcwd_sw_enable"] = m
		}
	}
	if m := trimMap(&s.Spec, p.Kind != design.ToSwitch); m != "" {
		qos["tc_to_dscp_map"] = m
	}
	put("PORT_QOS_MAP", name, qos)
	for i := range s.Spec.Queues {
		k := &s.Spec.Queues[i]
		key := fmt.Sprintf("%s|%d", name, i)
		r := row{}
		if k.Strict || k.Weight > 0 {
			r["scheduler"] = fmt.Sprintf("scheduler.%d", i)
		}
		if k.WRED.Max > 0 && !(s.Spec.CoreMarks && k.WRED.ECN && p.Kind == design.ToHost) {
			r["wred_profile"] = fmt.Sprintf("WRED_Q%d", i)
		}
		if len(r) > 0 {
			put("QUEUE", key, r)
		}
		if k.Lossless {
			put("BUFFER_PG", key, row{"profile": groupProfile(s, p, i)})
			put("BUFFER_QUEUE", key, row{"profile": losslessQueue})
		} else {
			put("BUFFER_QUEUE", key, row{"profile": fmt.Sprintf("egress_q%d", i)})
		}
	}
	if lossless(&s.Spec) != "" && !s.Spec.Queues[0].Lossless {
		put("BUFFER_PG", name+"|0", row{"profile": lossyGroup})
	}
	if w := s.Spec.Watchdog; w.On && lossless(&s.Spec) != "" {
		action := "drop"
		if w.Forward {
			action = "forward"
		}
		put("PFC_WD", "GLOBAL", row{"POLL_INTERVAL": millis(w.Poll)})
		put("PFC_WD", name, row{"action": action, "detection_time": millis(w.Detect),
			"restoration_time": millis(w.Restore)})
	}
	switch {
	case p.Addr.IsValid():
		put("INTERFACE", name, row{})
		put("INTERFACE", fmt.Sprintf("%s|%v", name, p.Addr), row{})
	case p.VLAN == nil && p.Kind == design.ToSwitch && !p.Addr6.IsValid() && p.Trunk == nil:
		put("INTERFACE", name, row{"ipv6_use_link_local_only": "enable"})
	}
	if p.Addr6.IsValid() {
		put("INTERFACE", name, row{})
		put("INTERFACE", fmt.Sprintf("%s|%v", name, p.Addr6), row{})
	}
	if len(s.SIDs) > 0 && p.Kind == design.ToHost { // packets with an outer IPv6 header
		put("INTERFACE", name, row{"ipv6_use_link_local_only": "enable"})
	}
}

// portRow is a port of the device; its lanes and names are the profile's.
func portRow(s *design.Switch, p *design.Port) row {
	k, _ := s.Panel.Socket(p.Jack) // fits has looked
	r := row{"alias": k.Alias, "lanes": k.Lanes, "speed": fmt.Sprint(int64(p.Rate / unit.Mbps)),
		"mtu": fmt.Sprint(int64(s.Spec.MTU)), "admin_status": "up", "fec": k.FEC,
		"description": p.Description()}
	if k.Index >= 0 {
		r["index"] = fmt.Sprint(k.Index)
	}
	if k.Sub > 0 {
		r["subport"] = fmt.Sprint(k.Sub)
	}
	for _, m := range k.More {
		r[m[0]] = m[1]
	}
	return r
}

func millis(t unit.Time) string { return fmt.Sprint(int64(t / unit.Millisecond)) }

// metres rounds a cable's length up: SONiC accepts whole metres.
func metres(mm int64) string { return fmt.Sprintf("%dm", (mm+999)/1000) }

// cables is the row of all cable lengths.
func cables(s *design.Switch) row {
	r := row{}
	for _, p := range s.Ports {
		r[p.Name] = metres(p.LengthMM)
	}
	return r
}

func lossless(spec *queue.Spec) string {
	var s []string
	for i := range spec.Queues {
		if spec.Queues[i].Lossless {
			s = append(s, fmt.Sprint(i))
		}
	}
	return strings.Join(s, ",")
}

// vlans writes VLAN rails, bundles and the connection of a pair.
func vlans(d *design.Design, s *design.Switch, put putter) {
	for _, v := range s.VLANs {
		name := fmt.Sprintf("Vlan%d", v.ID)
		put("VLAN", name, row{"vlanid": fmt.Sprint(v.ID), "description": v.Name})
		if v.Gateway.IsValid() {
			put("VLAN_INTERFACE", name, row{})
			put("VLAN_INTERFACE", fmt.Sprintf("%s|%v/%d", name, v.Gateway, v.Subnet.Bits()), row{})
		}
	}
	for _, c := range s.Channels() {
		name := fmt.Sprintf("PortChannel%d", c.Channel)
		put("PORTCHANNEL", name, row{"admin_status": "up", "mtu": fmt.Sprint(int64(s.Spec.MTU)), "min_links": "1"})
		put("VLAN_MEMBER", fmt.Sprintf("Vlan%d|%s", c.VLAN.ID, name), row{"tagging_mode": "untagged"})
		if s.Peer != nil {
			put("MCLAG_INTERFACE", fmt.Sprintf("%d|%s", s.PairID, name), row{"if_type": "PortChannel"})
		}
	}
	for _, t := range s.Trunks {
		name := t.Name(swconf.SONiC)
		put("PORTCHANNEL", name, row{"admin_status": "up", "mtu": fmt.Sprint(int64(s.Spec.MTU)),
			"min_links": fmt.Sprint(max(t.Least, 1)), "description": t.Description(swconf.SONiC)})
		put("PORTCHANNEL_INTERFACE", name, row{})
		if t.Addr.IsValid() {
			put("PORTCHANNEL_INTERFACE", fmt.Sprintf("%s|%v", name, t.Addr), row{})
		} else {
			put("PORTCHANNEL_INTERFACE", name, row{"ipv6_use_link_local_only": "enable"})
		}
	}
	for _, p := range s.Ports {
		switch {
		case p.Channel > 0:
			put("PORTCHANNEL_MEMBER", fmt.Sprintf("PortChannel%d|%s", p.Channel, p.Name), row{})
		case p.VLAN != nil:
			put("VLAN_MEMBER", fmt.Sprintf("Vlan%d|%s", p.VLAN.ID, p.Name), row{"tagging_mode": "untagged"})
		}
	}
	if s.Peer != nil {
		pair(s, put)
	}
}
