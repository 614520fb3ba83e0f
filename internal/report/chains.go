package report

import (
	"fmt"
	"io"
	"strings"

	"railyard/internal/result"
	"railyard/unit"
)

// chains prints the circular pause dependencies of a run, and how they ended.
func chains(w io.Writer, c *result.Chains) {
	if c == nil {
		return
	}
	var ends []string
	for _, e := range []struct {
		n    int
		what string
	}{{c.Standing, "unresolved at the end"}, {c.Watchdog, "resolved by the PFC watchdog"},
		{c.Cable, "ended by a link failure"}, {c.ByItself, "resolved without intervention"}} {
		if e.n > 0 {
			ends = append(ends, fmt.Sprintf("%d %s", e.n, e.what))
		}
	}
	n := unit.Plural(c.Count, "circular pause dependency")
	Labelled(w, "PFC deadlock: ", n+", "+strings.Join(ends, ", "))
	if worst := c.Worst(); worst != nil {
		Wrap(w, "  ", worst.Told)
	}
}
