package transporttest

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// broken are variants of the toy that break one rule each, and the suite's message.
var broken = map[string]string{
	"no post":         "Post of",
	"completes twice": "completes twice",
	"early":           "of 0 bytes in memory",
	"talks":           "Say has 10000 packets",
	"restless":        "At stays at",
	"chatter":         "after all is complete the next thing happens",
	"invents":         "counter window is",
	"deaf":            "signal window is",
	"not ready":       "Ready says false and Next true",
	"forgets the end": "the flag of the last packet",
	"rolls dice":      "the same seed sends other packets",
	"allocates":       "allocations for a message",
	"hoards":          "bytes are in flight, and",
	"panics":          "an offset that no message has",
	"loses":           "1s after the last fault",
	"hasty":           "packets go again",
	"places twice":    "placed twice",
	"refuses":         "bytes",
}

// The suite accepts a correct protocol and reports the broken rule of each broken one.
func TestBrokenProtocolsAreCaught(t *testing.T) {
	if os.Getenv("RAILYARD_BROKEN") != "" {
		t.Skip("within itself")
	}
	broken["sound"] = ""
	for breaks, says := range broken {
		t.Run(breaks, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(os.Args[0], "-test.run", "^TestOne$", "-rapid.nofailfile", "-rapid.shrinktime=0s")
			cmd.Env = append(os.Environ(), "RAILYARD_BROKEN="+breaks)
			switch out, err := cmd.CombinedOutput(); {
			case breaks == "sound" && err != nil:
				t.Errorf("a sound protocol: %v\n%s", err, out)
			case breaks != "sound" && (err == nil || !strings.Contains(string(out), says)):
				t.Errorf("%q is not said of the protocol that breaks it: %v\n%s", says, err, out)
			}
		})
	}
}

// TestOne runs the suite on one variant of broken, in a process of its own.
func TestOne(t *testing.T) {
	breaks := os.Getenv("RAILYARD_BROKEN")
	if breaks == "" {
		t.Skip("for TestBrokenProtocolsAreCaught")
	}
	if breaks == "sound" {
		breaks = ""
	}
	Run(t, Suite{Protocol: toyProtocol(breaks)})
}
