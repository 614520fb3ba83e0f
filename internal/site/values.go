package site

import (
	"fmt"
	"strconv"
	"strings"
)

// MaxValue bounds a place's number and how many of them there are.
const MaxValue = 1_000_000

// values reads the numbers of a place: 15 is 1 to 15, others are listed: 3-5, 1,4-6.
func values(text string) ([]int, error) {
	text = strings.TrimSpace(text)
	if n, err := strconv.Atoi(text); err == nil {
		if n < 1 || n > MaxValue {
			return nil, fmt.Errorf("%d places: 1 to %d are possible", n, MaxValue)
		}
		return span(nil, 1, n)
	}
	return list(text)
}

// list reads 3, 3-5 and 1,4-6: the numbers themselves, each once, in order.
func list(text string) (out []int, err error) { return listFrom(1, text) }

// listFrom parses a list of numbers from a minimum; names may count from 0.
func listFrom(least int, text string) (out []int, err error) {
	for _, part := range strings.Split(text, ",") {
		lo, hi, isRange := strings.Cut(strings.TrimSpace(part), "-")
		a, err := strconv.Atoi(lo)
		b := a
		if err == nil && isRange {
			b, err = strconv.Atoi(hi)
		}
		if err != nil || a < least || b < a || b > MaxValue {
			return nil, fmt.Errorf("%q is not a list of numbers; accepted: 15 for 1 to 15, 3-5, 1,4-6", text)
		}
		if out, err = span(out, a, b); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func span(out []int, a, b int) ([]int, error) {
	if len(out)+b-a+1 > MaxValue {
		return nil, fmt.Errorf("more than %d numbers", MaxValue)
	}
	for v := a; v <= b; v++ {
		if len(out) > 0 && v <= out[len(out)-1] {
			return nil, fmt.Errorf("%d is repeated, or after a larger number", v)
		}
		out = append(out, v)
	}
	return out, nil
}

// expr computes a place of one end from the other end's: a word of the other end, then steps. Numbers count from 1,
// and so do the results: % wraps around, / assigns in blocks.
type expr struct {
	word  string // empty: a number alone
	value int
	steps []step
}

type step struct {
	op byte // + - % /
	by int
}

func parseExpr(text string) (e expr, err error) {
	bad := func() (expr, error) {
		return e, fmt.Errorf(
			"%q is neither a number nor a place with steps; accepted: rail, nic, x+1, n%%4, port/2", text)
	}
	rest := strings.ReplaceAll(text, " ", "")
	i := strings.IndexAny(rest, "+-%/")
	head := rest
	if i >= 0 {
		head, rest = rest[:i], rest[i:]
	} else {
		rest = ""
	}
	if n, err := strconv.Atoi(head); err == nil {
		e.value = n
	} else if isWord(head) {
		e.word = head
	} else {
		return bad()
	}
	for rest != "" {
		op := rest[0]
		rest = rest[1:]
		n := len(rest)
		if i := strings.IndexAny(rest, "+-%/"); i >= 0 {
			n = i
		}
		by, err := strconv.Atoi(rest[:n])
		if err != nil || by < 1 || by > MaxValue {
			return bad()
		}
		e.steps = append(e.steps, step{op, by})
		rest = rest[n:]
	}
	return e, nil
}

func isWord(s string) bool {
	for i, r := range s {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != ""
}

// of evaluates. size is the number of values of the place at the other end, for wrapping; 0 if values beyond them
// are an end of a line without a link.
func (e expr) of(v, size int) int {
	if e.word == "" {
		v = e.value
	}
	for _, s := range e.steps {
		switch s.op {
		case '+':
			v += s.by
		case '-':
			v -= s.by
		case '%':
			v = round(v, s.by)
		case '/':
			v = (v-round(v, s.by))/s.by + 1
		}
	}
	if size > 0 {
		v = round(v, size)
	}
	return v
}

// round maps v to 1 to size, which repeat in both directions: 0 is the last.
func round(v, size int) int { return ((v-1)%size+size)%size + 1 }
