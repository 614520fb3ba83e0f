package result

// Chains are the circular pause dependencies of a run: paused ports each blocked by the next, and the last by the
// first.
type Chains struct {
	Count    int `json:"count"`
	ByItself int `json:"ended_by_themselves"`
	Watchdog int `json:"broken_by_watchdog"`
	Cable    int `json:"broken_by_cable"`
	Standing int `json:"standing"` // time at which the run ended
	// the first ones, and the first that did not end by themselves
	Chains []Chain `json:"chains"`
}

// Chain is one of them.
type Chain struct {
	Closed int64       `json:"closed_ps"`
	Ended  int64       `json:"ended_ps,omitempty"` // 0: it persists
	How    string      `json:"how"`                // stands, by itself, watchdog, cable
	By     string      `json:"by,omitempty"`       // the port that resumed
	Ports  []ChainPort `json:"ports"`              // each waits for the next
	First  string      `json:"first_paused"`
	Cause  string      `json:"first_paused_for,omitempty"` // port whose queue caused its pause
	Flow   string      `json:"filled_by"`                  // flow with most of the bytes in its queue
	Told   string      `json:"told"`                       // description in a sentence
}

// How a chain ended.
const (
	Stands     = "stands" // the dependency did not end
	ByItself   = "alone"
	ByWatchdog = "watchdog"
	ByCable    = "cable"
)

// Worst returns the first that persists, else the first that an intervention ended, else the first; nil if there are
// none.
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
	Bytes    int64  `json:"waiting_bytes"` // bytes queued here that arrived by the previous port
	Flow     string `json:"flow"`          // flow of most of them
}
