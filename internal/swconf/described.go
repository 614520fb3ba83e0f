package swconf

import "regexp"

// Cable is a cable that interface descriptions tell of.
type Cable struct {
	From, To *Config
	A, B     *Port
}

// farEnd finds "to spine-1 Ethernet1/1" at the end of a description, as render
// writes it and many engineers do.
var farEnd = regexp.MustCompile(`(?:^|\b)to (\S+) (\S+)$`)

// Described finds the cables between switches in the descriptions of their
// interfaces, each once, in the order of the files.
func Described(configs []*Config) (out []Cable) {
	by := map[string]*Config{}
	for _, c := range configs {
		if by[c.Name()] == nil && len(c.Ports) > 0 {
			by[c.Name()] = c
		}
	}
	seen := map[*Port]bool{}
	for _, c := range configs {
		for _, p := range c.Ports {
			m := farEnd.FindStringSubmatch(p.Desc.V)
			if m == nil || by[m[1]] == nil || seen[p] || by[c.Name()] != c {
				continue
			}
			if far := by[m[1]].Port(m[2]); far != nil && !seen[far] && far != p {
				seen[p], seen[far] = true, true
				out = append(out, Cable{c, by[m[1]], p, far})
			}
		}
	}
	return out
}
