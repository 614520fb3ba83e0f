package result

import "slices"

// Meeting is the traffic of several jobs at one port while more than one of them had packets there.
type Meeting struct {
	Port     string       `json:"port"` // as named in the links table: what it sends
	From     int64        `json:"from_ps"`
	To       int64        `json:"to_ps"`
	Together int64        `json:"together_ps"` // of that time, in all
	Load     float64      `json:"load"`        // what they sent meanwhile, of the port's rate
	Jobs     []MeetingJob `json:"jobs"`
}

// MeetingJob is one of the jobs, and its bytes on the wire while another was there.
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
