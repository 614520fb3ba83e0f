package counters

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"railyard/unit"
)

// Lines of show interface, in NX-OS' and EOS' words.
var (
	ifHead = regexp.MustCompile(`^([A-Za-z][\w-]*\d[\w/.]*) is (up|down|administratively down|` + `errdisabled)\b`)
	// otherHead is a heading without the name of an interface that can be read.
	otherHead = regexp.MustCompile(`^\S+(?: \d+)* is (?:up|down|administratively down|errdisabled)\b`)

	// ifPart matches lines that a paragraph has once, for any counters.
	ifPart  = regexp.MustCompile(`^RX$|^TX$|\bPAUSE (?:in|out)put$`)
	ifMTU   = regexp.MustCompile(`\bMTU (\d+) bytes\s*,\s*BW (\d+) [kK]bit`)
	ifFlaps = regexp.MustCompile(`^(\d+) (interface resets|link status changes)`)
	ifWords = regexp.MustCompile(`(\d+) (input packets|output packets|packets input|packets output|bytes|` +
		`CRC|symbol|` +
		`giants|input errors?|output errors?|input discards?|output discards?|[RT]x pause)`)
)

// readInterfaces reads a paragraph an interface.
func readInterfaces(r *reading) {
	name, out := "", false
	seen := map[*Count]bool{}     // of the paragraph
	headings := map[string]bool{} // within it
	for _, l := range r.lines {
		if m := ifHead.FindStringSubmatch(l.text); m != nil {
			name, out = longName(m[1]), false
			clear(seen)
			clear(headings)
			r.port(name, l).Up = Said[bool]{m[2] == "up", l.n, true}
			continue
		}
		if otherHead.MatchString(l.text) {
			r.not(l, "names no interface")
			name = ""
		}
		if name == "" {
			continue // a banner, or the rest of a line
		}
		s := strings.TrimSpace(l.text)
		if m := ifPart.FindString(s); m != "" && r.again(headings, m, name, l) {
			name = ""
			continue
		}
		p := r.port(name, l)
		if m := ifMTU.FindStringSubmatch(s); m != nil {
			mtu, err1 := strconv.ParseInt(m[1], 10, 32)
			kbit, err2 := strconv.ParseInt(m[2], 10, 40)
			if err1 != nil || err2 != nil {
				r.not(l, "has an MTU or a rate beyond all bounds")
				continue
			}
			p.MTU = Said[unit.Bytes]{unit.Bytes(mtu), l.n, true}
			p.Speed = Said[unit.Rate]{unit.Rate(kbit) * unit.Kbps, l.n, true}
		} else if m := ifFlaps.FindStringSubmatch(s); m != nil {
			take(m[1:], l, &p.Flaps)
		}
		switch { // direction of the bytes in the following lines
		case s == "TX" || strings.Contains(s, "packets output"):
			out = true
		case s == "RX" || strings.Contains(s, "packets input"):
			out = false
		}
		if strings.HasPrefix(s, "Load-Interval") || strings.Contains(s, "bits/sec") || strings.Contains(s, "bps") {
			continue
		}
		for _, at := range ifWords.FindAllStringSubmatchIndex(s, -1) {
			n, word := s[at[2]:at[3]], s[at[4]:at[5]]
			if word == "bytes" && !strings.Contains(s, "packets") {
				continue // IP MTU 1500 bytes (default)
			}
			if !alone(s[:at[2]]) {
				r.not(l, "has more than a number before %q", word)
			} else if to := p.word(word, out); to != nil && seen[to] {
				r.not(l, "is a second value of %s: the name of an interface is missing between them; none of both is read", name)
				p.Uncount()
				name = ""
				break
			} else if to != nil {
				take([]string{n}, l, to)
				seen[to] = true
			}
		}
	}
}

// alone reports whether a number may begin after a text: not within a word, and not after another number, whose
// digits it could continue.
func alone(before string) bool {
	words := strings.TrimRight(before, " \t")
	return words == "" || strings.ContainsAny(before[len(before)-1:], " \t,(") &&
		(words[len(words)-1] < '0' || words[len(words)-1] > '9')
}

// word is the counter that a word of show interface is about.
func (p *Port) word(w string, out bool) *Count {
	switch strings.TrimSuffix(w, "s") {
	case "input packet", "packets input":
		return &p.RxPackets
	case "output packet", "packets output":
		return &p.TxPackets
	case "byte":
		if out {
			return &p.TxBytes
		}
		return &p.RxBytes
	case "CRC":
		return &p.CRC
	case "symbol":
		return &p.Symbol
	case "giant":
		return &p.Giants
	case "input error":
		return &p.InErrors
	case "output error":
		return &p.OutErrors
	case "input discard":
		return &p.InDiscards
	case "output discard":
		return &p.OutDiscards
	case "Rx pause":
		return &p.RxPause
	case "Tx pause":
		return &p.TxPause
	}
	return nil
}

// tells reports whether show interface has values for a port.
func (p *Port) tells() bool {
	return p.MTU.Is || p.Speed.Is || anyOf(p.Flaps, p.CRC, p.Symbol, p.Giants)
}

func writeNXOSInterface(w *bytes.Buffer, s *Snapshot) {
	for i := range s.Ports {
		p := &s.Ports[i]
		if !p.tells() {
			continue
		}
		fmt.Fprintf(w, "%s is %s\nadmin state is up, Dedicated Interface\n", p.Name, p.state("up", "down"))
		if p.MTU.Is && p.Speed.Is {
			fmt.Fprintf(w, "  MTU %d bytes, BW %d Kbit , DLY 10 usec\n", p.MTU.V, p.Speed.V/unit.Kbps)
		}
		if p.Flaps.Is {
			fmt.Fprintf(w, "  %s interface resets\n", p.Flaps)
		}
		fmt.Fprintf(w, "  RX\n    %s input packets  %s bytes\n    %s giants  %s CRC  0 no buffer\n    %s input error  0 short frame  0 overrun   0 underrun  0 ignored\n    0 input with dribble  %s input discard\n    %s Rx pause\n", p.RxPackets.zero(), p.RxBytes.zero(), p.Giants.zero(), p.CRC.zero(),
			p.InErrors.zero(), p.InDiscards.zero(), p.RxPause.zero())
		fmt.Fprintf(w, "  TX\n    %s output packets  %s bytes\n    %s output error  0 collision  0 deferred  0 late collision\n    0 lost carrier  0 no carrier  0 babble  %s output discard\n    %s Tx pause\n\n",
			p.TxPackets.zero(), p.TxBytes.zero(), p.OutErrors.zero(), p.OutDiscards.zero(), p.TxPause.zero())
	}
}

func writeEOSInterfaces(w *bytes.Buffer, s *Snapshot) {
	for i := range s.Ports {
		p := &s.Ports[i]
		if !p.tells() {
			continue
		}
		fmt.Fprintf(w, "%s is %s, line protocol is %s\n", p.Name, p.state("up", "down"),
			p.state("up (connected)", "down (notconnect)"))
		if p.MTU.Is && p.Speed.Is {
			fmt.Fprintf(w, "  IP MTU %d bytes , BW %d kbit\n", p.MTU.V, p.Speed.V/unit.Kbps)
		}
		if p.Flaps.Is {
			fmt.Fprintf(w, "  %s link status changes since last clear\n", p.Flaps)
		}
		fmt.Fprintf(w, "     %s packets input, %s bytes\n     0 runts, %s giants\n     %s input errors, %s CRC, 0 alignment, %s symbol, %s input discards\n     0 PAUSE input\n     %s packets output, %s bytes\n     %s output errors, 0 collisions\n     0 late collision, 0 deferred, %s output discards\n"+
			"     0 PAUSE output\n", p.RxPackets.zero(), p.RxBytes.zero(), p.Giants.zero(), p.InErrors.zero(),
			p.CRC.zero(), p.Symbol.zero(), p.InDiscards.zero(), p.TxPackets.zero(), p.TxBytes.zero(),
			p.OutErrors.zero(), p.OutDiscards.zero())
	}
}
