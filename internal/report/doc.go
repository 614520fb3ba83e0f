// Package report prints a run, a comparison, a diagnosis and lint's findings for a terminal. It reads the structures
// of a run directory (package result) and never the simulator.
package report
