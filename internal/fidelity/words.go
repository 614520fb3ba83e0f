package fidelity

import (
	"fmt"

	"railyard/unit"
)

// round prints a number to two digits.
func round(x float64) string {
	for _, s := range []struct {
		above float64
		name  string
	}{{1e9, " billion"}, {1e6, " million"}, {1e3, " thousand"}} {
		if x >= s.above {
			return fmt.Sprintf("%.3g%s", x/s.above, s.name)
		}
	}
	return fmt.Sprintf("%.0f", x)
}

// memory formats bytes for readers.
func memory(b unit.Bytes) string {
	if b < unit.GB {
		return fmt.Sprintf("%d MB", b/unit.MB)
	}
	return fmt.Sprintf("%.3g GB", float64(b)/float64(unit.GB))
}

// duration formats seconds for readers.
func duration(s float64) string {
	switch {
	case s >= 2*3600:
		return fmt.Sprintf("%.0f hours", s/3600)
	case s >= 120:
		return fmt.Sprintf("%.0f minutes", s/60)
	}
	return fmt.Sprintf("%.0f s", s)
}
