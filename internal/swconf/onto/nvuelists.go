package onto

import (
	"slices"
	"strconv"
	"strings"

	cumulus "railyard/internal/swconf/nvue"
)

// listed are keywords after which NVUE accepts, and prints, several numbers or interfaces.
var listed = map[string]func(string) []string{"interface": namesOf, "member": namesOf, "dscp": numbersOf,
	"switch-priority": numbersOf, "traffic-class": numbersOf, "vlan": numbersOf}

func namesOf(s string) []string {
	if names, ok := cumulus.Names(s); ok {
		return names
	}
	return []string{s}
}

// numbersOf parses 0,3-5; another word is returned unchanged.
func numbersOf(s string) (out []string) {
	for _, part := range strings.Split(s, ",") {
		from, to, two := strings.Cut(part, "-")
		if !two {
			to = from
		}
		a, err1 := strconv.Atoi(from)
		b, err2 := strconv.Atoi(to)
		if err1 != nil || err2 != nil || b < a || b-a > 4096 {
			return []string{s}
		}
		for ; a <= b; a++ {
			out = append(out, strconv.Itoa(a))
		}
	}
	return out
}

// single splits lines that set several values into lines of one value.
func single(nodes []*node) (out []*node) {
	for _, n := range nodes {
		if strings.ContainsAny(n.text, `'"`) {
			out = append(out, n)
			continue
		}
		lines := [][]string{strings.Fields(n.text)}
		for i := 3; i < len(lines[0]); i++ {
			if split := listed[lines[0][i-1]]; split != nil {
				var more [][]string
				for _, words := range lines {
					for _, one := range split(words[i]) {
						copied := slices.Clone(words)
						copied[i] = one
						more = append(more, copied)
					}
				}
				if len(more) <= 4096 {
					lines = more
				}
			}
		}
		for _, words := range lines {
			out = append(out, &node{text: strings.Join(words, " "), line: n.line})
		}
	}
	return out
}

// joined combines consecutive steps that differ in a number.
func joined(steps []Step) (out []Step) {
	for _, s := range steps {
		if len(out) > 0 {
			if text, ok := join(out[len(out)-1], s); ok {
				out[len(out)-1].Text = text
				continue
			}
		}
		out = append(out, s)
	}
	return out
}

func join(a, b Step) (string, bool) {
	x, y := strings.Fields(a.Text), strings.Fields(b.Text)
	if a.Remove != b.Remove || a.Effect != b.Effect || len(x) != len(y) {
		return "", false
	}
	at := -1
	for i := range x {
		if x[i] != y[i] {
			if at >= 0 {
				return "", false
			}
			at = i
		}
	}
	if at < 3 || !slices.Contains([]string{"dscp", "switch-priority", "traffic-class", "vlan"}, x[at-1]) ||
		len(numbersOf(y[at])) != 1 || numbersOf(y[at])[0] != y[at] {
		return "", false
	}
	if at == len(x)-1 && slices.Contains(x, "mapping") {
		return "", false // dscp 24 has one priority
	}
	x[at] += "," + y[at]
	return strings.Join(x, " "), true
}
