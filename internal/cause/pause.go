package cause

import (
	"fmt"

	"railyard/unit"
)

var pause = Cause{ID: Pause, Key: "pause", Name: "PFC pauses",
	About: "PFC pauses a link whose own path has spare capacity",
	Color: "#6b3fa0", Loss: true, Trigger: false,
	Without: func(f *Facts) Change {
		if f.Storms {
			return edit("no PFC storm, buffers without limit", NoStorms, NoLimits)
		}
		return edit("buffers without limit", NoLimits)
	},
	Remedies: func(f *Facts) (all []Change) {
		if f.Storms {
			all = append(all, edit("replace the NIC that pauses continuously", NoStorms))
		}
		all = append(all, controls(f, "swift", "hpcc")...)
		if f.XOff > 0 && f.Queue != "" {
			all = append(all, Change{Says: "a PFC threshold twice as high", Needs: "buffer for it",
				Set: []string{fmt.Sprintf("switch.queues.%s.xoff=%v", f.Queue, unit.Bytes(2*f.XOff))}})
		}
		return all
	}}
