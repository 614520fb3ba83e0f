package scenario_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"railyard/internal/exec"
	"railyard/internal/field"
	"railyard/internal/long"
	"railyard/internal/scenario"
	"railyard/internal/sim"
)

const small = `{"model_type":"llama","hidden_size":256,"num_hidden_layers":4,"num_attention_heads":8,
		"intermediate_size":512,"vocab_size":1000}`

// For any numbers within their bounds a scenario is rejected at a key, or it runs. No figure of its summary is
// negative, and no share exceeds 1. Runs end after a short time, and their results until then are checked, too.
func TestFiguresWithinTheBounds(t *testing.T) {
	drawn := scenario.Drawn()
	var keys []string
	for k := range drawn {
		if !strings.HasPrefix(k, "fabric.") || strings.Contains(k, "link.") ||
			strings.HasPrefix(k, "fabric.p") && k != "fabric.pods" && k != "fabric.planes" {
			keys = append(keys, k) // the size of the fabric stays
		}
	}
	slices.Sort(keys)
	r := rand.New(rand.NewPCG(1, 2))
	ran, refused := 0, map[string]bool{}
	n := long.N(200, 2000)
	for i := range n {
		text := "fabric: {kind: rail, hosts: 2, spines: 2}\nserver: {gpus: 2, nics: 2}\n"
		training := i%3 == 0
		if training {
			text += "workload: {training: {model: small.json, tp: 2, pp: 1, dp: 2, global_batch: 4, " +
				"sequence: 64, kernels: fused}}\n"
		} else {
			text += "workload: {traffic: {" + []string{"permutation", "alltoall"}[i%2] +
				": {bytes: 300KB}}}\n"
		}
		var sets []string
		for range 1 + r.IntN(3) {
			key := keys[r.IntN(len(keys))]
			share := []float64{0, 1, r.Float64(), r.Float64()}[r.IntN(4)]
			if !training && strings.HasPrefix(key, "workload.training") {
				continue
			}
			sets = append(sets, key+"="+drawn[key](share))
		}
		if err := figures(t, text, sets); err != nil {
			refused[strings.Join(sets, " ")] = true
		} else {
			ran++
		}
	}
	if ran < n/8 || len(refused) < n/25 {
		t.Errorf("%d ran, %d were refused: the property was hardly tried", ran, len(refused))
	}
}

func figures(t *testing.T, text string, sets []string) error {
	d, err := scenario.Parse("x.yaml", []byte(text), sets)
	if err != nil {
		t.Errorf("%v: %v: within its bounds", sets, err)
		return err
	}
	p, err := d.Resolve(func(string) ([]byte, error) { return []byte(small), nil })
	if err != nil {
		if field.All(err) == nil {
			t.Errorf("%v: %v: has no place", sets, err)
		}
		return err
	}
	run, err := sim.New(p)
	if err != nil {
		return err
	}
	looks := 0
	soon := func(exec.Progress) bool { looks++; return looks < 4 }
	if err := run.Go(soon); err != nil && !strings.Contains(err.Error(), "stuck") {
		t.Logf("%v: %v", sets, err)
	}
	s, _, _ := run.Outcome("test")
	b, err := json.Marshal(s)
	if err != nil {
		t.Errorf("%v: %v", sets, err) // NaN and infinities have no JSON
		return nil
	}
	var all any
	json.Unmarshal(b, &all)
	check(t, fmt.Sprint(sets), "", all)
	return nil
}

// check checks all figures of a summary.
func check(t *testing.T, what, key string, v any) {
	t.Helper()
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			check(t, what, key+"."+k, x)
		}
	case []any:
		for _, x := range v {
			check(t, what, key, x)
		}
	case float64:
		share := strings.HasSuffix(key, "utilisation") || strings.HasSuffix(key, "mfu") ||
			strings.HasSuffix(key, "share")
		if v < 0 || share && v > 1 {
			t.Errorf("%s: %s is %v", what, key, v)
		}
	}
}
