package cause

import (
	"fmt"

	"railyard/unit"
)

var trimmed = Cause{ID: Trimmed, Key: "trimmed", Name: "trimmed packets",
	About: "switches trim packets to their headers, and these are retransmitted",
	Color: "#9a7ff0", Loss: true, Trigger: false,
	Advice:  "raise the limit of the queue, or let fewer senders send at a time",
	Without: func(*Facts) Change { return edit("queues without limit", NoLimits) },
	Remedies: func(f *Facts) []Change {
		if f.Limit == 0 || f.Queue == "" {
			return nil
		}
		return []Change{{Says: "a queue limit four times as high", Needs: "buffer for it",
			Set: []string{fmt.Sprintf("switch.queues.%s.limit=%v", f.Queue, unit.Bytes(4*f.Limit))}}}
	}}
