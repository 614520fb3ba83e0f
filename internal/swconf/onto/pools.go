package onto

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// pools rejects a change of mode of a buffer pool with profiles of other ports. A static pool accepts no
// dynamic_th, and a dynamic one no static_th. Unused profiles are then removed.
func (p *patcher) pools(was map[string]string) error {
	for _, pool := range slices.Sorted(maps.Keys(was)) {
		mode := text(p.run["BUFFER_POOL"][pool], "mode")
		if mode == was[pool] {
			continue
		}
		wrong := map[string]string{"static": "dynamic_th", "dynamic": "static_th"}[mode]
		for _, name := range slices.Sorted(maps.Keys(p.run["BUFFER_PROFILE"])) {
			profile := p.run["BUFFER_PROFILE"][name]
			if p.want["BUFFER_PROFILE"][name] != nil || bareName(text(profile, "pool")) != pool ||
				text(profile, wrong) == "" {
				continue
			}
			if by := p.users(name); len(by) > 0 {
				return &Refused{p.file, 0, fmt.Sprintf("BUFFER_POOL %s is %s and the fabric's is %s, and BUFFER_PROFILE %s of %s is in it with a %s: a pool has one mode, and ports that the fabric does not have would lose their buffers; give all ports to the fabric, or take thresholds of the pool's kind in the scenario", pool, was[pool], mode, name,
					several(by), wrong)}
			}
			p.take("BUFFER_PROFILE", name)
			delete(p.run["BUFFER_PROFILE"], name)
		}
	}
	return nil
}

// modes are the modes of pools.
func (d database) modes() map[string]string {
	out := map[string]string{}
	for pool, v := range d["BUFFER_POOL"] {
		out[pool] = text(v, "mode")
	}
	return out
}

// users returns the ports outside the fabric whose entries name an object.
func (p *patcher) users(name string) (ports []string) {
	for _, table := range []string{"BUFFER_PG", "BUFFER_QUEUE", "BUFFER_PORT_INGRESS_PROFILE_LIST",
		"BUFFER_PORT_EGRESS_PROFILE_LIST", "PORT_QOS_MAP", "QUEUE"} {
		for key, v := range p.run[table] {
			fields, _ := v.(map[string]any)
			named := false
			for _, f := range fields {
				s, _ := f.(string)
				named = named || slices.ContainsFunc(strings.Split(s, ","),
					func(one string) bool { return bareName(one) == name })
			}
			names, _, _ := strings.Cut(key, "|")
			for _, port := range strings.Split(names, ",") {
				if named && !p.ports[port] {
					ports = append(ports, port)
				}
			}
		}
	}
	slices.Sort(ports)
	return slices.Compact(ports)
}

// shared adds a note to steps that also change ports outside the fabric, because these use the changed entry.
func (p *patcher) shared() {
	for i := range p.Steps {
		s := &p.Steps[i]
		if len(s.Path) < 2 || !ownTables[s.Path[0]] || ranged[s.Path[0]] || s.Path[0] == "PORT_QOS_MAP" {
			continue
		}
		if by := p.users(s.Path[1]); len(by) > 0 {
			s.Effect = "also changes " + several(by) + ", which the fabric does not have"
			s.Source = ""
		}
	}
}

// bound remarks what filters packets of the fabric's ports.
func (p *patcher) bound() {
	for _, table := range slices.Sorted(maps.Keys(p.run["ACL_TABLE"])) {
		fields, _ := p.run["ACL_TABLE"][table].(map[string]any)
		list, _ := fields["ports"].([]any)
		for _, one := range list {
			if port, _ := one.(string); p.ports[port] {
				p.Remarks = append(p.Remarks, fmt.Sprintf("%s: ACL_TABLE %s stays at %s and may hold up the fabric's packets", p.file, table, port))
			}
		}
	}
}

// text returns a field of an entry.
func text(entry any, field string) string {
	fields, _ := entry.(map[string]any)
	s, _ := fields[field].(string)
	return s
}

// name].|bareName returns a name that is written plainly or, in older images, as [TABLE|name].|name].
func bareName(s string) string {
	s = strings.Trim(s, "[]")
	return s[strings.LastIndexByte(s, '|')+1:]
}

// several names the first of some, and how many follow.
func several(names []string) string {
	if len(names) == 1 {
		return names[0]
	}
	return fmt.Sprintf("%s and %d more", names[0], len(names)-1)
}

// lowered puts classes of a policy with falling shares before those with rising shares, because a switch rejects a
// line whose shares sum to more than the whole port.
func lowered(path []string, run *node, want []*node) []*node {
	if len(path) != 1 || !begins(path[0], "policy-map type queuing") {
		return want
	}
	out := slices.Clone(want)
	slices.SortStableFunc(out, func(a, b *node) int { return min(0, rise(run, a)) - min(0, rise(run, b)) })
	return out
}

// rise is by how many percent a class's share grows.
func rise(run, want *node) int {
	old := find(run.kids, want.text)
	if old == nil {
		return 0
	}
	return share(want) - share(old)
}

// share returns the percentage of a class, 0 if unset.
func share(class *node) int {
	for _, k := range class.kids {
		if strings.HasPrefix(k.text, "bandwidth ") {
			n, _ := strconv.Atoi(last(k.text))
			return n
		}
	}
	return 0
}
