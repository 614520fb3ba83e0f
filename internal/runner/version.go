package runner

import (
	"runtime/debug"
)

// Release is the version people speak of; a change of results raises it.
const Release = "0.1.0"

// Version is the release, with the commit where the build recorded one (go
// build does, go run does not).
func Version() string {
	v, dirty := Release, ""
	if b, ok := debug.ReadBuildInfo(); ok {
		for _, s := range b.Settings {
			switch {
			case s.Key == "vcs.revision" && len(s.Value) >= 12:
				v += "+" + s.Value[:12]
			case s.Key == "vcs.modified" && s.Value == "true":
				dirty = "-dirty"
			}
		}
	}
	return v + dirty
}
