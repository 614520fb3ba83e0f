package report

import (
	"fmt"
	"io"

	"railyard/internal/result"
)

// control prints what congestion control did, by service; nothing of a run without one.
func control(w io.Writer, all []result.Control) {
	for i := range all {
		c := &all[i]
		if c.Algorithm == "none" && c.Transport == "" || c.QueuePairs == 0 {
			continue
		}
		text := Acted(c)
		if len(all) > 1 {
			text = c.Service + ": " + text
		}
		Wrap(w, "", text)
	}
}

// Acted describes what a congestion control did: its rate reductions, and its pacing delay.
func Acted(c *result.Control) string {
	if c.Acted == 0 {
		return fmt.Sprintf("%s: no rate reductions on %s", c.Title, many(c.QueuePairs, "queue pair"))
	}
	text := fmt.Sprintf("%s: %s on %s of %s", c.Title, many(c.Cuts(), "rate reduction"), count(c.Acted),
		many(c.QueuePairs, "queue pair"))
	if c.Held > 0 {
		text += fmt.Sprintf("; pacing delay %s (summed over queue pairs)", dur(c.Held))
	}
	return text
}

func many(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return count(n) + " " + what + "s"
}
