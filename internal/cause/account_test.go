package cause

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// draw fills an account with random values.
func draw(t *rapid.T) (a Account) {
	for i := range all {
		a.Own[i] = rapid.Int64Range(0, 1e12).Draw(t, "own")
		if all[i].Trigger {
			a.Reaction[i] = rapid.Int64Range(0, 1e12).Draw(t, "reaction")
		}
		a.Saving[i] = rapid.Int64Range(0, 1e12).Draw(t, "saving")
	}
	return a
}

// TestAccounts checks that accounts parse from JSON unchanged, that sums add up, and that no time counts twice. The
// times of all causes sum to the whole, and so do their costs.
func TestAccounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := draw(t), draw(t)
		text, err := json.Marshal(a)
		var back Account
		if err != nil || json.Unmarshal(text, &back) != nil || back != a {
			t.Fatalf("%s: %v, %+v", text, err, back)
		}
		sum := a
		sum.Add(&b)
		if sum.Total() != a.Total()+b.Total() || sum.Lost() != a.Lost()+b.Lost() {
			t.Fatalf("%+v and %+v make %+v", a, b, sum)
		}
		shown := int64(0)
		for _, c := range All() {
			shown += a.Of(c.ID)
		}
		if shown != a.Total() {
			t.Fatalf("%d are shown of %d", shown, a.Total())
		}
		saved := int64(0)
		ranked := a.Ranked(0)
		for i, id := range ranked {
			saved += a.Costs(id)
			if id == Compute || id == LineRate {
				t.Fatalf("%s is not a loss", id.Get().Name)
			}
			if i == 0 {
				continue
			}
			x, y := a.weight(ranked[0], 0, nil), a.weight(id, 0, nil)
			if x < y || x == y && a.Costs(ranked[0]) < a.Costs(id) || i > 1 && a.Costs(ranked[i-1]) < a.Costs(id) {
				t.Fatalf("%v is not ranked by %+v", ranked, a)
			}
		}
		if saved != a.Lost() {
			t.Fatalf("causes cost %d of %d that are lost", saved, a.Lost())
		}
	})
}

// TestEveryCause checks the registry. Each cause is at the index of its number and has names, a colour and
// functions. No function panics for a run without data.
func TestEveryCause(t *testing.T) {
	keys, names, colors := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for i, c := range All() {
		if c.ID != ID(i) || c.Key == "" || c.Name == "" || c.About == "" || strings.HasSuffix(c.About, ".") ||
			!regexp.MustCompile(`^#[0-9a-f]{6}$`).MatchString(c.Color) {
			t.Errorf("%+v at %d", c, i)
		}
		if keys[c.Key] || names[c.Name] || colors[c.Color] {
			t.Errorf("%s: its key, name or colour is another's too", c.Name)
		}
		keys[c.Key], names[c.Name], colors[c.Color] = true, true, true
		for _, f := range []Facts{{}, {Transport: "roce", CC: "dcqcn", LB: "ecmp", Recovery: "go-back-n"}} {
			w := c.Without(&f)
			if w.IsPossible() == (len(w.Set)+len(w.Drop)+len(w.Edits) == 0) {
				t.Errorf("%s: without it there is neither a run nor a reason, or both: %+v", c.Name, w)
			}
			for _, r := range c.Remedies(&f) {
				if r.Says == "" || !r.IsPossible() || len(r.Set)+len(r.Drop)+len(r.Edits) == 0 {
					t.Errorf("%s: a remedy that changes nothing: %+v", c.Name, r)
				}
			}
		}
		if _, ok := Find(c.Key); !ok {
			t.Errorf("%s is not found", c.Key)
		}
	}
}

// TestFewUplinks checks that a fabric of few uplinks, over which hashing is uneven, has four times as many as a remedy
// next to twice as many, and one of many has not.
func TestFewUplinks(t *testing.T) {
	for uplinks, want := range map[int]int{1: 2, 2: 2, 4: 1} {
		if got := moreFabric(&Facts{Uplinks: uplinks}); len(got) != want {
			t.Errorf("%d uplinks: %+v", uplinks, got)
		}
	}
}
