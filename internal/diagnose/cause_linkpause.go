package diagnose

// linkPause is a port that stops all classes together (802.3x) instead of one (802.1Qbb): CNPs, routing and storage
// stop with the rest. The two kinds have separate counters, so no other cause looks the same.
var linkPause = Cause{Name: "link-pause", About: "802.3x pauses stop all classes", find: findLinkPause,
	By: []string{"802.3x pauses sent", "802.3x pauses received"}}

func findLinkPause(f *Fabric, c *Cause) (out []Finding) {
	f.ports(func(p *Port) {
		got, sent := p.read(rxPause), p.read(txPause)
		if !sent.Some() && !(got.Some() && (p.Peer == nil || !p.Peer.Seen())) {
			return
		}
		for k := range 8 { // devices that count PFC there, too
			if p.read(txPFC(k)).Some() || p.read(rxPFC(k)).Some() || p.lacks(txPFC(k), rxPFC(k)) {
				return
			}
		}
		x := c.at(p, -1, Proven, "%v sends 802.3x pauses, which stop all classes", p)
		if !sent.Some() {
			x.Says = sprintf("%v receives 802.3x pauses from %s, which stop all classes", p, farOf(p))
		}
		x.show(sent, got)
		x.Why = "an 802.3x pause stops all traffic of a port, including CNPs and routing; PFC stops only the lossless class"
		x.Fix = "disable flow control at both ends (ethtool -A ETH rx off tx off; no flowcontrol) and enable PFC"
		x.next(p, askPFC, "PFC on, flow control off")
		x.harm = 1
		out = append(out, x)
	})
	return out
}
