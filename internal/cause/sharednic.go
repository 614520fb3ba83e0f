package cause

var sharedNIC = Cause{ID: SharedNIC, Key: "shared_nic", Name: "shared NIC or NVLink port",
	About: "other transfers of the same NIC or NVLink port go first",
	Color: "#5a6fc0", Loss: true, Trigger: false, Lasting: true,
	Crossing: true,
	Advice:   "use more NICs or ports per GPU, or send less at a time",
	Without:  no("a NIC's transfers are the job's own"),
	Remedies: none}
