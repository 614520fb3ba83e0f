package site

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/field"
	"railyard/internal/panel"
	"railyard/internal/topo"
	"railyard/unit"
)

// cable is one that a rule runs.
type cable struct {
	from, to  *node
	nic, port int // NIC and port of a server, from 1; 0 at a switch
	rail      int // rail of the card, from 1; 0: by its place in the server
	rule      int
	rate      unit.Rate
	jacks     [2]panel.Jack // port numbers of from and to, if they are switches
}

// joiner runs the cables of one rule.
type joiner struct {
	b        *builder
	key      string
	rule     *Rule
	index    int
	from, to *group
	some     []*node // of from
	among    []*node // of to
	word     []int   // by place of to: index into exprs, -1 for any value
	exprs    []expr
	word2    []int // by expr: its place in from; nicPlace, portPlace, -1 for a number
	stepped  bool
	found    map[string][]*node
	turn     map[string]int
	joined   int

	starts, ends map[*node]bool // some and among, where both are of one group
}

func set(nodes []*node) map[*node]bool {
	in := make(map[*node]bool, len(nodes))
	for _, n := range nodes {
		in[n] = true
	}
	return in
}

// Places of a server's ends in addition to the places of its group.
const (
	nicPlace  = -2
	portPlace = -3
)

// join adds the links of all rules.
func (b *builder) join() error {
	for i := range b.site.Cables {
		j := &joiner{b: b, key: fmt.Sprintf("cables[%d]", i), rule: &b.site.Cables[i], index: i}
		if err := j.run(); err != nil {
			return err
		}
	}
	return nil
}

func (j *joiner) run() (err error) {
	r := j.rule
	if j.from, j.some, err = j.b.pick(j.key+".from", r.From); err != nil {
		return err
	}
	if j.to, j.among, err = j.b.pick(j.key+".to", r.To); err != nil {
		return err
	}
	switch {
	case j.to.server && j.from.server:
		return field.New(j.key, "%s and %s are both servers; a cable needs a switch", r.From, r.To)
	case j.to.server:
		return field.New(j.key, "%s is servers: write them as from", r.To)
	case r.Count < 0 || r.Count > 1024:
		return field.New(j.key+".count", "1 to 1024 cables between two nodes, found %d", r.Count)
	case r.NICs != "" && !j.from.server:
		return field.New(j.key+".nics", "%s is switches", r.From)
	}
	if err := j.lag(); err != nil {
		return err
	}
	switch {
	case r.Between != "":
		return j.between()
	case r.Each != 0:
		return field.New(j.key+".each", "is for between: how many cables a node takes before the next one does")
	}
	if err := j.places(); err != nil {
		return err
	}
	j.found, j.turn = map[string][]*node{}, map[string]int{}
	if j.from == j.to {
		j.starts, j.ends = set(j.some), set(j.among)
	}
	for _, n := range j.among {
		k := j.keyOf(n.at)
		j.found[k] = append(j.found[k], n)
	}
	for _, n := range j.some {
		if err := j.node(n); err != nil {
			return err
		}
	}
	if j.joined == 0 {
		return field.New(j.key, "%s", j.nothing())
	}
	return nil
}

// pick finds the nodes that a rule's end means: a group, or nodes of one group by name.
func (b *builder) pick(key, text string) (*group, []*node, error) {
	if g := b.groups[text]; g != nil {
		return g, g.nodes, nil
	}
	match, err := pattern(text)
	if err != nil || text == "" {
		return nil, nil, field.New(key, "%q is neither a group nor a pattern of names; groups: %s",
			text, strings.Join(b.groupNames, ", "))
	}
	var g *group
	var picked []*node
	for _, n := range b.nodes {
		if !match(n.name) {
			continue
		}
		if g != nil && g.name != n.group {
			return nil, nil, field.New(key, "%q are nodes of %s and of %s: write a rule for each", text,
				g.name, n.group)
		}
		g, picked = b.groups[n.group], append(picked, n)
	}
	if g == nil {
		return nil, nil, field.New(key, "unknown group or node %q; groups: %s", text,
			strings.Join(b.groupNames, ", "))
	}
	return g, picked, nil
}

var ranges = regexp.MustCompile(`\[(\d+(?:-\d+)?(?:,\d+(?:-\d+)?)*)\]`)

// Pattern returns which names a rule's end means: leaf-[1-4,7] and leaf-1-*.
func Pattern(text string) (func(name string) bool, error) { return pattern(text) }

// pattern reads leaf-[1-4,7] and leaf-1-*.
func pattern(text string) (func(name string) bool, error) {
	var sets []map[int]bool
	numbers, re := 0, "^"
	for rest := text; ; {
		at := ranges.FindStringSubmatchIndex(rest)
		lit := rest
		if at != nil {
			lit = rest[:at[0]]
		}
		if _, err := path.Match(lit, ""); err != nil {
			return nil, err
		}
		re += strings.ReplaceAll(regexp.QuoteMeta(lit), `\*`, `.*`)
		if at == nil {
			break
		}
		nums, err := listFrom(0, rest[at[2]:at[3]])
		if err != nil {
			return nil, err
		}
		if numbers += len(nums); numbers > MaxValue {
			return nil, fmt.Errorf("more than %d numbers", MaxValue)
		}
		set := map[int]bool{}
		for _, v := range nums {
			set[v] = true
		}
		sets, re, rest = append(sets, set), re+`(\d+)`, rest[at[1]:]
	}
	x, err := regexp.Compile(re + "$")
	if err != nil {
		return nil, err
	}
	return func(name string) bool {
		m := x.FindStringSubmatch(name)
		if m == nil {
			return false
		}
		for i, set := range sets {
			if v, err := strconv.Atoi(m[i+1]); err != nil || !set[v] {
				return false
			}
		}
		return true
	}, nil
}

// places parses the places by which the two groups are matched.
func (j *joiner) places() error {
	j.word = make([]int, len(j.to.places))
	for i := range j.word {
		j.word[i] = -1
	}
	for _, w := range j.rule.Same {
		if err := j.bind(j.key+".same", w, w); err != nil {
			return err
		}
	}
	for _, p := range j.rule.Match {
		if err := j.bind(j.key+".match."+p.Key, p.Key, p.Value); err != nil {
			return err
		}
	}
	return nil
}

// bind sets the value of a place of to at from.
func (j *joiner) bind(key, place, text string) error {
	at := j.to.place(place)
	if at < 0 {
		return field.New(key, "%s has no place %q; it has %s", j.rule.To, place, orNone(j.to.places))
	}
	if j.word[at] >= 0 {
		return field.New(key, "repeats %s", place)
	}
	e, err := parseExpr(text)
	if err != nil {
		return field.New(key, "%s", err.Error())
	}
	w := -1
	switch {
	case e.word == "":
	case j.from.server && e.word == "nic":
		w = nicPlace
	case j.from.server && e.word == "port":
		w = portPlace
	default:
		if w = j.from.place(e.word); w < 0 {
			has := j.from.places
			if j.from.server {
				has = append(slices.Clone(has), "nic", "port")
			}
			return field.New(key, "%s has no place %q; it has %s", j.rule.From, e.word, orNone(has))
		}
	}
	j.stepped = j.stepped || len(e.steps) > 0
	j.word[at] = len(j.exprs)
	j.exprs, j.word2 = append(j.exprs, e), append(j.word2, w)
	return nil
}

// keyOf is a node's values at the places that must agree.
func (j *joiner) keyOf(at []int) string {
	buf := make([]byte, 0, 32)
	for i, w := range j.word {
		if w >= 0 {
			buf = strconv.AppendInt(append(buf, '/'), int64(at[i]), 10)
		}
	}
	return string(buf)
}

// wanted returns the places that they must have for one end of from.
func (j *joiner) wanted(n *node, nic, port int) string {
	buf := make([]byte, 0, 32)
	for i, w := range j.word {
		if w < 0 {
			continue
		}
		v := 0
		switch p := j.word2[w]; p {
		case nicPlace:
			v = nic
		case portPlace:
			v = port
		case -1:
		default:
			v = n.at[p]
		}
		size := 0
		if j.rule.Wrap {
			size = j.to.size[i]
		}
		buf = strconv.AppendInt(append(buf, '/'), int64(j.exprs[w].of(v, size)), 10)
	}
	return string(buf)
}

// node runs the cables of one node.
func (j *joiner) node(n *node) error {
	if !j.from.server {
		return j.end(n, 0, 0)
	}
	nics, err := j.cards(n.typ)
	if err != nil {
		return err
	}
	for _, nic := range nics {
		for port := 1; port <= n.typ.NICPorts; port++ {
			if err := j.end(n, nic, port); err != nil {
				return err
			}
		}
	}
	return nil
}

// cards returns the NICs of a server to which the rule applies; where servers differ, the NICs that it has.
func (j *joiner) cards(t *Type) ([]int, error) {
	if j.rule.NICs == "" {
		return span(nil, 1, t.NICs)
	}
	nics, err := list(j.rule.NICs)
	if err != nil {
		return nil, field.New(j.key+".nics", "%s", err.Error())
	}
	last, most := nics[len(nics)-1], 0
	for i := 0; last > t.NICs && i < len(j.some) && most < last; i++ {
		most = max(most, j.some[i].typ.NICs)
	}
	if last > t.NICs && most < last {
		return nil, field.New(j.key+".nics", "%s has %d cards, no card %d", t.Name, most, last)
	}
	for len(nics) > 0 && nics[len(nics)-1] > t.NICs {
		nics = nics[:len(nics)-1]
	}
	return nics, nil
}

// end runs the cables of one end: a switch, or one port of a server.
func (j *joiner) end(n *node, nic, port int) error {
	k := j.wanted(n, nic, port)
	all := j.found[k]
	if len(all) == 0 {
		return nil
	}
	if j.rule.Share {
		i := j.turn[k]
		j.turn[k]++
		all = all[i%len(all):][:1]
	}
	count := max(j.rule.Count, j.rule.Lag, 1)
	if nic > 0 && len(all)*count > 1 {
		return field.New(j.key, "%s has one cable for port %d of NIC %d, and %d switches (%s, %s) match: narrow it by same or match, or set share: true", n.name, port, nic, len(all), all[0].name,
			all[len(all)-1].name)
	}
	for _, to := range all {
		if to == n || !j.stepped && to.id < n.id && j.reaches(to, n) {
			continue // itself, or seen from the other end
		}
		for range count {
			if len(j.b.cables) >= topo.MaxLinks {
				return field.New(j.key, "more than %d cables in total", topo.MaxLinks)
			}
			j.b.cables = append(
				j.b.cables,
				cable{
					from: n,
					to:   to,
					nic:  nic,
					port: port,
					rail: j.rail(to),
					rule: j.index,
					rate: j.rate(n),
				},
			)
			j.joined++
		}
	}
	return nil
}

// reaches reports whether the rule, which may connect a group to itself, leads from a node to another.
func (j *joiner) reaches(n, to *node) bool {
	return j.from == j.to && j.starts[n] && j.ends[to] && j.wanted(n, 0, 0) == j.keyOf(to.at)
}

// rate is a cable's.
func (j *joiner) rate(n *node) unit.Rate {
	if j.rule.Rate != 0 || n.typ.NICRate == 0 {
		return j.rule.Rate
	}
	return n.typ.NICRate
}

// rail is the rail of a switch that has one.
func (j *joiner) rail(to *node) int {
	if at := j.to.place("rail"); at >= 0 {
		return to.at[at]
	}
	return 0
}

// nothing describes why a rule connects no two nodes.
func (j *joiner) nothing() string {
	for i, w := range j.word {
		if w < 0 {
			continue
		}
		e := j.exprs[w]
		has := map[int]bool{}
		for _, n := range j.among {
			has[n.at[i]] = true
		}
		if e.word == "" && !has[e.value] {
			return fmt.Sprintf("connects nothing: no %s has %s %d (they go to %d)", j.rule.To,
				j.to.places[i], e.value, j.to.size[i])
		}
	}
	return fmt.Sprintf("connects nothing: at no place of %s and %s do the values agree", j.rule.From, j.rule.To)
}
