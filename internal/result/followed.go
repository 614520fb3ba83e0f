package result

import (
	"encoding/json"
	"path/filepath"

	"railyard/internal/input"
)

// FollowedFile is the name of the file with Followed.
const FollowedFile = "followed.json"

// FirstQPN is the queue pair number of connection 0's requester; each connection has two.
const FirstQPN = 0x100

// Followed is the path of one traced packet: followed.json lists them.
type Followed struct {
	Asked string `json:"asked"` // the packet as requested
	QP    int32  `json:"qp"`
	PSN   uint32 `json:"psn"`
	From  string `json:"from"` // NICs of the queue pair, the requester's first
	To    string `json:"to"`
	// Connection data of its ends, as in a capture.
	RequesterQPN uint32 `json:"requester_qpn,omitempty"`
	ResponderQPN uint32 `json:"responder_qpn,omitempty"`
	RKey         uint32 `json:"rkey,omitempty"`
	// FirstPSN is the PSN of the queue pair's first packet; nil: it sent none.
	FirstPSN *uint32 `json:"first_psn,omitempty"`

	Copies []Copy `json:"copies"` // each departure from a NIC, or an answer that names it or first covers it
	More   int    `json:"more,omitempty"`
}

// Copy is one transmission of a packet.
type Copy struct {
	Kind    string `json:"kind"`
	Data    bool   `json:"data,omitempty"` // carries payload; else an answer or a probe
	Again   bool   `json:"again,omitempty"`
	Bytes   int    `json:"bytes"` // bytes when it left the NIC, including FCS
	Hops    []Hop  `json:"hops"`  // the NIC's port first
	End     string `json:"end"`   // arrived, dropped, or in flight
	EndAt   int64  `json:"end_ps"`
	EndedAt string `json:"ended_at"` // the NIC, or the port that dropped it
}

// Hop is one port that a packet leaves by. For a NIC's own port the queue at arrival is unknown.
type Hop struct {
	Port    int32  `json:"port"`
	Name    string `json:"name"`
	Came    int64  `json:"came_ps"`      // time of its last bit's arrival
	Ready   int64  `json:"ready_ps"`     // the switch has chosen the port
	Found   int64  `json:"found_bytes"`  // bytes queued there then, plus the remainder of the current frame
	Paused  bool   `json:"paused"`       // whether its class was paused at that time
	Left    int64  `json:"left_ps"`      // time of its first bit's departure
	Behind  int64  `json:"behind_bytes"` // bytes queued after it at that time
	Marked  bool   `json:"marked"`       // whether it leaves with a congestion mark
	Trimmed bool   `json:"trimmed"`      // whether it leaves without its payload
	Rate    int64  `json:"rate_bps"`
}

// ReadFollowed reads the traced packets of a run.
func ReadFollowed(dir string) (all []Followed, err error) {
	b, err := input.Read(filepath.Join(dir, FollowedFile), MaxJSON)
	if err != nil {
		return nil, err
	}
	return all, json.Unmarshal(b, &all)
}

// Following is the file.
func Following(all []Followed) File { return File{FollowedFile, asJSON(all)} }
