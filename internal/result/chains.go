package result

// Chains are closed chains of pauses that a run met: paused ports each of which waits for the next, and the
// last for the first.
type Chains struct {
	Count    int `json:"count"`
	ByItself int `json:"ended_by_themselves"`
	Watchdog int `json:"broken_by_watchdog"`
	Cable    int `json:"broken_by_cable"`
	Standing int `json:"standing"` // when the run ended
	// the first ones, and the first that did not end by themselves
	Chains []Chain `json:"chains"`
}

// Chain is one of them.
type Chain struct {
	Closed int64       `json:"closed_ps"`
	Ended  int64       `json:"ended_ps,omitempty"` // 0: it stands
	How    string      `json:"how"`                // stands, by itself, watchdog, cable
	By     string      `json:"by,omitempty"`       // the port that went on
	Ports  []ChainPort `json:"ports"`              // each waits for the next
	First  string      `json:"first_paused"`
	Cause  string      `json:"first_paused_for,omitempty"` // the port whose queue had it paused
	Flow   string      `json:"filled_by"`                  // most of what waits behind it
	Told   string      `json:"told"`                       // all that in a sentence
}

// How a chain ended.
const (
	Stands     = "stands" // it did not
	ByItself   = "alone"
	ByWatchdog = "watchdog"
	ByCable    = "cable"
)

// Worst is the first that stands, else that somebody had to break, else the first; nil of none.
func (c *Chains) Worst() *Chain {
	for _, how := range []string{Stands, ByWatchdog, ByCable} {
		for i := range c.Chains {
			if c.Chains[i].How == how {
				return &c.Chains[i]
			}
		}
	}
	if len(c.Chains) == 0 {
		return nil
	}
	return &c.Chains[0]
}

// ChainPort is a paused port of a chain.
type ChainPort struct {
	Port     int32  `json:"port"`
	Name     string `json:"name"`
	Priority int    `json:"priority"`
	Paused   int64  `json:"paused_since_ps"`
	Bytes    int64  `json:"waiting_bytes"` // of what came by the port before
	Flow     string `json:"flow"`          // that most of them are of
}
