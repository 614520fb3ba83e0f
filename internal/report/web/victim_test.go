package web

import (
	"os"
	"testing"
)

// TestVictimPicture checks that the answer of a run that pauses delay has the flow that does not end at the incast, the
// incast's senders and its receiver, and that a run without pauses has none.
func TestVictimPicture(t *testing.T) {
	text, err := os.ReadFile("../../../scenarios/victim.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s, _ := server(t, "")
	for set, want := range map[string]bool{"seed=1": true, "cc.algorithm=swift": false} {
		j, err := s.jobs.start(request{Text: string(text), Sets: []string{set}})
		if err != nil {
			t.Fatal(err)
		}
		v := decoded[Answer](t, s, "/api/runs/"+await(t, s, j.ID).Run+"/answer").Victim
		if !want {
			if v != nil {
				t.Errorf("%s: %+v", set, v)
			}
			continue
		}
		if v == nil || v.From != "host-8" || v.To != "host-10" || v.Receiver != "host-9" || len(v.Senders) != 7 ||
			v.Flows != 7 || len(v.Path) < 3 {
			t.Errorf("%s: %+v", set, v)
		}
	}
}
