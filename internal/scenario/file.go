package scenario

import (
	"railyard/internal/queue"
	"railyard/internal/site"
	"railyard/internal/workload"
	"railyard/unit"
)

// Length is a cable length in millimetres.
type Length = site.Length

// File is a scenario.
type File struct {
	Name        string            `yaml:"name" doc:"what the run is called"`
	About       string            `yaml:"about" doc:"what the scenario shows, in a sentence or two"`
	Seed        uint64            `yaml:"seed" doc:"seed of every random choice"`
	Fabric      Fabric            `yaml:"fabric" doc:"topology and cables"`
	Server      Server            `yaml:"server" doc:"the GPU servers"`
	GPUs        []Accelerator     `yaml:"gpus" doc:"GPUs outside Railyard's catalog, each with its figures; also a mapping by name"`
	Switch      Switch            `yaml:"switch" doc:"configuration of all switches"`
	Switches    map[string]string `yaml:"switches" doc:"files with the switches' own configuration, NX-OS, SONiC, EOS, NVUE, Dell or Junos: under config for all, or under a role (rail, leaf, aggregation, spine, super-spine, core) or a switch's name; what a configuration does not set, switch does"`
	Hosts       map[string]string `yaml:"hosts" doc:"files with the servers' own settings, scripts of NICs' tools, what these print, NCCL's variables: under config for all, or under a server's name; they decide data_dscp, cnp_dscp, mtu, qps, timeout and retries of transport, DCQCN's parameters, and which priorities NICs pause"`
	LB          string            `yaml:"lb" enum:"@lb" doc:"how packets choose among paths"`
	LBOptions   LBOptions         `yaml:"lb_options" doc:"details of load balancing"`
	Transport   Transport         `yaml:"transport" doc:"what carries connections; or one word for a whole way to build a network: what carries them, congestion control, paths, PFC and trimming"`
	CC          CC                `yaml:"cc" doc:"congestion control"`
	Storage     *Storage          `yaml:"storage" doc:"servers that keep data sets and checkpoints"`
	Workload    Workload          `yaml:"workload" doc:"exactly one of training, traffic and ops"`
	Jobs        []Job             `yaml:"jobs" doc:"instead of workload: several, side by side, each on GPUs of its own; also a mapping by name"`
	Placement   string            `yaml:"placement" enum:"@place" doc:"default placement of jobs: which GPUs they get"`
	Deviations  []Deviation       `yaml:"deviations" doc:"single switches, servers or ports that differ from the rest of this file: misconfigured or broken ones"`
	Failures    []Failure         `yaml:"failures" doc:"links that break, and when they are back: short for two events"`
	Events      []Event           `yaml:"events" doc:"times at which links, switches, line cards, NICs or servers fail, recover, flap or change; NICs that pause continuously"`
	Calibration *Calibration      `yaml:"calibration" doc:"measured properties of the cluster that no data sheet contains"`
	OnFailure   OnFailure         `yaml:"on_failure" doc:"what becomes of a job that loses a rank"`
	Output      Output            `yaml:"output" doc:"what is recorded"`
	Fidelity    string            `yaml:"fidelity" enum:"packet,reuse,flow,auto" doc:"how closely the network is simulated: every packet; reuse: every packet, but what repeats once; messages as flows that share links fairly; auto: packets up to a billion estimated packet-hops, flows beyond"`
}

// Fabric describes the topology.
type Fabric struct {
	Kind          string            `yaml:"kind" enum:"single-rail,dual-rail,rail-only,rail,pod,fat-tree,torus,cubes,dragonfly,graph" doc:"which builder"`
	Hosts         int               `yaml:"hosts" range:"0|1,131072" doc:"GPU servers, per segment where there are several; torus, cubes: per switch, 0 is 1"`
	Segments      int               `yaml:"segments" range:"1,10000" doc:"host segments (rail, pod)"`
	Spines        int               `yaml:"spines" range:"0|1,1024" doc:"spine switches (rail, pod)"`
	Uplinks       int               `yaml:"uplinks" range:"0|1,256" doc:"cables from each leaf to each spine; 0: enough for 1:1; torus: to each neighbour"`
	Pods          int               `yaml:"pods" range:"1,2048" doc:"number in the fabric, connected by super-spines (rail, pod); fat tree: pods, 1: as many as k allows"`
	Supers        int               `yaml:"super_spines" range:"0|1,4096" doc:"super-spine switches above several pods"`
	SuperUp       int               `yaml:"super_uplinks" range:"1,256" doc:"cables from each spine to each super-spine of its plane"`
	Planes        int               `yaml:"planes" range:"1,1024" doc:"groups of super-spines; spine i of a pod is cabled to group i mod planes"`
	K             int               `yaml:"k" range:"0|1,2048" doc:"arity of a fat tree; switches along a side of a torus or a cube; NICs per switch of a dragonfly"`
	Tiers         int               `yaml:"tiers" of:"2, 3" doc:"tiers of a fat tree, 2 or 3"`
	Leaves        int               `yaml:"leaves" range:"0|1,2048" doc:"fat tree: leaves per pod, with two tiers in total; 0: as many as k allows"`
	Groups        int               `yaml:"groups" range:"0|1,131072" doc:"dragonfly: groups; 0: one cable between any two"`
	GroupSize     int               `yaml:"group_size" range:"0|1,512" doc:"dragonfly: switches of a group; 0: 2k"`
	Local         int               `yaml:"local_links" range:"0|1,512" doc:"dragonfly: cables between any two switches of a group; 0: one"`
	Global        int               `yaml:"global_links" range:"0|1,512" doc:"dragonfly: cables of a switch to other groups; 0: k"`
	Cubes         []int             `yaml:"cubes" range:"1,2048" doc:"torus of cubes: how many lie along x, y and z, each of k switches along a side"`
	Optics        *Optics           `yaml:"optics" doc:"the optical circuit switches that connect the cubes of a torus, one for each fibre of a face"`
	HostLink      Link              `yaml:"host_link" doc:"cables between servers and leaves"`
	FabricLink    Link              `yaml:"fabric_link" doc:"cables between switches(default fat-tree: like host_link)"`
	FarLink       Link              `yaml:"far_link,omitzero" doc:"cables between groups of a dragonfly, and from spines to super-spines (rail, pod); default: as fabric_link"`
	Lag           *int              `yaml:"lag" range:"1,64" doc:"of a kind: number of the cables between two switches that form one layer 3 port channel, one next hop with its own hash; a rule of cables sets its own(default 1)"`
	MinLinks      *int              `yaml:"min_links" range:"1,64" doc:"with lag: a channel with fewer working members is down(default 1)"`
	IP            *int              `yaml:"ip" of:"4, 6" doc:"IP version, 4 or 6; IPv6's header has 20 bytes more, and entropy values, and with them flow labels, more bits (default 4)"`
	AllowDeadlock bool              `yaml:"allow_deadlock" doc:"run although pauses can wait for one another in a ring"`
	CutThrough    bool              `yaml:"cut_through" doc:"switches forward once the header is in"`
	Pipeline      unit.Time         `yaml:"pipeline" range:"0s,1s" doc:"latency of a switch's ingress pipeline (default 0s)"`
	PauseDelay    unit.Time         `yaml:"pause_response" range:"0s,1s" doc:"time to act on a PFC frame; 0s: the IEEE budget of the speed"`
	Types         []site.Type       `yaml:"types" doc:"kinds of servers and switches, of a fabric that is described by nodes and cables; also a mapping by name"`
	Nodes         []site.Group      `yaml:"nodes" doc:"groups of servers and switches at places, instead of a kind; also a mapping by name"`
	Cables        []site.Rule       `yaml:"cables" doc:"rules that connect two groups of nodes where their places agree"`
	Floor         *site.Floor       `yaml:"floor" doc:"of nodes and cables: the plan of a hall, by which cables between racks (at, of nodes) get their lengths"`
	Regions       string            `yaml:"regions" doc:"a place, of nodes and cables: switches that agree there are one of a dragonfly's groups, over which lb valiant, minimal and ugal send (default that of a rule's between)"`
	Routing       Routing           `yaml:"routing" doc:"how fast routes follow what breaks"`
	Scheduled     Scheduled         `yaml:"scheduled,omitzero" doc:"a scheduled fabric: VOQs per egress port, credits, cells over all links, no PFC inside"`
	HwSKU         map[string]string `yaml:"hwsku" doc:"which devices the switches are where they run SONiC, by hwsku (railyard models lists them): under * for all, under a role (rail, leaf, aggregation, spine, super-spine, core), a switch's name, or several's with * and ?; lanes and names of ports follow (default its type's, else its model's)"`
	Graph         *Graph            `yaml:"graph" doc:"explicit nodes and links, for kind graph"`
}

// Accelerator is a GPU that is not shipped with Railyard: four numbers and further properties.
type Accelerator struct {
	Name   string     `yaml:"name" doc:"what server.gpu and a type's gpu call it"`
	BF16   float64    `yaml:"bf16_tflops" range:"0.001,1000000" doc:"dense peak"`
	FP8    float64    `yaml:"fp8_tflops" range:"0|0.001,1000000" doc:"dense peak; 0: it has no such arithmetic"`
	FP4    float64    `yaml:"fp4_tflops" range:"0|0.001,1000000" doc:"dense peak; 0: it has no such arithmetic"`
	Memory unit.Bytes `yaml:"memory" range:"1MB,16TB" doc:"size of its memory: 192GB"`
	HBM    unit.Rate  `yaml:"hbm" range:"1Mbps,1000Tbps" doc:"rate of its memory: 5300GB/s"`
	NVLink unit.Rate  `yaml:"nvlink" range:"1Mbps,100Tbps" doc:"per direction to all other GPUs of its server: 448GB/s"`
	Pair   unit.Rate  `yaml:"nvlink_pair" range:"0|1Mbps,100Tbps" doc:"per direction to each other GPU, where they are connected directly: 64GB/s; 0bps: by a switch"`
}

// Link is a class of cables.
type Link struct {
	Rate  unit.Rate `yaml:"rate" doc:"line rate per direction"`
	Cable Length    `yaml:"cable" range:"0m,100km" doc:"length; light takes 5.05 ns per metre"`
	Delay unit.Time `yaml:"delay" range:"0s,1s" doc:"propagation delay, instead of the cable's"`
	BER   float64   `yaml:"bit_error_rate" range:"0,0.01" doc:"probability that a bit is wrong on arrival; 3e-8 loses 0.1 % of packets of 4 KiB on each cable of a path"`
}

// Graph is an explicit topology.
type Graph struct {
	Hosts    []string    `yaml:"hosts" doc:"names of the servers"`
	Switches []GraphNode `yaml:"switches" doc:"the switches"`
	Links    []GraphLink `yaml:"links" doc:"cables; a server's NIC ports are used in this order"`
	OCS      []OCS       `yaml:"ocs" doc:"optical circuit switches: links of switches end there, and circuits connect them two by two"`
}

// GraphNode is one switch of an explicit topology.
type GraphNode struct {
	Name string `yaml:"name" doc:"unique name"`
	Role string `yaml:"role" enum:"rail,leaf,tor,aggregation,agg,spine,super-spine,superspine,core" doc:"role of the switch"`
	Tier int    `yaml:"tier" range:"0,16" doc:"1 for leaves, 2 above them, and so on"`
}

// GraphLink is one cable of an explicit topology.
type GraphLink struct {
	From  string    `yaml:"from" doc:"a server or switch"`
	To    string    `yaml:"to" doc:"a server, switch or OCS"`
	Rate  unit.Rate `yaml:"rate" range:"0|1Mbps,100Tbps" doc:"line rate(default fabric_link's or host_link's)"`
	Cable Length    `yaml:"cable" range:"0m,100km" doc:"length"`
	Count int       `yaml:"count" range:"0,1024" doc:"number of parallel cables (default 1)"`
}

// Server describes the GPU servers.
type Server struct {
	GPU        string     `yaml:"gpu" doc:"accelerator: a100, b200, b300, gaudi3, gb200, gb300, h100, h200, mi300x, mi325x, or one of gpus"`
	GPUs       int        `yaml:"gpus" range:"1,576" doc:"per server"`
	NICs       int        `yaml:"nics" range:"1,576" doc:"per server; fewer than GPUs are shared, a multiple of them are several for each GPU"`
	Used       []string   `yaml:"nics_used" doc:"names of the NICs of each server that GPUs send by, [nic-1, nic-3], or of ports of NICs, nic-1p2; a GPU with none of its own left takes the one with the fewest GPUs; empty: all"`
	NICPorts   int        `yaml:"nic_ports" of:"1, 2" doc:"1, or 2 bundled to a switch pair"`
	Bond       string     `yaml:"bond" enum:"hash,affinity,spray,apart" doc:"how two ports share the load, of a bundle: flow hash, queue pairs in turn, packets in turn; apart: no bundle, each port has an address and a VLAN of its own, queue pairs are on one or the other and stay there"`
	NICLatency unit.Time  `yaml:"nic_latency" range:"0s,1s" doc:"GPU to NIC and NIC to GPU, each"`
	PCIe       unit.Rate  `yaml:"pcie" range:"0|1Mbps,100Tbps" doc:"payload rate between GPU and NIC, each way; 0bps: no limit"`
	RxXOff     unit.Bytes `yaml:"rx_xoff" range:"1B,2000MB" doc:"NIC receive buffer level that pauses the switch, when PCIe is slower"`
	RxXOn      unit.Bytes `yaml:"rx_xon" range:"0B,2000MB" doc:"level that resumes it"`
	Reorder    *Reorder   `yaml:"reorder" doc:"memory of a NIC for RC's packets that overtook others and cannot be placed yet (default: no limit)"`
	NVLink     unit.Rate  `yaml:"nvlink" range:"0|1Mbps,100Tbps" doc:"per GPU and direction, as kernels reach it; 0bps: the GPU's share of its data sheet's rate (railyard models)"`
	Domain     int        `yaml:"nvlink_domain" range:"0|1,576" doc:"GPUs that share NVLink, of consecutive servers such as the trays of a rack; 0: the GPUs of a server"`
	Choice     string     `yaml:"nic_choice" enum:"own,any,same-rail-first" doc:"by which NIC a GPU sends to another server. own: its own, or those nearest to it; any: all of its server in turn, queue pair by queue pair, to the one at the same place; same-rail-first: the one on the receiver's rail, over NVLink, as pxn does"`
	PXN        bool       `yaml:"pxn" doc:"transfers to another rail go over NVLink to the GPU on that rail first, also where the network connects rails"`
	NVLatency  unit.Time  `yaml:"nvlink_latency" range:"0s,1s" doc:"GPU to GPU through the NVSwitch"`
	Baseboard  Baseboard  `yaml:"baseboard,omitzero" doc:"the NVSwitch chips and PCIe switches of servers, which events name (railyard topo --server)"`
}

// Switch is the configuration of switches that have no configuration of their own.
type Switch struct {
	queue.Spec
	PFC bool `yaml:"pfc" doc:"false: no queue is lossless, whatever queues contain"`
}

// Transport configures the queue pairs.
type Transport struct {
	Kind     *string `yaml:"kind" enum:"@transport" doc:"what carries connections: roce is RC's queue pairs, others have a block of their name here"`
	Forwards *string `yaml:"forwarding" enum:"hash,srv6" doc:"of protocols other than RC: how switches find a packet's path; hash: by its entropy value, srv6: by segments in an outer IPv6 header (uSID), 40 B more, along static routes that no failure changes"`
	Tunnel   *string `yaml:"tunnel" enum:"none,eqds" doc:"what carries the packets of NICs between edges in front of them: none, or eqds: they wait at the edge by destination, travel unchanged on the receiving edge's credit over trimming switches that spray, and are passed on in order; queues and lb are then as transport: eqds has them where the scenario sets none(default none)"`
	MTU      int     `yaml:"mtu" of:"256, 512, 1024, 2048, 4096" doc:"path MTU in payload bytes: 256, 512, 1024, 2048 or 4096"`
	Write    string  `yaml:"write" enum:"first-middle-last,only" doc:"only: a RETH in every packet, so any order can be placed"`
	Recovery string  `yaml:"recovery" enum:"go-back-n,selective" doc:"treatment of packets after a gap"`
	AckEvery int     `yaml:"ack_every" range:"1,65536" doc:"packets per acknowledgement"`
	Timeout  int     `yaml:"timeout" range:"0,31" doc:"local ACK timeout is 4.096 us x 2^n; 0: never"`
	Retries  int     `yaml:"retries" range:"0,7" doc:"timeouts in a row before the queue pair fails, 0 to 7"`
	Window   int     `yaml:"window" range:"64,65536" doc:"selective: packets kept ahead of a gap"`
	NakAfter int     `yaml:"nak_after" range:"0,65535" doc:"selective: packets that must overtake a gap before it counts as loss; twice what a path was seen to reorder, if that is more"`
	QPs      int     `yaml:"qps" range:"1,128" doc:"queue pairs per pair of GPUs that share each transfer"`
	DataDSCP int     `yaml:"data_dscp" range:"0,63" doc:"DSCP of data and ACKs"`
	CNPDSCP  int     `yaml:"cnp_dscp" range:"0,63" doc:"DSCP of congestion notifications"`
	Acks     string  `yaml:"acks" enum:"data,cnp" doc:"DSCP and thus queue of acknowledgements: that of data, or that of congestion notifications, which is served first"`
	Protocols
}

// Workload is the work of a run.
type Workload struct {
	Training *workload.Training `yaml:"training" doc:"one training step of a model"`
	Traffic  *Traffic           `yaml:"traffic" doc:"a traffic pattern"`
	Ops      []Op               `yaml:"ops" doc:"an explicit graph of operations"`
	Trace    *Trace             `yaml:"trace" doc:"operations of ranks from another tool"`
}

// Trace names files of another tool.
type Trace struct {
	Files     []string   `yaml:"files" doc:"the files, relative to the scenario"`
	Format    string     `yaml:"format" enum:"@trace" doc:"what they are; auto: recognised"`
	Step      int        `yaml:"step" range:"0,1000000000" doc:"of files that hold several steps of a training (kineto), by their number; 0: the last that all have"`
	Bytes     unit.Bytes `yaml:"bytes" range:"0|1B,100000GB" doc:"buffer of the collective that an algorithm of MSCCL's is run with, which its file leaves open(default 8 MiB)"`
	Algorithm string     `yaml:"algorithm" enum:"auto,ring,tree,nvls,nvls-tree" doc:"of all-reduces; auto: as in the files, else as NCCL's tuning model selects"`
	Protocol  string     `yaml:"protocol" enum:"auto,none,ll,ll128,simple" doc:"of all-reduces, all-gathers and reduce-scatters; auto: as in the files, else as NCCL's tuning model selects; none: bare transfers"`
	Channels  int        `yaml:"channels" range:"0,64" doc:"parallel rings and chains, crossing servers on different rails; 0: those in the files, else one per GPU of a server"`
	Nodes     string     `yaml:"nodes" doc:"the server of number {n}, as host-{n}, whose first GPU runs the files' operations; without, number 0 is the job's first GPU"`
}

// Traffic is one pattern.
type Traffic struct {
	Collective    *CollSpec   `yaml:"collective" doc:"any collective by any algorithm, as NCCL would choose it with auto"`
	Permutation   *Pattern    `yaml:"permutation" doc:"every rank sends to the next of a random cycle"`
	Incast        *IncastSpec `yaml:"incast" doc:"many ranks send to one"`
	AllToAll      *Pattern    `yaml:"alltoall" doc:"every rank sends its share to every other"`
	RingAllReduce *Pattern    `yaml:"ring-allreduce" doc:"ring all-reduce"`
	TreeAllReduce *Pattern    `yaml:"tree-allreduce" doc:"all-reduce over NCCL's two binary trees"`
	Halving       *Pattern    `yaml:"halving-doubling" doc:"all-reduce by recursive halving and doubling; a power of two of ranks"`
	AllGather     *Pattern    `yaml:"all-gather" doc:"ring all-gather"`
	ReduceScatter *Pattern    `yaml:"reduce-scatter" doc:"ring reduce-scatter"`
	Broadcast     *Pattern    `yaml:"broadcast" doc:"chain broadcast from the first rank"`
	Flows         []FlowSpec  `yaml:"flows" doc:"single transfers"`
	Background    *Background `yaml:"background" doc:"messages at random times, with sizes of a distribution"`
	Storage       *Access     `yaml:"storage" doc:"every GPU reads from the storage servers, then writes to them"`
	Matrix        string      `yaml:"matrix" doc:"a file with a connection matrix of htsim, whose node 0 is the first GPU"`
}

// Pattern is a collective or permutation.
type Pattern struct {
	Bytes  unit.Bytes `yaml:"bytes" range:"1B,100000GB" doc:"per rank"`
	Groups string     `yaml:"groups" enum:"all,rail" doc:"rail: one group per place in the server"`
}

// CollSpec is a collective with all its choices.
type CollSpec struct {
	Kind      string     `yaml:"kind" enum:"all-reduce,all-gather,reduce-scatter,all-to-all,broadcast" doc:"which collective"`
	Bytes     unit.Bytes `yaml:"bytes" range:"1B,100000GB" doc:"of a rank's buffer; in all-gathers and reduce-scatters of the whole one"`
	Groups    string     `yaml:"groups" enum:"all,rail" doc:"rail: one group per place in the server"`
	Algorithm string     `yaml:"algorithm" enum:"auto,ring,tree,halving-doubling,hierarchical,nvls,nvls-tree,chain,direct,pairwise,pxn" doc:"auto: what NCCL's tuning model picks; all-reduce: ring, tree, halving-doubling, hierarchical, nvls (by NVSwitch), nvls-tree (by NVSwitches, and trees between servers); all-to-all: direct, pairwise, pxn; broadcast: chain, tree"`
	Protocol  string     `yaml:"protocol" enum:"none,auto,ll,ll128,simple" doc:"flags and synchronisation of NCCL's protocols; none: bare transfers"`
	Channels  int        `yaml:"channels" range:"0,64" doc:"rings or chains side by side, crossing servers on different rails; with a number auto picks a ring; 0: as many as use all NICs, one per GPU of a server; in one server one, or where GPUs are connected in pairs (XGMI) one per other GPU"`
	CrossNIC  bool       `yaml:"cross_nic" doc:"rings side by side leave a server by another NIC than they enter the next by, from rail to rail (NCCL_CROSS_NIC=1); false: by the same one"`
	Without   []string   `yaml:"without" doc:"auto: what the tuning model leaves out, of ring, tree, nvls, nvls-tree, and of the protocols ll, ll128, simple (NCCL_ALGO=^NVLS, NCCL_NVLS_ENABLE=0)"`
	Repeat    int        `yaml:"repeat" range:"0,1000" doc:"runs one after another over the same queue pairs, as iterations of nccl-tests; 0: one"`
	Chunk     unit.Bytes `yaml:"chunk" range:"0|1KB,100000GB" doc:"rings: bytes per rank and piece, pieces follow each other; 0B: whole steps"`
}

// IncastSpec is an incast.
type IncastSpec struct {
	Bytes  unit.Bytes `yaml:"bytes" range:"1B,100000GB" doc:"per sender"`
	FanIn  int        `yaml:"fan_in" range:"1,32767" doc:"senders"`
	Target string     `yaml:"target" doc:"receiving GPU(default host-1/gpu-1)"`
}

// Background is messages at random times between random ranks.
type Background struct {
	Load  float64   `yaml:"load" range:"0.01,1000" doc:"percent of each GPU's share of its NIC that its messages take in the mean"`
	Sizes string    `yaml:"sizes" doc:"one size, as 64KB; or a file with a cumulative distribution as HPCC's: bytes and percent per line"`
	To    string    `yaml:"to" enum:"all,next-group" doc:"random destinations of a GPU: all others, or the GPUs of the next group of a dragonfly, the worst case of the shortest paths (default all)"`
	For   unit.Time `yaml:"for" range:"1ns,3600s" doc:"duration of the messages"`
	Pairs string    `yaml:"queue_pairs" enum:"per-message,per-pair" doc:"per-message: each message has queue pairs of its own (transport.qps), set up without delay, as flows of HPCC's ns-3 have; per-pair: messages of a pair of GPUs share its queue pairs in order, short after long, as NCCL's do (default per-message)"`
}

// Access is reads and writes of storage.
type Access struct {
	Read  unit.Bytes `yaml:"read" range:"0B,100000GB" doc:"by each GPU"`
	Write unit.Bytes `yaml:"write" range:"0B,100000GB" doc:"by each GPU, once it has read"`
}

// FlowSpec is one transfer.
type FlowSpec struct {
	From  string     `yaml:"from" doc:"GPU, as host-1/gpu-1"`
	To    string     `yaml:"to" doc:"GPU"`
	Bytes unit.Bytes `yaml:"bytes" range:"1B,100000GB" doc:"how much"`
	Start unit.Time  `yaml:"start" range:"0s,3600s" doc:"when"`
}

// Op is one operation of an explicit workload.
type Op struct {
	ID      string     `yaml:"id" doc:"unique name"`
	GPU     string     `yaml:"gpu" doc:"where it runs, as host-1/gpu-1"`
	Compute unit.Time  `yaml:"compute" range:"0s,3600s" doc:"duration of a computation"`
	Send    unit.Bytes `yaml:"send" range:"0B,100000GB" doc:"size of a transfer"`
	To      string     `yaml:"to" doc:"receiver of a transfer"`
	After   []string   `yaml:"after" doc:"operations that must end first"`
}

// OnFailure is the treatment of a job that loses a rank: its collectives hang until a timeout.
type OnFailure struct {
	Patience   unit.Time `yaml:"collective_timeout" range:"1ms,86400s" doc:"how long a collective may take before it ends the job (NCCL's watchdog in PyTorch: 10 minutes); computed, not simulated"`
	Checkpoint unit.Time `yaml:"checkpoint_every" range:"0s,864000s" doc:"how often a training saves itself, for the work lost with a rank, and for plan goodput; 0s: not set"`
	Restart    unit.Time `yaml:"restart" range:"0s,864000s" doc:"from the end of the job to the first step after it, without reading the checkpoint, for the same; 0s: not set"`
}

// Output selects the records of a run.
type Output struct {
	Sample unit.Time `yaml:"sample" range:"100ns,3600s" doc:"first sampling interval; it doubles when the table grows too long"`
	Rows   int       `yaml:"rows" range:"1,10000000" doc:"most rows of the link table"`
	Steps  *int      `yaml:"steps" range:"0,1000" doc:"number of kinds of queue, pause and rate events whose first occurrence is a numbered step of the report (default none)"`
	Causes bool      `yaml:"causes" doc:"divide the time above line rate among causes; without them a trial as flows takes about a tenth of the time"`
}

// Default returns the values that hold where a file is silent. Every one of
// them is printed by check and recorded in run.json.
func Default() File {
	return File{
		Seed: 1,
		Fabric: Fabric{Segments: 1, Pods: 1, SuperUp: 1, Planes: 1, Tiers: 3, Pipeline: 0, PauseDelay: 0,
			HostLink: Link{Rate: 400 * unit.Gbps, Cable: 3000}, FabricLink: Link{Cable: 30_000}},
		Server: Server{GPU: "h100", GPUs: 8, NICs: 8, NICPorts: 1, Bond: "affinity",
			NICLatency: 500 * unit.Nanosecond,
			RxXOff:     512 * unit.KiB, RxXOn: 256 * unit.KiB, NVLatency: 500 * unit.Nanosecond,
			Choice: OwnNIC},
		Switch:    Switch{watched(), true},
		Fidelity:  "packet",
		LB:        "ecmp",
		Placement: placements[0].name,
		LBOptions: newLBOptions(),
		Transport: Transport{MTU: 4096, Write: "first-middle-last", Recovery: "go-back-n",
			AckEvery: 64, Timeout: 14, Retries: 7,
			Window: 4096, NakAfter: 256, QPs: 1, DataDSCP: 24, CNPDSCP: 48,
			Acks: "data", Protocols: newProtocols()},
		CC:        newCC("dcqcn"),
		OnFailure: OnFailure{Patience: 600 * unit.Second},
		Output:    Output{Sample: 10 * unit.Microsecond, Rows: 400_000, Causes: true},
	}
}

// watched is a switch as the sources configure it, with the watchdog on.
func watched() queue.Spec {
	s := queue.Default()
	s.Watchdog.On = true
	return s
}
