// Package facts collects facts of a resolved scenario and of its run that remedies and counterfactuals depend on:
// which features the hardware has, which counters moved. [Remedies] returns the settings that take a cause away,
// with their needs and the expected saving.
package facts
