package scenario

import "railyard/unit"

// Routing is the default time in which routes follow failures and recoveries.
type Routing struct {
	Detect   *unit.Time `yaml:"detect" range:"0s,3600s" doc:"time until both ends of a cable detect its failure and hash past it, where they have other cables (loss of signal: ms; BFD: about a second; BGP's hold time: 9 s with FRR's data-centre profile, else 180 s); default: all switches learn of it together"`
	Converge unit.Time  `yaml:"converge" range:"0s,3600s" doc:"how long then until all switches have routes without it, or with it again: BGP withdraws and announces; what is sent into it until then is lost"`
}

// Failure is a link that breaks.
type Failure struct {
	Link     string     `yaml:"link" doc:"a port at either end, as rail-1:Eth3"`
	At       unit.Time  `yaml:"at" range:"0s,86400s" doc:"when; 0s: from the start"`
	Converge *unit.Time `yaml:"converge" range:"0s,3600s" doc:"how long until routes avoid it, and until they use it again (default fabric.routing's)"`
	Until    unit.Time  `yaml:"until" range:"0s,86400s" doc:"when it works again; 0s: never. A link that is back before routes avoid it has flapped"`
}

// Event is a time at which a component fails, recovers or changes. Values without a key do not change. A kind of
// event is an embedded block of keys and a file of its own (eventKind).
type Event struct {
	Link   string   `yaml:"link" doc:"a cable, by the port at either end, as rail-1:Eth3"`
	Switch string   `yaml:"switch" doc:"a switch, with all of its cables; one of a pair (MLAG) is one of its members"`
	Ports  []string `yaml:"ports" doc:"of a switch: a line card, by its ports: Eth1, or Eth1-Eth16"`
	NIC    string   `yaml:"nic" doc:"a NIC, with all of its cables: host-1/nic-2"`
	Server string   `yaml:"server" doc:"a server, whose processes end: up can only be false"`

	NVSwitch string `yaml:"nvswitch" doc:"an NVSwitch chip, with its NVLinks to all GPUs: host-1/nvswitch-2 (railyard topo --server lists them); its peers on other baseboards are disabled with it, as NVIDIA's Fabric Manager does"`
	PCIe     string `yaml:"pcie_switch" doc:"a PCIe switch of a server, with its NICs and GPUs, whose processes end: host-1/pcie-1; up can only be false"`

	OCS     string `yaml:"ocs" doc:"an optical circuit switch, with all its circuits"`
	Circuit string `yaml:"circuit" doc:"of an OCS: one of its circuits: 1-5"`
	StuckMirrors
	Cube string `yaml:"cube" doc:"of a torus of cubes: all switches of one, cube-2"`

	At unit.Time `yaml:"at" range:"0s,86400s" doc:"when; 0s: from the start"`
	UpDown
	PauseStorm
	NewRate
	BitErrors
	Detect   *unit.Time `yaml:"detect" range:"0s,3600s" doc:"time until both ends of a cable detect it (default fabric.routing's)"`
	Converge *unit.Time `yaml:"converge" range:"0s,3600s" doc:"how long then until routes avoid it or use it again, where up changes; they do not look at rates (default fabric.routing's)"`
}

// kinds lists the blocks of an event's kinds. A new kind is a file, a line here and one in Event.
func (e *Event) kinds() []eventKind {
	return []eventKind{&e.UpDown, &e.PauseStorm, &e.NewRate, &e.BitErrors, &e.StuckMirrors}
}
