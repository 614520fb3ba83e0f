package main

import (
	"slices"
	"strings"

	"railyard/internal/report"
)

// renamings lists commands that have another name now. If now has a placeholder, the old command still exists and
// is omitted from help.
var renamings = []struct{ old, now string }{
	{"rdma write", "rdma perf write"},
	{"rdma send", "rdma perf send"},
	{"rdma read", "rdma perf read"},
	{"rdma lat", "rdma perf lat"},
	{"config rules", "config lint --rules"},
	{"lab link", "lab fail link PORT [--up]"},
	{"lab loss", "lab fail link PORT --loss PERCENT"},
}

// renamed returns args with the current name of their command, and prints a note if they have an old one.
func (e *env) renamed(args []string) []string {
	for _, r := range renamings {
		old := strings.Fields(r.old)
		if len(args) < len(old) || !slices.Equal(args[:len(old)], old) {
			continue
		}
		report.Labelled(e.stderr, "note: ", "railyard "+r.old+" has a new name: railyard "+r.now)
		if !strings.Contains(r.now, "PORT") {
			return append(strings.Fields(r.now), args[len(old):]...)
		}
	}
	return args
}
