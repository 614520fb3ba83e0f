package slurm

import (
	"fmt"
	"sort"
	"strconv"
	"strings"

	"railyard/internal/field"
)

// maxNames is the maximum length of an expanded list of hosts.
const maxNames = 200_000

// Hosts writes out Slurm's lists of hosts: host[1-4,7],login.
func Hosts(s string) (out []string, err error) {
	depth, start := 0, 0
	for i := 0; i <= len(s); i++ {
		switch {
		case i < len(s) && s[i] == '[':
			depth++
		case i < len(s) && s[i] == ']':
			depth--
		case i == len(s) || s[i] == ',' && depth == 0:
			if s[start:i] != "" {
				if out, err = expand(out, s[start:i]); err != nil {
					return nil, err
				}
			}
			start = i + 1
		}
	}
	if depth != 0 {
		return nil, fmt.Errorf("%s has a bracket without its other half", field.Quote(s))
	}
	return out, nil
}

// expand writes out the brackets of one name.
func expand(out []string, s string) ([]string, error) {
	head, rest, ok := strings.Cut(s, "[")
	if !ok {
		if len(out) >= maxNames {
			return nil, fmt.Errorf("%s names more than %d nodes", field.Quote(s), maxNames)
		}
		return append(out, s), nil
	}
	in, tail, ok := strings.Cut(rest, "]")
	if !ok {
		return nil, fmt.Errorf("%s has a bracket without its other half", field.Quote(s))
	}
	for _, part := range strings.Split(in, ",") {
		lo, hi, isRange := strings.Cut(part, "-")
		if !isRange {
			hi = lo
		}
		a, err1 := strconv.Atoi(lo)
		z, err2 := strconv.Atoi(hi)
		if err1 != nil || err2 != nil || a < 0 || z < a || z-a >= maxNames || len(lo) > 20 {
			return nil, fmt.Errorf("%s: %s is not a range of numbers", field.Quote(s), field.Quote(part))
		}
		for v := a; v <= z; v++ {
			var err error
			if out, err = expand(out, fmt.Sprintf("%s%0*d%s", head, len(lo), v, tail)); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// Fold writes names as Slurm does: node[1-3,7],login. Names that differ in nothing but their last number
// share brackets, numbers of another width others.
func Fold(names []string) string {
	type family struct {
		head  string
		width int // width of numbers with leading zeros, else 0
		all   []int
	}
	var list []*family
	find := map[string]*family{}
	for _, n := range names {
		digits := len(n)
		for digits > 0 && n[digits-1] >= '0' && n[digits-1] <= '9' && len(n)-digits < 9 {
			digits--
		}
		head, text := n[:digits], n[digits:]
		v, err := strconv.Atoi(text)
		width := 0
		if strings.HasPrefix(text, "0") && len(text) > 1 {
			width = len(text)
		}
		if width == 0 && err == nil { // 10 and 010 are different names, 08 to 10 one range
			if f := find[fmt.Sprint(head, "\x00", len(text))]; f != nil {
				width = len(text)
			}
		}
		key := fmt.Sprint(head, "\x00", width)
		if err != nil {
			key = n + "\x00x"
		}
		f := find[key]
		if f == nil {
			f = &family{head: head, width: width}
			if err != nil {
				f.head = n
			}
			find[key], list = f, append(list, f)
		}
		if err == nil {
			f.all = append(f.all, v)
		}
	}
	var parts []string
	for _, f := range list {
		switch sort.Ints(f.all); len(f.all) {
		case 0:
			parts = append(parts, f.head)
		case 1:
			parts = append(parts, fmt.Sprintf("%s%0*d", f.head, f.width, f.all[0]))
		default:
			parts = append(parts, f.head+"["+runs(f.all, f.width)+"]")
		}
	}
	return strings.Join(parts, ",")
}

// runs writes sorted numbers as 1-3,7.
func runs(all []int, width int) string {
	var parts []string
	for i := 0; i < len(all); {
		j := i
		for j+1 < len(all) && all[j+1] == all[j]+1 {
			j++
		}
		s := fmt.Sprintf("%0*d", width, all[i])
		if j > i {
			s += fmt.Sprintf("-%0*d", width, all[j])
		}
		parts = append(parts, s)
		i = j + 1
	}
	return strings.Join(parts, ",")
}

// Repeats writes counts per node as Slurm does: 8(x2),4.
func Repeats(counts []int) string {
	var parts []string
	for i := 0; i < len(counts); {
		j := i
		for j < len(counts) && counts[j] == counts[i] {
			j++
		}
		s := strconv.Itoa(counts[i])
		if j-i > 1 {
			s += fmt.Sprintf("(x%d)", j-i)
		}
		parts = append(parts, s)
		i = j
	}
	return strings.Join(parts, ",")
}
