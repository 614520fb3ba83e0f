package cause

var hostCores = Cause{ID: HostCores, Key: "host_cores", Name: "host cores",
	About: "the transport is software: system calls, copies, packets and interrupts take cores of hosts",
	Color: "#7d6a8a", Loss: true, Trigger: false,
	Without: func(f *Facts) Change {
		if !f.Hosted {
			return Change{Impossible: "no transport takes cores of hosts"}
		}
		return edit("hosts that take no time", NoHostTime)
	},
	Remedies: func(f *Facts) (all []Change) {
		if f.Transport == "tcp" && !f.GPUDirect {
			all = append(all, Change{Says: "GPUDirect", Needs: "NICs and kernels that read and write GPU memory",
				Set: []string{"transport.tcp.gpudirect=true"}})
		}
		return append(all, Change{Says: "RDMA", Needs: "NICs with RDMA, PFC", Set: []string{"transport=roce"}})
	}}
