package web

import (
	"fmt"
	"slices"
	"strings"

	"railyard/internal/result"
	"railyard/unit"
)

// Advised is a remedy and the upper limit of its saving: that of a run without its cause, and no more than the
// bytes of the busiest NIC allow.
type Advised struct {
	result.Remedy
	Most int64  `json:"most_ps"`
	Why  string `json:"why"` // the busiest NIC's bytes and their time at its rate, where they limit the saving
}

// advised lists the run's remedies without duplicates.
func (r *Directory) advised() ([]Advised, error) {
	all := []Advised{}
	need, why, err := r.busiestNIC()
	for _, x := range r.Summary.Remedies {
		again := func(o Advised) bool { return o.Says == x.Says && slices.Equal(o.Set, x.Set) }
		if slices.ContainsFunc(all, again) {
			continue
		}
		a := Advised{Remedy: x, Most: x.Expected}
		if left := max(0, r.Summary.StepTime-need); left < a.Most && sameBytes(x.Set) {
			a.Most, a.Why = left, why
		}
		all = append(all, a)
	}
	return all, err
}

// sameBytes reports whether settings leave the bytes of each NIC and its rate as they are.
func sameBytes(set []string) bool {
	for _, s := range set {
		key, _, _ := strings.Cut(s, "=")
		switch first, _, _ := strings.Cut(key, "."); first {
		case "cc", "lb", "switch", "transport":
		default:
			return false
		}
	}
	return len(set) > 0
}

// busiestNIC returns the least time in which the busiest NIC sends or receives its payload, and describes it.
func (r *Directory) busiestNIC() (need int64, why string, err error) {
	if len(r.Summary.Remedies) == 0 {
		return 0, "", nil
	}
	flows, err := table[result.FlowRow](r, "flows")
	if err != nil {
		return 0, "", err
	}
	qps, err := table[result.QPRow](r, "qps")
	if err != nil {
		return 0, "", err
	}
	type end struct {
		nic      string
		receives bool
	}
	bytes := map[end]int64{}
	for i := range flows {
		if f := &flows[i]; f.Done >= 0 && f.QP >= 0 && int(f.QP) < len(qps) {
			bytes[end{qps[f.QP].From, false}] += f.Bytes
			bytes[end{qps[f.QP].To, true}] += f.Bytes
		}
	}
	rates := map[string]int64{}
	for i := range r.ports {
		if p := &r.ports[i]; p.Role == "host" {
			rates[nicOfPort(p.Name)] += p.Rate
		}
	}
	for e, n := range bytes {
		rate := rates[e.nic]
		if rate <= 0 {
			continue
		}
		ps := int64(float64(n) * 8e12 / float64(rate))
		verb := " sends "
		if e.receives {
			verb = " receives "
		}
		text := fmt.Sprintf("%s%s%s, which takes %s at %s", e.nic, verb, unit.Bytes(n).Show(), unit.Time(ps).Show(),
			unit.Rate(rate).Show())
		if ps > need || ps == need && text < why {
			need, why = ps, text
		}
	}
	return need, why, nil
}

// nicOfPort returns the NIC of a host port, one of several planes too: host-9/nic-1 of host-9:nic1 → leaf-2.
func nicOfPort(port string) string {
	host, rest, _ := strings.Cut(port, ":nic")
	end := strings.IndexFunc(rest, func(c rune) bool { return c < '0' || c > '9' })
	if end < 0 {
		end = len(rest)
	}
	return host + "/nic-" + rest[:end]
}
