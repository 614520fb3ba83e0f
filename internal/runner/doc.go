// Package runner takes a run from its plan to its run directory. It reserves and locks the directory first, writes an
// incomplete one every few seconds of a long run, and exchanges it in one step, so that a killed run leaves its latest
// state. Ctrl-C writes the results so far.
package runner
