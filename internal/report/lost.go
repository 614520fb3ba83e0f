package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"railyard/internal/cause"
	"railyard/internal/report/screen"
	"railyard/internal/result"
	"railyard/unit"
)

// worthALine is the minimum cost of a listed cause, or saving of a run without it, as a share of a step.
const worthALine = 0.005

// Loss is a row of the time above line rate on the critical path: what a cause costs, or the part of that in which
// congestion control recovers.
type Loss struct {
	Cause cause.ID
	After bool // the part of the row before
	Name  string
	Time  int64  // ps
	Saves string // saving of a run without the cause, and its source; "" if none is stated
}

// Account returns a run's account of lost time without what the bound of its one collective or set of flows contains:
// time in which messages wait for one another at a NIC or NVLink, until the bound; near it all of that time, since
// headers are not part of the bound.
func Account(s *result.Summary) (a *cause.Account, included int64) {
	if s.Chain == nil {
		return nil, 0
	}
	own := *s.Chain
	included = own.Own[cause.SharedNIC]
	switch c := s.Collectives; {
	case AtBound(s):
	case s.MFU > 0 || len(c) != 1 || c[0].Bound <= 0:
		return s.Chain, 0
	default:
		least := float64(s.StepTime) * c[0].BusBW / c[0].Bound
		room := max(0, int64(least)-(s.StepTime-own.Lost()))
		if room == 0 || float64(included-room) > (1-nearBound)*least {
			included = min(included, room)
		}
	}
	own.Own[cause.SharedNIC] -= included
	return &own, included
}

// Bound describes what Account leaves out, which is not a loss; "": nothing of 0.5 % of the step.
func Bound(s *result.Summary) string {
	_, included := Account(s)
	if included == 0 || float64(included) < worthALine*float64(s.StepTime) {
		return ""
	}
	c := &s.Collectives[0]
	what := "the collective's transfers"
	if c.Kind == "send-recv" {
		what = "flows"
	}
	lead := ""
	if AtBound(s) {
		lead = "Bound by " + c.BoundWhy + ": "
	}
	text := fmt.Sprintf("%s%s wait for one another, %s on the critical path, which the bound of %s GB/s includes.", lead, what,
		dur(included), unit.Digits(c.Bound/1e9))
	return upper(text)
}

// upper begins a sentence.
func upper(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// Gain returns what a run at its bound can still save, and in words, with its busiest NIC's payload; "" for runs that
// are not at it or lose no more than that.
func Gain(s *result.Summary) (left int64, text string) {
	account, _ := Account(s)
	if !AtBound(s) || s.Busiest == nil {
		return 0, ""
	}
	if left = max(0, s.StepTime-s.Busiest.Time); account.Lost() <= left {
		return left, ""
	}
	return left, fmt.Sprintf("At most %s (%s) to gain: %s.", dur(left), percent(float64(left)/float64(s.StepTime)),
		s.Busiest.Show())
}

// Losses returns the rows of at least 0.5 % of the step in the order of Ranked, and the smaller causes.
func Losses(s *result.Summary) (rows, minor []Loss) {
	c, _ := Account(s)
	if c == nil || s.StepTime <= 0 {
		return nil, nil
	}
	large := func(ps int64) bool { return float64(ps) >= worthALine*float64(s.StepTime) }
	for _, id := range Ranked(s, c) {
		note, outside := "", id.Get().Outside()
		if slices.Contains(s.Simulated, id.Get().Key) {
			note = saves(s, id, "simulated")
		} else if c.Expects() && !id.Get().Lasting && id != cause.Recovering && (!outside || c.Saving[id] != 0) {
			note = saves(s, id, "estimate")
		}
		x := Loss{Cause: id, Name: nameOf(s, id), Time: c.Costs(id), Saves: note}
		switch {
		case large(x.Time):
			if rows = append(rows, x); large(c.Reaction[id]) {
				rows = append(rows, Loss{Cause: id, After: true, Name: "of it CC recovering", Time: c.Reaction[id]})
			}
		case x.Time > 0:
			minor = append(minor, x)
		}
	}
	return rows, minor
}

// cut prints claims of extensions' causes that exceeded the available time.
func cut(w io.Writer, s *result.Summary) {
	for _, text := range s.Cut {
		Labelled(w, "  Note: ", text)
	}
}

// lost prints the time above line rate on the critical path by cause and, where advised, what to change. Small causes
// become one closing line.
func lost(w io.Writer, s *result.Summary, advised bool) {
	if s.Unaccounted != "" {
		Labelled(w, "Note: ", s.Unaccounted)
	}
	rows, minor := Losses(s)
	if text := Bound(s); text != "" {
		Wrap(w, "", text)
	}
	if len(rows)+len(minor) == 0 {
		cut(w, s)
		return
	}
	account, _ := Account(s)
	left, gain := Gain(s)
	title := "Time above line rate on the critical path: " + dur(account.Lost())
	if gain != "" {
		Wrap(w, "", gain)
		title += fmt.Sprintf("; the bound includes %s", dur(account.Lost()-left))
	}
	fmt.Fprintln(w, title)
	t := screen.Table{Indent: "  ", Columns: []screen.Column{{}, {}, {}, {Left: true, Rare: true}}}
	for _, x := range rows {
		name := x.Name
		if x.After {
			name = "  " + name
		}
		t.AddStyled(screen.Warning, name, dur(x.Time), percent(float64(x.Time)/float64(s.StepTime)), x.Saves)
	}
	t.Print(w)
	if len(minor) > 0 {
		var below []string
		for _, x := range minor {
			below = append(below, x.Name+" "+dur(x.Time))
		}
		Labelled(w, "  below 0.5 %: ", strings.Join(below, ", "))
	}
	if text := Reason(s); text != "" {
		Wrap(w, "  ", text)
	}
	for _, id := range s.Chain.Overlapped() {
		if slices.ContainsFunc(rows, func(x Loss) bool { return x.Cause == id }) {
			continue
		}
		how := "estimate"
		if slices.Contains(s.Simulated, id.Get().Key) {
			how = "simulated"
		}
		if text := saves(s, id, how); text != "" {
			Labelled(w, "  overlapping: ", nameOf(s, id)+", "+text)
		}
	}
	cut(w, s)
	if !advised {
		return
	}
	for _, id := range s.Chain.Overlapped() {
		rows = append(rows, Loss{Cause: id})
	}
	for _, r := range remedies(s, rows) {
		text := remedy(r)
		if r.Tried {
			text += fmt.Sprintf("; simulated: %s, %s", dur(s.StepTime-r.Saved),
				unit.ShowChange(float64(s.StepTime-r.Saved), float64(s.StepTime)))
		}
		screen.Painted(w, screen.Remedy, "  Remedy: ", text)
	}
}

// mostRemedies is how many simulated remedies a report has.
const mostRemedies = 3

// remedies are the simulated ones that save most, and the first of each cause without such a one.
func remedies(s *result.Summary, rows []Loss) (some []*result.Remedy) {
	told := map[string]bool{} // causes and remedies
	for i := range s.Remedies {
		r := &s.Remedies[i]
		if r.Tried && !r.Refuted {
			if told[r.Cause] = true; len(some) < mostRemedies {
				some = append(some, r)
			}
		}
	}
	for _, x := range rows {
		key := x.Cause.Get().Key
		i := slices.IndexFunc(s.Remedies, func(r result.Remedy) bool { return r.Cause == key && !r.Refuted })
		if i < 0 || told[key] {
			continue
		}
		r := &s.Remedies[i]
		if text := remedy(r); !told[text] {
			told[text], some = true, append(some, r)
		}
		told[key] = true
	}
	return some
}

// Reason describes why the main cause is that, where its cost does not show it: another one costs more, or it costs
// more than a run without it saves. "": its cost shows it, or there is none.
func Reason(s *result.Summary) string {
	account, _ := Account(s)
	id, is := MainID(s)
	if !is || AtBound(s) {
		return ""
	}
	saving := s.Chain.Saving[id]
	without := fmt.Sprintf("Without %s", nameOf(s, id))
	largest := slices.MaxFunc(account.Ranked(0), func(x, y cause.ID) int {
		return cmp.Compare(account.Costs(x), account.Costs(y))
	})
	switch {
	case account.Costs(largest) > max(saving, account.Costs(id)):
		return costsMore(s, largest)
	case account.Costs(largest) > account.Costs(id):
		return fmt.Sprintf("%s a run saves %s, more than %s %s.", without, dur(saving), nameOf(s, largest),
			verb(nameOf(s, largest)))
	case s.Busiest != nil && float64(s.Chain.Beyond[id]) >= worthALine*float64(s.StepTime):
		return fmt.Sprintf("No network saves more than %s of %s: %s.", dur(max(0, saving)), nameOf(s, id), s.Busiest.Show())
	case slices.Contains(s.Simulated, id.Get().Key) && 2*saving < account.Costs(id):
		return fmt.Sprintf("%s alone a run saves %s: other causes then cost more.", without, dur(saving))
	}
	return ""
}

// costsMore describes why a cause that costs more than the main one does not lead.
func costsMore(s *result.Summary, id cause.ID) string {
	saves := "saves nothing"
	switch saving := s.Chain.Saving[id]; {
	case saving > 0:
		saves = "saves " + dur(saving)
	case saving < 0:
		saves = fmt.Sprintf("takes %s longer", dur(-saving))
	}
	if s.Chain.Saving[id] != 0 && !slices.Contains(s.Simulated, id.Get().Key) {
		saves += " (estimate)"
	}
	return fmt.Sprintf("%s %s more, but a run without that %s.", upper(nameOf(s, id)), verb(nameOf(s, id)), saves)
}

// verb is the predicate of a cause that costs time.
func verb(name string) string {
	if strings.HasSuffix(name, "s") && !strings.HasSuffix(name, "ss") {
		return "cost"
	}
	return "costs"
}

// saves describes the saving of a run without a cause, and its source; "" if it is negligible.
func saves(s *result.Summary, id cause.ID, how string) string {
	saving := s.Chain.Saving[id]
	alone := "alone"
	for _, c := range cause.FromOutside() { // a run without the whole cause is without its parts
		if c.From == id && s.Chain.Own[c.ID] > 0 {
			alone = "with " + c.Name
		}
	}
	if n := len(s.SlowRanks); id == cause.SlowRank && n > 1 {
		if alone = "for both ranks together"; n > 2 {
			alone = fmt.Sprintf("for all %d ranks together", n)
		}
	}
	share := float64(saving) / float64(s.StepTime)
	costs := s.Chain.Costs(id)
	if more := saving - costs; alone == "alone" && float64(more) >= result.Chance*float64(s.StepTime) && 10*more >= saving &&
		float64(costs) >= worthALine*float64(s.StepTime) {
		wide := id.Get().Wide
		if id == cause.Window && len(s.LinkEvents) > 0 && s.DropsDown+s.DropsNoRoute > 0 {
			wide += " and failures"
		}
		alone = cmp.Or(wide, fmt.Sprintf("alone, %s of it of other causes", dur(more)))
	}
	switch {
	case float64(s.Chain.Beyond[id]) >= worthALine*float64(s.StepTime):
		return fmt.Sprintf("saves %s at most (busiest NIC)", dur(saving))
	case how == "simulated" && saving != 0 && max(share, -share) < result.Chance:
		return fmt.Sprintf("saves less than %s %s (simulated)", percent(result.Chance), alone)
	case float64(-saving) >= worthALine*float64(s.StepTime):
		return fmt.Sprintf("%s longer without it (%s)", dur(-saving), how)
	case saving <= 0:
		return fmt.Sprintf("saves nothing %s (%s)", alone, how)
	case float64(saving) < worthALine*float64(s.StepTime) && how == "estimate":
		return ""
	default:
		return fmt.Sprintf("saves %s %s (%s)", dur(saving), alone, how)
	}
}
