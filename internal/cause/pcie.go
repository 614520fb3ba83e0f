package cause

var pcie = Cause{ID: PCIe, Key: "pcie", Name: "PCIe",
	About: "PCIe between GPU and NIC is slower than the wire",
	Color: "#1d6a73", Loss: true, Trigger: false,
	Without: func(*Facts) Change { return edit("PCIe as fast as the wire", NoPCIe) },
	Remedies: func(*Facts) []Change {
		c := edit("PCIe as fast as the wire", NoPCIe)
		c.Needs = "more PCIe lanes, or a newer generation"
		return []Change{c}
	}}
