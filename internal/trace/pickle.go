package trace

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"strconv"

	"railyard/internal/field"
)

// pickled reads Python's pickles (protocols 0 to 5) of plain data: None, booleans, numbers, strings, lists, tuples
// and dictionaries. A pickle is a program. Opcodes that would look up a class or call a function are rejected by
// name and position, and no code ever runs. Lists and tuples become *pyList, dictionaries map[string]any, numbers
// int64 or float64.
type pickled struct {
	file  string
	b     []byte
	at    int
	stack []any
	marks []int
	memo  map[int64]any
	made  int
}

// pyList is a list, which may grow after it has been remembered.
type pyList struct{ items []any }

// maxPickled is the number of values that a pickle may have.
const maxPickled = 8 << 20

// dangerous are the opcodes that name, create or call objects other than plain data.
var dangerous = map[byte]string{'c': "GLOBAL", 0x93: "STACK_GLOBAL", 'R': "REDUCE", 'b': "BUILD", 'i': "INST",
	'o': "OBJ", 0x81: "NEWOBJ", 0x92: "NEWOBJ_EX", 0x82: "EXT1", 0x83: "EXT2", 0x84: "EXT4", 'P': "PERSID",
	'Q': "BINPERSID", 0x97: "NEXT_BUFFER", 0x98: "READONLY_BUFFER"}

func (p *pickled) fail(format string, args ...any) error {
	e := field.New("", "byte %d of the pickle: "+format, append([]any{p.at}, args...)...)
	e.File = p.file
	return e
}

// unpickle reads a pickle.
func unpickle(file string, b []byte) (any, error) {
	p := &pickled{file: file, b: b, memo: map[int64]any{}}
	for {
		op, err := p.take(1)
		if err != nil {
			return nil, err
		}
		if op[0] == '.' {
			if len(p.stack) != 1 {
				return nil, p.fail("ends with %d values, expected one", len(p.stack))
			}
			return p.stack[0], nil
		}
		if name := dangerous[op[0]]; name != "" {
			p.at--
			return nil, p.fail("%s would run code: only plain data is read, and nothing is ever run", name)
		}
		if err := p.step(op[0]); err != nil {
			return nil, err
		}
		if len(p.stack) > maxPickled || len(p.memo) > maxPickled || p.made > maxPickled {
			return nil, p.fail("has more than the %d values that are read", maxPickled)
		}
	}
}

// take is the next n bytes.
func (p *pickled) take(n int) ([]byte, error) {
	if n < 0 || n > len(p.b)-p.at {
		return nil, p.fail("the pickle ends here: the file is truncated")
	}
	p.at += n
	return p.b[p.at-n : p.at], nil
}

// sized reads a length of n bytes, little endian, and as many following bytes.
func (p *pickled) sized(n int) ([]byte, error) {
	length, err := p.number(n)
	if err != nil {
		return nil, err
	}
	return p.take(int(min(length, math.MaxInt32)))
}

// number is n bytes, little endian, without a sign.
func (p *pickled) number(n int) (int64, error) {
	b, err := p.take(n)
	if err != nil {
		return 0, err
	}
	var wide [8]byte
	copy(wide[:], b)
	return int64(binary.LittleEndian.Uint64(wide[:]) &^ (1 << 63)), nil
}

// text reads a line, the form of values in protocol 0.
func (p *pickled) text() (string, error) {
	for i := p.at; i < len(p.b); i++ {
		if p.b[i] == '\n' {
			s := string(p.b[p.at:i])
			p.at = i + 1
			return s, nil
		}
	}
	return "", p.fail("the pickle ends here: the file is truncated")
}

func (p *pickled) push(v any) error {
	p.made++
	p.stack = append(p.stack, v)
	return nil
}

// pop is the last value.
func (p *pickled) pop() (any, error) {
	least := 0
	if len(p.marks) > 0 {
		least = p.marks[len(p.marks)-1]
	}
	if len(p.stack) <= least {
		return nil, p.fail("takes a value where there is none")
	}
	v := p.stack[len(p.stack)-1]
	p.stack = p.stack[:len(p.stack)-1]
	return v, nil
}

// popMark is all values since the last mark.
func (p *pickled) popMark() ([]any, error) {
	if len(p.marks) == 0 {
		return nil, p.fail("takes the values after a mark where none is")
	}
	from := p.marks[len(p.marks)-1]
	p.marks = p.marks[:len(p.marks)-1]
	all := append([]any(nil), p.stack[from:]...)
	p.stack = p.stack[:from]
	return all, nil
}

// constants are opcodes of fixed values.
var constants = map[byte]any{'N': nil, 0x88: true, 0x89: false}

// lengths are the sizes of the length fields of strings and bytes.
var lengths = map[byte]int{0x8c: 1, 'X': 4, 0x8d: 8, 'C': 1, 'B': 4, 0x8e: 8, 'U': 1, 'T': 4, 0x96: 8}

// widths are the widths of integers.
var widths = map[byte]int{'K': 1, 'M': 2, 'J': 4}

// step executes an opcode.
func (p *pickled) step(op byte) error {
	if v, ok := constants[op]; ok {
		return p.push(v)
	}
	if n, ok := lengths[op]; ok {
		b, err := p.sized(n)
		if err != nil {
			return err
		}
		return p.push(string(b))
	}
	if n, ok := widths[op]; ok {
		v, err := p.number(n)
		if err != nil {
			return err
		}
		if op == 'J' {
			v = int64(int32(uint32(v)))
		}
		return p.push(v)
	}
	switch op {
	case 0x80, 0x95: // protocol and frame
		_, err := p.take(map[byte]int{0x80: 1, 0x95: 8}[op])
		return err
	case 0x8a, 0x8b:
		return p.long(map[byte]int{0x8a: 1, 0x8b: 4}[op])
	case 'G':
		b, err := p.take(8)
		if err != nil {
			return err
		}
		return p.push(math.Float64frombits(binary.BigEndian.Uint64(b)))
	case 'I', 'L', 'F', 'S', 'V':
		return p.line(op)
	case '(':
		p.marks = append(p.marks, len(p.stack))
		if len(p.marks) > 10_000 {
			return p.fail("nests values deeper than is read")
		}
		return nil
	case '0':
		_, err := p.pop()
		return err
	case '1':
		_, err := p.popMark()
		return err
	case '2':
		v, err := p.pop()
		if err == nil {
			p.stack = append(p.stack, v)
			err = p.push(v)
		}
		return err
	case 'q', 'r', 'p', 0x94, 'h', 'j', 'g':
		return p.remember(op)
	}
	return p.collect(op)
}

// long reads an integer of any length; one beyond 64 bits becomes a float.
func (p *pickled) long(n int) error {
	b, err := p.sized(n)
	if err != nil {
		return err
	}
	if len(b) > 64 {
		return p.fail("has an integer of %d bytes, at most 64 are read", len(b))
	}
	v := new(big.Int)
	for i := len(b) - 1; i >= 0; i-- {
		v.Or(v.Lsh(v, 8), big.NewInt(int64(b[i])))
	}
	if len(b) > 0 && b[len(b)-1]&0x80 != 0 {
		v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	if v.IsInt64() {
		return p.push(v.Int64())
	}
	f, _ := new(big.Float).SetInt(v).Float64()
	return p.push(f)
}

// line is a value of protocol 0.
func (p *pickled) line(op byte) error {
	s, err := p.text()
	if err != nil {
		return err
	}
	switch op {
	case 'S':
		if n := len(s); n >= 2 && (s[0] == '\'' || s[0] == '"') && s[n-1] == s[0] {
			s = s[1 : n-1]
		}
		return p.push(s)
	case 'V':
		return p.push(s)
	case 'F':
		v, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return p.fail("%s is not a number", field.Quote(s))
		}
		return p.push(v)
	}
	if op == 'I' && (s == "00" || s == "01") {
		return p.push(s == "01")
	}
	if n := len(s); n > 0 && s[n-1] == 'L' {
		s = s[:n-1]
	}
	v, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return p.fail("%s is not a whole number of 64 bits", field.Quote(s))
	}
	return p.push(v)
}

// remember stores the last value under a number, or pushes a stored one.
func (p *pickled) remember(op byte) error {
	key, err := int64(len(p.memo)), error(nil)
	switch op {
	case 'q', 'h':
		key, err = p.number(1)
	case 'r', 'j':
		key, err = p.number(4)
	case 'p', 'g':
		var s string
		if s, err = p.text(); err == nil {
			if key, err = strconv.ParseInt(s, 10, 64); err != nil {
				err = p.fail("%s is not a number", field.Quote(s))
			}
		}
	}
	if err != nil {
		return err
	}
	if op == 'h' || op == 'j' || op == 'g' {
		v, ok := p.memo[key]
		if !ok {
			return p.fail("reads the stored value %d, which does not exist", key)
		}
		return p.push(v)
	}
	if len(p.stack) == 0 {
		return p.fail("remembers a value where there is none")
	}
	p.memo[key] = p.stack[len(p.stack)-1]
	return nil
}

// collect makes and fills lists, tuples and dictionaries.
func (p *pickled) collect(op byte) error {
	switch op {
	case ']', ')':
		return p.push(&pyList{})
	case '}':
		return p.push(map[string]any{})
	case 0x85, 0x86, 0x87:
		t := &pyList{items: make([]any, op-0x84)}
		for i := len(t.items) - 1; i >= 0; i-- {
			var err error
			if t.items[i], err = p.pop(); err != nil {
				return err
			}
		}
		return p.push(t)
	case 'a', 's':
		p.marks = append(p.marks, max(0, len(p.stack)-map[byte]int{'a': 1, 's': 2}[op]))
		return p.fill(op)
	case 'e', 'u':
		return p.fill(op)
	case 't', 'l', 'd':
		items, err := p.popMark()
		if err != nil {
			return err
		}
		if op != 'd' {
			return p.push(&pyList{items: items})
		}
		d := map[string]any{}
		if err := p.set(d, items); err != nil {
			return err
		}
		return p.push(d)
	}
	p.at--
	return p.fail("the opcode %#02x is not one of plain data", op)
}

// fill adds the values after the mark to the list or dictionary before it.
func (p *pickled) fill(op byte) error {
	items, err := p.popMark()
	if err != nil {
		return err
	}
	if len(p.stack) == 0 {
		return p.fail("fills a value where there is none")
	}
	switch to := p.stack[len(p.stack)-1].(type) {
	case *pyList:
		if op == 'a' || op == 'e' {
			to.items = append(to.items, items...)
			return nil
		}
	case map[string]any:
		if op == 's' || op == 'u' {
			return p.set(to, items)
		}
	}
	return p.fail("fills a value that is not a list or dictionary")
}

// set puts keys and values into a dictionary.
func (p *pickled) set(d map[string]any, items []any) error {
	if len(items)%2 != 0 {
		return p.fail("a dictionary has a key without a value")
	}
	for i := 0; i < len(items); i += 2 {
		switch key := items[i].(type) {
		case string:
			d[key] = items[i+1]
		case int64, float64, bool, nil:
			d[fmt.Sprint(key)] = items[i+1]
		default:
			return p.fail("a dictionary has a key that is not text or number")
		}
	}
	return nil
}
