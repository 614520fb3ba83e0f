package scenario

import (
	"reflect"
	"strings"

	"railyard/cc"
	"railyard/internal/field"
	"railyard/internal/route"
	"railyard/internal/trace"
	"railyard/param"
)

// LBOptions is the block of load balancing's parameters. It points to a struct whose type is built from route's
// registry, as CC's is built from cc's. It has the parameters of all policies: a name means the same for all.
//
// A resolved file has the options of its policy, and of policies that are always shown.
type LBOptions any

// newLBOptions returns the default block.
func newLBOptions() LBOptions {
	p := reflect.New(lbType)
	for _, name := range route.Names() {
		if policy := route.Lookup(name); policy.Shown {
			for _, par := range policy.Params {
				settle(policy.Defaults[par.Name], member(p.Elem(), par.Name))
			}
		}
	}
	return p.Interface()
}

// lbParams are the parameters of all policies, each once.
var lbParams = func() (params []param.Param) {
	seen := map[string]bool{}
	for _, name := range route.Names() {
		policy := route.Lookup(name)
		for _, p := range policy.Params {
			if !seen[p.Name] {
				seen[p.Name] = true
				p.Doc = policy.Title + ": " + p.Doc
				params = append(params, p)
			}
		}
	}
	return params
}()

// lbType is the struct of LBOptions.
var lbType = func() reflect.Type {
	var keys []reflect.StructField
	for _, p := range lbParams {
		keys = append(keys, key(len(keys), reflect.PointerTo(p.Kind.Type()), p.Name, p.Doc, nil))
	}
	return reflect.StructOf(keys)
}()

// lbBounds are the rows of the table of bounds for the parameters of all policies.
func lbBounds() (rows []bound) { return paramBounds("lb_options.", lbParams) }

// paramBounds are the rows for parameters below a key.
func paramBounds(below string, params []param.Param) (rows []bound) {
	for _, p := range params {
		if p.Kind != param.Flag {
			rows = append(rows, bound{key: below + p.Name, min: p.Min, max: p.Max, zero: p.Zero, of: p.Of})
		}
	}
	return rows
}

// madeTypes are the structs of blocks that are built from a registry.
var madeTypes = map[reflect.Type]reflect.Type{
	reflect.TypeFor[CC]():        ccType,
	reflect.TypeFor[LBOptions](): lbType,
	reflect.TypeFor[Protocols](): protocolsType,
}

// lists are the values of names in tags such as enum:"@lb".
var lists = map[string]string{"@lb": strings.Join(route.Names(), ","),
	"@transport": strings.Join(transports(), ","), "@cc": strings.Join(cc.Names(), ","),
	"@place": strings.Join(placements.names(), ","),
	"@trace": "auto," + strings.Join(trace.Names(), ",")}

// enumOf returns the accepted values of a field's tag, separated by commas; none: any value.
func enumOf(f reflect.StructField) string {
	tag := f.Tag.Get("enum")
	if names, ok := lists[tag]; ok {
		return names
	}
	return tag
}

// setLB sets a parameter of load balancing to a value of its kind.
func (f *File) setLB(name string, value any) {
	p := reflect.New(reflect.TypeOf(value))
	p.Elem().Set(reflect.ValueOf(value))
	member(reflect.ValueOf(f.LBOptions).Elem(), name).Set(p)
}

// balancing resolves the policy and its parameters.
func (p *resolver) balancing() error {
	p.LB, p.LBValues = route.Lookup(p.File.LB), param.Values{}
	for _, par := range p.LB.Params {
		said := member(reflect.ValueOf(p.File.LBOptions).Elem(), par.Name)
		p.LBValues[par.Name], _ = settle(p.LB.Defaults[par.Name], said)
	}
	if p.LB.Check != nil {
		if key, fault := p.LB.Check(p.LBValues); fault != "" {
			return field.New("lb_options."+key, "%s", fault)
		}
	}
	return nil
}
