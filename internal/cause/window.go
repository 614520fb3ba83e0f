package cause

import "fmt"

var window = Cause{ID: Window, Key: "window_too_small", Name: "window limit",
	About: "the congestion window is smaller than the path holds",
	Color: "#b8a400", Loss: true, Trigger: false, Wide: uncontrolledWords,
	Advice: "choose a transport or congestion control with a larger window",
	Without: func(f *Facts) Change {
		c := uncontrolled(f)
		if c.IsPossible() {
			c.Also = []ID{Recovering, Credit, Pause, Trimmed}
		}
		wide := widest(f)
		switch {
		case wide == "":
		case c.IsPossible():
			c.Set = append(c.Set, wide)
		default:
			c = Change{Says: "the transport's largest window", Set: []string{wide}}
		}
		return noOutage(f, c)
	},
	Remedies: func(f *Facts) (all []Change) {
		if f.MaxWindow > 0 && f.MaxWindow < 4 {
			all = append(all, Change{Says: "a larger window of congestion control",
				Set: []string{fmt.Sprintf("cc.%s.max_window=4", f.CC)}})
		}
		if wide := widest(f); wide != "" {
			all = append(all, Change{Says: "the transport's largest window", Set: []string{wide},
				Needs: "NICs that track as many packets"})
		}
		return append(all, controls(f, "dcqcn")...)
	}}

// widest sets a transport's limit of packets in flight to the largest accepted value. It returns "" if the run has
// that value already, or if only congestion control limits packets in flight.
func widest(f *Facts) string {
	key, most := "", 0
	switch {
	case f.Transport == "roce" && f.Recovery == "selective":
		key, most = "transport.window", 65536
		if f.Named {
			most = 32768
		}
	case f.Transport == "srd":
		key, most = "transport.srd.window", 16384
	case f.Transport == "falcon":
		key, most = "transport.falcon.window", 4096
	case f.Transport == "mrc":
		key, most = "transport.mrc.psn_range", 32640
	}
	if key == "" || f.Flight >= most {
		return ""
	}
	return fmt.Sprintf("%s=%d", key, most)
}
