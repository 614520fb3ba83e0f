package validate

// Bytes of packets on the wire, for closed forms. They are written out from the standards: a form that takes
// them from the code which it checks moves with the code's mistakes.
const (
	wireGap  = 7 + 1 + 96/8  // preamble, start delimiter (IEEE 802.3, 3.1.1), 96 bit times of gap (4.4.2)
	ethernet = 6 + 6 + 2 + 4 // addresses, type and FCS (IEEE 802.3, 3.1.1)
	ipv4     = 20            // without options (RFC 791, 3.1)
	ipv6     = 40            // RFC 8200, 3
	udp      = 8             // RFC 768
	bth      = 12            // IBTA, 9.2
	reth     = 16            // IBTA, 9.3.3
	aeth     = 4             // IBTA, 9.3.5
	immDt    = 4             // IBTA, 9.3.6
	icrc     = 4             // IBTA, 7.8.1

	middleFrame = ethernet + ipv4 + udp + bth + icrc // around the payload of WRITE Middle and Last: 62
	firstFrame  = middleFrame + reth                 // of WRITE First and Only: 78
	ackFrame    = middleFrame + aeth                 // 66, above Ethernet's least of 64

	intHeader = 2 + 5*8 // HPCC's, figure 7: path ID and hop count, and five hops of 64 bits
)

// on400 is what bytes take at 400 Gbit/s, in ps.
func on400(bytes int64) int64 { return bytes * 8 * 1000 / 400 }

// busFactor is what an all-reduce of n ranks moves over each, of its size (nccl-tests, PERFORMANCE.md).
func busFactor(n int) float64 { return 2 * float64(n-1) / float64(n) }
