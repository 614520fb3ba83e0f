// Package cctest is the conformance suite of congestion controls. [Run] passes random inputs in the order of time.
// It checks these rules for every algorithm: the rate is positive and at most line rate; the window is at least a
// packet; timers are in the future; decisions change only with an input; signals and counters are as listed; equal
// inputs give equal decisions; nothing is allocated.
package cctest
