package main

import (
	"fmt"
	"strings"

	"railyard/internal/ranks"
)

// Exit codes.
const (
	exitOK       = 0
	exitFailed   = 1             // the run or a check failed
	exitInput    = ranks.Refused // the input cannot be used
	exitLost     = 3             // the simulated job lost a rank: an outcome, written as any run
	exitUnmet    = 4             // an expectation of run --expect is not met; the run is written
	exitInterupt = ranks.Interrupted
)

// exitCodes is the table of all exit codes; TestExitCodes checks that no other is in the code.
var exitCodes = []struct {
	code int
	text string
}{
	{exitOK, "success"},
	{exitFailed, "the run or a check failed: lint errors, faults, differences, infeasible plans"},
	{exitInput, "the input cannot be used: a file, a scenario, a flag"},
	{exitLost, "the simulated job lost a rank; the run directory is complete"},
	{exitUnmet, "a condition of run --expect is not met; the run directory is complete"},
	{exitInterupt, "interrupted; what was finished is written"},
}

// exitWords returns the help on exit codes.
func exitWords() string {
	var b strings.Builder
	b.WriteString("Exit codes\n")
	for _, c := range exitCodes {
		fmt.Fprintf(&b, "  %-4d %s\n", c.code, c.text)
	}
	b.WriteString("railyard lab exec returns the exit code of its command.\n")
	return b.String()
}
