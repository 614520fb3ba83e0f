// Package extend adds congestion controls, path choices, transports, importers, causes of lost time and remedies to
// Railyard from outside its module. An extension is a package whose init function calls these functions. railyard build
// links it; then scenarios, schema, help and reports find it by name.
//
//	func init() { extend.CongestionControl(&vegas) }
//
// The types are those of Railyard's own algorithms under public names. Package extendtest tests an extension. Names
// are registered before the keys of scenarios are made. A program that links an extension itself imports it from a
// path that sorts before "railyard", or is built by railyard build.
package extend

import (
	"slices"

	"railyard/cc"
	"railyard/internal/cause"
	"railyard/internal/route"
	"railyard/internal/trace"
	"railyard/internal/workload"
	"railyard/transport"
	"railyard/transport/protocols"
)

// Types of path choice: a Policy makes a Chooser for each switch.
type (
	Policy  = route.Policy
	Chooser = route.Chooser
	Site    = route.Site
	Port    = route.Port
	Table   = route.Table
)

// Hash mixes a flow's digest with a switch's seed; Hashed returns which of n ports a flow's hash picks.
var (
	Hash   = route.Hash
	Hashed = route.Hashed
)

// Flow is a message of an imported workload: source and destination GPU, both from 0, its bytes and its start time.
type Flow = workload.Flow

// Importer reads files of a format as flows.
type Importer struct {
	Name  string // name of the format: import --format
	About string // a line of import --help
	// Is reports whether a file has the format, by its name and first bytes.
	Is func(name string, head []byte) bool
	// Read returns the number of GPUs and the flows of a file; errors name lines.
	Read func(name string, text []byte) (gpus int, flows []Flow, err error)
}

// Types of remedies: from the facts of a run to changes of its scenario.
type (
	Facts  = cause.Facts
	Change = cause.Change
)

// Added lists what extensions have added, by name.
type Added struct{ Controls, Paths, Transports, Importers, Causes, Remedies []string }

var (
	added  Added
	sealed bool
)

// All returns what extensions have added.
func All() Added { return added }

// Seal ends registration; the resolver of scenarios calls it before it makes their keys.
func Seal() { sealed = true }

// enter notes a name in a list of names; a second one, or one too late, is the extension's fault.
func enter(list *[]string, kind, name string, known bool) {
	switch {
	case name == "":
		panic("extend: " + kind + " without a name")
	case known || slices.Contains(*list, name):
		panic("extend: " + kind + " " + name + " is registered twice")
	case sealed:
		panic("extend: " + kind + " " + name + " is registered after the keys of scenarios were made; use railyard build")
	}
	*list = append(*list, name)
}

// CongestionControl adds an algorithm: cc.algorithm in scenarios, --cc of rdma.
func CongestionControl(a *cc.Algorithm) {
	enter(&added.Controls, "congestion control", a.Name, cc.Lookup(a.Name) != nil)
	cc.Register(a)
}

// PathChoice adds a policy of switches: lb in scenarios.
func PathChoice(p *Policy) {
	enter(&added.Paths, "path choice", p.Name, route.Lookup(p.Name) != nil)
	route.Register(p)
}

// Transport adds a transport: transport.kind in scenarios. Package transporttest tests it.
func Transport(p *transport.Protocol) {
	enter(&added.Transports, "transport", p.Name, protocols.All.Lookup(p.Name) != nil)
	protocols.All = append(protocols.All, p)
}

// Import adds a file format of workloads, for railyard import and for a scenario's trace.
func Import(i Importer) {
	enter(&added.Importers, "importer", i.Name, slices.Contains(trace.Names(), i.Name))
	trace.Register(i.Name, i.About, i.Is, i.Read)
}

// Remedy adds remedies for a cause of lost time, named by its key in summary.json, such as incast.
func Remedy(key string, remedies func(*Facts) []Change) {
	c, ok := cause.Find(key)
	if !ok {
		panic("extend: unknown cause " + key)
	}
	was := c.Remedies
	c.Remedies = func(f *Facts) []Change { return append(slices.Clone(was(f)), remedies(f)...) }
	added.Remedies = append(added.Remedies, key)
}
