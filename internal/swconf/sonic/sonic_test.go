package sonic

import (
	"strings"
	"testing"

	"railyard/internal/story"
	"railyard/internal/swconf/tell"
)

// The meaning of SONiC's tables on ports and the switch, maps and queues, and buffers, and the reports on values
// that its YANG models lack.
func TestTables(t *testing.T) {
	for _, page := range []string{"switch", "queues", "buffers", "parts", "faults"} {
		t.Run(page, func(t *testing.T) {
			story.Cases(t, page, func(text string) string {
				c, err := Parse("config_db.json", []byte(text))
				if err != nil {
					return "refused: " + err.Error()
				}
				return tell.Facts(c)
			})
		})
	}
}

// Any text is parsed or rejected without a panic, and its rows are all accounted for.
func FuzzParse(f *testing.F) {
	f.Add(
		`{"PORT": {"Ethernet0": {"lanes": "1,2", "speed": "100000"}},
		"QUEUE": {"Ethernet0|3-4": {"scheduler": "s"}}}`)
	f.Add(
		`{"BUFFER_PROFILE": {"p": {"dynamic_th": "-8", "xon": "1"}},
		"BUFFER_PG": {"Ethernet0|3": {"profile": "p"}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Parse("x", []byte(text))
		if err == nil && c.Read+c.Passed > c.Total {
			t.Errorf("%d read and %d passed over of %d rows", c.Read, c.Passed, c.Total)
		}
		if err != nil && !strings.HasPrefix(err.Error(), "x") {
			t.Errorf("the error says no place: %v", err)
		}
	})
}
