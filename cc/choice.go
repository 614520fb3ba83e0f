package cc

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"railyard/unit"
)

// Choice is an algorithm with values for its parameters, as set on a command line or by a program that uses real
// queue pairs.
type Choice struct {
	*Algorithm
	profile *Profile
	own     Values // values that differ from the profile
}

// Parse reads a choice: the algorithm, then optionally a colon and a profile (default: the one for sockets), then
// parameters with values after commas. Examples: "swift", "dcqcn:nic", "swift,base_target=200us,ai=2".
func Parse(text string) (Choice, error) {
	words := strings.Split(text, ",")
	name, profile, named := strings.Cut(words[0], ":")
	a := Lookup(name)
	if a == nil {
		return Choice{}, fmt.Errorf("unknown congestion control %q; accepted: %s",
			name, strings.Join(Names(), ", "))
	}
	if !named {
		profile = a.Sockets
	}
	c := Choice{Algorithm: a, profile: a.Profile(profile), own: Values{}}
	if named && (c.profile == nil || profile == "") {
		return Choice{}, fmt.Errorf("%s has no profile %q; it has %s", name, profile,
			listed(a.Profiles, func(p Profile) string { return p.Name }))
	}
	if a.Credit != nil && a.Credit(c.profile.Values(unit.Gbps)).Pulls {
		return Choice{}, fmt.Errorf("%s needs receivers that pull, and only simulated ones do", name)
	}
	for _, w := range words[1:] {
		key, value, _ := strings.Cut(w, "=")
		i := slices.IndexFunc(a.Params, func(p Param) bool { return p.Name == key })
		if of := Owner(key, name); i < 0 && of != nil {
			return Choice{}, fmt.Errorf("%s has no parameter %q: that is one of %s; it has %s", name, key,
				of.Name, listed(a.Params, func(p Param) string { return p.Name }))
		}
		if i < 0 {
			return Choice{}, fmt.Errorf("%s has no parameter %q; it has %s", name, key,
				listed(a.Params, func(p Param) string { return p.Name }))
		}
		if _, twice := c.own[key]; twice {
			return Choice{}, fmt.Errorf("%s of %s is repeated", key, name)
		}
		if a.Params[i].Simulated {
			return Choice{}, fmt.Errorf("%s of %s is the receiver's, and only simulated ones read it",
				key, name)
		}
		x, err := a.Params[i].Parse(value)
		if err != nil {
			return Choice{}, fmt.Errorf("%s of %s: %w", key, name, err)
		}
		c.own[key] = x
	}
	if a.Reports(c.values(unit.Gbps)) != NoReport {
		return Choice{}, fmt.Errorf("%s needs switches that write into packets: only simulated ones do",
			text)
	}
	return c, nil
}

// values returns the profile's values for a line rate, with the named ones replaced.
func (c Choice) values(line unit.Rate) Values {
	v := maps.Clone(c.profile.Values(line))
	maps.Copy(v, c.own)
	return v
}

// Make returns the constructor for ports of a line rate.
func (c Choice) Make(line unit.Rate) (Make, error) {
	v := c.values(line)
	for _, p := range c.Params {
		if r, ok := v[p.Name].(unit.Rate); ok && p.Line && r > line {
			return nil, fmt.Errorf("%s of %s is %v, above the line rate of %v", p.Name, c.Name, r, line)
		}
	}
	if c.Check != nil {
		if param, fault := c.Check(v); fault != "" {
			return nil, fmt.Errorf("%s of %s: %s", param, c.Name, fault)
		}
	}
	return c.New(v), nil
}

// listed is a list of names in a sentence.
func listed[T any](list []T, name func(T) string) string {
	var names []string
	for _, x := range list {
		names = append(names, name(x))
	}
	if names == nil {
		return "none"
	}
	return strings.Join(names, ", ")
}
