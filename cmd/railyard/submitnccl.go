package main

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/slurm"
)

// told is what NCCL's variables say of a job's connections and collectives (NCCL's user guide, environment
// variables): keys of the transport with their values, keys of the job, keys of a benchmark.
type told struct {
	transport [][2]string
	channels  int // at most; 0: nobody says
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

// ncclTalk are those that only say how NCCL logs and finds its way to the other ranks.
var ncclTalk = []string{"NCCL_DEBUG", "NCCL_DEBUG_SUBSYS", "NCCL_DEBUG_FILE", "NCCL_SOCKET_IFNAME",
	"NCCL_SOCKET_FAMILY", "NCCL_CONF_FILE", "NCCL_TOPO_DUMP_FILE", "NCCL_GRAPH_DUMP_FILE"}

// nccl reads them from a process's environment; what cannot be is told and left out.
func (s *submission) nccl() (t told) {
	t.algorithm, t.protocol = "auto", "auto"
	note := func(name, value, text string) {
		s.crew.Notes = append(s.crew.Notes, slurm.Note{At: s.crew.Launch.At,
			Text: fmt.Sprintf("%s=%s: %s", name, value, text)})
	}
	var unread []string
	for _, v := range s.crew.Environment(&s.crew.Processes[0]) {
		n, err := strconv.Atoi(v.Value)
		whole := err == nil
		switch v.Name {
		case "NCCL_IB_QPS_PER_CONNECTION", "NCCL_IB_TIMEOUT", "NCCL_IB_RETRY_CNT":
			if k := ofTransport[v.Name]; whole && n >= k.least && n <= k.most {
				t.transport = append(t.transport, [2]string{k.key, v.Value})
			} else {
				note(v.Name, v.Value, fmt.Sprintf("is no %s from %d to %d: left out", k.what, k.least,
					k.most))
			}
		case "NCCL_MAX_NCHANNELS", "NCCL_MAX_NRINGS":
			if whole && n >= 1 && n <= 64 {
				t.channels = n
			} else {
				note(v.Name, v.Value, "is no number of channels from 1 to 64: left out")
			}
		case "NCCL_IB_SPLIT_DATA_ON_QPS":
			if t.split = v.Value == "0"; !t.split && v.Value != "1" {
				note(v.Name, v.Value, "is neither 0 nor 1: left out")
			}
		case "NCCL_IB_TC":
			if whole && n >= 0 && n <= 255 { // the traffic class's upper six bits
				t.job += fmt.Sprintf("    dscp: %d\n", n>>2)
			} else {
				note(v.Name, v.Value, "is no traffic class from 0 to 255: left out")
			}
		case "NCCL_ALGO":
			switch a := strings.ToLower(v.Value); a {
			case "ring", "tree", "nvls":
				t.algorithm = a
			default:
				note(v.Name, v.Value, "is left to NCCL's tuning model; read are Ring, Tree and NVLS")
			}
		case "NCCL_PROTO":
			switch p := strings.ToLower(v.Value); p {
			case "ll", "ll128", "simple":
				t.protocol = p
			default:
				note(v.Name, v.Value, "is left to NCCL's tuning model; read are LL, LL128 and Simple")
			}
		case "NCCL_IB_DISABLE", "NCCL_P2P_DISABLE", "NCCL_SHM_DISABLE":
			if whole && n != 0 {
				note(v.Name, v.Value, "what it turns off is used here all the same")
			}
		default:
			if strings.HasPrefix(v.Name, "NCCL_") && !slices.Contains(ncclTalk, v.Name) {
				unread = append(unread, v.Name)
			}
		}
	}
	for _, kv := range t.transport {
		if t.split && kv[0] == "qps" && kv[1] != "1" {
			note("NCCL_IB_SPLIT_DATA_ON_QPS", "0", "NCCL sends each message over one queue pair; simulated "+
				"are parts of it over all")
		}
	}
	if len(unread) > 0 {
		s.crew.Notes = append(s.crew.Notes, slurm.Note{At: s.crew.Launch.At, Text: "of NCCL's variables " +
			"not read, though they may change what it does: " + strings.Join(unread, ", ")})
	}
	return t
}

// channels is the key of a benchmark's rings, where NCCL is given fewer than it takes here: one per GPU of a
// server.
func (s *submission) channels(say told) string {
	most := 0
	for i := range s.crew.Processes {
		most = max(most, s.crew.Processes[i].Local+1)
	}
	if say.channels > 0 && say.channels < most {
		return fmt.Sprintf(", channels: %d", say.channels)
	}
	return ""
}

// transportBlock is the key of a scenario's transport, and what stands behind it on its line.
var transportBlock = regexp.MustCompile(`(?m)^transport:(.*)$`)

// withTransport is a scenario whose transport has another value of a key.
func withTransport(text, name, value string) string {
	key := name + ": " + value
	was := regexp.MustCompile(`\b` + name + `: *[^,}\s]+`) // in braces or on a line of its own
	at := transportBlock.FindStringSubmatchIndex(text)
	if at == nil {
		return strings.TrimRight(text, "\n") + "\ntransport: {" + key + "}\n"
	}
	end := len(text) // of the block
	if next := topKey1.FindStringIndex(text[at[1]:]); next != nil {
		end = at[1] + next[0]
	}
	block := text[at[0]:end]
	switch rest := strings.TrimSpace(text[at[2]:at[3]]); {
	case was.MatchString(block):
		block = was.ReplaceAllString(block, key)
	case strings.HasPrefix(rest, "{"):
		block = strings.Replace(block, "{", "{"+key+", ", 1)
	case rest == "" || rest[0] == '#':
		block = strings.Replace(block, "\n", "\n  "+key+"\n", 1)
	default:
		return text // a preset's name: --set transport.KEY says it
	}
	return text[:at[0]] + block + text[end:]
}

// topKey1 is where the next key of the outermost mapping stands.
var topKey1 = regexp.MustCompile(`(?m)^[a-z_]`)
