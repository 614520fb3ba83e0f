package onto

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/swconf/junos"
)

// juniper is Junos on QFX as show configuration prints it, in either form. Each statement is independent; all
// statements below the fabric's paths belong to the fabric.
var juniper = grammar{remark: "#", enter: []string{"configure"}, leave: []string{"commit confirmed 10"},
	effects: []effect{
		{words: "* interfaces * speed", says: "the port is reset"},
		{words: "* interfaces * number-of-sub-ports", says: "the port is reset"},
		{words: "* interfaces * mtu", says: "the port may go down briefly"},
		{words: "* interfaces * unit", says: "routes and sessions over the port", instead: true},
		{words: "* interfaces * ether-options", says: "the port is removed from its bundle or added to one"},
		{words: "* interfaces * gigether-options", says: "the port is removed from its bundle or added to one"},
		{words: "set interfaces * disable", says: "what the port carries"},
		{words: "* interfaces * aggregated-ether-options", says: "the bundle may go down briefly", instead: true},
		{words: "* class-of-service congestion-notification-profile", says: "ports with the profile are blocked, packets are lost",
			from: juniperPFC},
		{words: "* class-of-service interfaces * congestion-notification-profile", says: "the port is blocked, packets are lost",
			from: juniperPFC},
		{words: "* class-of-service shared-buffer", says: "all ports: buffers are divided anew, packets are lost"},
		{words: "* class-of-service classifiers", says: reclassed},
		{words: "* forwarding-options enhanced-hash-key hash-seed", says: "flows change their paths once"},
		{words: "* routing-options router-id", says: "all BGP sessions", instead: true},
		{words: "* protocols iccp", says: "the session of the pair, and its bundles", instead: true},
	}}

const juniperPFC = "Junos CLI reference, congestion-notification-profile: a change of PFC blocks the port, and packets of all its queues are lost"

// own are paths below which everything belongs to the fabric if it has a statement below the same words; * is any
// word.
var own = []string{"class-of-service forwarding-classes class *", "class-of-service classifiers dscp *",
	"class-of-service schedulers *", "class-of-service scheduler-maps *", "class-of-service drop-profiles *",
	"class-of-service congestion-notification-profile *", "class-of-service interfaces *",
	"class-of-service shared-buffer", "interfaces * unit *", "interfaces * aggregated-ether-options",
	"interfaces * esi", "protocols bgp group *", "protocols iccp", "multi-chassis multi-chassis-protection",
	"forwarding-options enhanced-hash-key ecmp-dlb", "policy-options policy-statement *", "policy-options as-list *"}

// alone are statements of the fabric's interfaces that contradict it if it does not have them.
var alone = []string{"unit", "ether-options 802.3ad", "gigether-options 802.3ad", "aggregated-ether-options", "esi",
	"disable", "vlan-tagging", "flexible-vlan-tagging", "encapsulation", "native-vlan-id", "mtu", "number-of-sub-ports"}

// values are keywords with one value, which a new value replaces.
var values = strings.Fields(`mtu speed description number-of-sub-ports mc-ae-id redundancy-group chassis-id mode
	status-control init-delay-time admin-key system-id 802.3ad minimum-links queue-num pfc-priority percent
	buffer-dynamic-threshold dynamic-threshold scheduler scheduler-map congestion-notification-profile dscp cable-length
	poll-interval detection recovery watchdog-action priority service-id local-ip-addr session-establishment-hold-time
	minimum-interval multiplier backup-peer-ip vlan-id vni l3-interface router-id autonomous-system hash-seed
	inactivity-interval peer-as local-address type drop-profile ttl vtep-source-interface route-distinguisher
	vrf-target device-count encapsulation interface-mode peer-as-list virtual-address virtual-gateway-address mru`)

// statements merges configurations of Junos.
func (m *Merge) statements(file string, running []byte, rendered string, opt Options) error {
	run, err := junos.Commands(file, running)
	if err != nil {
		return err
	}
	want, err := junos.Commands("rendered", []byte(rendered))
	if err != nil {
		return err
	}
	x := &stater{Merge: m, file: file, run: latest(run), wanted: map[string]bool{}, has: map[string]int{},
		changed: map[int]bool{}}
	for _, c := range want {
		if x.keep(c) {
			x.want = append(x.want, c)
			x.wanted[c.String()] = true
		}
	}
	for i, c := range x.run {
		x.has[c.String()] = i + 1
	}
	if err := x.refused(); err != nil {
		return err
	}
	x.profiles()
	x.remove()
	x.add()
	if !opt.InBand {
		if err := x.reachable(); err != nil {
			return err
		}
	}
	var text strings.Builder
	for i, c := range x.run {
		if !x.gone(i) && !c.Inactive {
			text.WriteString("set " + c.String() + "\n")
			m.origin = append(m.origin, c.Line)
		}
	}
	for _, s := range m.Steps {
		if !s.Remove {
			text.WriteString(s.Text + "\n")
			m.origin = append(m.origin, 0)
		}
	}
	m.Steps = pointed(m.Steps)
	m.Text, m.Script = text.String(), script(m.Steps, &juniper)
	return nil
}

// valued reports whether a statement sets the only value of its path.
func valued(words []string) bool {
	n := len(words)
	return n > 2 && (slices.Contains(values, words[n-2]) || words[0] == "multi-chassis" && words[n-2] == "interface")
}

// latest returns the effective statements: for single values the last.
func latest(list []junos.Command) (out []junos.Command) {
	at := map[string]int{}
	for _, c := range list {
		n := len(c.Words)
		key := c.String()
		if valued(c.Words) {
			key = junos.Command{Words: c.Words[:n-1]}.String()
		}
		if i, again := at[key]; again {
			out[i] = c
			continue
		}
		at[key] = len(out)
		out = append(out, c)
	}
	return out
}

// stater is the state of a merge of statements.
type stater struct {
	*Merge
	file    string
	run     []junos.Command
	want    []junos.Command
	wanted  map[string]bool
	has     map[string]int // the device's statements, by index from 1
	doomed  []int          // indexes of statements to remove
	changed map[int]bool   // doomed, or replaced
}

func (x *stater) gone(i int) bool { return x.changed[i] }

// keep reports whether the device's version of a fabric's statement remains: its name, or a larger number of bundles.
func (x *stater) keep(c junos.Command) bool {
	if c.Words[0] == "system" {
		return false
	}
	if n := len(c.Words); c.Words[n-2] == "device-count" {
		least, _ := strconv.Atoi(c.Words[n-1])
		for _, r := range x.run {
			if has, _ := strconv.Atoi(r.Words[len(r.Words)-1]); sameParent(r.Words, c.Words) && has >= least {
				return false
			}
		}
	}
	return true
}

// sameParent reports whether two statements differ at most in their last word.
func sameParent(a, b []string) bool {
	return len(a) == len(b) && slices.Equal(a[:len(a)-1], b[:len(b)-1])
}

// refused finds conflicts with the fabric's statements: another AS number, a policy of the same name with other
// contents, and a deactivated statement of the fabric.
func (x *stater) refused() error {
	for _, r := range x.run {
		line := r.String()
		if r.Inactive && (x.wanted[line] || x.scoped(r.Words)) {
			return &Refused{x.file, r.Line, fmt.Sprintf("%q is deactivated: activate or delete it, and render again", line)}
		}
		if r.Words[0] == "policy-options" && r.Words[1] == "policy-statement" && x.scoped(r.Words) && !x.wanted[line] {
			return &Refused{x.file, r.Line, fmt.Sprintf("has %q, and the fabric has a policy of that name: rename yours", line)}
		}
		if w := r.Words; w[0] == "routing-options" && w[1] == "autonomous-system" && len(w) == 3 && !x.wanted[line] {
			for _, c := range x.want {
				if sameParent(w, c.Words) {
					return &Refused{x.file, r.Line, fmt.Sprintf("is %q, and the fabric's is %q: another AS number resets all sessions; remove it and render again", line, c)}
				}
			}
		}
	}
	return nil
}

// scoped reports whether a statement of the device is below a path of the fabric.
func (x *stater) scoped(words []string) bool {
	if x.outdated(words) {
		return true
	}
	line := strings.Join(words, " ")
	for _, p := range own {
		n := len(strings.Fields(p))
		if begins(line, p) && len(words) > n && x.under(words[:n]) && words[1] != "lo0" {
			return words[0] != "interfaces" || words[1] != "irb" || n > 2
		}
	}
	// of a port
	if begins(line, "class-of-service interfaces *") || begins(line, "protocols lldp interface * disable") {
		return slices.ContainsFunc(words[2:min(4, len(words))], func(w string) bool { return x.under([]string{"interfaces", w}) })
	}
	if words[0] != "interfaces" || !x.under(words[:min(2, len(words))]) || words[1] == "lo0" || words[1] == "irb" {
		return false
	}
	rest := strings.Join(words[2:], " ")
	return slices.ContainsFunc(alone, func(p string) bool { return begins(rest, p) })
}

// earlier are the profiles that railyard itself writes for cables of a length, in a profile's statement or a
// port's.
var earlier = regexp.MustCompile(`^class-of-service (interfaces \S+ )?congestion-notification-profile (FABRIC-\d+M)( |$)`)

// outdated reports whether a statement belongs to such a profile that the fabric no longer has. Its pauses belong
// to former classes, on any port.
func (x *stater) outdated(words []string) bool {
	m := earlier.FindStringSubmatch(strings.Join(words, " "))
	profiles := []string{"class-of-service", "congestion-notification-profile"}
	return m != nil && x.under(profiles) && !x.under(append(profiles, m[2]))
}

// under reports whether the fabric has a statement that begins with some words.
func (x *stater) under(words []string) bool {
	return slices.ContainsFunc(x.want, func(c junos.Command) bool {
		return len(c.Words) >= len(words) && slices.Equal(c.Words[:len(words)], words)
	})
}

// replaced returns the fabric's statement that takes the place of one of the device, or nil.
func (x *stater) replaced(words []string) *junos.Command {
	if !valued(words) {
		return nil
	}
	for i := range x.want {
		if sameParent(x.want[i].Words, words) {
			return &x.want[i]
		}
	}
	return nil
}

// filters are statements at the fabric's interfaces that stay and may block its packets.
func filters(words []string) bool {
	return slices.Contains(words, "filter") || slices.Contains(words, "policer") || slices.Contains(words, "storm-control")
}

// profiles types each differing drop profile anew, because the order of its levels counts and a device keeps it.
func (x *stater) profiles() {
	const path = "class-of-service drop-profiles *"
	of := func(list []junos.Command, name string) (lines []string) {
		for _, c := range list {
			if begins(strings.Join(c.Words, " "), path) && c.Words[2] == name && !c.Inactive {
				lines = append(lines, c.String())
			}
		}
		return lines
	}
	said := map[string]bool{}
	for _, c := range x.want {
		if !begins(strings.Join(c.Words, " "), path) || said[c.Words[2]] {
			continue
		}
		name := c.Words[2]
		said[name] = true
		lines := of(x.run, name)
		if len(lines) == 0 || slices.Equal(lines, of(x.want, name)) {
			continue
		}
		first := x.has[lines[0]] - 1
		for _, l := range lines {
			x.changed[x.has[l]-1] = true
			delete(x.has, l)
		}
		x.step(Step{Text: "delete " + junos.Command{Words: c.Words[:3]}.String(), Was: lines[0], Line: x.run[first].Line,
			Remove: true})
	}
}

// remove deletes statements that contradict the fabric, each at the highest path that contains nothing else.
func (x *stater) remove() {
	for i, r := range x.run {
		switch {
		case x.changed[i]: // with its profile
		case r.Inactive:
			x.Kept++
		case x.wanted[r.String()]:
			x.Same++
		case x.replaced(r.Words) != nil:
			x.changed[i] = true
		case !x.scoped(r.Words):
			x.Kept++
		case r.Words[0] == "interfaces" && filters(r.Words):
			x.Kept++
			x.Remarks = append(x.Remarks, fmt.Sprintf("%s:%d: %q stays and may hold up the fabric's packets", x.file, r.Line, r))
		default:
			x.doomed = append(x.doomed, i)
			x.changed[i] = true
		}
	}
	said := map[string]bool{}
	for _, i := range x.doomed {
		r := x.run[i]
		path := junos.Command{Words: x.highest(r.Words)}.String()
		if said[path] {
			continue
		}
		said[path] = true
		x.step(Step{Text: "delete " + path, Was: r.String(), Line: r.Line, Remove: true})
	}
}

// highest returns the shortest path of a removed statement, after the name to which it belongs, below which
// everything is removed.
func (x *stater) highest(words []string) []string {
	for n := 3; n < len(words); n++ {
		if x.under(words[:n]) {
			continue
		}
		if !slices.ContainsFunc(x.run, func(r junos.Command) bool {
			return len(r.Words) >= n && slices.Equal(r.Words[:n], words[:n]) && !x.changed[x.has[r.String()]-1]
		}) {
			return words[:n]
		}
	}
	return words
}

// add types the statements that the device does not have.
func (x *stater) add() {
	for _, c := range x.want {
		if x.has[c.String()] > 0 {
			continue
		}
		s := Step{Text: "set " + c.String()}
		for _, r := range x.run {
			if w := x.replaced(r.Words); w != nil && w.String() == c.String() {
				s.Was, s.Line = r.String(), r.Line
			}
		}
		x.step(s)
	}
}

// pointed are consecutive steps that add code points to one class, written as one with a list.
func pointed(steps []Step) (out []Step) {
	for _, s := range steps {
		if at := strings.LastIndexByte(s.Text, ' '); len(out) > 0 && !s.Remove && strings.HasSuffix(s.Text[:at], " code-points") {
			o := &out[len(out)-1]
			if list, ok := strings.CutPrefix(o.Text, s.Text[:at]+" "); ok && !o.Remove && o.Effect == s.Effect {
				o.Text = s.Text[:at] + " [ " + strings.Trim(list, "[] ") + " " + last(s.Text) + " ]"
				continue
			}
		}
		out = append(out, s)
	}
	return out
}

// stranger returns a port of the device that matches a pattern of the fabric and is not in the fabric, or "".
func (x *stater) stranger(pattern string) string {
	for _, r := range x.run {
		head, any := strings.CutSuffix(pattern, "*")
		fits := r.Words[1] == head || any && strings.HasPrefix(r.Words[1], head)
		if r.Words[0] == "interfaces" && fits && !x.under(r.Words[:2]) && !r.Inactive {
			return r.Words[1]
		}
	}
	return ""
}

// step records a step with its interruption.
func (x *stater) step(s Step) {
	s.Path = []string{}
	if e := juniper.interrupts(nil, s.Text); e != nil && (!e.instead || s.Was != "") {
		if s.Effect, s.Source = e.says, e.from; e.from == "" {
			s.Source = fromMemory
		}
	}
	if w := strings.Fields(s.Text); len(w) > 3 && w[1] == "class-of-service" && (strings.HasSuffix(w[3], "*") ||
		w[2] == "interfaces") {
		if port := x.stranger(w[3]); port != "" {
			s.Effect = "also changes " + port + ", which the fabric does not have"
		}
	}
	x.Steps = append(x.Steps, s)
}

// management are the interfaces by which a device is managed out of band.
var management = []string{"em0", "em1", "fxp0", "vme", "me0", "re0:mgmt-0", "re1:mgmt-0"}

// reachable rejects steps at ports over which the device may be managed, if it has no management port.
func (x *stater) reachable() error {
	carries := map[string]int{}
	for _, r := range x.run {
		w := r.Words
		if w[0] != "interfaces" || len(w) < 5 || r.Inactive || w[2] != "unit" || !slices.Contains(w, "address") &&
			!slices.Contains(w, "ethernet-switching") {
			continue
		}
		if slices.Contains(management, w[1]) {
			return nil
		}
		if carries[w[1]] == 0 && w[1] != "lo0" && w[1] != "irb" {
			carries[w[1]] = r.Line
		}
	}
	for _, s := range x.Steps {
		w := strings.Fields(s.Text)
		if len(w) > 3 && w[1] == "interfaces" && carries[w[2]] > 0 && (s.Remove || s.Was != "" || w[3] == "ether-options" ||
			w[3] == "disable") && w[3] != "description" {
			return &Refused{x.file, carries[w[2]], fmt.Sprintf("%s would get %q, and the configuration has no address at %s: if the device is managed over this port it is unreachable afterwards; --in-band confirms another access, such as a console", w[2], s.Text, management[0])}
		}
	}
	return nil
}
