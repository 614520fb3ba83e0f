// Package site is a language for clusters as their architects draw them: types of servers and
// switches, groups of nodes at places, and rules that run cables between places.
//
// A place is a word and a number: segment 3, rail 7, plane 2, any word. A group has count nodes at every combination of
// the places in its per. A rule connects nodes of two groups whose places agree; a server's NICs and their ports count
// as places of its links. Build turns all of it into a topo.Graph and holds every switch against the ports of its type.
package site

import (
	"fmt"
	"strings"

	"railyard/internal/machine"
	"railyard/internal/panel"
	"railyard/unit"
)

// Site is a described fabric. The yaml tags are the scenario's keys.
type Site struct {
	Types  []Type  `yaml:"types" doc:"kinds of servers and switches"`
	Nodes  []Group `yaml:"nodes" doc:"groups of servers and switches, and their place"`
	Cables []Rule  `yaml:"cables" doc:"rules that connect two groups where their places agree"`

	Floor *Floor `yaml:"floor" doc:"place of racks"`

	Regions string `yaml:"regions" doc:"a place: switches that agree there are one of a dragonfly's groups"`
}

// Type is a kind of server or of switch.
type Type struct {
	Name  string `yaml:"name" doc:"what nodes call it"`
	Like  string `yaml:"like" doc:"another type, whose values count where this one has none"`
	Model string `yaml:"model" doc:"a switch or a server of Railyard's catalog (railyard models); its ports, or its GPUs and NICs, are the defaults"`

	HwSKU string `yaml:"hwsku" doc:"switch: which device it is where it runs SONiC (railyard models) (default its model's)"`

	GPUs        int       `yaml:"gpus" range:"0|1,576" doc:"server: GPUs, 0 for storage and other servers"`
	NoGPUs      bool      `yaml:"-"` // gpus is set to 0, overriding the base type's
	NICs        int       `yaml:"nics" range:"0|1,576" doc:"server: network cards"`
	StorageNICs int       `yaml:"storage_nics" range:"0|1,63" doc:"server: how many of nics, the last ones, are for storage alone (storage.network: separate)"`
	NICPorts    int       `yaml:"nic_ports" range:"0|1,8" doc:"server: ports of a card (default 1)"`
	NICRate     unit.Rate `yaml:"nic_rate" range:"0|1Mbps,100Tbps" doc:"server: rate of a port, and of its cables without their own"`

	GPU      string          `yaml:"gpu" doc:"server: which GPU, as in server.gpu, which is the default"`
	NVLink   unit.Rate       `yaml:"nvlink" range:"0|1Mbps,100Tbps" doc:"server: per GPU and direction (default server's, or the GPU's)"`
	Topology string          `yaml:"topology" doc:"server: file with what nvidia-smi topo -m prints, or NCCL's topology XML: its GPUs, NICs, and which are near to which"`
	Machine  *machine.Server `yaml:"-"` // its contents
	Domain   []string        `yaml:"domain" doc:"server: parts of its place; servers of a type that are equal in them share NVLink, as the trays of a rack: rack"`
	Pair     unit.Rate       `yaml:"nvlink_pair" range:"0|1Mbps,100Tbps" doc:"server: between any two GPUs, connected directly as by XGMI (default server's, or the GPU's)"`

	Role  string `yaml:"role" doc:"switch: rail, leaf, aggregation, spine, super-spine or core"`
	Tier  int    `yaml:"tier" range:"0|1,16" doc:"switch: 1 next to servers, 2 above (default the role's)"`
	Ports string `yaml:"ports" doc:"switch: 64x800Gbps, or 48x100Gbps+8x400Gbps (default no limit)"`
	Split int    `yaml:"split" range:"0|1,8" doc:"switch: cables that a port may be broken out into (default 1)"`
	Lanes int    `yaml:"lanes" range:"0|1,16" doc:"switch: serial lanes of a port of the highest rate, by which EOS and SONiC number ports (default the model's, else 8)"`

	RailMap   string               `yaml:"rail_map" enum:"order,panel,blocks" doc:"switch: which ports go to servers' rails. order: in the order of the cables, server by server; panel: the rows of the model's front panel from the top, rail by rail; blocks: ports that follow one another, rail by rail (default order)"`
	RailPorts Pairs                `yaml:"rail_ports" doc:"switch: by rail its ports, in the order of the servers: {1: '1,4,7,10', 2: '13,16,19,22'}; also 1-4 and, broken out, 5/2; other switches get the ports that are left"`
	RailJacks map[int][]panel.Jack `yaml:"-"`
	Rows      int                  `yaml:"-"` // rows of ports on its panel

	Buffer   unit.Bytes `yaml:"buffer" range:"0|1KB,2000MB" doc:"switch: packet memory (default the model's, else switch.buffer)"`
	Pipeline unit.Time  `yaml:"pipeline" range:"0|1ns,1s" doc:"switch: its latency (default fabric.pipeline)"`
	Known    unit.Bytes `yaml:"-"` // its model's memory
	Radix    int        `yaml:"-"` // maximum number of its model's ports
	OS       string     `yaml:"os" doc:"switch: whose names its ports have: nxos, eos, sonic, frr, nvue, dell or junos (default its model's, or Eth1, Eth2)"`
}

// Group is nodes of one type at places.
type Group struct {
	Name  string `yaml:"name" doc:"what cables call them; several entries may share it"`
	Type  string `yaml:"type" doc:"a type"`
	Per   Pairs  `yaml:"per" doc:"places: {segment: 15, rail: 8}, also 1-3 or 1,4-6"`
	Count int    `yaml:"count" range:"0|1,200000" doc:"number at each place (default 1); their place n"`
	At    Pairs  `yaml:"at" doc:"their rack: {row: pod, rack: n/4}, numbers or places with steps; the default length of cables between racks is the floor's"`
	Named string `yaml:"named" doc:"pattern of their names: rack{rack}-tor{n}; from 0 {n-1}, with zeros {n:02}"`
}

// Rule runs cables from nodes to nodes.
type Rule struct {
	From    string   `yaml:"from" doc:"a group, or names of nodes: leaf-[1-4], leaf-1-*; servers are here"`
	To      string   `yaml:"to" doc:"a group of switches, or names"`
	Same    []string `yaml:"same" doc:"places that both have in common"`
	Match   Pairs    `yaml:"match" doc:"a place of to: its value at from: {rail: nic, plane: port, x: x+1}"`
	Wrap    bool     `yaml:"wrap" doc:"places wrap around: after the last follows the first, as in a torus"`
	Count   int      `yaml:"count" range:"0|1,1024" doc:"cables between any two that match (default 1)"`
	Lag     int      `yaml:"lag" range:"0|1,64" doc:"between switches: number of the cables between two that form one layer 3 port channel, one next hop with its own hash (the default of count is lag)"`
	Min     int      `yaml:"min_links" range:"0|1,64" doc:"with lag: a channel with fewer working members is down (default 1)"`
	Share   bool     `yaml:"share" doc:"ends of from take turns among the matching ends: one cable each"`
	Between string   `yaml:"between" doc:"a place of one group: each two values of it are connected by count cables, which its nodes take in turn, as a dragonfly's groups are"`
	Each    int      `yaml:"each" range:"0|1,1024" doc:"with between: cables that a node takes before the next one does (default an even share)"`
	NICs    string   `yaml:"nics" doc:"only these cards of a server: 1-8"`

	FromPorts string `yaml:"from_ports" doc:"ports of every switch of from, in the order of the rule's cables: 21-24, also 5/2, the second part of port 5, and 5-8/1-2 (default the first free ones)"`
	ToPorts   string `yaml:"to_ports" doc:"the same of every switch of to"`

	Rate  unit.Rate `yaml:"rate" range:"0|1Mbps,100Tbps" doc:"line rate (default a server's nic_rate, or fabric_link's)"`
	Cable Length    `yaml:"length" range:"0m,100km" doc:"length; light takes 5.05 ns per metre"`
	Delay unit.Time `yaml:"delay" range:"0s,1s" doc:"propagation delay, instead of the length's: between sites"`
	FEC   unit.Time `yaml:"fec" range:"0s,1ms" doc:"latency of forward error correction, both ends together"`
	BER   float64   `yaml:"bit_error_rate" range:"0,0.01" doc:"probability that a bit is wrong on arrival; 3e-8 loses 0.1 % of packets of 4 KiB"`
}

// Length is a cable length in millimetres.
type Length int64

func (l Length) String() string {
	if l%1000 == 0 {
		return fmt.Sprintf("%dm", int64(l)/1000)
	}
	return fmt.Sprintf("%dmm", int64(l))
}

// Pairs is a mapping in the order in which it was written.
type Pairs []Pair

// Pair is a key and its value as a string.
type Pair struct{ Key, Value string }

func (p Pairs) String() string {
	var words []string
	for _, x := range p {
		words = append(words, x.Key+": "+x.Value)
	}
	return strings.Join(words, ", ")
}

// Get returns the value of a key.
func (p Pairs) Get(key string) (string, bool) {
	for _, x := range p {
		if x.Key == key {
			return x.Value, true
		}
	}
	return "", false
}
