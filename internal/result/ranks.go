package result

// Waited is a rank for whose computation another one waited.
type Waited struct {
	Rank int32  `json:"rank"` // rank of a placed job: its GPU
	GPU  string `json:"gpu"`
	Time int64  `json:"waited_ps"`
	Path int64  `json:"critical_ps"` // computing time on the critical path

	// Alike is the number of other ranks that compute for about as long or longer, for a rank that computes longer
	// than the waiting one. Any of them makes it wait.
	Alike int `json:"alike,omitempty"`
}

// SlowRank is a rank with a computation that takes longer than the median of its siblings.
type SlowRank struct {
	Rank    int32  `json:"rank"` // rank of a placed job: its GPU
	GPU     string `json:"gpu"`
	Compute int64  `json:"compute_ps"`          // all its computing
	Usual   int64  `json:"siblings_compute_ps"` // computing time, with the siblings' median for the slow part

	// In a training of several GPU kinds: its GPU's kind, and the fastest one, whose time Usual has instead.
	Kind    string `json:"gpu_kind,omitempty"`
	Fastest string `json:"fastest_kind,omitempty"`
}

// Excess is the rank's computing beyond that of its siblings, in ps.
func (s *SlowRank) Excess() int64 { return s.Compute - s.Usual }
