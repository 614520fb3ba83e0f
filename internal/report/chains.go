package report

import (
	"fmt"
	"io"
	"strings"

	"railyard/internal/result"
	"railyard/unit"
)

// chains says which pauses waited for one another in a ring, and how that ended.
func chains(w io.Writer, c *result.Chains) {
	if c == nil {
		return
	}
	var ends []string
	for _, e := range []struct {
		n    int
		what string
	}{{c.Standing, "standing at the end"}, {c.Watchdog, "broken by the PFC watchdog"},
		{c.Cable, "by a cable that broke"}, {c.ByItself, "that ended by themselves"}} {
		if e.n > 0 {
			ends = append(ends, fmt.Sprintf("%d %s", e.n, e.what))
		}
	}
	Labelled(w, "Deadlock   ", unit.Plural(c.Count, "closed chain")+" of pauses: "+strings.Join(ends, ", "))
	if worst := c.Worst(); worst != nil {
		Wrap(w, "           ", worst.Told)
	}
}
