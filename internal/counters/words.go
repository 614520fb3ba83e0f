package counters

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/field"
)

// number reads a counter as tables print it: 1234, 1,234; N/A and - are no answer. Commas precede each three digits:
// 1,23 is a truncated number.
func number(s string, at line) (c Count, ok bool) {
	if s == "N/A" || s == "n/a" || s == "-" || s == "--" {
		return Count{}, true
	}
	if first := strings.IndexByte(s, ','); first >= 0 {
		groups := strings.Split(s, ",")
		for _, g := range groups[1:] {
			if len(g) != 3 {
				return Count{}, false
			}
		}
		if first == 0 || first > 3 {
			return Count{}, false
		}
		s = strings.Join(groups, "")
	}
	v, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return Count{}, false
	}
	return Count{V: v, Line: at.n, Is: true}, true
}

// tooLarge reports whether a number needs more than 64 bits.
func tooLarge(s string) bool {
	s = strings.ReplaceAll(s, ",", "")
	return len(s) > 19 && strings.Trim(s, "0123456789") == ""
}

// text returns a counter for a table, with N/A for none.
func (c Count) String() string {
	if !c.Is {
		return "N/A"
	}
	return strconv.FormatUint(c.V, 10)
}

// zero returns the counter with 0 for unknown, for outputs that have no word for that.
func (c Count) zero() string { return strconv.FormatUint(c.V, 10) }

// grouped is a number with commas, as SONiC prints.
func (c Count) grouped() string {
	s := c.String()
	if !c.Is {
		return s
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// rule reports a line that only draws: dashes, plus signs, equals signs.
func rule(s string) bool { return strings.Trim(s, "-=+| \t") == "" }

// anyOf reports whether one of the counters is present.
func anyOf(cs ...Count) bool { return slices.ContainsFunc(cs, func(c Count) bool { return c.Is }) }

// said reports whether one of eight is present.
func said(cs *[Priorities]Count) bool { return anyOf(cs[:]...) }

// quote returns a word for a message, of a bounded length.
func quote(s string) string {
	if s == "" {
		return "nothing"
	}
	return field.Quote(s)
}

// always lists the formats that every system has: a clock.
var always = []Format{{Name: "date", About: "the clock: date +%s.%N", Command: "date +%s.%N",
	command: regexp.MustCompile(`^(?:(?:run )?bash )?date\b`),
	read:    readDate, write: writeDate},
	{Name: "clock", About: "the clock: show clock of NX-OS or EOS",
		command: regexp.MustCompile(`^sh\w* clo\w*$`), head: clocked,
		read: readClock, write: func(*bytes.Buffer, *Snapshot) {}}} // sessions have date

// clocked matches a switch's clock. NX-OS marks one that is not synchronized by * or a dot; EOS shows whole seconds.
// The name of the time zone is no offset, so that the time is the device's own.
var clocked, clockedEOS = regexp.MustCompile(`^[*.]?(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))? \S{1,9} ` +
	`[A-Z][a-z]{2} ([A-Z][a-z]{2}) +(\d{1,2}) (\d{4})$`),
	regexp.MustCompile(`^[A-Z][a-z]{2} ([A-Z][a-z]{2}) +(\d{1,2}) (\d\d):(\d\d):(\d\d) (\d{4})$`)

// clockAbout matches lines next to the clock: its zone and source.
var clockAbout = regexp.MustCompile(`^(?:Time ?zone|Time source|Clock source)\b`)

func readClock(r *reading) {
	for _, l := range r.lines {
		s := strings.TrimSpace(l.text)
		if s == "" || clockAbout.MatchString(s) {
			continue
		}
		m := clocked.FindStringSubmatch(s)
		if e := clockedEOS.FindStringSubmatch(s); e != nil {
			m = []string{"", e[3], e[4], e[5], "", e[1], e[2], e[6]}
		}
		at, ok := momentOf(m)
		if !ok {
			r.not(l, "is not a time as 10:00:10.000 UTC Mon Nov 30 2026; date +%%s.%%N prints one that is read")
			continue
		}
		at.Line, r.At = l.n, at
	}
}

// momentOf returns the time of clocked's groups.
func momentOf(m []string) (at Moment, ok bool) {
	if m == nil {
		return at, false
	}
	n := func(i int) int64 { v, _ := strconv.ParseInt(m[i], 10, 64); return v }
	month := int64(slices.Index(strings.Fields("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec"), m[5]))
	hour, minute, second, day, year := n(1), n(2), n(3), n(6), n(7)
	if month < 0 || day < 1 || day > 31 || hour > 23 || minute > 59 || second > 60 || year < 1970 {
		return at, false
	}
	if month -= 2; month < 0 { // a year begins with March, so that a leap day is its last
		month, year = month+12, year-1
	}
	days := 365*year + year/4 - year/100 + year/400 + (153*month+2)/5 + day - 1 - 719_468
	ns, _ := strconv.ParseInt((m[4] + "000000000")[:9], 10, 64)
	return Moment{Seconds: ((days*24+hour)*60+minute)*60 + second, Nanos: ns, Is: true}, true
}

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
			r.not(l, "is not a time in seconds: date +%%s.%%N prints one")
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
