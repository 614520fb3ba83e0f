package cabling

import (
	"strings"
)

func looksLLDPJSON(_, text string) bool {
	return isJSON(text) && strings.Contains(text[:min(len(text), 400)], `"lldp"`)
}

// readLLDPJSON reads lldpcli's two JSON forms. In json a container of one element collapses to the element, and
// names are keys. In json0 every level is a list and a name is a value.
func readLLDPJSON(b *builder, text string) error {
	root, err := parseTree(text)
	if err != nil {
		return err
	}
	device := deviceOf(b.file)
	if k, role := kindOf(device); b.management || !mgmtDevice(device) {
		b.own[device] = true
		b.is(b.node(b.where(root), device), k, role)
	}
	for _, l := range flat(root.get("lldp")) {
		for _, group := range flat(l.get("interface")) {
			if group.has("name") && group.get("name").kind == scalar {
				if err := b.heard(device, group.get("name").text, group); err != nil {
					return err
				}
				continue
			}
			for _, i := range group.keys {
				if err := b.heard(device, i.name, i.val); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// flat is a list's items, or the one value.
func flat(t *tree) []*tree {
	if t.kind == list {
		return t.items
	}
	return []*tree{t}
}

// first is the first of a list, or the value.
func first(t *tree) *tree {
	if t.kind == list && len(t.items) > 0 {
		return first(t.items[0])
	}
	return t
}

// textOf is a value that json0 wraps: [{"value": x}].
func textOf(t *tree) string {
	if t = first(t); t.kind == mapping {
		return first(t.get("value")).text
	}
	return t.text
}

// heard adds an interface's neighbour.
func (b *builder) heard(device, port string, i *tree) error {
	at := b.where(i)
	ch := first(i.get("chassis"))
	name, caps := textOf(ch.get("name")), ch.get("capability")
	if name == "" && len(ch.keys) == 1 && ch.keys[0].val.kind == mapping && ch.keys[0].name != "id" {
		name, caps = ch.keys[0].name, ch.keys[0].val.get("capability")
	}
	if name == "" {
		b.note(at, "a neighbour without a system name is left out")
		return nil
	}
	p := first(i.get("port"))
	far := textOf(p.get("id"))
	if d := textOf(p.get("descr")); macText.MatchString(far) && d != "" && !strings.ContainsAny(d, " \t") {
		far = d
	}
	b.neighbour(at, device, port, name, far, capabilities(caps))
	return nil
}

// capabilities parses LLDP's list of enabled capabilities.
func capabilities(t *tree) Kind {
	k := Unknown
	for _, c := range flat(t) {
		if textOf(c.get("enabled")) != "true" {
			continue
		}
		switch strings.ToLower(textOf(c.get("type"))) {
		case "bridge", "router":
			return Switch
		case "station":
			k = Server
		}
	}
	return k
}
