package jobscript

import "strings"

// Main returns the launch of the job: the one with a known program, or else the one under a launcher with the most
// words. It returns nil if the script starts none.
func (f *Found) Main() *Launch {
	var best *Launch
	most := 0
	for i := range f.Launches {
		l := &f.Launches[i]
		score := min(len(l.Args), 999)
		if l.Step != nil || l.Elastic != nil {
			score += 1000
		}
		if l.Elastic != nil || l.Python && l.Program != "python -c" {
			score += 1000
		}
		if benchmark(l.Program) || strings.HasSuffix(l.Program, "railyard") {
			score += 4000
		}
		for _, a := range l.Args {
			if f, ok := byName[plainName(strings.SplitN(a.Text, "=", 2)[0])]; ok && f.key != "config" {
				score += 1000
			}
		}
		if score > most || best == nil { // the first of several equal ones
			best, most = l, score
		}
	}
	return best
}
