package cause

var pcie = Cause{ID: PCIe, Key: "pcie", Name: "PCIe",
	About: "PCIe between GPU and NIC is slower than the wire",
	Color: "#332288", Loss: true, Trigger: false,
	Without: func(*Facts) Change { return Change{Says: "PCIe of no account", Set: []string{"server.pcie=0bps"}} },
	Remedies: func(*Facts) []Change {
		return []Change{{Says: "PCIe as fast as the wire", Set: []string{"server.pcie=0bps"}}}
	}}
