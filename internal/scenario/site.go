package scenario

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"

	"railyard/internal/field"
	"railyard/internal/site"
	"railyard/internal/topo"
	"railyard/unit"

	"github.com/goccy/go-yaml/ast"
)

// described builds the graph of a fabric of types, nodes and cables.
func (p *resolver) described() (*topo.Graph, error) {
	f := &p.File.Fabric
	s := site.Site{Types: slices.Clone(f.Types), Nodes: f.Nodes, Cables: f.Cables, Regions: f.Regions,
		Floor: f.Floor}
	for i := range s.Types {
		key := p.byName(fmt.Sprintf("fabric.types[%d]", i)) + ".gpus"
		s.Types[i].NoGPUs = s.Types[i].GPUs == 0 && p.says(key)
	}
	if err := p.machines(s.Types); err != nil {
		return nil, err
	}
	g, servers, err := s.Make(site.Defaults{Host: f.HostLink.cable(), Fabric: f.FabricLink.cable()})
	p.types = servers
	return g, field.Under("fabric", err)
}

var numbered = regexp.MustCompile(`^(fabric\.types|fabric\.nodes|gpus|jobs)\[(\d+)\]`)

// byName returns the path of a type, a group or a GPU that was written in a mapping, by its name there.
func (d *Document) byName(path string) string {
	m := numbered.FindStringSubmatch(path)
	if m == nil {
		return path
	}
	i, _ := strconv.Atoi(m[2]) // digits
	f, name := &d.File.Fabric, ""
	switch {
	case m[1] == "fabric.types" && i < len(f.Types):
		name = f.Types[i].Name
	case m[1] == "fabric.nodes" && i < len(f.Nodes):
		name = f.Nodes[i].Name
	case m[1] == "gpus" && i < len(d.File.GPUs):
		name = d.File.GPUs[i].Name
	case m[1] == "jobs" && i < len(d.File.Jobs):
		name = d.File.Jobs[i].Name
	}
	if key := field.Join(m[1], name); name != "" && d.says(key) {
		return key + path[len(m[0]):]
	}
	return path
}

// named reports whether elements of a list are identified by names, so that the list may also be written as a
// mapping from the names.
func named(t reflect.Type) bool {
	return t == reflect.TypeFor[site.Type]() || t == reflect.TypeFor[site.Group]() ||
		t == reflect.TypeFor[Accelerator]() || t == reflect.TypeFor[Job]()
}

// ofSite reports whether a block belongs to a described fabric, where unset means nothing.
func ofSite(t reflect.Type) bool { return named(t) || t == reflect.TypeFor[site.Rule]() }

// element is the one of a list that has a name.
func element(list reflect.Value, key, name string) (reflect.Value, error) {
	var found []reflect.Value
	var names []string
	for i := range list.Len() {
		is := list.Index(i).FieldByName("Name").String()
		if names = append(names, is); is == name {
			found = append(found, list.Index(i))
		}
	}
	switch len(found) {
	case 0:
		return list, field.Choice(key, name, names, "unknown name %s", field.Quote(name)).ListedBy("railyard topo SCENARIO --cables")
	case 1:
		return found[0], nil
	}
	return list, field.New(key, "%s are called %s", unit.Plural(len(found), "entry"), name)
}

// bindNamed sets a list that is written as a mapping, and a list of words from a single one.
func (b *binder) bindNamed(n ast.Node, v reflect.Value, key string) bool {
	if _, scalar := n.(ast.ScalarNode); scalar && v.Type().Elem().Kind() == reflect.String {
		if _, null := n.(*ast.NullNode); !null {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			b.bindScalar(n, v.Index(0), key, "")
			return true
		}
	}
	var entries []*ast.MappingValueNode
	switch m := n.(type) {
	case *ast.MappingNode:
		entries = m.Values
	case *ast.MappingValueNode:
		entries = []*ast.MappingValueNode{m}
	}
	if entries == nil || !named(v.Type().Elem()) {
		return false
	}
	if len(entries) > maxItems {
		b.fail(n, key, "the mapping has %d entries, at most %d are accepted", len(entries), maxItems)
		return true
	}
	seen := map[string]bool{}
	v.Set(reflect.MakeSlice(v.Type(), len(entries), len(entries)))
	for i, e := range entries {
		name := e.Key.GetToken().Value
		at := field.Join(key, name)
		if seen[name] {
			b.fail(e.Key, at, "the key is repeated")
			continue
		}
		seen[name] = true
		b.bind(e.Value, v.Index(i), at, "")
		item := v.Index(i).FieldByName("Name")
		if item.String() != "" {
			b.fail(e.Key, field.Join(at, "name"), "the key is the name already")
		}
		item.SetString(name)
		b.where[at] = position(e.Key.GetToken())
	}
	return true
}

// bindPairs sets a mapping whose order counts.
func (b *binder) bindPairs(n ast.Node, p *site.Pairs, key string) {
	for _, e := range b.pairs(n, key, "a mapping such as {segment: 15, rail: 8}") {
		name := e.Key.GetToken().Value
		at := field.Join(key, name)
		if _, twice := p.Get(name); twice {
			b.fail(e.Key, at, "the key is repeated")
			continue
		}
		value := ""
		b.bind(e.Value, reflect.ValueOf(&value).Elem(), at, "")
		b.where[at] = position(e.Key.GetToken())
		*p = append(*p, site.Pair{Key: name, Value: value})
	}
}
