// Package scenario reads the scenario file: strict YAML whose every error names file, line, column, the value found and
// the accepted values. The structs of file.go are the definition; the JSON Schema is generated from them.
//
// Parsing has three stages. load.go and bind.go build a Document: a File, and the position of each key. set.go applies
// --set. resolve.go builds a Plan, the only input of a run.
//
// To add a block, or a key of a block:
//
//   - file.go has its struct: a field per key, with tags for its name (yaml), the words it may
//     be (enum), what it means (doc), and Default its values where a file is silent. Decoding,
//     --set, schema and the list of values follow from that (keys.go). Keys that a registry
//     knows (cc, lb_options) and those of packages that have the type themselves (a switch is a
//     queue.Spec, a training step a workload.Training, a fabric of nodes a site.Site) are not
//     repeated here.
//   - Every number has its bounds in a tag of its field (range, of; bounds.go); a test asks for it.
//   - Its own file has the step that resolves it, named after the block: network.go (fabric,
//     server), switches.go, hosts.go, transport.go, balancing.go (lb), congestion.go (cc), events.go
//     (failures, events), training.go, traffic.go, ops.go, storage.go; jobs.go (jobs) with floor.go and
//     placements.go, who gets which GPUs. Such a step checks what several
//     values must be together and refuses with field.New and the key; Resolve finds the place.
//   - plan.go has what a run needs of it, in the run's words.
//
// Errors are field.Errors throughout. The error of a part that is checked elsewhere gets its key by field.Under.
// place.go finds the line, or the --set, of the key.
//
// A Plan is not its file: only this package reads File. Resolve fills in every open value. A run thus has all its
// values (Plan.Resolved), and another scenario can be derived from it (Settled). YAML is bounded before it is
// parsed (tokens.go): tokens, levels, keys of a mapping. Work whose computing and transfers could exceed the
// picosecond clock is refused (Plan.bound).
package scenario
