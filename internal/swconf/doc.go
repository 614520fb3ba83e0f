// Package swconf holds the meaning of a switch's configuration, independent of the vendor: classification, queues,
// scheduling, ECN, PFC, watchdog, load balancing, MTU, bundles and neighbours.
//
// A [Config] is filled by a language (packages nxos, eos, sonic, frr, nvue, dell, junos; dialect finds the right
// one). Its ports share one QoS if they treat packets equally. Every value is a Said with file, line and column. A
// line without a matching rule of the language becomes Unknown; a known command that is irrelevant to the fabric is
// counted.
//
// Three consumers read only a Config: lint (rules.go, one row per rule, each with a page in docs/rules), show, and
// Config.Spec, which makes the queue.Spec of the simulated switch. A rule is therefore written once for all
// vendors. A [Host] is the same for the host side. Values that a configuration leaves open come from package
// platform. A member of a port channel follows its channel if the language defines that (Bundling, Config.Settle).
package swconf
