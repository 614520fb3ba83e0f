package web

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"railyard/internal/cause"
	"railyard/internal/report"
	"railyard/internal/result"
	"railyard/unit"
)

// TestOneRule checks shipped scenarios: the terminal, the page's title, table and bar, and the card name the same main
// cause first and give each cause one figure. A saving above that figure says what else the run is without, and where
// another cause costs more than the main one a sentence says why it does not lead.
func TestOneRule(t *testing.T) {
	s, _ := server(t, "")
	for _, name := range []string{"two-jobs", "victim", "three-flows", "incast-seed", "pfc-cascade", "reorder-memory",
		"three-flows-bursts", "dcqcn-sequence"} {
		text, err := os.ReadFile("../../../scenarios/" + name + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		j, err := s.jobs.start(request{Text: string(text)})
		if err != nil {
			t.Fatal(err)
		}
		run := await(t, s, j.ID).Run
		sum, err := result.ReadSummary(filepath.Join(s.Root, run))
		if err != nil {
			t.Fatal(err)
		}
		a := decoded[Answer](t, s, "/api/runs/"+run+"/answer")
		cards, err := List(s.Root)
		if err != nil {
			t.Fatal(err)
		}
		card := cards[slices.IndexFunc(cards, func(e Entry) bool { return e.Name == run })]
		if _, main, _ := strings.Cut(report.Answer(sum), "; main cause: "); main != a.Main || main != card.Main ||
			!strings.HasPrefix(main, a.Losses[0].Name) || a.Losses[0].Name != a.Rows[0].Name {
			t.Errorf("%s: the first line has %q, the page %q, the card %q, the first row %q", name, main, a.Main, card.Main,
				a.Rows[0].Name)
		}
		figure, most := map[string]int64{}, int64(0)
		for _, x := range slices.Concat(a.Rows, a.Below) {
			if x.After {
				continue
			}
			c, _ := cause.Find(x.Key)
			figure[x.Key], most = x.Time, max(most, x.Time)
			saves := unit.Time(sum.Chain.Saving[c.ID]).Show()
			if over := sum.Chain.Saving[c.ID] - x.Time; float64(over) >= result.Chance*float64(sum.StepTime) &&
				10*over >= sum.Chain.Saving[c.ID] &&
				strings.Contains(x.Saves, saves) && !strings.Contains(x.Saves, "with") && !strings.Contains(x.Saves, "of other causes") {
				t.Errorf("%s: %s costs %d ps and %s", name, x.Name, x.Time, x.Saves)
			}
		}
		if costs := figure[a.Rows[0].Key]; most > costs && a.Reason == "" {
			t.Errorf("%s: %s leads with %d ps, another costs %d, without a reason", name, a.Rows[0].Name, costs, most)
		}
		for i := 1; i < len(a.Losses); i++ {
			if x, y := a.Losses[i-1], a.Losses[i]; i > 1 && x.Own+x.Reaction < y.Own+y.Reaction {
				t.Errorf("%s: %s before %s", name, x.Name, y.Name)
			}
		}
		if a.Rows[0].Key == "reorder_memory" && a.Place != nil {
			t.Errorf("%s: memory of NICs is at %s", name, a.Place.Name)
		}
		bar := map[string]int64{}
		for _, p := range a.Parts {
			for _, c := range p.Causes {
				bar[c.Key] += c.Time
			}
		}
		for _, c := range card.Causes {
			if x, is := figure[c.Key]; bar[c.Key] != c.Time || is && x != c.Time {
				t.Errorf("%s: %s is %d ps on the card, %d in the bar, %d in the table", name, c.Key, c.Time, bar[c.Key], x)
			}
		}
	}
}
