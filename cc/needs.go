package cc

import "strings"

// Feature is a feature of switches, NICs or the transport that an algorithm may require.
type Feature uint8

// Features, as a set.
const (
	Lossless  Feature = 1 << iota // PFC protects the class of data on every switch
	Trimming                      // every switch trims packets to their headers if it has no buffer for them
	Selective                     // retransmits only lost packets
	Marking                       // every switch marks (ECN) in the class of data
	OwnOrder                      // each packet carries the address of its data, so that any order works
)

// features lists the name of each feature and how a scenario enables it.
var features = []struct {
	Feature
	name, key string
}{
	{Lossless, "PFC", "switch.pfc"},
	{Trimming, "trimming", "switch.trim"},
	{Selective, "selective recovery", "transport.recovery: selective"},
	{Marking, "ECN marks", "switch.queues.*.ecn"},
	{OwnOrder, "an address in every packet", "transport.write: only"},
}

// Needs lists the features of switches and NICs that an algorithm requires.
type Needs struct {
	// OneOf are sets of features; at least one of each set must be there. If a set contains PFC, its other features
	// are the replacements for PFC.
	OneOf []Feature
	// Hears is the signal that the algorithm reacts to. Without it the algorithm runs and never reduces a rate.
	Hears Feature
	// Switch and NIC name the required hardware support in a word or two, for tables.
	Switch, NIC string
}

// Missing returns the features that an algorithm lacks and why it needs them, or "" if it runs.
func (a *Algorithm) Missing(there Feature) string { return a.Needs.Missing(a.Name, there) }

// Missing is Algorithm.Missing for other components with needs, by name.
func (n *Needs) Missing(name string, there Feature) string {
	for _, set := range n.OneOf {
		if there&set != 0 {
			continue
		}
		if set&Lossless != 0 && set != Lossless {
			return name + " without PFC needs " + set.without(Lossless).words(false)
		}
		return name + " needs " + set.words(true)
	}
	return ""
}

// Deaf returns the signals that an algorithm uses and does not receive, or "" if it receives them.
func (a *Algorithm) Deaf(there Feature) string { return a.Needs.Deaf(there) }

// Deaf is Algorithm.Deaf for other components with needs.
func (n *Needs) Deaf(there Feature) string { return (n.Hears &^ there).words(true) }

func (f Feature) without(g Feature) Feature { return f &^ g }

// words returns a set as alternatives, optionally with the keys.
func (f Feature) words(keys bool) string {
	var names []string
	for _, x := range features {
		if f&x.Feature == 0 {
			continue
		}
		if name := x.name; keys {
			names = append(names, name+" ("+x.key+")")
		} else {
			names = append(names, name)
		}
	}
	return strings.Join(names, " or ")
}
