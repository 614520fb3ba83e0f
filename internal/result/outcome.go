package result

import (
	"slices"
)

// Outcome is the end of a job that lost a rank. The simulation itself is complete, but the job has no result. A run
// whose workload has finished has none.
type Outcome struct {
	Ended string `json:"ended"` // RankLost
	// the first rank was lost: a queue pair had exhausted its retries, or a server died
	At    int64  `json:"at_ps"`
	Last  int64  `json:"last_ps"`  // time at which the last operation ended; all others hang
	Job   int64  `json:"job_ps"`   // the time-out of the hanging collectives ends the job
	Limit int64  `json:"limit_ps"` // that time-out
	Why   string `json:"why"`      // in a sentence

	Broken []string   `json:"broken"`  // components down at that time, and since when
	CutOff []LostRank `json:"cut_off"` // unreachable GPUs
	Errors []GaveUp   `json:"errors"`  // failed queue pairs, the first of them
	Failed int        `json:"failed"`  // how many did
	Waited int        `json:"waiting_ranks"`

	Done Finished `json:"finished"`
	// Training time lost since the last checkpoint, besides the step itself: maximum, and mean over the time of the
	// failure. Zero if the scenario sets no interval.
	LostMost int64 `json:"lost_since_checkpoint_most_ps"`
	LostMean int64 `json:"lost_since_checkpoint_mean_ps"`
	// Restart is the time from the job's end to the first step after it, 0 if the scenario does not set it. Cost is
	// the mean cost of the failure per GPU, if both are set: the step up to the job's end, the training since the
	// last checkpoint, and the restart.
	Restart int64 `json:"restart_ps"`
	Cost    int64 `json:"cost_mean_ps"`
}

// RankLost is the value of Outcome.Ended.
const RankLost = "rank lost"

// Move counts the queue pairs whose path a change of routes altered.
type Move struct {
	At       int64 `json:"at_ps"`
	Of       int   `json:"of_queue_pairs"`
	Moved    int   `json:"moved"`
	Needless int   `json:"moved_off_working_ways"` // number moved off paths that worked
}

// LostRank is a GPU that the other ranks had lost.
type LostRank struct {
	GPU   string `json:"gpu"`
	Since int64  `json:"since_ps"`
	Why   string `json:"why"`
}

// GaveUp is a queue pair that gave up, between the NICs of two GPUs.
type GaveUp struct {
	From string `json:"from"`
	To   string `json:"to"`
	At   int64  `json:"at_ps"`
	Why  string `json:"why"`
}

// Finished is the finished part of a step that ended early.
type Finished struct {
	Operations   int   `json:"operations"`
	OfOperations int   `json:"of_operations"`
	Computed     int64 `json:"computed_ps"` // summed over GPUs
	OfComputed   int64 `json:"of_computed_ps"`
	Bytes        int64 `json:"network_bytes"`
	OfBytes      int64 `json:"of_network_bytes"`
	Collectives  int   `json:"collectives"`
	OfColls      int   `json:"of_collectives"`
}

// Meeting is the traffic of several jobs at one port while more than one of them had packets there.
type Meeting struct {
	Port     string       `json:"port"` // name in the links table: the sending direction
	From     int64        `json:"from_ps"`
	To       int64        `json:"to_ps"`
	Together int64        `json:"together_ps"` // total of that time
	Load     float64      `json:"load"`        // utilization of the port by them meanwhile
	Jobs     []MeetingJob `json:"jobs"`
}

// MeetingJob is one of these jobs, and its bytes on the wire while another had packets there.
type MeetingJob struct {
	Job   string `json:"job"`
	Bytes int64  `json:"bytes"`
}

// Second returns the bytes of the job that sent second most.
func (m *Meeting) Second() int64 {
	var all []int64
	for _, j := range m.Jobs {
		all = append(all, j.Bytes)
	}
	slices.Sort(all)
	return all[max(0, len(all)-2)]
}
