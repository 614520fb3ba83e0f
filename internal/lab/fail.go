package lab

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"railyard/unit"
)

// Failure is the failure of a component of a lab, named as in a scenario's events.
type Failure struct {
	Kind  string   // link, switch, nic, server
	Name  string   // a cable's port, a switch, a NIC, a server
	Ports []string // ports of a switch: a line card
	Up    bool     // whether it works again, or still works
	// Share is the new rate of its cables relative to their configured rate; 0: unchanged.
	Share     float64
	Direction string // direction of the rate: out, in; both otherwise
	// Storm: a NIC pauses without end, until Up. veth pairs of the kernel ignore PFC. So the switch in front of the
	// NIC is stopped as a pause would stop it: it sends nothing, its queue fills, and later packets are lost.
	// Nothing is paused further up.
	Storm bool
}

// stormRate is the rate of a paused port: a byte a second.
const stormRate unit.Rate = 8 * unit.BitPerSecond

// key is the component that keeps a port down.
func (f *Failure) key() string {
	return strings.TrimSpace(f.Kind + " " + f.Name + " " + strings.Join(f.Ports, ","))
}

// end is a cable's end that a failure is about.
type end struct{ link, node int }

// FailureKinds are the kinds of components that can fail.
var FailureKinds = []string{"link", "switch", "nic", "server"}

// Fail makes a component fail or recover, or sets another rate for its links. A port works if none of the
// components that contain it is down. Packets that are sent into a link whose other end is down are lost. The
// processes of a failed server end. Static routes follow immediately, BGP routes after BGP's convergence.
func Fail(ctx context.Context, s *State, f Failure) error {
	if err := ready("ip", "tc"); err != nil {
		return err
	}
	ends, err := s.ends(&f)
	if err != nil {
		return err
	}
	if f.Storm {
		return s.storm(ctx, &f, ends)
	}
	if f.Share != 0 {
		return s.slow(ctx, &f, ends)
	}
	if f.Kind == "server" && !f.Up {
		if out, err := command(ctx, "ip", "netns", "pids", s.Nodes[ends[0].node].Namespace); err == nil {
			terminate(strings.Fields(string(out)))
		}
	}
	for _, e := range ends {
		err = errors.Join(err, s.hold(ctx, e, f.key(), f.Up))
	}
	if s.Routing == RoutingStatic {
		err = errors.Join(err, s.staticRoutes(ctx))
	}
	return errors.Join(err, s.save())
}

// hold adds or removes a reason for a port to be down, and sets the port accordingly.
func (s *State) hold(ctx context.Context, e end, by string, up bool) (err error) {
	l := &s.Links[e.link]
	by = s.Nodes[e.node].Name + ": " + by
	was := l.heldAt(s.Nodes[e.node].Name)
	if l.DownBy = slices.DeleteFunc(l.DownBy, func(k string) bool { return k == by }); !up {
		l.DownBy = append(l.DownBy, by)
	}
	l.Down = len(l.DownBy) > 0
	switch now := l.heldAt(s.Nodes[e.node].Name); {
	case now && !was:
		port, _, _ := l.end(e.node)
		_, err = command(ctx, "ip", "-n", s.Nodes[e.node].Namespace, "link", "set", port, "down")
	case !now && up:
		err = s.raise(ctx, l, e.node)
		for i, nic := range s.NICs {
			if err == nil && nic.Node == e.node && nic.Link == e.link {
				err = s.hostRoute(ctx, i)
			}
		}
	}
	return err
}

// heldAt reports whether a cable's port at a node has a reason to be down.
func (l *Link) heldAt(node string) bool {
	return slices.ContainsFunc(l.DownBy, func(k string) bool { return strings.HasPrefix(k, node+": ") })
}

// storm stops the switch ports towards a NIC, or resumes them.
func (s *State) storm(ctx context.Context, f *Failure, ends []end) error {
	if f.Kind != "nic" {
		return refuse("only a NIC pauses continuously, found a %s", f.Kind)
	}
	for _, e := range ends {
		l, rate := &s.Links[e.link], stormRate
		if f.Up {
			rate = l.Rate
		}
		if err := s.shapePort(ctx, e.link, l.A+l.B-e.node, rate); err != nil {
			return err
		}
	}
	return nil
}

// slow sets another rate of links, in one direction or both: a port shapes its own traffic.
func (s *State) slow(ctx context.Context, f *Failure, ends []end) error {
	if f.Share < 0.0001 || f.Share > 1 {
		return refuse("a share of %g of a link's rate is out of range 0.0001–1", f.Share)
	}
	for _, e := range ends {
		l := &s.Links[e.link]
		rate := max(unit.Mbps/100, unit.Rate(float64(l.Rate)*f.Share))
		for _, node := range []int{l.A, l.B} {
			if f.Direction == "out" && node != e.node || f.Direction == "in" && node == e.node {
				continue
			}
			if err := s.shapePort(ctx, e.link, node, rate); err != nil {
				return err
			}
		}
	}
	return nil
}

// ends finds the ends of cables that a failure is about.
func (s *State) ends(f *Failure) (all []end, err error) {
	if len(f.Ports) > 0 && f.Kind != "switch" {
		return nil, refuse("ports are ports of a switch, found a %s", f.Kind)
	}
	switch f.Kind {
	case "link":
		l, node, err := s.FindPort(f.Name)
		return []end{{l, node}}, err
	case "nic":
		for _, n := range s.NICs {
			if fmt.Sprintf("%s/nic-%d", s.Nodes[n.Node].Name, n.Index) == f.Name {
				all = append(all, end{n.Link, n.Node})
			}
		}
		if len(all) == 0 {
			return nil, refuse("no NIC %q in this lab; NICs are called like %s/nic-1", f.Name,
				s.Nodes[s.NICs[0].Node].Name)
		}
		return all, nil
	case "switch", "server":
		return s.ofNode(f)
	}
	return nil, refuse("a %q cannot fail; accepted: %s", f.Kind, strings.Join(FailureKinds, ", "))
}

// ofNode are the ends at a switch, or at a line card of it, or at a server.
func (s *State) ofNode(f *Failure) (all []end, err error) {
	var some []string
	for i, n := range s.Nodes {
		if n.Switch != (f.Kind == "switch") {
			continue
		}
		if some = append(some, n.Name); n.Name != f.Name {
			continue
		}
		for l := range s.Links {
			if s.Links[l].A == i || s.Links[l].B == i {
				all = append(all, end{l, i})
			}
		}
		if len(f.Ports) > 0 {
			return s.card(all, f)
		}
		return all, nil
	}
	return nil, refuse("no %s %q in this lab; accepted: %s", f.Kind, f.Name,
		strings.Join(some[:min(len(some), 8)], ", "))
}

// card picks a line card's ports, each or from one to another, of a switch's.
func (s *State) card(of []end, f *Failure) (all []end, err error) {
	at := func(port string) int {
		return slices.IndexFunc(of, func(e end) bool {
			name, _, _ := s.Links[e.link].end(e.node)
			return name == port
		})
	}
	for _, p := range f.Ports {
		from, to := at(p), at(p)
		if first, last, ok := strings.Cut(p, "-"); from < 0 && ok {
			from, to = at(first), at(last)
		}
		if from < 0 || to < from {
			return nil, refuse("%s has no port %q; a stretch is written Eth1-Eth4", f.Name, p)
		}
		all = append(all, of[from:to+1]...)
	}
	return all, nil
}

// Flap makes a component fail for a time in every period, count times or until ctx ends. It works again at the end.
func Flap(ctx context.Context, s *State, f Failure, down, period time.Duration, count int) error {
	again := Failure{Kind: f.Kind, Name: f.Name, Ports: f.Ports, Up: true}
	for k := 0; k < count && ctx.Err() == nil; k++ {
		f.Up = false
		if err := Fail(ctx, s, f); err != nil {
			return err
		}
		rest(ctx, down)
		if err := Fail(context.WithoutCancel(ctx), s, again); err != nil {
			return err
		}
		rest(ctx, period-down)
	}
	return nil
}

// rest waits, unless interrupted.
func rest(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
