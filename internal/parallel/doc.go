// Package parallel runs jobs of known cost on several workers: the longest first, within a budget of memory in MB.
package parallel
