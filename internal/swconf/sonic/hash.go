package sonic

import (
	"strings"

	"railyard/internal/swconf"
)

// hash reads which fields ECMP hashes (sonic-hash.yang); dumps of redis write the list with commas, and an at
// sign behind the field's name. What the switch hashes by itself, and its seed, are in no table.
func (p *parser) hash() {
	row := p.table("SWITCH_HASH").get("GLOBAL")
	n := row.get("ecmp_hash")
	if n == nil {
		n = row.get("ecmp_hash@")
	}
	if n == nil {
		return
	}
	fields := split(n)
	if n.kind == '[' {
		fields = nil
		for _, f := range n.kids {
			fields = append(fields, f.text)
		}
	}
	p.c.Hash = swconf.Say(strings.Join(fields, ", "), n.at)
	for _, f := range fields {
		if f == "L4_SRC_PORT" || f == "INNER_L4_SRC_PORT" {
			return
		}
	}
	swconf.Report(p.c, n.at, swconf.Warning, "ecmp-fields", "ECMP does not hash L4_SRC_PORT",
		"flows of RoCE between two hosts differ in their UDP source port alone: all of them take one path",
		"add L4_SRC_PORT to ecmp_hash")
}
