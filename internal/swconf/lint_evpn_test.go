package swconf

import "testing"

// A switch between leaves of other ASes keeps next hops to each of them. It need not if it ends tunnels, has one
// such neighbour, or neighbours of its own AS.
func TestEVPNNextHop(t *testing.T) {
	spine := func(change func(*Config)) int {
		c := &Config{OS: NXOS, File: "x.cfg", BGP: &BGP{ASN: Say(uint32(65000), at(1)),
			MaxPaths: Say(64, at(2)), Relax: Say(true, at(3)), Connected: Say(true, at(4))}}
		for i, as := range []string{"65001", "65002", "65003"} {
			c.BGP.Neighbors = append(c.BGP.Neighbors, &Neighbor{At: at(10 + i), Remote: Say(as, at(10+i)),
				Active: true, On: IPv4 | EVPN, Keeps: Say(true, at(20+i))})
		}
		change(c)
		found := 0
		for _, f := range linted(c) {
			if f.Rule == "evpn-next-hop" {
				found++
			}
		}
		return found
	}
	each := func(f func(*Neighbor)) func(*Config) {
		return func(c *Config) {
			for _, n := range c.BGP.Neighbors {
				f(n)
			}
		}
	}
	forgets := each(func(n *Neighbor) { n.Keeps = Said[bool]{} })
	for what, c := range map[string]struct {
		change func(*Config)
		want   int
	}{
		"as it should be": {func(*Config) {}, 0},
		"one forgotten":   {func(c *Config) { c.BGP.Neighbors[1].Keeps = Said[bool]{} }, 1},
		"all forgotten":   {forgets, 3},
		"ends tunnels":    {func(c *Config) { forgets(c); c.VTEP = Say(true, at(5)) }, 0},
		"one neighbour":   {func(c *Config) { forgets(c); c.BGP.Neighbors = c.BGP.Neighbors[:1] }, 0},
		"one AS": {func(c *Config) {
			forgets(c)
			each(func(n *Neighbor) { n.Remote.V = "65000" })(c)
		}, 0},
		"no EVPN":          {func(c *Config) { forgets(c); each(func(n *Neighbor) { n.On = IPv4 })(c) }, 0},
		"another language": {func(c *Config) { forgets(c); c.OS = FRR }, 0},
	} {
		if got := spine(c.change); got != c.want {
			t.Errorf("%s: %d findings, want %d", what, got, c.want)
		}
	}
}

// Ethernet segments need multihoming and a monitored uplink: a port, a channel or a part of one.
func TestEVPNSegment(t *testing.T) {
	for what, c := range map[string]struct {
		shares, segment bool
		core            func(*Config) *Port
		want            bool
	}{
		"right":            {true, true, func(c *Config) *Port { return c.Ports[0] }, false},
		"a channel":        {true, true, func(c *Config) *Port { return c.Bundles[0] }, false},
		"multihoming off":  {false, true, func(c *Config) *Port { return c.Ports[0] }, true},
		"nothing watched":  {true, true, nil, true},
		"no segment":       {false, false, nil, false},
		"segments nowhere": {true, false, nil, false},
	} {
		x := leaf()
		x.Bundles = []*Port{{Name: "port-channel1", Number: 1, At: at(80), Segment: Say(c.segment, at(81))}}
		x.Shares = Say(c.shares, at(82))
		if c.core != nil {
			c.core(x).Core = Say(true, at(83))
		}
		if got := severity(x, "evpn-segment") == Error; got != c.want {
			t.Errorf("%s: found %v", what, got)
		}
	}
}
