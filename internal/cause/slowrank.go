package cause

var slowRank = Cause{ID: SlowRank, Key: "slow_rank", Name: "slow rank",
	About: "a rank computes longer than its siblings: ranks with the same operations in the same order, of as many bytes",
	Color: "#5c4b3f", Loss: true, Trigger: false,
	Advice: "check clocks, temperature and other processes of each slow rank's GPU, else balance the work of ranks",
	Without: func(*Facts) Change {
		return edit("ranks that compute as long as the median of their siblings", EvenRanks)
	},
	Remedies: none}
