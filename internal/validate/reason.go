package validate

import "strings"

// NoSetting is the Setting of a reason whose gap no setting closes.
const NoSetting = "none"

// Reason is why rows differ from their source. Rows that differ for the same reason share one.
type Reason struct {
	Name      string `json:"reason"`
	Mechanism string `json:"mechanism"`
	Setting   string `json:"setting"` // --set values that close the gap, separated by spaces, or NoSetting
	Effect    string `json:"effect"`  // effect of the setting on rows, or the reason why none closes the gap
}

// reasons lists every reason of every group, in the order of this package's files.
var reasons []*Reason

// reason returns a reason and lists it.
func reason(name, mechanism, setting, effect string) *Reason {
	r := &Reason{name, mechanism, setting, effect}
	reasons = append(reasons, r)
	return r
}

// complete reports whether a reason names the mechanism and the setting, or why there is none.
func (r *Reason) complete() bool {
	return r != nil && r.Name != "" && r.Mechanism != "" && r.Setting != "" && r.Effect != ""
}

// Remedy returns the setting that closes the gap and the result of the rows with it, or the reason why there is no
// setting.
func (r *Reason) Remedy() string {
	if r.Setting == NoSetting {
		return NoSetting + ": " + r.Effect
	}
	return "--set " + strings.ReplaceAll(r.Setting, " ", " --set ") + ": " + r.Effect
}

// because sets the reason of a row that is not ok.
func (r Row) because(why *Reason) Row {
	if !r.OK {
		r.Reason = why
	}
	return r
}

// Reasons returns the reasons of a group's rows that differ, each once, in the order of the rows.
func (g *Group) Reasons() (list []*Reason) {
	seen := map[*Reason]bool{}
	for i := range g.Rows {
		if r := g.Rows[i].Reason; r != nil && !seen[r] {
			seen[r] = true
			list = append(list, r)
		}
	}
	return list
}
