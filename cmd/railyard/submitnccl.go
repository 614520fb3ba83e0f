package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"railyard/internal/slurm"
)

// told is what NCCL's variables say of a job's connections and collectives (NCCL's user guide, environment
// variables): queue pairs, keys of the job, keys of a benchmark.
type told struct {
	qps       int
	job       string
	algorithm string
	protocol  string
}

// nccl reads them from a process's environment; what cannot be is told and left out.
func (s *submission) nccl() (t told) {
	t.algorithm, t.protocol = "auto", "auto"
	note := func(name, value, text string) {
		s.crew.Notes = append(s.crew.Notes, slurm.Note{At: s.crew.Launch.At,
			Text: fmt.Sprintf("%s=%s: %s", name, value, text)})
	}
	for _, v := range s.crew.Environment(&s.crew.Processes[0]) {
		n, err := strconv.Atoi(v.Value)
		whole := err == nil
		switch v.Name {
		case "NCCL_IB_QPS_PER_CONNECTION":
			if whole && n >= 1 && n <= 64 {
				t.qps = n
			} else {
				note(v.Name, v.Value, "is no number of queue pairs from 1 to 64: left out")
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
		}
	}
	return t
}

// transportBlock is the key of a scenario's transport, and what stands behind it on its line.
var transportBlock = regexp.MustCompile(`(?m)^transport:(.*)$`)

// qpsKey is the number of queue pairs, in braces or on a line of its own.
var qpsKey = regexp.MustCompile(`\bqps: *[^,}\s]+`)

// withQPs is a scenario with another number of queue pairs.
func withQPs(text string, qps int) string {
	key := fmt.Sprintf("qps: %d", qps)
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
	case qpsKey.MatchString(block):
		block = qpsKey.ReplaceAllString(block, key)
	case strings.HasPrefix(rest, "{"):
		block = strings.Replace(block, "{", "{"+key+", ", 1)
	case rest == "" || rest[0] == '#':
		block = strings.Replace(block, "\n", "\n  "+key+"\n", 1)
	default:
		return text // a preset's name: --set transport.qps says it
	}
	return text[:at[0]] + block + text[end:]
}

// topKey1 is where the next key of the outermost mapping stands.
var topKey1 = regexp.MustCompile(`(?m)^[a-z_]`)
