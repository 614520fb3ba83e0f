package space

import (
	"strconv"
	"strings"

	"railyard/internal/field"
)

// Condition is a comparison of two values, or several combined by "and".
type Condition struct {
	left, right term
	op          string
	and         *Condition
}

// term is a key or a literal, with a factor.
type term struct {
	text   string
	key    bool
	factor float64
}

// operators in the order in which they are looked for.
var operators = []string{"<=", ">=", "!=", "==", "<", ">", "="}

// conditionForm is the accepted form of a condition.
const conditionForm = "accepted: KEY OP VALUE, KEY OP KEY, with OP one of < <= > >= = !=, a factor as in 2*KEY; several with and"

// condition parses a condition on the keys of the space or of the scenario.
func (s *Space) condition(text string) (*Condition, error) {
	first, rest, more := strings.Cut(text, " and ")
	c := &Condition{}
	for _, op := range operators {
		left, right, ok := strings.Cut(first, op)
		if !ok {
			continue
		}
		c.op = strings.TrimSuffix(op, "=")
		if op == "<=" || op == ">=" || op == "!=" {
			c.op = op
		}
		if op == "==" || op == "=" {
			c.op = "="
		}
		var err error
		if c.left, err = s.term(left); err != nil {
			return nil, err
		}
		if c.right, err = s.term(right); err != nil {
			return nil, err
		}
		break
	}
	if c.op == "" {
		return nil, field.New("", "%s is not a comparison; %s", field.Quote(text), conditionForm)
	}
	if err := s.comparable(c); err != nil {
		return nil, err
	}
	if more {
		next, err := s.condition(rest)
		if err != nil {
			return nil, err
		}
		c.and = next
	}
	return c, nil
}

// term parses one side of a comparison.
func (s *Space) term(text string) (term, error) {
	t := term{text: strings.TrimSpace(text), factor: 1}
	if factor, rest, ok := strings.Cut(t.text, "*"); ok {
		x, err := strconv.ParseFloat(strings.TrimSpace(factor), 64)
		if err != nil {
			return t, field.New("", "%s is not a factor; %s", field.Quote(strings.TrimSpace(factor)), conditionForm)
		}
		t.factor, t.text = x, strings.TrimSpace(rest)
	}
	if t.text == "" {
		return t, field.New("", "one side is empty; %s", conditionForm)
	}
	_, known := s.base(t.text)
	t.key = known || s.varied(t.text)
	return t, nil
}

// comparable refuses comparisons of words by size, and those without a key.
func (s *Space) comparable(c *Condition) error {
	if !c.left.key && !c.right.key {
		return field.New("", "neither %s nor %s is a key that is varied or that the scenario has", field.Quote(c.left.text),
			field.Quote(c.right.text))
	}
	if c.op == "=" || c.op == "!=" {
		return nil
	}
	for _, t := range []term{c.left, c.right} {
		if _, k := Quantity(t.text); !t.key && k == Word {
			return field.New("", "%s is neither a quantity nor a key that is varied or that the scenario has",
				field.Quote(t.text))
		}
	}
	return nil
}

// holds evaluates the condition. Values of different kinds are unequal, and no order between them holds.
func (c *Condition) holds(of func(key string) (string, bool)) bool {
	if c.and != nil && !c.and.holds(of) {
		return false
	}
	left, right := c.left.value(of), c.right.value(of)
	x, k := Quantity(left)
	y, l := Quantity(right)
	if k == Word || l == Word || k != l {
		return c.op == "=" && left == right || c.op == "!=" && left != right
	}
	x, y = x*c.left.factor, y*c.right.factor
	switch c.op {
	case "<":
		return x < y
	case "<=":
		return x <= y
	case ">":
		return x > y
	case ">=":
		return x >= y
	case "=":
		return x == y
	}
	return x != y
}

// value returns the value of a term.
func (t *term) value(of func(key string) (string, bool)) string {
	if t.key {
		v, _ := of(t.text)
		return v
	}
	return t.text
}
