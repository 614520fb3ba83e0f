package validate

import (
	"fmt"
	"math"
	"strings"

	"railyard/internal/cause"
	"railyard/internal/result"
	"railyard/unit"
)

// trial removes one cause from a scenario: the saved time must equal the time that the report assigned to it.
type trial struct {
	claim   string
	text    string
	as      []string // settings of both runs
	without []string // overrides that remove the cause
	instead string   // or another scenario
	blamed  func(s *result.Summary) int64
	why     *Reason // if different
}

// source describes the reference of the comparison.
func (t *trial) source() string {
	if t.instead != "" {
		return "saving of a run without it"
	}
	return "saving of a run with " + strings.Join(t.without, " ")
}

// smallModel is a language model whose step takes milliseconds.
func smallModel(string) ([]byte, error) {
	return []byte(`{"model_type": "llama", "hidden_size": 1024, "num_hidden_layers": 8,
	  "num_attention_heads": 16,
		"intermediate_size": 4096, "vocab_size": 1000}`), nil
}

// row runs the scenario twice; ran caches summaries, since many trials remove one cause or another from the same run.
func (t *trial) row(ran map[string]*result.Summary) (Row, error) {
	var took [2]*result.Summary
	for i, sets := range [][]string{t.as, with(t.as, t.without...)} {
		text := t.text
		if i == 1 && t.instead != "" {
			text = t.instead
		}
		key := text + strings.Join(sets, "\n")
		if took[i] = ran[key]; took[i] != nil {
			continue
		}
		r, err := startWith(text, smallModel, sets...)
		if err == nil {
			err = r.Go(nil)
		}
		if err != nil {
			return Row{}, fmt.Errorf("%s: %w", t.claim, err)
		}
		took[i], _, _ = r.Outcome("")
		ran[key] = took[i]
	}
	step, saved, blamed := took[0].StepTime, took[0].StepTime-took[1].StepTime, t.blamed(took[0])
	share := func(ps int64) string {
		return fmt.Sprintf("%v of %v (%.1f %%)", unit.Time(ps), unit.Time(step),
			100*float64(ps)/float64(step))
	}
	d := float64(blamed-saved) / float64(step)
	row := Row{Claim: t.claim, Source: t.source(), Expected: share(saved), Ours: share(blamed),
		Diff: fmt.Sprintf("%+.1f %% of the step", 100*d),
		OK:   math.Abs(d) <= max(blameOfStep, blameOfSaved*math.Abs(float64(saved))/float64(step))}
	return row.because(t.why), nil
}

// uncut returns the expected saving of a run in which congestion control reduces no rate.
func uncut(s *result.Summary) int64     { return s.Chain.Saves(cause.Recovering) }
func held(s *result.Summary) int64      { return s.Chain.Of(cause.Recovering) }
func windowed(s *result.Summary) int64  { return s.Chain.Of(cause.Window) }
func credited(s *result.Summary) int64  { return s.Chain.Of(cause.Credit) }
func collision(s *result.Summary) int64 { return s.Chain.Of(cause.Collision) }
func incast(s *result.Summary) int64    { return s.Chain.Of(cause.Incast) }
func paused(s *result.Summary) int64    { return s.Chain.Of(cause.Pause) }
func unpaused(s *result.Summary) int64  { return s.Chain.Saves(cause.Pause) }
func again(s *result.Summary) int64     { return s.Chain.Of(cause.Retransmission) }
func overtaken(s *result.Summary) int64 { return s.Chain.Of(cause.Reordering) }
func others(s *result.Summary) (sum int64) {
	for _, id := range []cause.ID{cause.Recovering, cause.Window, cause.Credit, cause.Collision,
		cause.SprayImbalance, cause.Oversubscription, cause.SlowLink, cause.Incast, cause.Pause, cause.SharedNIC,
		cause.PCIe} {
		sum += s.Chain.Of(id)
	}
	return sum
}

// sum adds several causes that the removed setting causes together.
func sum(parts ...func(*result.Summary) int64) func(*result.Summary) int64 {
	return func(s *result.Summary) (all int64) {
		for _, p := range parts {
			all += p(s)
		}
		return all
	}
}

// How scenarios run, and what takes a cause away.
var (
	paper        = []string{"cc.algorithm=dcqcn", "cc.dcqcn.profile=paper"}
	nic          = []string{"cc.algorithm=dcqcn", "cc.dcqcn.profile=nic"}
	uncontrolled = []string{"cc.algorithm=none"}
	sprayed      = []string{"lb=spray", "transport.recovery=selective", "transport.write=only"}
	unlimited    = []string{"switch.buffer=2000MB", "switch.queues.3.xoff=600MB", "switch.queues.3.xon=500MB"}
	lossless     = []string{"fabric.host_link.bit_error_rate=0"}
)

// Figure 12-4 of the source has three flows that one hash sends to one uplink.
const flowsOf124 = `
name: three-flows
seed: 14
fabric: {kind: rail, hosts: 4, spines: 2, uplinks: 1,
  host_link: {rate: 400Gbps, cable: 3m}, fabric_link: {rate: 400Gbps, cable: 30m}, pipeline: 500ns}
server: {gpus: 2, nics: 2}
workload:
  traffic:
    flows:
      - {from: host-1/gpu-1, to: host-4/gpu-2, bytes: 16MiB}
` + otherTwo

const otherTwo = `      - {from: host-2/gpu-1, to: host-4/gpu-2, bytes: 16MiB}
      - {from: host-3/gpu-1, to: host-4/gpu-2, bytes: 16MiB}
`

const fan = `
fabric: {kind: rail, hosts: 9, spines: 1, host_link: {rate: 100Gbps, cable: 3m}}
server: {gpus: 1, nics: 1}
workload: {traffic: {incast: {bytes: 2MB, fan_in: 8}}}
`

const permutation = `
seed: 3
fabric: {kind: rail, hosts: 8, segments: 2, spines: 8, uplinks: 1,
  host_link: {rate: 400Gbps, cable: 3m}, fabric_link: {rate: 400Gbps, cable: 30m}}
server: {gpus: 1, nics: 1}
workload: {traffic: {permutation: {bytes: 8MB}}}
`

// The link that three of the permutation's flows share is down from 50 us to 5 ms.
const broken = `failures: [{link: "seg-2-rail-1:Eth14", at: 50us, converge: 5ms}]
`

const toAll = `
fabric: {kind: rail, hosts: 4, segments: 2, spines: 4, uplinks: 1,
  host_link: {rate: 400Gbps, cable: 3m}, fabric_link: {rate: 400Gbps, cable: 30m}}
server: {gpus: 2, nics: 2}
workload: {traffic: {alltoall: {bytes: 32MiB}}}
`

// Eight servers a segment, two cables to the other one.
const oversubscribed = `
fabric: {kind: rail, hosts: 8, segments: 2, spines: 2, uplinks: 1,
  host_link: {rate: 200Gbps, cable: 3m}, fabric_link: {rate: 200Gbps, cable: 30m}}
server: {gpus: 1, nics: 1}
workload: {traffic: {alltoall: {bytes: 8MiB}}}
`

const ring = `
fabric: {kind: pod, hosts: 4, segments: 2, spines: 2, uplinks: 1,
  host_link: {rate: 200Gbps, cable: 3m}, fabric_link: {rate: 400Gbps, cable: 30m}}
server: {gpus: 2, nics: 2, nic_ports: 2}
transport: {qps: 2}
workload: {traffic: {collective: {kind: all-reduce, bytes: 64MiB, algorithm: ring, channels: 2}}}
`

// A flow to an idle receiver crosses the same link as an incast to another receiver. PFC pauses that link.
const victim = `
fabric: {kind: rail, hosts: 5, segments: 2, spines: 1, uplinks: 1,
  host_link: {rate: 100Gbps, cable: 3m}, fabric_link: {rate: 400Gbps, cable: 30m}}
server: {gpus: 1, nics: 1}
switch: {queues: {3: {xoff: 100KB, xon: 50KB}}}
workload:
  traffic:
    flows:
      - {from: host-1/gpu-1, to: host-6/gpu-1, bytes: 4MB}
      - {from: host-2/gpu-1, to: host-6/gpu-1, bytes: 4MB}
      - {from: host-3/gpu-1, to: host-6/gpu-1, bytes: 4MB}
      - {from: host-4/gpu-1, to: host-7/gpu-1, bytes: 12MB}
`

const lossy = `
fabric: {kind: rail, hosts: 2, spines: 1, host_link: {rate: 100Gbps, cable: 3m, bit_error_rate: 0.0000003}}
server: {gpus: 1, nics: 1}
workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-2/gpu-1, bytes: 16MB}]}}
`

const oneServer = `
fabric: {kind: rail, hosts: 1, spines: 1, host_link: {rate: 100Gbps, cable: 3m}}
server: {gpus: 8, nics: 8}
workload: {training: {model: small.json, sequence: 512, efficiency: 50, tp: 8, global_batch: 8}}
`

// Two flows, the second of which depends on the first at its rank.
const late = `
fabric: {kind: rail, hosts: 4, spines: 1, host_link: {rate: 100Gbps, cable: 3m}}
server: {gpus: 1, nics: 1}
workload:
  ops:
    - {id: early, gpu: host-1/gpu-1, send: 4MB, to: host-2/gpu-1}
    - {id: busy, gpu: host-3/gpu-1, compute: 1ms}
    - {id: late, gpu: host-3/gpu-1, send: 4MB, to: host-4/gpu-1, after: [busy]}
`

const training = `
seed: 5
fabric: {kind: pod, hosts: 2, segments: 2, spines: 2, uplinks: 1,
  host_link: {rate: 50Gbps, cable: 3m}, fabric_link: {rate: 100Gbps, cable: 30m}}
server: {gpus: 2, nics: 2, nic_ports: 2}
transport: {qps: 2}
workload: {training: {model: small.json, sequence: 512, efficiency: 50, tp: 2, dp: 4,
  global_batch: 8, bucket: 20MB}}
`

// trials are the rows: over each kind of traffic, and each cause at least once.
func trials() (all []trial) {
	for _, list := range [][]trial{rateTrials(), windowTrials(), collisionTrials(), incastTrials(),
		pauseTrials(), lossTrials(), otherTrials()} {
		all = append(all, list...)
	}
	return all
}

func rateTrials() (list []trial) {
	for _, c := range []struct{ about, text string }{
		{"three flows into one NIC", flowsOf124}, {"permutation", permutation}, {"incast", fan},
		{"all-to-all", toAll},
		{"all-to-all over an oversubscribed fabric", oversubscribed}, {"ring all-reduce", ring},
		{"training step", training},
	} {
		list = append(list,
			trial{claim: c.about + ", DCQCN as in its paper: CC recovering", text: c.text,
				as: paper, without: uncontrolled, blamed: uncut},
			trial{claim: c.about + ", DCQCN as in NICs: CC recovering", text: c.text,
				as: nic, without: uncontrolled, blamed: uncut})
	}
	return append(list, trial{claim: "tree all-reduce, DCQCN as in its paper: CC recovering",
		text: ring,
		as: with(paper, "workload.traffic.collective.algorithm=tree",
			"workload.traffic.collective.channels=0"), without: uncontrolled, blamed: uncut})
}

var (
	estimated = reason("the account's estimate",
		"The row holds the account's own estimate: a replay of messages without the cause, whose paths and shares of links stay. In a run without pauses, trimming or losses links are shared differently from then on.",
		NoSetting, "run simulates small runs without their main causes, all runs with --confirm always, and reports what that saves")
	uplinks = reason("uplinks that carry an incast",
		"The flows share an uplink as well as the receiver's cable. The account books that as oversubscription (171 us), and spraying, which uses both uplinks, saves a part of it.",
		NoSetting, "2.1 % of the step where 2 % are allowed")
)

var gone = reason("effects of a collision in later rounds",
	"A collision delays ranks unevenly, so that later rounds meet at receivers. The run without it loses their incasts and PFC pauses as well, which the account books separately.",
	NoSetting, "the account has one cause for each interval; with incasts and pauses added it is within 5 % of the step")

func collisionTrials() []trial {
	const both = ": hash collision and CC recovering"
	const bare = " without congestion control: hash collision"
	return []trial{
		{claim: "three flows into one NIC, DCQCN as in its paper: hash collision", text: flowsOf124,
			as: paper, without: sprayed, blamed: collision, why: uplinks},
		{claim: "permutation" + both, text: permutation,
			as: paper, without: with(sprayed, uncontrolled...), blamed: sum(collision, held)},
		{claim: "permutation" + bare, text: permutation,
			as: uncontrolled, without: sprayed, blamed: collision},
		{claim: "all-to-all" + both, text: toAll,
			as: paper, without: with(sprayed, uncontrolled...), blamed: sum(collision, held)},
		{claim: "all-to-all" + bare, text: toAll, as: uncontrolled, without: sprayed, blamed: collision},
		{claim: "ring all-reduce" + both, text: ring,
			as: paper, without: with(sprayed, uncontrolled...), blamed: sum(collision, held)},
		{claim: "ring all-reduce" + bare + " and its pauses", text: ring,
			as: uncontrolled, without: sprayed, blamed: sum(collision, paused), why: gone},
		{claim: "ring all-reduce with flowlets" + bare + ", its pauses and resends", text: ring,
			as: with(uncontrolled, "lb=flowlet"), without: sprayed,
			blamed: sum(collision, paused, again, overtaken)},
		{claim: "all-to-all with flowlets" + bare, text: toAll,
			as: with(uncontrolled, "lb=flowlet"), without: sprayed, blamed: collision},
		{claim: "training step" + both, text: training,
			as: paper, without: with(sprayed, uncontrolled...), blamed: sum(collision, held)},
		{claim: "training step" + bare, text: training,
			as: uncontrolled, without: sprayed, blamed: collision, why: gone},
	}
}

// Swift begins with ten packets on a path that holds five hundred.
const far = `
fabric: {kind: rail, hosts: 2, spines: 1, host_link: {rate: 400Gbps, cable: 2km}}
server: {gpus: 1, nics: 1}
workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-2/gpu-1, bytes: 8MB}]}}
`

// trimTrial is an incast whose packets are nearly all trimmed. Nothing is trimmed where queues have room for all
// packets.
func trimTrial() trial {
	trimming := []string{"switch.pfc=false", "switch.queues.3.trim=true", "transport.recovery=selective",
		"transport.write=only"}
	return trial{claim: "incast over switches that trim: packets trimmed and retransmitted, beyond the incast",
		text: fan, as: with(with(uncontrolled, trimming...), "switch.queues.3.limit=40KB"),
		without: []string{"switch.queues.3.limit=30MB"},
		blamed:  func(s *result.Summary) int64 { return s.Chain.Of(cause.Trimmed) }, why: estimated}
}

func windowTrials() []trial {
	slow := []string{"cc.algorithm=swift", "cc.swift.start_window=10"}
	return []trial{
		{claim: "a far flow under Swift from ten packets on: window too small", text: far,
			as: slow, without: uncontrolled, blamed: windowed},
		{claim: "a far flow under EQDS with credit for half its path: waiting for credit", text: far,
			as:      []string{"cc.algorithm=eqds", "cc.eqds.profile=request", "cc.eqds.window=0.5"},
			without: uncontrolled, blamed: credited},
		{claim: "incast under EQDS: the other senders", text: fan,
			as:      []string{"cc.algorithm=eqds", "cc.eqds.profile=request"},
			without: []string{"workload.traffic.incast.fan_in=1"}, blamed: others},
		trimTrial(),
		{claim: "incast under Swift: the other senders", text: fan, as: []string{"cc.algorithm=swift"},
			without: []string{"workload.traffic.incast.fan_in=1"}, blamed: others},
	}
}

func incastTrials() []trial {
	alone := []string{"workload.traffic.incast.fan_in=1"}
	return []trial{
		{claim: "three flows into one NIC: the other two", text: flowsOf124,
			as: paper, instead: strings.TrimSuffix(flowsOf124, otherTwo), blamed: others},
		{claim: "incast: the other senders", text: fan, as: paper, without: alone, blamed: others},
		{claim: "incast without congestion control: incast", text: fan,
			as: uncontrolled, without: alone, blamed: incast},
	}
}

func pauseTrials() []trial {
	small := []string{"switch.queues.3.xoff=40KB", "switch.queues.3.xon=20KB"}
	return []trial{
		{claim: "incast under PFC: pauses, while its receiver's cable is busy", text: fan,
			as: with(uncontrolled, small...), without: unlimited, blamed: unpaused},
		{claim: "a flow next to a paused incast: pauses", text: victim,
			as: uncontrolled, without: unlimited, blamed: unpaused},
		{claim: "all-to-all over an oversubscribed fabric under PFC: pauses", text: oversubscribed,
			as: with(uncontrolled, small...), without: unlimited, blamed: unpaused},
		{claim: "ring all-reduce under PFC: pauses", text: ring,
			as: with(uncontrolled, small...), without: unlimited, blamed: unpaused, why: estimated},
		{claim: "all-to-all under PFC: pauses", text: toAll,
			as: with(uncontrolled, small...), without: unlimited, blamed: unpaused, why: estimated},
	}
}

func lossTrials() []trial {
	gbn := []string{"transport.recovery=go-back-n"}
	return []trial{
		{claim: "bit errors, go-back-N: packets retransmitted", text: lossy,
			as: with(uncontrolled, gbn...), without: lossless, blamed: again},
		{claim: "bit errors, selective repeat: packets retransmitted", text: lossy,
			as: with(uncontrolled, "transport.recovery=selective"), without: lossless, blamed: again},
		{claim: "incast without PFC: packets retransmitted", text: fan,
			as:      with(with(nic, gbn...), "switch.queues.3.lossless=false", "switch.queues.3.limit=400KB"),
			without: []string{"switch.queues.3.lossless=true"}, blamed: again},
		{claim: "training step, bit errors: packets retransmitted", text: training,
			as:      with(with(uncontrolled, gbn...), "fabric.host_link.bit_error_rate=0.00000001"),
			without: lossless, blamed: again, why: estimated},
	}
}

func otherTrials() []trial {
	return []trial{
		{claim: "training step in one server: NVLink's time", text: oneServer,
			as: uncontrolled, without: []string{"server.nvlink=90Tbps", "server.nvlink_latency=0s"},
			blamed: func(s *result.Summary) int64 { return s.ExposedTP }},
		{claim: "permutation over slow PCIe: PCIe", text: permutation,
			as:      with(with(uncontrolled, sprayed...), "server.pcie=200Gbps"),
			without: []string{"server.pcie=0bps"},
			blamed:  func(s *result.Summary) int64 { return s.Chain.Of(cause.PCIe) }},
		{claim: "incast over a receiver's slow PCIe: PCIe", text: fan,
			as: with(uncontrolled, "server.pcie=50Gbps"), without: []string{"server.pcie=0bps"},
			blamed: func(s *result.Summary) int64 { return s.Chain.Of(cause.PCIe) }},
		{claim: "permutation, a link breaks: packets retransmitted", text: permutation + broken,
			as: uncontrolled, instead: permutation, blamed: again},
		{claim: "two flows, one of whose ranks is late: computing", text: late,
			as: uncontrolled, instead: strings.Replace(late, "compute: 1ms", "compute: 1ps", 1),
			blamed: func(s *result.Summary) int64 { return s.Chain.Of(cause.Compute) }},
	}
}

// with adds settings to some.
func with(sets []string, more ...string) []string {
	return append(append([]string(nil), sets...), more...)
}

// counterfactuals compares the account with the saving of a run without the cause.
func counterfactuals() ([]Row, error) {
	var rows []Row
	ran := map[string]*result.Summary{}
	for _, t := range trials() {
		rows = append(rows, must(t.row(ran)))
	}
	return rows, nil
}
