package onto

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"railyard/internal/swconf/cli"
)

// database is SONiC's config_db.json: tables of keys with fields.
type database map[string]map[string]any

// operation is one of a JSON patch (RFC 6902), for config apply-patch.
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
}

// ownTables are the tables whose entries belong to the fabric with all fields if it names them.
var ownTables = map[string]bool{"DSCP_TO_TC_MAP": true, "TC_TO_QUEUE_MAP": true,
	"TC_TO_PRIORITY_GROUP_MAP": true, "MAP_PFC_PRIORITY_TO_QUEUE": true,
	"PFC_PRIORITY_TO_PRIORITY_GROUP_MAP": true, "SCHEDULER": true, "WRED_PROFILE": true,
	"BUFFER_PROFILE": true, "BUFFER_PG": true, "BUFFER_QUEUE": true, "QUEUE": true, "PORT_QOS_MAP": true,
	"DOT1P_TO_TC_MAP": true}

// ranged are tables whose keys are ports and numbers of queues or groups.
var ranged = map[string]bool{"BUFFER_PG": true, "BUFFER_QUEUE": true, "QUEUE": true}

// deviceTables belong to the device and its management; devicePort lists such fields of a port.
var (
	deviceTables = map[string]bool{"DEVICE_METADATA": true, "MGMT_INTERFACE": true, "MGMT_PORT": true,
		"MGMT_VRF_CONFIG": true}
	devicePort = map[string]bool{"lanes": true, "alias": true, "index": true, "parent_port": true, "role": true}
)

// tableEffects are the interruptions by changes in tables (SONiC's configuration manual; losses from memory).
var tableEffects = map[string]string{
	"BUFFER_POOL": "buffers are divided anew, packets may be lost", "BUFFER_PROFILE": "buffers are divided anew, packets may be lost", "BUFFER_PG": "the port's buffers are divided anew, packets may be lost",
	"BUFFER_QUEUE": "the port's buffers are divided anew, packets may be lost",
	"QUEUE":        "the queue is scheduled anew", "PORT_QOS_MAP": reclassed + "; PFC of the port",
	"DSCP_TO_TC_MAP": reclassed, "INTERFACE": "routes and sessions over the port",
	"LOOPBACK_INTERFACE": "BGP sessions with this address", "VLAN_MEMBER": "the port's VLAN",
	"PORTCHANNEL_MEMBER": "the port is removed from its channel or added to one", "BGP_NEIGHBOR": "this session",
}

// patcher makes the patch from one database to another.
type patcher struct {
	*Merge
	file      string
	run, want database
	ports     map[string]bool // of the fabric
	ops       []operation
}

// tables merges databases.
func (m *Merge) tables(file string, running []byte, rendered string, opt Options) error {
	text, err := cli.Text(file, running)
	if err != nil {
		return err
	}
	p := &patcher{Merge: m, file: file, ports: map[string]bool{}}
	if p.run, err = decode(text); err != nil {
		return &Refused{file, 0, err.Error()}
	}
	if p.want, err = decode([]byte(rendered)); err != nil {
		return err
	}
	if _, of := p.run["asic0"]; of {
		return &Refused{file, 0,
			"holds the databases of several ASICs, each of which has its own: name the configuration of the one whose ports the fabric cables (an object of tables, as below asic0)"}
	}
	for name := range p.want["PORT"] {
		if p.ports[name] = true; p.run["PORT"][name] == nil {
			return &Refused{file, 0, fmt.Sprintf("has no %s, which the fabric cables: the device sets its lanes (break the port out, or render for its ports)", name)}
		}
	}
	before, modes := p.run.fields(), p.run.modes()
	if err := p.number(); err != nil {
		return err
	}
	for _, table := range []string{"PORTCHANNEL_MEMBER", "VLAN_MEMBER"} {
		p.members(table)
	}
	for _, table := range []string{"INTERFACE", "BUFFER_PG", "BUFFER_QUEUE", "QUEUE"} {
		p.contradicting(table)
	}
	for _, table := range slices.Sorted(maps.Keys(p.want)) {
		if !deviceTables[table] {
			p.table(table)
		}
	}
	if err := p.pools(modes); err != nil {
		return err
	}
	p.emptied()
	p.shared()
	p.bound()
	if !opt.InBand {
		if err := p.reachable(); err != nil {
			return err
		}
	}
	removed := 0
	for _, s := range m.Steps {
		if s.Remove || s.Was != "" {
			removed++
		}
	}
	m.Kept = max(0, before-m.Same-removed)
	out, err := json.MarshalIndent(p.run, "", "    ")
	if err != nil {
		return err
	}
	m.Text = string(out) + "\n"
	if len(p.ops) > 0 {
		out, err = json.MarshalIndent(p.ops, "", "    ")
		m.Script = string(out) + "\n"
	}
	return err
}

// number rejects an AS number other than the device's, because bgpcfgd creates its BGP from that.
func (p *patcher) number() error {
	has := text(p.run["DEVICE_METADATA"]["localhost"], "bgp_asn")
	if asked := text(p.want["DEVICE_METADATA"]["localhost"], "bgp_asn"); asked != "" && asked != has &&
		!slices.Contains([]string{"", "None", "null"}, has) {
		return &Refused{p.file, 0, fmt.Sprintf("DEVICE_METADATA localhost has bgp_asn %s, and the fabric's is %s: another AS number takes all sessions down; remove it and render again", has,
			asked)}
	}
	return nil
}

// decode parses a database; other tables than maps of keys are ignored.
func decode(text []byte) (database, error) {
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(text, &raw); err != nil {
		return nil, err
	}
	db := database{}
	for name, body := range raw {
		var keys map[string]any
		d := json.NewDecoder(bytes.NewReader(body))
		if d.UseNumber(); d.Decode(&keys) == nil && keys != nil {
			db[name] = keys
		}
	}
	return db, nil
}

// fields counts the fields of a database.
func (d database) fields() (n int) {
	for _, keys := range d {
		for _, v := range keys {
			f, _ := v.(map[string]any)
			n += max(1, len(f))
		}
	}
	return n
}

// table merges the fabric's part of a table.
func (p *patcher) table(table string) {
	for _, key := range slices.Sorted(maps.Keys(p.want[table])) {
		want, _ := p.want[table][key].(map[string]any)
		if p.run[table] == nil {
			p.run[table] = map[string]any{}
			p.ops = append(p.ops, operation{"add", pointer(table), map[string]any{}})
		}
		was, there := p.run[table][key]
		run, _ := was.(map[string]any)
		if !there || want == nil || run == nil {
			if there && reflect.DeepEqual(was, p.want[table][key]) {
				p.Same++
				continue
			}
			p.run[table][key] = p.want[table][key]
			p.change("add", p.want[table][key], "", table, key)
			continue
		}
		if len(want) == 0 {
			p.Same++
		}
		p.fields(table, key, run, want)
	}
}

// fields merges the fields of one key.
func (p *patcher) fields(table, key string, run, want map[string]any) {
	for _, f := range slices.Sorted(maps.Keys(want)) {
		was, there := run[f]
		switch {
		case there && reflect.DeepEqual(was, want[f]):
			p.Same++
		case table == "PORT" && devicePort[f]:
		case there:
			run[f] = want[f]
			p.change("replace", want[f], fmt.Sprint(was), table, key, f)
		default:
			run[f] = want[f]
			p.change("add", want[f], "", table, key, f)
		}
	}
	for _, f := range slices.Sorted(maps.Keys(run)) {
		if _, asked := want[f]; !asked && (ownTables[table] || table == "INTERFACE" && f == "vrf_name") {
			was := run[f]
			delete(run, f)
			p.change("remove", nil, fmt.Sprint(was), table, key, f)
		}
	}
}

// contradicting removes entries that contradict the fabric's keys in a table. They are other queues and groups of
// its ports, which the fabric configures completely, other addresses of its ports, and VLANs of ports that route.
func (p *patcher) contradicting(table string) {
	for _, key := range slices.Sorted(maps.Keys(p.run[table])) {
		if _, asked := p.want[table][key]; asked {
			continue
		}
		names, rest, _ := strings.Cut(key, "|")
		var left []string
		against := false
		for _, port := range strings.Split(names, ",") {
			if p.ports[port] && (ranged[table] || table == "INTERFACE" && p.elsewhere(port, rest)) {
				against = true
			} else {
				left = append(left, port)
			}
		}
		if !against {
			continue
		}
		p.take(table, key)
		for _, port := range left { // the other ports of the key keep their setting
			p.run[table][port+"|"+rest] = p.run[table][key]
			p.change("add", p.run[table][key], "", table, port+"|"+rest)
		}
		delete(p.run[table], key)
	}
}

// members removes the fabric's ports from channels and VLANs in which it does not have them.
func (p *patcher) members(table string) {
	for _, key := range slices.Sorted(maps.Keys(p.run[table])) {
		_, port, _ := strings.Cut(key, "|")
		if _, asked := p.want[table][key]; p.ports[port] && !asked {
			p.take(table, key)
			delete(p.run[table], key)
		}
	}
}

// emptied removes tables without keys: the updater refuses a database with empty tables.
func (p *patcher) emptied() {
	for _, table := range slices.Sorted(maps.Keys(p.run)) {
		if taken := slices.ContainsFunc(p.ops, func(o operation) bool {
			return o.Op == "remove" && strings.HasPrefix(o.Path, pointer(table)+"/")
		}); taken && len(p.run[table]) == 0 {
			p.ops = append(p.ops, operation{"remove", pointer(table), nil})
			delete(p.run, table)
		}
	}
}

// take removes a key.
func (p *patcher) take(table, key string) { p.change("remove", nil, key, table, key) }

// elsewhere reports whether an interface's key is one that the fabric's port lacks, because it does not route or
// has another address of the same kind.
func (p *patcher) elsewhere(port, address string) bool {
	if _, routes := p.want["INTERFACE"][port]; !routes {
		return true
	}
	for key := range p.want["INTERFACE"] {
		name, addr, _ := strings.Cut(key, "|")
		if name == port && addr != "" && address != "" &&
			strings.Contains(addr, ":") == strings.Contains(address, ":") {
			return true
		}
	}
	return false
}

// change notes an operation, in the patch and in words.
func (p *patcher) change(op string, value any, was string, at ...string) {
	p.ops = append(p.ops, operation{op, pointer(at...), value})
	text := op + " " + strings.Join(at, " ")
	if op == "replace" || op == "add" && len(at) == 3 {
		text += fmt.Sprintf(" %v", value)
	}
	s := Step{Path: slices.Clone(at[:min(2, len(at))]), Text: text, Was: was, Remove: op == "remove",
		Effect: tableEffects[at[0]], Source: fromMemory}
	if at[0] == "PORT" && len(at) == 3 {
		switch at[2] {
		case "speed", "fec", "autoneg":
			s.Effect = "the port is reset"
		case "mtu":
			s.Effect = "the port may go down briefly"
		case "admin_status":
			s.Effect = "what the port carries"
		}
	}
	if s.Effect == "" {
		s.Source = ""
	}
	p.Steps = append(p.Steps, s)
}

// pointer is a JSON pointer (RFC 6901).
func pointer(at ...string) string {
	var b strings.Builder
	for _, s := range at {
		b.WriteString("/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(s))
	}
	return b.String()
}

// reachable rejects other addresses and VLANs on ports over which the device may be managed.
func (p *patcher) reachable() error {
	for key := range p.run["MGMT_INTERFACE"] {
		if strings.Contains(key, "|") {
			return nil
		}
	}
	for _, s := range p.Steps {
		if s.Remove && (s.Path[0] == "INTERFACE" || s.Path[0] == "VLAN_MEMBER") {
			return &Refused{p.file, 0, fmt.Sprintf("%s would go, and MGMT_INTERFACE has no address: if the device is managed over it it is unreachable afterwards; --in-band confirms another access, such as a console", strings.Join(s.Path, "|"))}
		}
	}
	return nil
}
