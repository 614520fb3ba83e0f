// Package facts collects what remedies and counterfactuals need to know of a resolved scenario and of its run: which
// features the hardware has, which counters moved. [Remedies] returns the settings that take a cause away, with
// their needs and the expected saving.
package facts
