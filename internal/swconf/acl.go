package swconf

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/swconf/cli"
)

// rocePort is the UDP destination port of RoCEv2 (IBTA annex A17).
const rocePort = 4791

// AccessLists are the access lists of a configuration, by family and name: "ip ROCE".
type AccessLists struct {
	by      map[string]*AccessList
	entries *cli.Mode
}

// NewAccessLists makes none yet; pass is called for each of their lines.
func NewAccessLists(pass func(*cli.Match)) *AccessLists {
	r := cli.NewMode("access-list")
	r.Set("[no] [ <seq:int> ] <what:permit|deny> <entry...>", func(m *cli.Match) {
		pass(m)
		l := m.Of.(*AccessList)
		to := l.Add
		if m.No {
			to = l.Remove
		}
		to(m.Int("seq"), m.Word("what") == "permit", m.Word("entry"))
	})
	r.Set("[no] <seq:int>", func(m *cli.Match) {
		if pass(m); m.No {
			m.Of.(*AccessList).Remove(m.Int("seq"), false, "")
		}
	})
	return &AccessLists{map[string]*AccessList{}, r.Skip(pass, "remark", "counters", "statistics",
		"fragment-rules", "fragments", "ignore", "description", "<seq:int> remark")}
}

// Open continues a list, or removes it.
func (a *AccessLists) Open(name string, no bool) *cli.Mode {
	if no {
		delete(a.by, name)
		return nil
	}
	if a.by[name] == nil {
		a.by[name] = &AccessList{}
	}
	return a.entries.Of(a.by[name])
}

// Takes returns which of RoCE's packets a list permits, and whether the list exists.
func (a *AccessLists) Takes(name string) (*Taken, bool) {
	l := a.by[name]
	if l == nil {
		return nil, false
	}
	return l.Takes(), true
}

// AccessList is the effect of an access list on RoCE packets, which are UDP to port 4791, by their DSCP. The first
// matching entry decides; a packet without one is denied.
type AccessList struct {
	entries map[int64]aclLine // by their numbers
	numbers map[aclLine]int64
	last    int64
	taken   *Taken // cached result
}

type aclLine struct {
	permit bool
	text   string
}

// Taken is the set of RoCE packets that an access list permits.
type Taken struct {
	DSCP, decided [64]bool
	// Partly: entries match on more than a DSCP and a port (an address, for example), so packets of one DSCP may be
	// permitted or denied. Such an entry decides nothing here.
	Partly bool
	ByPort bool // an entry matches RoCE's packets by their port
}

// Add takes an entry after its permit or deny: "udp any any eq 4791 dscp 26". It is placed by its number, or after
// all others without one (seq 0); an existing number is overwritten.
func (l *AccessList) Add(seq int64, permit bool, entry string) {
	if l.entries == nil {
		l.entries, l.numbers = map[int64]aclLine{}, map[aclLine]int64{}
	}
	if seq == 0 {
		seq = min(l.last, math.MaxInt64-10) + 10
	}
	l.Remove(seq, false, "")
	line := aclLine{permit, strings.ToLower(entry)}
	l.entries[seq], l.numbers[line], l.last = line, seq, max(l.last, seq)
}

// Remove removes an entry by its number, or by its contents (seq 0).
func (l *AccessList) Remove(seq int64, permit bool, entry string) {
	l.taken = nil
	if seq == 0 {
		seq = l.numbers[aclLine{permit, strings.ToLower(entry)}]
	}
	if line, is := l.entries[seq]; is {
		delete(l.entries, seq)
		if l.numbers[line] == seq {
			delete(l.numbers, line)
		}
	}
}

// Takes returns which of RoCE's packets are permitted, for any sender and receiver.
func (l *AccessList) Takes() *Taken {
	if l.taken == nil {
		l.taken = &Taken{}
		for _, seq := range slices.Sorted(maps.Keys(l.entries)) {
			l.taken.add(l.entries[seq].permit, l.entries[seq].text)
		}
	}
	return l.taken
}

// add advances by one entry. Entries about other packets than RoCE's are ignored.
func (l *Taken) add(permit bool, entry string) {
	w := strings.Fields(entry)
	if len(w) == 0 || !slices.Contains([]string{"ip", "ipv4", "ipv6", "udp", "17"}, w[0]) {
		return
	}
	e := aclEntry{words: w[1:]}
	anybody := e.address()
	anyPort := e.port(nil) // a queue pair's source port is arbitrary
	anywhere := e.address()
	read := e.port(&l.ByPort)
	marks, all := e.marks()
	if e.none { // other ports
		return
	}
	if !anybody || !anyPort || !anywhere || !read || !all {
		l.Partly = true
		return
	}
	for d := range marks {
		if marks[d] && !l.decided[d] {
			l.decided[d], l.DSCP[d] = true, permit
		}
	}
}

// ByList notes that a class takes packets by an access list: by their port, which tables of DSCPs do not show, or
// by fields that are not simulated.
func (c *Config) ByList(class string, name Said[string], l *Taken) {
	say := func(to *[]Said[string], format string) {
		s := Say(fmt.Sprintf(format, class, name.V), name.At)
		if !slices.Contains(*to, s) {
			*to = append(*to, s)
		}
	}
	if l.ByPort {
		say(&c.ByPort, "%s takes RoCE's packets by their UDP port (access list %s)")
	}
	if l.Partly {
		say(&c.Apart, "%s matches more than DSCPs and RoCE's port (access list %s)")
	}
}

// aclEntry is an entry being parsed.
type aclEntry struct {
	words []string
	none  bool // whether the rule matches no RoCE packet
}

// address parses a source or destination, and reports whether it matches any.
func (e *aclEntry) address() bool {
	if len(e.words) == 0 {
		return false
	}
	first := e.words[0]
	e.words = e.words[1:]
	switch {
	case first == "any" || first == "0.0.0.0/0" || first == "::/0":
		return true
	case first == "host" || first == "addrgroup" || first == "object-group" ||
		!strings.Contains(first, "/") && len(e.words) > 0 && strings.Contains(e.words[0], "."): // a wildcard
		e.words = e.words[min(1, len(e.words)):]
	}
	return false
}

// port parses a condition on a port, if one follows, and reports whether it is understood. For the destination
// port, it is known whether RoCE's is included.
func (e *aclEntry) port(by *bool) bool {
	counts := map[string]int{"eq": 1, "neq": 1, "gt": 1, "lt": 1, "range": 2}
	if len(e.words) == 0 || counts[e.words[0]] == 0 {
		return true
	}
	op, n := e.words[0], counts[e.words[0]]
	if len(e.words) <= n {
		return false
	}
	var v [2]int
	for i := range n {
		x, err := strconv.Atoi(e.words[1+i])
		if err != nil {
			x = -1 // a name of another service
		}
		v[i] = x
	}
	e.words = e.words[1+n:]
	if by == nil {
		return false
	}
	takes := op == "eq" && v[0] == rocePort || op == "neq" && v[0] != rocePort ||
		op == "gt" && rocePort > v[0] || op == "lt" && rocePort < v[0] ||
		op == "range" && v[0] <= rocePort && rocePort <= v[1]
	e.none = e.none || !takes
	*by = *by || takes
	return true
}

// marks parses the remaining conditions: DSCPs or a precedence (without one, all DSCPs), and whether these are the
// only conditions.
func (e *aclEntry) marks() (set [64]bool, all bool) {
	for d := range set {
		set[d] = true
	}
	for len(e.words) > 0 {
		word, value := e.words[0], ""
		if len(e.words) > 1 {
			value = e.words[1]
		}
		var err error
		switch word {
		case "dscp":
			set, err = DSCPs(value)
		case "precedence":
			set, err = Precedences(value)
		case "log", "count":
			e.words = e.words[1:]
			continue
		default:
			return set, false
		}
		if err != nil || value == "" {
			return set, false
		}
		e.words = e.words[2:]
	}
	return set, true
}
