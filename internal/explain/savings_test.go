package explain_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"railyard/internal/cause"
	"railyard/internal/explain"
	"railyard/internal/facts"
	"railyard/internal/whatif"
	"railyard/unit"
)

// drawn are scenarios that `validate blame --random` drew, of which an estimate was once far off.
var drawn = []struct {
	file string // in testdata/savings
	id   cause.ID
}{
	{"slow-pcie.yaml", cause.PCIe},
	{"failed-spine.yaml", cause.FailedCapacity},
	{"full-uplink.yaml", cause.Pause},
	{"growing-window.yaml", cause.Collision},
	{"busy-senders.yaml", cause.Oversubscription},
	{"slow-spine.yaml", cause.SlowLink},
	{"shared-reactions.yaml", cause.FailedCapacity},
	{"bursts-at-receivers.yaml", cause.SlowLink},
	{"paused-by-slow-link.yaml", cause.SlowLink},
	{"late-acknowledgements.yaml", cause.SlowLink},
	{"sprayed-acknowledgements.yaml", cause.SlowLink},
	{"paused-acknowledgements.yaml", cause.Pause},
	{"own-window.yaml", cause.Recovering},
	{"hashed-entropies.yaml", cause.Window},
	{"trimmed-round-trips.yaml", cause.Latency},
	{"overtaken-and-lost.yaml", cause.Reordering},
	{"acknowledged-ring.yaml", cause.Window},
	{"sprayed-beside-a-slow-uplink.yaml", cause.Collision},
	{"lighter-reaction.yaml", cause.Incast},
	{"uplinks-below-nics.yaml", cause.Oversubscription},
	{"near-and-far.yaml", cause.Latency},
	{"pauses-before-marks.yaml", cause.Oversubscription},
	{"spread-over-ports.yaml", cause.Collision},
	{"unequal-pauses.yaml", cause.PCIe},
	{"needless-pauses.yaml", cause.Pause},
	{"resent-by-full-nics.yaml", cause.Collision},
	{"trimmed-and-discarded.yaml", cause.Collision},
	{"near-by-several-ports.yaml", cause.Latency},
	{"overtaken-on-full-uplinks.yaml", cause.Oversubscription},
	{"overtaking-flowlets.yaml", cause.Collision},
	{"credit-beside-a-slow-spine.yaml", cause.Collision},
	{"slow-from-midway.yaml", cause.Collision},
	{"ways-before-a-failure.yaml", cause.Retransmission},
	{"shorter-queues.yaml", cause.PCIe},
	{"hidden-round-trips.yaml", cause.Collision},
	{"steered-around-a-slow-spine.yaml", cause.Window},
	{"marked-on-a-slow-uplink.yaml", cause.Window},
	{"pauses-before-a-crowded-uplink.yaml", cause.Pause},
	{"two-receiving-ports.yaml", cause.Collision},
	{"sent-while-one-waited.yaml", cause.Retransmission},
	{"unmet-failure.yaml", cause.Collision},
	{"planes-of-a-bundle.yaml", cause.OnePort},
	{"windows-of-a-bundle.yaml", cause.OnePort},
	{"waits-of-a-bundle.yaml", cause.OnePort},
	{"unpaused-senders.yaml", cause.Pause},
	{"entropies-before-a-failure.yaml", cause.FailedCapacity},
	{"uneven-by-a-failure.yaml", cause.FailedCapacity},
	{"choice-of-receiving-ports.yaml", cause.SprayImbalance},
	{"losses-before-queues.yaml", cause.SprayImbalance},
	{"slow-port-of-a-bundle.yaml", cause.OnePort},
}

// savings reads a drawn scenario.
func savings(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "savings", file))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestManyMessages checks savings of a run whose replays would change rates too often: 26,000 messages, each spread
// over all uplinks of a rail because one of these is slow.
func TestManyMessages(t *testing.T) {
	config := []byte(`{"model_type": "llama", "hidden_size": 4096, "intermediate_size": 11008,
		"num_attention_heads": 32, "num_key_value_heads": 32, "num_hidden_layers": 4, "vocab_size": 32000}`)
	s := &whatif.Scenario{Name: "many.yaml", Text: []byte(savings(t, "slow-uplink-of-a-pod.yaml")),
		Read: func(string) ([]byte, error) { return config, nil }}
	with, err := s.Run(&cause.Change{}, whatif.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	known, step := facts.Of(with.Plan), with.Summary.StepTime
	for _, id := range []cause.ID{cause.Collision, cause.SlowLink} {
		change := id.Get().Without(known)
		without, err := s.Run(&change, whatif.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		saved, said := step-without.Summary.StepTime, with.Summary.Chain.Saves(id)
		if 10*abs(said-saved) > saved {
			t.Errorf("without %s the step of %d ps is said to take %d ps less, and takes %d less", id.Get().Name, step, said, saved)
		}
	}
	if ids := with.Summary.Chain.Overlapped(); !slices.Equal(ids, []cause.ID{cause.SlowLink}) {
		t.Errorf("overlapped: %v", ids)
	}
}

// TestSavings checks estimates of savings against runs without the cause. A run that takes longer without it saves
// nothing.
func TestSavings(t *testing.T) {
	for _, c := range drawn {
		t.Run(c.file, func(t *testing.T) {
			s := &whatif.Scenario{Name: c.file, Text: []byte(savings(t, c.file))}
			limits := whatif.Limits{Time: 50 * unit.Millisecond}
			with, err := s.Run(&cause.Change{}, limits)
			if err != nil {
				t.Fatal(err)
			}
			known := facts.Of(with.Plan)
			facts.Count(known, with.Summary)
			change := c.id.Get().Without(known)
			without, err := s.Run(&change, limits)
			if err != nil {
				t.Fatal(err)
			}
			step := with.Summary.StepTime
			saved, said := max(0, step-without.Summary.StepTime), with.Summary.Chain.Saves(c.id)
			if d := abs(said - saved); 50*d > step && 5*d > saved {
				t.Errorf("without %s the step of %d ps is said to take %d ps less, and takes %d less", c.id.Get().Name,
					step, said, saved)
			}
		})
	}
}

// TestReplayOfTheRun checks that the replay which leaves nothing out takes as long as the run.
func TestReplayOfTheRun(t *testing.T) {
	texts := map[string]string{"training.yaml": savings(t, "training.yaml")}
	for _, c := range drawn {
		texts[c.file] = savings(t, c.file)
	}
	for name, text := range texts {
		t.Run(name, func(t *testing.T) {
			r := load(t, text)
			if err := r.Go(nil); err != nil {
				t.Fatal(err)
			}
			replayed, took := explain.Replayed(r.Plan, r.Exec, r.Observe())
			if d := abs(int64(replayed - took)); 100*d > int64(took) {
				t.Errorf("the replay takes %v, the run %v", replayed, took)
			}
		})
	}
}

// TestSavingOfSprayedAllToAll checks what the account expects of an all-to-all without its ECMP hash collisions: as
// much as a sprayed run saves. A non-blocking fabric has room for all bytes: DCQCN has nothing left to react to.
func TestSavingOfSprayedAllToAll(t *testing.T) {
	const text = "fabric: {kind: rail, hosts: 4, segments: 4, spines: 4, host_link: {rate: 400Gbps}}\n" +
		"server: {gpus: 1, nics: 1}\nworkload: {traffic: {alltoall: {bytes: 16MB}}}\n"
	r, s, _ := runAll(t, text)
	without := cause.ID(cause.Collision).Get().Without(facts.Of(r.Plan))
	_, other, _ := runAll(t, text, without.Set...)
	saved, expected := s.StepTime-other.StepTime, s.Chain.Saving[cause.Collision]
	if d := expected - saved; abs(d) > saved/50 || s.Chain.Reaction[cause.Collision] == 0 {
		t.Errorf("%d expected, %d saved of %d ps; %+v", expected, saved, s.StepTime, s.Chain)
	}
}
