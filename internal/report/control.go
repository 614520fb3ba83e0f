package report

import (
	"fmt"
	"io"
	"strings"

	"railyard/internal/result"
	"railyard/unit"
)

// control prints whether congestion control acted: a run that it never slowed down says nothing about it.
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
		var b strings.Builder
		Wrap(&b, "           ", text)
		fmt.Fprint(w, "Control", b.String()[len("Control"):])
	}
}

// Acted says what congestion control did.
func Acted(c *result.Control) string {
	if c.Acted == 0 {
		return fmt.Sprintf("%s never acted on its %s", c.Title, many(c.QueuePairs, "queue pair"))
	}
	text := fmt.Sprintf("%s cut %s, on %s of %s", c.Title, many(c.Cuts(), "time"), count(c.Acted),
		many(c.QueuePairs, "queue pair"))
	if c.Held > 0 {
		text += fmt.Sprintf("; packets held back for %v", unit.Time(c.Held))
	}
	return text
}

func many(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return count(n) + " " + what + "s"
}
