package submission

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/coll"
	"railyard/internal/slurm"
)

// told holds the settings of NCCL's variables for a job's connections and collectives (NCCL's user guide,
// environment variables): keys of the transport with their values, keys of the job, keys of a benchmark.
type told struct {
	transport [][2]string
	channels  int // maximum of channels; 0: not set
	least     int // channels
	buffer    int // bytes of a channel
	cross     bool
	hca       string   // NICs
	without   []string // algorithms that the tuning model must not select
	job       string
	algorithm string
	protocol  string
	split     bool // messages are not split over queue pairs
}

// ofTransport are the variables that a scenario's transport has a key for.
var ofTransport = map[string]struct {
	key, what   string
	least, most int
}{
	"NCCL_IB_QPS_PER_CONNECTION": {"qps", "number of queue pairs", 1, 64},
	"NCCL_IB_TIMEOUT":            {"timeout", "exponent of a timeout", 1, 31},
	"NCCL_IB_RETRY_CNT":          {"retries", "number of retries", 0, 7},
}

// ncclTalk are variables that only set NCCL's logging and its bootstrap network.
var ncclTalk = []string{"NCCL_DEBUG", "NCCL_DEBUG_SUBSYS", "NCCL_DEBUG_FILE", "NCCL_SOCKET_IFNAME",
	"NCCL_SOCKET_FAMILY", "NCCL_CONF_FILE", "NCCL_TOPO_DUMP_FILE", "NCCL_GRAPH_DUMP_FILE"}

// algorithms are the algorithms of NCCL_ALGO that are simulated, by Railyard's names; ncclNames have another
// spelling in NCCL.
var algorithms = []string{coll.ByRing, coll.ByTree, coll.ByNVLS, coll.ByNVLSTree}
var ncclNames = map[string]string{"nvlstree": coll.ByNVLSTree}

// leave adds to without the elements of all that are not in a list.
func (t *told) leave(all, in []string) {
	for _, a := range all {
		if !slices.Contains(in, a) && !slices.Contains(t.without, a) {
			t.without = append(t.without, a)
		}
	}
}

// nccl reads them from a process's environment; what cannot be read is reported and left out.
func (s *Submission) nccl() (t told) {
	t.algorithm, t.protocol = "auto", "auto"
	note := s.noteNCCL
	var unread []string
	for _, v := range s.crew.Environment(&s.crew.Processes[0]) {
		n, err := strconv.Atoi(v.Value)
		whole := err == nil
		switch v.Name {
		case "NCCL_IB_QPS_PER_CONNECTION", "NCCL_IB_TIMEOUT", "NCCL_IB_RETRY_CNT":
			if k := ofTransport[v.Name]; whole && n >= k.least && n <= k.most {
				t.transport = append(t.transport, [2]string{k.key, v.Value})
			} else {
				note(v.Name, v.Value, fmt.Sprintf("is not a %s from %d to %d: left out", k.what, k.least, k.most))
			}
		case "NCCL_MAX_NCHANNELS", "NCCL_MAX_NRINGS", "NCCL_MIN_NCHANNELS", "NCCL_MIN_NRINGS":
			switch {
			case !whole || n < 1 || n > 64:
				note(v.Name, v.Value, "is not a number of channels from 1 to 64: left out")
			case strings.HasPrefix(v.Name, "NCCL_MAX"):
				t.channels = n
			default:
				t.least = n
			}
		case "NCCL_BUFFSIZE":
			if whole && n >= 8<<10 && n <= 1<<30 {
				t.buffer = n
			} else {
				note(v.Name, v.Value, "is not a number of bytes from 8192 to 1073741824: left out")
			}
		case "NCCL_CROSS_NIC":
			if t.cross = v.Value == "1"; !t.cross && v.Value != "0" && v.Value != "2" {
				note(v.Name, v.Value, "is not 0, 1 or 2: left out")
			}
		case "NCCL_IB_HCA":
			t.hca = v.Value
		case "NCCL_NVLS_ENABLE":
			if v.Value == "0" {
				t.without = append(t.without, "nvls", "nvls-tree")
			} else if v.Value != "1" && v.Value != "2" {
				note(v.Name, v.Value, "is not 0, 1 or 2: left out")
			}
		case "NCCL_IB_SPLIT_DATA_ON_QPS":
			if t.split = v.Value == "0"; !t.split && v.Value != "1" {
				note(v.Name, v.Value, "is neither 0 nor 1: left out")
			}
		case "NCCL_IB_TC":
			if whole && n >= 0 && n <= 255 { // the traffic class's upper six bits
				t.job += fmt.Sprintf("    dscp: %d\n", n>>2)
			} else {
				note(v.Name, v.Value, "is not a traffic class from 0 to 255: left out")
			}
		case "NCCL_ALGO":
			switch in := picked(v.Value, algorithms, ncclNames); len(in) {
			case 0:
				note(v.Name, v.Value, "is left to NCCL's tuning model; read are lists of Ring, Tree, NVLS and NVLSTree")
			case 1:
				t.algorithm = in[0]
			default:
				t.leave(algorithms, in)
			}
		case "NCCL_PROTO":
			switch in := picked(v.Value, coll.Protocols, nil); len(in) {
			case 0:
				note(v.Name, v.Value, "is left to NCCL's tuning model; read are lists of LL, LL128 and Simple")
			case 1:
				t.protocol = in[0]
			default:
				t.leave(coll.Protocols, in)
			}
		case "NCCL_IB_DISABLE", "NCCL_P2P_DISABLE", "NCCL_SHM_DISABLE":
			if whole && n != 0 {
				note(v.Name, v.Value, "the features that it disables are used here nevertheless")
			}
		default:
			if strings.HasPrefix(v.Name, "NCCL_") && !slices.Contains(ncclTalk, v.Name) {
				unread = append(unread, v.Name)
			}
		}
	}
	for _, kv := range t.transport {
		if t.split && kv[0] == "qps" && kv[1] != "1" {
			note("NCCL_IB_SPLIT_DATA_ON_QPS", "0", "NCCL sends each message over one queue pair; simulated are parts of it over all")
		}
	}
	if len(unread) > 0 {
		s.crew.Notes = append(s.crew.Notes, slurm.Note{At: s.crew.Launch.At, Text: "of NCCL's variables not read, though they may change its behaviour: " + strings.Join(unread, ", ")})
	}
	t.without = slices.Compact(t.without)
	return t
}

// noteNCCL records the outcome of a variable.
func (s *Submission) noteNCCL(name, value, text string) {
	s.crew.Notes = append(s.crew.Notes, slurm.Note{At: s.crew.Launch.At,
		Text: fmt.Sprintf("%s=%s: %s", name, value, text)})
}

// collective returns the keys of a benchmark's collective that NCCL's variables set. Rings are one per GPU of a
// server here; NCCL may be given fewer or more.
func (s *Submission) collective(say told, kind, algorithm string) string {
	var b strings.Builder
	rings := algorithm == coll.ByRing || algorithm == "auto" && (kind == "all-gather" || kind == "reduce-scatter")
	usual := 0
	for i := range s.crew.Processes {
		usual = max(usual, s.crew.Processes[i].Local+1)
	}
	n := max(usual, say.least)
	if say.channels > 0 {
		n = min(n, say.channels)
	}
	asked := n != usual || say.cross
	switch {
	case asked && (kind == "all-to-all" || kind == "broadcast" || algorithm != "auto" && !rings):
		s.noteNCCL("NCCL_MIN_NCHANNELS, NCCL_MAX_NCHANNELS, NCCL_CROSS_NIC", fmt.Sprint(n), "are of rings: left out")
	case asked:
		fmt.Fprintf(&b, ", channels: %d", n)
		if say.cross {
			b.WriteString(", cross_nic: true")
		}
	}
	if say.buffer > 0 && rings {
		fmt.Fprintf(&b, ", chunk: %dB", say.buffer/8) // the size of one of its eight slots (NCCL_STEPS)
	} else if say.buffer > 0 {
		s.noteNCCL("NCCL_BUFFSIZE", fmt.Sprint(say.buffer), "cuts rings' data into pieces; without NCCL_ALGO=Ring it is left out")
	}
	if len(say.without) > 0 && (algorithm == "auto" || say.protocol == "auto") && kind != "all-to-all" &&
		kind != "broadcast" {
		fmt.Fprintf(&b, ", without: [%s]", strings.Join(say.without, ", "))
	}
	return b.String()
}

// training returns the keys of a step's collectives that the variables set.
func (s *Submission) training(say told) string {
	var b strings.Builder
	key := func(name, value string) {
		if _, said := s.train.Find(name); !said {
			fmt.Fprintf(&b, "      %s: %s\n", name, value)
		}
	}
	if slices.Contains(say.without, coll.ByNVLS) || say.algorithm == coll.ByRing || say.algorithm == coll.ByTree {
		key("tp_algorithm", coll.ByRing) // trees are between servers
	}
	if say.algorithm == coll.ByTree || say.algorithm == coll.ByNVLSTree {
		key("dp_algorithm", say.algorithm)
	}
	if say.buffer > 0 {
		s.noteNCCL("NCCL_BUFFSIZE", fmt.Sprint(say.buffer),
			"acts on benchmarks; a training's rings have whole steps: left out")
	}
	if say.cross {
		s.noteNCCL("NCCL_CROSS_NIC", "1", "acts on benchmarks; a training's rings keep to their rails: left out")
	}
	return b.String()
}
