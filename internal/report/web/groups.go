package web

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"railyard/internal/cause"
	"railyard/internal/result"
	"railyard/internal/study/sweep"
)

// one is a compared run, or the runs of a study that differ by seed alone.
type one struct {
	name     string
	summary  result.Summary // of the first
	settings map[string]string
	seeds    []*result.Summary // of all, by seed
}

// steps are the step times by seed, and their mean.
func (x *one) steps() (all []float64, mean float64) {
	for _, s := range x.seeds {
		all = append(all, float64(s.StepTime))
		mean += float64(s.StepTime) / float64(len(x.seeds))
	}
	return all, mean
}

// figures returns the means of all figures over the seeds.
func (x *one) figures() (of sweep.Means) {
	for _, f := range sweep.Figures {
		sum := 0.0
		for _, s := range x.seeds {
			sum += f.Of(s)
		}
		of = append(of, sum/float64(len(x.seeds)))
	}
	return of
}

// causes returns the mean parts of the step by cause.
func (x *one) causes() []CauseTime {
	var sum cause.Account
	for _, s := range x.seeds {
		if s.Chain == nil {
			return []CauseTime{}
		}
		for i := range sum.Own {
			sum.Own[i] += s.Chain.Own[i]
			sum.Reaction[i] += s.Chain.Reaction[i]
		}
	}
	for i := range sum.Own {
		sum.Own[i] /= int64(len(x.seeds))
		sum.Reaction[i] /= int64(len(x.seeds))
	}
	return causesOf(&sum)
}

// bySeed puts runs of a study that differ by seed alone together, each group where its first run is. Labels are those
// of the study's command.
func bySeed(all []one, labels []string) (groups []one, names []string) {
	at := map[string]int{}
	for i := range all {
		settings := maps.Clone(all[i].settings)
		delete(settings, sweep.SeedKey)
		key := labels[i]
		for _, k := range slices.Sorted(maps.Keys(settings)) {
			key += "\n" + k + "=" + settings[k]
		}
		g, known := at[key]
		if !known {
			g, at[key] = len(groups), len(groups)
			groups, names = append(groups, one{all[i].name, all[i].summary, settings, nil}), append(names, labels[i])
		}
		groups[g].seeds = append(groups[g].seeds, &all[i].summary)
	}
	for g := range groups {
		slices.SortStableFunc(groups[g].seeds, func(a, b *result.Summary) int { return cmp.Compare(a.Seed, b.Seed) })
		if len(groups[g].seeds) == 1 && len(groups) == len(all) { // each run has settings of its own
			return all, labels
		}
		groups[g].summary = *groups[g].seeds[0]
	}
	return groups, names
}

// rank fills in the ranking of runs by step time.
func (m *Many) rank(all []one) {
	mean := func(x *one) float64 { _, v := x.steps(); return v }
	slices.SortStableFunc(all, func(a, b one) int { return cmp.Compare(mean(&a), mean(&b)) })
	m.Title, m.Of = all[0].summary.Name, len(all)
	all = all[:min(len(all), maxMany)]
	steps := make([]float64, len(all))
	for i := range all {
		if steps[i] = mean(&all[i]); all[i].summary.Name != m.Title {
			m.Title = ""
		}
	}
	m.Unlike = unlike(all)
	keys := differing(all)
	values := make([][]string, len(keys))
	for k, key := range keys {
		for i := range all {
			values[k] = append(values[k], all[i].settings[key])
		}
	}
	effects, together, crossed := sweep.MainEffects(values, trialsOf(all))
	m.Together = together
	for k, key := range keys {
		share := sweep.Share(values[k], steps)
		if crossed {
			share = effects[k]
		}
		if key == sweep.SeedKey { // random variation, after the chosen settings
			share = -1
		}
		m.axis(key, values[k], share)
	}
	of := make([]sweep.Means, len(all))
	best, _ := all[0].steps()
	for i := range all {
		seeds, mean := all[i].steps()
		p := ManyPoint{Name: all[i].name, Low: slices.Min(seeds), High: slices.Max(seeds), Tie: mean == steps[0],
			Causes: all[i].causes()}
		if len(seeds) > 1 {
			p.Seeds = seeds
		}
		if diff, half, ok := result.Difference(seeds, best); ok && sameSeeds(&all[i], &all[0]) {
			p.Over = &[2]float64{diff, half}
			p.Tie, p.Noise = p.Tie || !result.Differ(seeds, best), result.Noisy(seeds, best)
		}
		m.Points, of[i] = append(m.Points, p), all[i].figures()
	}
	m.settle(keys, func(i int, key string) string { return all[i].settings[key] }, of,
		[]string{"step_time", "queue_peak"}, nil)
}

// trialsOf returns the step times of runs by seed; of runs with different seeds, their means.
func trialsOf(all []one) (out [][]float64) {
	same := true
	for i := range all {
		seeds, _ := all[i].steps()
		out, same = append(out, seeds), same && sameSeeds(&all[i], &all[0])
	}
	for i := 0; i < len(all) && !same; i++ {
		_, mean := all[i].steps()
		out[i] = []float64{mean}
	}
	return out
}

// sameSeeds reports whether two groups have runs of the same seeds.
func sameSeeds(a, b *one) bool {
	return slices.EqualFunc(a.seeds, b.seeds, func(x, y *result.Summary) bool { return x.Seed == y.Seed })
}

// differing returns the settings that differ: those of all runs before those of a single algorithm. One that another
// decides, as the parameters of an algorithm that only some runs have, and computed values, are left out. Seeds stay.
func differing(all []one) (keys []string) {
	absent := map[string]int{}
	for i := range all {
		for key := range all[i].settings {
			absent[key]++
		}
	}
	for key := range absent {
		absent[key] = len(all) - absent[key]
		v := all[0].settings[key]
		if slices.ContainsFunc(all, func(x one) bool { return x.settings[key] != v }) {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, func(a, b string) int {
		return cmp.Or(cmp.Compare(computed(a), computed(b)), cmp.Compare(absent[a], absent[b]), strings.Compare(a, b))
	})
	kept := keys[:0]
	for _, key := range keys {
		if key == sweep.SeedKey || !slices.ContainsFunc(kept, func(by string) bool {
			return by != sweep.SeedKey && decides(all, by, key)
		}) {
			kept = append(kept, key)
		}
	}
	return kept
}

// computed is 1 for a value that follows from settings.
func computed(key string) int {
	if strings.HasPrefix(key, "computed.") {
		return 1
	}
	return 0
}

// decides reports whether runs with the same value of one setting have the same value of another.
func decides(all []one, by, key string) bool {
	value, some := map[string]string{}, false
	for i := range all {
		v, known := value[all[i].settings[by]]
		if known && v != all[i].settings[key] {
			return false
		}
		some = some || known
		value[all[i].settings[by]] = all[i].settings[key]
	}
	return some // else every run has a value of its own
}
