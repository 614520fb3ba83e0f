package cause

var recovering = Cause{ID: Recovering, Key: "rate_not_given_back", Name: "CC recovering",
	About: "congestion control keeps a rate below line rate after a reduction",
	Color: "#f0e442", Loss: true, Trigger: false,
	Without: func(*Facts) Change {
		return Change{Says: "no congestion control, buffers without limit", Set: append([]string{
			"cc.algorithm=none"}, unlimited...)}
	},
	Remedies: func(f *Facts) (all []Change) {
		if f.Transport != "roce" {
			return nil
		}
		for _, cc := range []string{"swift", "hpcc"} {
			if f.CC != cc {
				all = append(all, Change{Says: "congestion control " + cc, Set: []string{"cc.algorithm=" + cc}})
			}
		}
		return all
	}}
