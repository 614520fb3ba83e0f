// Package report prints a run, a comparison, a diagnosis and lint's findings for a terminal. It reads the structures
// of a run directory (package result) and never the simulator.
//
// A report's first line is the answer, then come tables, causes with remedies, notes, and last where the result lies.
// What is zero has no row but a place in one closing line. The width and the colours are those of the writer: package
// screen.
package report
