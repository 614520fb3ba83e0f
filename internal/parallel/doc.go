// Package parallel runs work on several cores of one process. Run takes Jobs of known cost, the longest first, within a
// budget of memory in MB. Together runs a function on n cores that meet again and again (Meeting.Wait), as the parts of
// a network do after each window of simulated time.
package parallel
