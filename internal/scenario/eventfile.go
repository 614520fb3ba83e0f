package scenario

import "railyard/unit"

// Routing is how fast routes follow what breaks and what comes back, where events do not say.
type Routing struct {
	Detect   *unit.Time `yaml:"detect" doc:"how long until both ends of a cable know that it broke and hash past it, where they have other cables (loss of signal: ms; BFD: about a second; BGP's hold time: 9 s with FRR's data-centre profile, else 180 s); unless given all switches learn of it together"`
	Converge unit.Time  `yaml:"converge" doc:"how long then until all switches have routes without it, or with it again: BGP withdraws and announces; what is sent into it until then is lost"`
}

// Failure is a link that breaks.
type Failure struct {
	Link     string     `yaml:"link" doc:"a port at either end, as rail-1:Eth3"`
	At       unit.Time  `yaml:"at" doc:"when; 0s: from the start"`
	Converge *unit.Time `yaml:"converge" doc:"how long until routes avoid it, and until they use it again; fabric.routing's unless given"`
	Until    unit.Time  `yaml:"until" doc:"when it works again; 0s: never. A link that is back before routes avoid it has flapped"`
}

// Event is a moment at which a thing breaks, comes back or changes. What is not said stays as it was.
type Event struct {
	Link   string   `yaml:"link" doc:"a cable, by the port at either end, as rail-1:Eth3"`
	Switch string   `yaml:"switch" doc:"a switch, with all of its cables; one of a pair (MLAG) is one of its members"`
	Ports  []string `yaml:"ports" doc:"of a switch: a line card, by its ports: Eth1, or Eth1-Eth16"`
	NIC    string   `yaml:"nic" doc:"a NIC, with all of its cables: host-1/nic-2"`
	Server string   `yaml:"server" doc:"a server, whose processes end: up can only be false"`

	OCS     string `yaml:"ocs" doc:"an optical circuit switch, with all that it joins"`
	Circuit string `yaml:"circuit" doc:"of an OCS: one of its circuits: 1-5"`
	Stuck   *bool  `yaml:"stuck" doc:"a circuit: true: its mirrors do not move any more, whatever later maps say"`
	Cube    string `yaml:"cube" doc:"of a torus of cubes: all switches of one, cube-2"`

	At        unit.Time  `yaml:"at" doc:"when; 0s: from the start"`
	Up        *bool      `yaml:"up" doc:"false: it breaks, and its cables lose what is sent into them; true: it works again"`
	Boot      *unit.Time `yaml:"boot" doc:"a switch reboots: it is down for so long"`
	Flap      *Flap      `yaml:"flap" doc:"it goes down and comes back again and again"`
	Storm     *bool      `yaml:"storm" doc:"a NIC: true: it pauses its switch for ever in the classes of data, until a watchdog ignores it; false: no more"`
	Rate      *unit.Rate `yaml:"rate" doc:"its cables' rate from then on, at most their own; a frame on the wire finishes at the old one"`
	Share     *float64   `yaml:"rate_share" doc:"the same as a share of their own rate, above 0 and at most 1"`
	Direction string     `yaml:"direction" enum:"both,out,in" doc:"of a new rate: out: what the named end sends (of a link its named port), in: what it receives; both unless given"`
	BER       *float64   `yaml:"bit_error_rate" doc:"its cables' bit error rate from then on; 0: none"`
	Detect    *unit.Time `yaml:"detect" doc:"how long until both ends of a cable know; fabric.routing's unless given"`
	Converge  *unit.Time `yaml:"converge" doc:"how long then until routes avoid it or use it again, where up changes; they do not look at rates; fabric.routing's unless given"`
}

// Flap is how a thing goes down and comes back.
type Flap struct {
	Period unit.Time `yaml:"period" doc:"from one time down to the next"`
	Duty   float64   `yaml:"duty" doc:"per cent of each period in which it is down; 0: 50"`
	Count  int       `yaml:"count" doc:"how often"`
}
