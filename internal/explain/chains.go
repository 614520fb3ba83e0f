package explain

import (
	"fmt"
	"strings"

	"railyard/internal/result"
	"railyard/unit"
)

// Chains are closed chains of pauses that were met.
type Chains struct {
	Count int     // also of those beyond All
	All   []Chain // by the time when they closed
}

// Chain is a circular pause dependency: paused ports, each blocked by the next.
type Chain struct {
	Closed, Ended unit.Time // Ended: 0 while it persists
	How           ChainEnd
	By            int32 // the port that went on
	Ports         []ChainPort
	First         int   // the one that was paused first
	Cause         int32 // the port whose queue had that one paused, -1: a server
}

// ChainPort is a port of a chain. Bytes is the amount of data queued there that arrived by the previous port. Most
// of it belongs to Flow: a connection, or NIC ^Flow if the number is negative.
type ChainPort struct {
	Port     int32
	Priority int
	Paused   unit.Time
	Bytes    unit.Bytes
	Flow     int32
}

// ChainEnd is the reason for the end of a chain.
type ChainEnd uint8

// Ends of chains.
const (
	Stands ChainEnd = iota
	ByItself
	ByWatchdog
	ByCable
)

func (e ChainEnd) String() string {
	return [...]string{result.Stands, result.ByItself, result.ByWatchdog, result.ByCable}[e]
}

// mostChains is the maximum number of listed chains. The first chains and those that did not end by themselves have
// this limit each.
const mostChains = 8

// chains lists the circular pause dependencies; nil without any.
func (r *reading) chains() *result.Chains {
	seen := &r.seen.Chains
	if seen.Count == 0 {
		return nil
	}
	out := &result.Chains{Count: seen.Count}
	locked := 0
	for i := range seen.All {
		c := &seen.All[i]
		switch c.How {
		case Stands:
			out.Standing++
		case ByItself:
			out.ByItself++
		case ByWatchdog:
			out.Watchdog++
		case ByCable:
			out.Cable++
		}
		if c.How != ByItself {
			locked++
		}
		if i < mostChains || c.How != ByItself && locked <= mostChains {
			out.Chains = append(out.Chains, *r.chain(c))
		}
	}
	return out
}

func (r *reading) chain(c *Chain) *result.Chain {
	row := &result.Chain{Closed: int64(c.Closed), Ended: int64(c.Ended), How: c.How.String(),
		First: r.portName(c.Ports[c.First].Port), Flow: r.flowName(c.Ports[(c.First+1)%len(c.Ports)].Flow)}
	if c.How != Stands {
		row.By = r.portName(c.By)
	}
	if c.Cause >= 0 {
		row.Cause = r.portName(c.Cause)
	}
	for _, p := range c.Ports {
		row.Ports = append(row.Ports, result.ChainPort{Port: p.Port, Name: r.portName(p.Port),
			Priority: p.Priority, Paused: int64(p.Paused), Bytes: int64(p.Bytes), Flow: r.flowName(p.Flow)})
	}
	row.Told = told(row, c.How)
	return row
}

// flowName names a connection, or the sender of packets that belong to no connection.
func (r *reading) flowName(flow int32) string {
	if flow < 0 {
		return "control packets of " + r.graph.NICName(int(^flow))
	}
	src, dst := r.seen.peers(flow)
	return r.graph.NICName(int(src)) + " → " + r.graph.NICName(int(dst))
}

// closedChain returns a note that a paused port led into a circular pause dependency, or "".
func (r *reading) closedChain(port int32) string {
	index := map[int32]*Chain{}
	for i := len(r.seen.Chains.All) - 1; i >= 0; i-- { // the first one counts
		for _, p := range r.seen.Chains.All[i].Ports {
			index[p.Port] = &r.seen.Chains.All[i]
		}
	}
	for seen := map[int32]bool{}; port >= 0 && !seen[port]; port = r.seen.Ports[port].Packets.PausedBy {
		seen[port] = true
		if c := index[port]; c != nil {
			return fmt.Sprintf("a circular pause dependency of %d ports that began at %s", len(c.Ports),
				r.portName(c.Ports[c.First].Port))
		}
	}
	return ""
}

// told describes a chain in a sentence: its ports, when it closed, and its first port.
func told(c *result.Chain, how ChainEnd) string {
	const most = 6
	var names []string
	for i, p := range c.Ports {
		if i == most {
			names = append(names, fmt.Sprintf("%d more", len(c.Ports)-i))
			break
		}
		names = append(names, p.Name)
	}
	s := fmt.Sprintf("at %s %d paused ports formed a circular pause dependency: %s; the first pause was at %s",
		unit.Time(c.Closed).Show(), len(c.Ports), strings.Join(names, ", "), c.First)
	if c.Cause != "" {
		s += " for the queue at " + c.Cause
	}
	s += ", filled by " + c.Flow
	after := unit.Time(c.Ended - c.Closed)
	switch how {
	case ByItself:
		return s + fmt.Sprintf("; %s resumed after %s", c.By, after.Show())
	case ByWatchdog:
		return s + fmt.Sprintf("; the PFC watchdog resolved it at %s after %s", c.By, after.Show())
	case ByCable:
		return s + fmt.Sprintf("; the link at %s failed after %s", c.By, after.Show())
	}
	return s + "; unresolved"
}
