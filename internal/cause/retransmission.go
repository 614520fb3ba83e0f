package cause

var retransmission = Cause{ID: Retransmission, Key: "sent_again", Name: "retransmission",
	About: "lost packets are detected and retransmitted",
	Color: "#000000", Loss: true, Trigger: false,
	Without: func(*Facts) Change {
		return Change{Says: "no loss", Set: []string{"fabric.host_link.bit_error_rate=0",
			"fabric.fabric_link.bit_error_rate=0"}, Drop: failing}
	},
	Remedies: func(f *Facts) []Change {
		if f.Transport == "roce" && f.Recovery == "go-back-n" {
			return []Change{{Says: "selective retransmission", Set: []string{"transport.recovery=selective"}}}
		}
		return nil
	}}
