// Package cctest is the conformance suite of congestion controls. [Run] draws inputs in the order of time and
// checks the assumptions of a NIC for every algorithm: a positive rate of at most line rate, a window of at least a
// packet, timers that are armed for later, decisions that change only with an input, signals and counters as
// listed, equal inputs with equal decisions, and no allocation.
package cctest
