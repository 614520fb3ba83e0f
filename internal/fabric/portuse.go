package fabric

// What whoever builds or watches a network asks of single ports.

// LimitPFC leaves a port only some priorities to pause its neighbour for and to
// obey pauses of. What arrives there in a lossless class beyond xOFF and headroom
// is lost, because nothing stops the sender.
func (n *Net) LimitPFC(port int32, priorities uint8) { n.cfg[port].noPFC = ^priorities }

// TapPort captures both directions at a port, or stops doing so.
func (n *Net) TapPort(port int32, on bool) {
	peer := n.Ports[port].Peer
	n.Ports[port].Flags &^= flagTapOut
	n.Ports[peer].Flags &^= flagTapIn
	if on {
		n.Ports[port].Flags |= flagTapOut
		n.Ports[peer].Flags |= flagTapIn
	}
}

// FaultPort lets Fault decide about what leaves a port.
func (n *Net) FaultPort(port int32) { n.Ports[port].Flags |= flagFault }
