// Package report prints a run, a comparison, a diagnosis and lint's findings for a terminal. It reads the structures
// of a run directory (package result) and never the simulator.
//
// A report's first line is the answer. Tables, causes with remedies, and notes follow, and the directory of the
// result is last. Zeros have no row and are listed in one closing line. Package screen determines width and colours
// from the writer.
package report
