package swconf

import (
	"fmt"
	"slices"
)

// Trust is the mark of a packet that selects its queue if no policy does.
type Trust uint8

// Trusts. Without a map all packets enter the default queue.
const (
	TrustNone Trust = iota
	TrustDSCP
	TrustCOS // 802.1p priority of the VLAN tag
)

func (t Trust) String() string { return [...]string{"none", "dscp", "cos"}[t] }

// Rank is the precedence of settings at a member of a port channel.
type Rank uint8

// Ranks. A language without such channel settings has the first.
const (
	MembersOwn   Rank = iota // the member's settings precede the channel's
	ChannelFirst             // the channel's setting if it is set, else the member's
	ChannelOnly              // the channel's; a member's setting has no effect
)

// Bundling is the division of settings between port channels and members in a language.
type Bundling struct {
	QoS, MTU, PFC Rank
}

// Acting names the interfaces whose words count at a physical port.
type Acting struct {
	QoS, MTU, PFC *Port
}

// Acting returns the port whose QoS, MTU and PFC apply at a physical port: the port itself, or its port channel. A
// channel that the configuration names and never opens has no settings, so its members' apply.
func (c *Config) Acting(p *Port) Acting {
	a := Acting{p, p, p}
	b := c.Bundle(p.Channel.V)
	if !p.Channel.Is() || b == nil {
		return a
	}
	if r := c.Bundling.QoS; r == ChannelOnly || r == ChannelFirst && len(b.Policies) > 0 {
		a.QoS = b
	}
	if r := c.Bundling.MTU; r == ChannelOnly || r == ChannelFirst && b.MTU.Is() {
		a.MTU = b
	}
	if r := c.Bundling.PFC; r == ChannelOnly || r == ChannelFirst && b.PFC.Is() {
		a.PFC = b
	}
	return a
}

// Idle is a line of an interface without effect, because another one applies.
type Idle struct {
	At   Place
	Text string
	Port *Port // which
	By   *Port // port whose settings count instead
}

// Settle sets the effective values of every member of a port channel, and notes its lines without effect. Dialects call
// it after parsing: later code reads a port's effective values.
func (c *Config) Settle() {
	for _, p := range c.Ports {
		a := c.Acting(p)
		if a.QoS != p {
			for _, own := range p.Policies {
				if !has(a.QoS.Policies, own.V) {
					c.Idle = append(c.Idle, Idle{own.At, own.V, p, a.QoS})
				}
			}
			p.QoS = a.QoS.QoS
		}
		if a.MTU != p {
			if p.MTU.Is() && p.MTU.V != a.MTU.MTU.V {
				c.Idle = append(c.Idle, Idle{p.MTU.At, fmt.Sprintf("MTU %d", p.MTU.V), p, a.MTU})
			}
			p.MTU = a.MTU.MTU
		}
		if b := c.Bundle(p.Channel.V); p.Channel.Is() && b != nil && b.Watchdog.Is() && c.Bundling.PFC != MembersOwn {
			p.Watchdog = b.Watchdog
		}
		if a.PFC != p {
			if p.PFC.Is() && p.PFC.V != a.PFC.PFC.V {
				c.Idle = append(c.Idle, Idle{p.PFC.At, "PFC mode " + p.PFC.V.String(), p, a.PFC})
			}
			p.PFC = a.PFC.PFC
		}
	}
}

func has(list []Said[string], v string) bool {
	return slices.ContainsFunc(list, func(s Said[string]) bool { return s.V == v })
}

// memberIdle reports settings of a port channel's member without effect.
func (l *linter) memberIdle() {
	for _, c := range l.Configs {
		for _, i := range c.Idle {
			l.say(i.At, fmt.Sprintf("write it below interface %s, and take it off its members", i.By.Name),
				"%s of %s does nothing: the port is a member of %s, which sets it otherwise or not", i.Text,
				i.Port.Name, i.By.Name)
		}
	}
}

// COSOf formats the 802.1p priorities mapped to a queue: 3,5-6; "" if none is mapped.
func (q *QoS) COSOf(queue int) string {
	var list []int
	for p := range q.COS {
		if q.COS[p].Is() && int(q.COS[p].V) == queue {
			list = append(list, p)
		}
	}
	return ranges(list)
}

// SaysCOS reports whether 802.1p priorities are classified.
func (q *QoS) SaysCOS() bool {
	for p := range q.COS {
		if q.COS[p].Is() {
			return true
		}
	}
	return false
}

// byTags reports whether a port classifies by 802.1p priorities and by no DSCP: a packet's DSCP has no effect there.
func (q *QoS) byTags() bool { return q.SaysCOS() && !slices.ContainsFunc(q.DSCP[:], Said[uint8].Is) }
