package cause

var slowRank = Cause{ID: SlowRank, Key: "slow_rank", Name: "slow rank",
	About: "a rank computes longer than its siblings: ranks with the same operations in the same order, of as many bytes; in a training of several GPU kinds, longer than on the fastest",
	Color: "#5c4b3f", Loss: true, Trigger: false,
	Advice: "check clocks, temperature and other processes of each slow rank's GPU, else balance the work of ranks",
	Without: func(f *Facts) Change {
		if f != nil && f.MixedGPUs {
			return edit("GPUs that all compute as fast as the fastest", EvenRanks)
		}
		return edit("ranks that compute as long as the median of their siblings", EvenRanks)
	},
	Remedies: func(f *Facts) []Change {
		if f.MixedGPUs {
			return []Change{{Says: "place the job on GPUs of one kind, or give slower ones less work"}}
		}
		return nil
	}}
