package counters

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// always lists the formats that every system has: a clock.
var always = []Format{{Name: "date", About: "the clock: date +%s.%N", Command: "date +%s.%N",
	command: regexp.MustCompile(`^(?:(?:run )?bash )?date\b`),
	read:    readDate, write: writeDate}}

// epoch is seconds since 1970, with a fraction.
var epoch = regexp.MustCompile(`^(\d{1,12})(?:\.(\d{1,9}))?$`)

func readDate(r *reading) {
	for _, l := range r.lines {
		s := strings.TrimSpace(l.text)
		if s == "" {
			continue
		}
		m := epoch.FindStringSubmatch(s)
		if m == nil {
			r.not(l, "is no time in seconds: date +%%s.%%N prints one")
			continue
		}
		sec, _ := strconv.ParseInt(m[1], 10, 64)
		ns, _ := strconv.ParseInt((m[2] + "000000000")[:9], 10, 64)
		r.At = Moment{Seconds: sec, Nanos: ns, Line: l.n, Is: true}
	}
}

func writeDate(w *bytes.Buffer, s *Snapshot) {
	if s.At.Is {
		fmt.Fprintf(w, "%d.%09d\n", s.At.Seconds, s.At.Nanos)
	}
}
