package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"railyard/internal/topo"
	"railyard/roce"
	"railyard/unit"
)

// mtu lets path MTU 4096 through.
const mtu = "9000"

// Up builds the lab of a fabric.
func Up(ctx context.Context, g *topo.Graph, o Options) (*State, error) {
	need := []string{"ip", "tc", "nft"}
	if o.Routing == RoutingFRR {
		need = append(need, zebra, bgpd, "vtysh")
	}
	if err := ready(need...); err != nil {
		return nil, err
	}
	s, err := plan(g, o)
	if err != nil {
		return nil, err
	}
	return s, s.build(ctx, o)
}

// build creates everything; a failed attempt is removed.
func (s *State) build(ctx context.Context, o Options) (err error) {
	have, err := namespaces(ctx)
	if err != nil {
		return err
	}
	if err := s.claim(); err != nil {
		return err
	}
	for _, n := range s.Nodes {
		if have[n.Namespace] {
			os.RemoveAll(s.dir())
			return refuse("a network namespace %s exists and is not the lab's", n.Namespace)
		}
	}
	defer func() {
		if err != nil {
			clean, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
			defer cancel()
			err = errors.Join(err, s.remove(clean))
		}
	}()
	steps := []struct {
		what string
		do   func(context.Context) error
	}{
		{"namespaces", s.makeNamespaces}, {"cables", s.makeLinks}, {"host routes", s.hostRoutes},
		{"rate limits", s.shape},
	}
	if !o.NoECN {
		steps = append(steps, struct {
			what string
			do   func(context.Context) error
		}{"ECN marking", s.mark})
	}
	route := s.startFRR
	if o.Routing == RoutingStatic {
		route = s.staticRoutes
	}
	steps = append(steps, struct {
		what string
		do   func(context.Context) error
	}{o.Routing + " routes", route})
	for _, st := range steps {
		o.Say("%s", st.what)
		if err := st.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", st.what, err)
		}
	}
	if err := s.converged(ctx, cmp.Or(o.Wait, DefaultWait)); err != nil {
		return err
	}
	s.Ready = true
	return s.save()
}

// claim creates the lab's directory: of two concurrent builds under one name, one succeeds.
func (s *State) claim() error {
	if err := os.MkdirAll(filepath.Dir(s.dir()), 0o755); err != nil {
		return &InputError{err}
	}
	switch err := os.Mkdir(s.dir(), 0o755); {
	case errors.Is(err, os.ErrExist):
		return refuse("lab %q is up already, is being built, or remained from an earlier run (railyard lab down --name %s)", s.Name, s.Name)
	case err != nil:
		return &InputError{err}
	}
	if err := s.save(); err != nil { // so that down finds it whenever this ends
		return errors.Join(err, os.RemoveAll(s.dir()))
	}
	return nil
}

// makeNamespaces creates the nodes, each noted before it is made.
func (s *State) makeNamespaces(ctx context.Context) error {
	for _, n := range s.Nodes {
		s.Made = append(s.Made, n.Namespace)
		if err := s.save(); err != nil {
			return err
		}
		if _, err := command(ctx, "ip", "netns", "add", n.Namespace); err != nil {
			return err
		}
		if _, err := command(ctx, "ip", "-n", n.Namespace, "link", "set", "lo", "up"); err != nil {
			return err
		}
		set := []string{"netns", "exec", n.Namespace, "sysctl", "-qw", "net.ipv4.conf.all.rp_filter=0",
			"net.ipv4.conf.default.rp_filter=0"}
		if n.Switch {
			// ECMP over the 5-tuple; dead next hops are removed immediately.
			set = append(set, "net.ipv4.ip_forward=1", "net.ipv4.fib_multipath_hash_policy=1",
				"net.ipv4.conf.all.ignore_routes_with_linkdown=1",
				"net.ipv4.conf.default.ignore_routes_with_linkdown=1")
		}
		if _, err := command(ctx, "ip", set...); err != nil {
			return err
		}
	}
	return nil
}

// makeLinks runs the cables and gives them addresses.
func (s *State) makeLinks(ctx context.Context) error {
	for i := range s.Links {
		l := &s.Links[i]
		a, b := s.Nodes[l.A], s.Nodes[l.B]
		if _, err := command(ctx, "ip", "-n", a.Namespace, "link", "add", l.APort, "mtu", mtu, "type", "veth",
			"peer", "name", l.BPort, "mtu", mtu, "netns", b.Namespace); err != nil {
			return err
		}
		for _, node := range []int{l.A, l.B} {
			if err := s.raise(ctx, l, node); err != nil {
				return err
			}
		}
	}
	return nil
}

// raise brings a link's end up, with its address if it has one.
func (s *State) raise(ctx context.Context, l *Link, node int) error {
	port, addr, _ := l.end(node)
	ns := s.Nodes[node].Namespace
	if addr.IsValid() { // BGP unnumbered needs none
		if _, err := command(ctx, "ip", "-n", ns, "addr", "replace", netip.PrefixFrom(addr, 31).String(),
			"dev", port); err != nil {
			return err
		}
	}
	// All that a port receives is worked off by one processor: on several, the
	// kernel's per-processor queues would reorder packets.
	mask := fmt.Sprintf("%x", uint64(1)<<(node%min(runtime.NumCPU(), 32)))
	if _, err := command(ctx, "ip", "netns", "exec", ns, "sh", "-c", "echo "+mask+" > /sys/class/net/"+
		port+"/queues/rx-0/rps_cpus"); err != nil {
		return err
	}
	_, err := command(ctx, "ip", "-n", ns, "link", "set", port, "up")
	return err
}

// hostRoutes sends packets with a NIC's source address out of that NIC, so that rails stay separate.
func (s *State) hostRoutes(ctx context.Context) error {
	for i, nic := range s.NICs {
		if err := s.hostRoute(ctx, i); err != nil {
			return err
		}
		if _, err := command(ctx, "ip", "-n", s.Nodes[nic.Node].Namespace, "rule", "add", "from",
			nic.Addr.String(), "table", s.tableOf(i)); err != nil {
			return err
		}
	}
	return nil
}

// tableOf is the routing table of a NIC's port: they are numbered host by host.
func (s *State) tableOf(nic int) string {
	n := 101
	for _, other := range s.NICs[:nic] {
		if other.Node == s.NICs[nic].Node {
			n++
		}
	}
	return fmt.Sprint(n)
}

// hostRoute sets the route of a NIC's port; a host's first one is the default. The kernel deletes it when the port
// fails.
func (s *State) hostRoute(ctx context.Context, i int) error {
	nic, table := s.NICs[i], s.tableOf(i)
	port, _, gw := s.Links[nic.Link].end(nic.Node)
	way := []string{"-n", s.Nodes[nic.Node].Namespace, "route", "replace", "default", "via", gw.String(), "dev", port}
	_, err := command(ctx, "ip", append(way[:len(way):len(way)], "table", table)...)
	if err == nil && table == "101" {
		_, err = command(ctx, "ip", way...)
	}
	return err
}

// Queue of a shaped port: long enough that a paced sender with ECN loses
// nothing, because there is no PFC here.
const (
	shapeBurst = 32 << 10
	shapeQueue = 4 << 20
)

// shape limits every port to its rate.
func (s *State) shape(ctx context.Context) error {
	for i := range s.Links {
		l := &s.Links[i]
		for _, node := range []int{l.A, l.B} {
			if err := s.shapePort(ctx, i, node, l.Rate); err != nil {
				return err
			}
		}
	}
	return nil
}

// shapePort limits the rate of a port.
func (s *State) shapePort(ctx context.Context, link, node int, rate unit.Rate) error {
	port, _, _ := s.Links[link].end(node)
	_, err := command(ctx, "tc", "-n", s.Nodes[node].Namespace, "qdisc", "replace", "dev", port, "root",
		"tbf", "rate", fmt.Sprintf("%dbit", int64(rate)), "burst", fmt.Sprint(shapeBurst), "limit",
		fmt.Sprint(shapeQueue))
	return err
}

// Marking starts when a port's packets arrive faster than this share of its rate: a phantom queue, because this
// kernel has no RED. nftables counts packets, not bytes: a bucket of bytes is always a second deep there. Counted
// are packets of a path MTU of 4096, the size of data packets here.
const (
	markShare   = 0.95
	markPacket  = 4096 + roce.BaseLen - roce.FCSLen
	markBurst   = 16
	markMinimum = 1024 // acknowledgements and other small packets are not marked
)

// mark lets the switches set congestion experienced on ECN-capable packets
// that leave a port above its marking rate.
func (s *State) mark(ctx context.Context) error {
	for n, node := range s.Nodes {
		if !node.Switch {
			continue
		}
		var b strings.Builder
		b.WriteString("table ip railyard {\n chain marking {\n" +
			"  type filter hook postrouting priority 0; policy accept;\n")
		for i := range s.Links {
			l := &s.Links[i]
			if l.A != n && l.B != n {
				continue
			}
			port, _, _ := l.end(n)
			perSecond := max(1, int64(float64(l.Rate)/8*markShare/markPacket))
			fmt.Fprintf(&b, "  oifname %q ip ecn ect0 meta length > %d limit rate over %d/second burst %d packets counter ip ecn set ce comment %q\n",
				port, markMinimum, perSecond, markBurst, port)
		}
		b.WriteString(" }\n}\n")
		file := filepath.Join(s.dir(), node.Name+".nft")
		if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
			return err
		}
		if _, err := command(ctx, "ip", "netns", "exec", node.Namespace, "nft", "-f", file); err != nil {
			return err
		}
	}
	return nil
}

// staticRoutes installs the shortest paths over the links that are up.
func (s *State) staticRoutes(ctx context.Context) error {
	for _, nic := range s.NICs {
		home := s.home(nic)
		dist := s.distances(home)
		for node, n := range s.Nodes {
			if !n.Switch || node == home {
				continue
			}
			prefix := netip.PrefixFrom(nic.Addr, 31).Masked().String()
			args := []string{"-n", n.Namespace, "route", "replace", prefix}
			for i := range s.Links {
				l := &s.Links[i]
				if far := l.A + l.B - node; (l.A == node || l.B == node) && !l.Down && s.Nodes[far].Switch &&
					dist[node] > 0 && dist[far] == dist[node]-1 {
					port, _, via := l.end(node)
					args = append(args, "nexthop", "via", via.String(), "dev", port)
				}
			}
			if dist[node] < 0 {
				args = []string{"-n", n.Namespace, "route", "replace", "unreachable", prefix}
			}
			if _, err := command(ctx, "ip", args...); err != nil {
				return err
			}
		}
	}
	return nil
}

// distances counts links from a switch to every other over those that are up; -1 is unreachable.
func (s *State) distances(from int) []int {
	dist := make([]int, len(s.Nodes))
	for i := range dist {
		dist[i] = -1
	}
	dist[from] = 0
	for queue := []int{from}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		for i := range s.Links {
			l := &s.Links[i]
			far := l.A + l.B - at
			if (l.A == at || l.B == at) && !l.Down && s.Nodes[far].Switch && dist[far] < 0 {
				dist[far] = dist[at] + 1
				queue = append(queue, far)
			}
		}
	}
	return dist
}

// converged waits until every switch has a route to every NIC.
func (s *State) converged(ctx context.Context, wait time.Duration) error {
	until := time.Now().Add(wait)
	for {
		missing, err := s.missing(ctx)
		if err != nil {
			return err
		}
		if missing == "" {
			return nil
		}
		if time.Now().After(until) {
			return fmt.Errorf("after %v %s", wait, missing)
		}
		select {
		case <-time.After(200 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// home is the switch that a NIC hangs off.
func (s *State) home(nic NIC) int { return s.Links[nic.Link].A + s.Links[nic.Link].B - nic.Node }

// missing returns a missing route to a NIC's port that links between switches reach: ports of another plane do not
// count.
func (s *State) missing(ctx context.Context) (string, error) {
	away := map[int][]int{} // by switch of a NIC: distances of the other switches
	for _, nic := range s.NICs {
		if home := s.home(nic); away[home] == nil {
			away[home] = s.distances(home)
		}
	}
	for i, n := range s.Nodes {
		if !n.Switch {
			continue
		}
		out, err := command(ctx, "ip", "-n", n.Namespace, "route")
		if err != nil {
			return "", err
		}
		for _, nic := range s.NICs {
			p := netip.PrefixFrom(nic.Addr, 31).Masked().String()
			if away[s.home(nic)][i] < 0 {
				continue
			}
			if !strings.Contains(string(out), p+" ") {
				return fmt.Sprintf("%s has no route to %s (%s)", n.Name, s.Nodes[nic.Node].Name, p), nil
			}
		}
	}
	return "", nil
}

// SetLink takes a cable down or brings it up again. With static routes the
// remaining paths are installed; BGP finds them itself.
func SetLink(ctx context.Context, s *State, port string, up bool) error {
	return Fail(ctx, s, Failure{Kind: "link", Name: port, Up: up})
}

// SetLoss lets a port lose a share of the RoCE packets that leave it, at
// random; zero ends that.
func SetLoss(ctx context.Context, s *State, port string, share float64) error {
	if err := ready("ip", "nft"); err != nil {
		return err
	}
	if share < 0 || share > 1 {
		return refuse("a loss of %g %% is out of range 0–100 %%", 100*share)
	}
	l, node, err := s.FindPort(port)
	if err != nil {
		return err
	}
	name, _, _ := s.Links[l].end(node)
	table := "railyard_loss_" + name
	const steps = 1_000_000
	// Declaring the table first makes deleting it work whether or not it was there.
	text := fmt.Sprintf("table ip %s {}\ndelete table ip %s\n", table, table)
	if n := int(share * steps); n > 0 {
		text += fmt.Sprintf("table ip %s {\n chain lose {\n"+
			"  type filter hook postrouting priority 10; policy accept;\n"+
			"  oifname %q udp dport %d numgen random mod %d < %d counter drop\n }\n}\n",
			table, name, roce.Port, steps, n)
	}
	file := filepath.Join(s.dir(), s.Nodes[node].Name+"-"+name+"-loss.nft")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return err
	}
	_, err = command(ctx, "ip", "netns", "exec", s.Nodes[node].Namespace, "nft", "-f", file)
	return err
}
