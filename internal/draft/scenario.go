package draft

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"railyard/internal/field"
	"railyard/internal/model"
	"railyard/internal/partition"
	"railyard/internal/site"
	"railyard/internal/workload"
	"railyard/unit"
)

// mostHosts is the maximum number of hosts of a segment: the ports of a leaf switch that face them.
const mostHosts = 32

// fewPorts is the number of ports of a spine that a design aims at, mostPorts the maximum.
const (
	fewPorts  = 64
	mostPorts = 128
)

// efficiency is the percentage of a GPU's peak that a draft assumes: that of any scenario.
var efficiency = workload.NewTraining().Efficiency

// Scenario returns the scenario as YAML, with a comment for each block, and sets Missed and Rails. All answers must be
// set and accepted.
func (a *Answers) Scenario(name string) (string, error) {
	gpus, err := strconv.Atoi(a.GPUs)
	if err != nil {
		return "", field.New("--gpus", "%s is not a whole number", field.Quote(a.GPUs))
	}
	s := site.FindServer(a.Server)
	per := s.GPUs
	if a.Fabric == "fat-tree" {
		per = 1
	}
	if gpus%per != 0 || gpus/per < 2 {
		return "", field.New("--gpus", "%d is not a multiple of %d, the GPUs of a %s, with two servers at least", gpus, per, s.Key)
	}
	fabric, err := a.fabric(s, gpus/per)
	if err != nil {
		return "", err
	}
	work, fold, err := a.work(s, gpus, per)
	if err != nil {
		return "", err
	}
	if a.Rails = fold; fold > 1 { // one rail of the fabric above
		rail := *s
		rail.Name, rail.GPUs, rail.NICs = fmt.Sprintf("1 of %d rails of %s", fold, s.Name), s.GPUs/fold, s.NICs/fold
		if fabric, err = a.fabric(&rail, gpus/per); err != nil {
			return "", err
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# %s of %s on a %s fabric: written by railyard init. All keys: railyard schema;\n"+
		"# values in effect: railyard check FILE. Any value can be overridden: railyard run FILE --set lb=spray\n",
		unit.Plural(gpus/per, "server"), unit.Plural(per, "GPU"), a.Fabric)
	fmt.Fprintf(&b, "name: %s\nseed: 1 # of all random choices; the same seed gives the same run\n", name)
	b.WriteString(fabric)
	fmt.Fprintf(&b, "# How switches choose among equal paths: ecmp hashes flows, flowlet moves bursts, spray every packet.\n"+
		"lb: %s\n", a.LB)
	if p := strings.HasPrefix(a.LB, "spray"); p {
		b.WriteString("# Sprayed packets arrive out of order: every packet carries its address, and gaps are filled selectively.\n" +
			"transport: {write: only, recovery: selective}\n")
	}
	b.WriteString("# Congestion control of the NICs; railyard compare FILE --set cc.algorithm=all compares them.\n" +
		"cc: {algorithm: dcqcn}\n")
	b.WriteString("# Packets up to a billion estimated packet-hops; beyond, messages as flows that share links.\nfidelity: auto\n")
	return b.String() + work, nil
}

// fabric returns the blocks of fabric and servers.
func (a *Answers) fabric(s *site.Server, hosts int) (string, error) {
	rate := unit.Rate(s.NICRate)
	links := fmt.Sprintf("  host_link: {rate: %v, cable: 5m}\n", rate)
	shares := ""
	if n := s.Sharing(hosts); n > s.GPUs {
		shares = fmt.Sprintf(", nvlink_domain: %d", n)
	}
	by := ""
	if gpu, err := model.FindGPU(s.GPU); err == nil && gpu.SM > 0 && a.Workload == "all-to-all" {
		by = " NCCL sends by the NIC on the receiver's rail (pxn)."
		shares += ", pxn: true"
	}
	server := fmt.Sprintf("# %s: %s of %s.%s\nserver: {gpu: %s, gpus: %d, nics: %d%s}\n", s.Name,
		unit.Plural(s.NICs, "NIC"), rate.Show(), by, s.GPU, s.GPUs, s.NICs, shares)
	over, _ := ratio(a.Oversubscription)
	a.Missed = ""
	if over != 1 && a.Fabric != "rail" {
		return "", field.New("--oversubscription", "needs leaves and spines: --fabric rail")
	}
	switch a.Fabric {
	case "fat-tree":
		k := 2
		for ; hosts%(k*k/4) != 0 || hosts > k*k*k/4; k += 2 {
			if k*k/4 > hosts {
				return "", field.New("--gpus", "%d servers are not whole pods of a fat tree; accepted for example: 16, 64, 128, 1024", hosts)
			}
		}
		return fmt.Sprintf("# A fat tree of switches with %d ports: each pod has %d servers.\n"+
			"fabric:\n  kind: fat-tree\n  k: %d\n  pods: %d\n%s", k, k*k/4, k, hosts/(k*k/4), links) +
			fmt.Sprintf("# Servers of a fat tree have one GPU and one NIC.\nserver: {gpu: %s}\n", s.GPU), nil
	case "rail-only":
		return fmt.Sprintf("# A switch for each NIC of a server and no spines: other rails are reached over NVLink.\n"+
			"fabric:\n  kind: rail-only\n  hosts: %d\n%s%s", hosts, links, server), nil
	}
	segments := (hosts + mostHosts - 1) / mostHosts
	for hosts%segments != 0 {
		segments++
	}
	each, leaves := hosts/segments, segments*s.NICs
	if leaves > mostPorts {
		return "", field.New("--gpus", "%s need %d leaves, above the %d ports of a spine; more tiers: railyard plan fabric --out DIR",
			unit.Plural(hosts, "server"), leaves, mostPorts)
	}
	up := max(1, float64(each)/over) // cables of a leaf to all spines
	spines := max(1, min(int(up), max(4, int(math.Ceil(up*float64(leaves)/fewPorts)))))
	uplinks, shown := 0, "1:1"
	if over > 1 {
		cables := max(1, int(math.Ceil(up-1e-9)))
		for spines = min(spines, cables); cables%spines != 0; spines++ {
		}
		uplinks = cables / spines
		built := float64(each) / float64(cables)
		shown = fmt.Sprintf("%.3g:1", built)
		if math.Abs(built/over-1) > 0.005 {
			a.Missed = fmt.Sprintf("requested %.3g:1, built %s: %s of a leaf to %s", over, shown,
				unit.Plural(each, "cable"), unit.Plural(cables, "uplink"))
		}
	}
	text := fmt.Sprintf("# A leaf switch for each NIC of the %s of a segment; spines connect leaves %s.\n"+
		"fabric:\n  kind: rail\n  segments: %d\n  hosts: %d # of a segment\n  spines: %d\n", unit.Plural(each, "server"), shown,
		segments, each, spines)
	if uplinks > 0 {
		text += fmt.Sprintf("  uplinks: %d # cables from each leaf to each spine\n", uplinks)
	}
	return text + links + fmt.Sprintf("  fabric_link: {rate: %v, cable: 30m}\n", rate) + server, nil
}

// work returns the block of the workload, and the number of rails of the fabric that one represents: 1 unless the
// step is folded.
func (a *Answers) work(s *site.Server, gpus, per int) (text string, fold int, err error) {
	gpu, err := model.FindGPU(s.GPU)
	if err != nil {
		return "", 0, err
	}
	choice := "algorithm: auto, protocol: auto"
	if gpu.SM == 0 { // NCCL's tuning model has none of it
		choice = "algorithm: ring"
	}
	for _, c := range collectives {
		if c.name != a.Workload {
			continue
		}
		of := strings.NewReplacer("FAN", strconv.Itoa(min(gpus-1, 16)), "CHOICE", choice)
		return of.Replace(fmt.Sprintf("# %s.\nworkload:\n  traffic:\n    %s\n", strings.ToUpper(c.text[:1])+c.text[1:], c.yaml)), 1, nil
	}
	m, err := model.Builtin(a.Workload)
	if err != nil {
		return "", 0, field.Under("--workload", err)
	}
	t, ok := layout(m, s, partition.Fillable(gpu.Usable), gpus, per)
	if !ok {
		return "", 0, field.New("--gpus", "%d GPUs of %s GB do not hold a step of %s in a layout of tensor and pipeline parallelism; more: railyard plan size",
			gpus, unit.Digits(float64(gpu.Usable)/1e9), a.Workload)
	}
	search := fmt.Sprintf("railyard plan search %s --fabric FILE --global-batch %d --sequence %d --efficiency %g", a.Workload,
		t.GlobalBatch, t.Seq, efficiency)
	if err := t.TooBig(); err != nil {
		return "", 0, field.New("--gpus", "a step of %s on %d GPUs is above what one run simulates, %d operations; accepted: fewer GPUs; %s simulates a part of the step",
			a.Workload, gpus, workload.MaxOps, search)
	}
	tp, pp, dp, fold := t.TP, t.PP, t.DP, 1
	text = "# A training step: tensor parallelism in a server, pipeline stages and replicas across servers.\n"
	if t.Fold {
		fold = tp
		text += fmt.Sprintf("# All %d rails have more operations than one run simulates, so the file has one of them: fold makes one rank\n"+
			"# of a tensor parallel group. The others carry the same traffic between the same servers.\n", tp)
	} else {
		text += "# Faster layouts:\n# " + search + "\n"
	}
	text += fmt.Sprintf("workload:\n  training:\n    model: %s\n    tp: %d\n", a.Workload, tp)
	if pp > 1 {
		text += fmt.Sprintf("    pp: %d\n", pp)
	}
	if t.Uneven {
		text += fmt.Sprintf("    uneven: true # %d stages do not divide %s\n", pp, unit.Plural(m.Layers, "layer"))
	}
	text += fmt.Sprintf("    dp: %d\n", dp)
	if t.Fold {
		text += "    fold: true\n"
	}
	if m.Experts > 0 {
		text += fmt.Sprintf("    ep: %d # experts of a layer are spread over that many replicas\n", t.EP)
	}
	if t.Sequence {
		text += "    sequence_parallel: true # each rank of a tensor group has its own tokens between blocks\n"
	}
	if t.Recompute != partition.RecomputeNone {
		text += fmt.Sprintf("    recompute: %s # the GPUs' memory does not hold all activations\n", t.Recompute)
	}
	return text + fmt.Sprintf("    sequence: %d\n    micro_batch: 1\n    global_batch: %d\n    zero: 1\n"+
		"    efficiency: %g # percent of the GPU's peak; calibrate it with plan fit or calibrate\n", t.Seq, t.GlobalBatch,
		efficiency), fold, nil
}

// layout returns the first layout of a step that fits the memory and that one run simulates. It prefers whole steps
// to steps folded to a rail, then all activations kept to recomputation, then even pipeline stages to uneven ones,
// then few stages. If every layout is too large for a run, it returns the first that fits the memory.
func layout(m *model.Config, s *site.Server, memory unit.Bytes, gpus, per int) (first workload.Training, ok bool) {
	tp, near := 1, max(per, s.Sharing(gpus/per))
	for tp*2 <= per && m.Heads%int64(tp*2) == 0 && per%(tp*2) == 0 {
		tp *= 2
	}
	for _, fold := range []bool{false, true} {
		if fold && (tp == 1 || tp < per || s.NICs%tp != 0) {
			break
		}
		for _, recompute := range partition.Recomputations {
			for _, uneven := range []bool{false, true} {
				for pp := 1; int64(pp) <= m.Layers+2 && tp*pp <= gpus; pp++ {
					t := step(m, tp, pp, gpus, near)
					t.Fold, t.Recompute = fold, recompute
					if worst, err := t.Worst(m); gpus%(tp*pp) != 0 || t.Uneven != uneven || err != nil ||
						worst.Total() > memory {
						continue
					}
					if t.TooBig() == nil {
						return t, true
					}
					if !ok {
						first, ok = t, true
					}
				}
			}
		}
	}
	return first, ok
}

// step returns a step of the model in pp stages of tp ranks each, with two microbatches of one sequence for each stage.
// Experts are spread over as many replicas as GPUs share NVLink at most.
func step(m *model.Config, tp, pp, gpus, near int) workload.Training {
	t := workload.NewTraining()
	t.Model, t.TP, t.PP, t.DP, t.ZeRO = m, tp, pp, max(1, gpus/tp/pp), 1
	t.Seq, t.Micro, t.Microbatches = min(4096, m.Context), 1, 2*pp
	t.GlobalBatch = int64(t.DP * t.Microbatches)
	for ep := 2; m.Experts > 0 && m.Experts%int64(ep) == 0 && t.DP%ep == 0 && ep <= near; ep *= 2 {
		t.EP = ep
	}
	t.Sequence, t.PerServer = tp > 1, near
	t.Layout = t.Settled(m)
	return t
}
