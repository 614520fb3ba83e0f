package sonic

import (
	"strings"

	"railyard/internal/swconf"
	"railyard/internal/swconf/cli"
)

// tabled returns the tables of a file. Dumps of the database write its keys flat, "PORT|Ethernet0"; those of show
// techsupport write each row with its type and time to live, as redis stores it. Other files than one switch's
// tables are rejected with their kind.
func (r *reader) tabled(root *node) (*node, error) {
	if what := other(root); what != "" {
		return nil, &cli.SyntaxError{File: r.file, Line: root.at.Line, Col: root.at.Col, Msg: what}
	}
	isFlat := false
	for _, k := range root.keys {
		isFlat = isFlat || strings.Contains(k, "|")
	}
	if !isFlat {
		return root, nil
	}
	out := &node{at: root.at, kind: '{', index: map[string]*node{}}
	for i, k := range root.keys {
		name, key, flat := strings.Cut(k, "|")
		table := out.index[name]
		if !flat {
			if table != nil {
				return nil, r.twice(root.kids[i], name, table)
			}
			whole := *root.kids[i]
			out.add(name, &whole)
			continue
		}
		if table == nil {
			table = &node{at: root.kids[i].at, kind: '{'}
			out.add(name, table)
		} else if !table.object() {
			return nil, r.twice(root.kids[i], name, table)
		} else if old := table.get(key); old != nil {
			return nil, r.twice(root.kids[i], key, old)
		}
		table.add(key, root.kids[i].hash())
	}
	return out, nil
}

func (r *reader) twice(n *node, key string, old *node) error {
	return &cli.SyntaxError{File: r.file, Line: n.at.Line, Col: n.at.Col, Msg: saidTwice(key, old)}
}

// add gives an object a member that it does not have.
func (n *node) add(key string, kid *node) {
	if n.index == nil && len(n.keys) >= few {
		n.index = map[string]*node{}
		for i, k := range n.keys {
			n.index[k] = n.kids[i]
		}
	}
	n.keys, n.kids = append(n.keys, key), append(n.kids, kid)
	if n.index != nil {
		n.index[key] = kid
	}
}

// hash returns the row in a dump of redis, or the row itself.
func (n *node) hash() *node {
	v := n.get("value")
	if v == nil || n.str("type") != "hash" || !v.object() {
		return n
	}
	row := *v
	row.at = n.at
	return &row
}

// other returns the kind of a JSON file that is not one switch's tables, or "".
func other(root *node) string {
	switch {
	case root.kind == '[' && len(root.kids) > 0 && root.kids[0].get("op") != nil && root.kids[0].get("path") != nil:
		return "is a JSON patch, which changes a configuration: apply it to its config_db.json first"
	case root.kind == '[' && len(root.kids) > 0 && root.kids[0].get("OP") != nil:
		return "is a list of rows for swssconfig, which go past CONFIG_DB: give config_db.json"
	case root.kind == '[' && len(root.kids) > 0 && root.kids[0].object():
		return "is a list of tables (a configlet), each of which is added to what a switch has: give the switch's config_db.json, or one object of tables"
	case !root.object():
		return "is not an object of tables, as config_db.json is"
	}
	return ""
}

// ofPorts are tables whose keys begin with ports, several of them separated by commas. After a bar there is a
// queue, a priority group, an address, or a member in tables that begin with another object.
var ofPorts = []string{"PORT_QOS_MAP", "QUEUE", "BUFFER_QUEUE", "BUFFER_PG", "INTERFACE",
	"BUFFER_PORT_INGRESS_PROFILE_LIST", "BUFFER_PORT_EGRESS_PROFILE_LIST", "PFC_WD"}

// fragment creates the ports of a file without PORT, such as qos.json and buffers.json, which config load adds to
// the configuration. They are the ports in its rows. Their speed and MTU are in another file.
func (p *parser) fragment() {
	p.c.Part = true
	for _, t := range ofPorts {
		table := p.table(t)
		for i, row := range values(table) {
			names := table.keys[i]
			if _, rest, voq := systemPort(names); voq && len(p.table("PORT_QOS_MAP").names()) > 0 {
				continue
			} else if voq {
				names = rest
			}
			names, _, _ = strings.Cut(names, "|")
			for name := range strings.SplitSeq(names, ",") {
				p.found(name, row.at)
			}
		}
	}
	for _, t := range []string{"VLAN_MEMBER", "PORTCHANNEL_MEMBER"} {
		table := p.table(t)
		for i, row := range values(table) {
			if _, name, ok := strings.Cut(table.keys[i], "|"); ok {
				p.found(name, row.at)
			}
		}
	}
	table := p.table("VLAN_SUB_INTERFACE")
	for i, row := range values(table) {
		name, _, _ := strings.Cut(table.keys[i], ".")
		if tail, ok := strings.CutPrefix(name, "Eth"); ok && !strings.HasPrefix(name, "Ethernet") {
			name = "Ethernet" + tail
		}
		p.found(name, row.at)
	}
	p.attached()
}

// found adds a port that is named and not described.
func (p *parser) found(name string, at swconf.Place) {
	if name == global || name == "GLOBAL" || p.ports[name] != nil || !strings.HasPrefix(name, "Eth") ||
		!p.c.Room(at, 1) {
		return
	}
	port := &swconf.Port{Name: name, At: at}
	port.MTU.V = defaultMTU()
	p.ports[name], p.order[name] = port, len(p.c.Ports)
	p.c.Ports = append(p.c.Ports, port)
}
