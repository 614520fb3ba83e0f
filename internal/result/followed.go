package result

import (
	"encoding/json"
	"path/filepath"

	"railyard/internal/input"
)

// FollowedFile is the name of what Followed is written to.
const FollowedFile = "followed.json"

// Followed is the path of one packet that a run was asked to follow: followed.json lists them.
type Followed struct {
	Asked string `json:"asked"` // as somebody named it
	QP    int32  `json:"qp"`
	PSN   uint32 `json:"psn"`
	From  string `json:"from"` // NICs of the queue pair, the requester's first
	To    string `json:"to"`
	// What its ends know of each other, as a capture has it.
	RequesterQPN uint32 `json:"requester_qpn,omitempty"`
	ResponderQPN uint32 `json:"responder_qpn,omitempty"`
	RKey         uint32 `json:"rkey,omitempty"`
	// FirstPSN is that of the queue pair's first packet; nil: it sent none.
	FirstPSN *uint32 `json:"first_psn,omitempty"`

	Copies []Copy `json:"copies"` // each time that it, or an answer with its number, left a NIC
	More   int    `json:"more,omitempty"`
}

// Copy is one packet on its way.
type Copy struct {
	Kind    string `json:"kind"`
	Data    bool   `json:"data,omitempty"` // carries payload; else an answer or a probe
	Again   bool   `json:"again,omitempty"`
	Bytes   int    `json:"bytes"` // as it left the NIC, FCS included
	Hops    []Hop  `json:"hops"`  // the NIC's port first
	End     string `json:"end"`   // arrived, dropped, or under way
	EndAt   int64  `json:"end_ps"`
	EndedAt string `json:"ended_at"` // the NIC, or the port that dropped it
}

// Hop is one port that a packet leaves by. Of a NIC's own, what it found there is not known.
type Hop struct {
	Port    int32  `json:"port"`
	Name    string `json:"name"`
	Came    int64  `json:"came_ps"`      // its last bit was in
	Ready   int64  `json:"ready_ps"`     // the switch has chosen the port
	Found   int64  `json:"found_bytes"`  // waiting there then, and what was left of a frame
	Paused  bool   `json:"paused"`       // its class was paused there then
	Left    int64  `json:"left_ps"`      // its first bit leaves
	Behind  int64  `json:"behind_bytes"` // that waits there then
	Marked  bool   `json:"marked"`       // it leaves with congestion experienced
	Trimmed bool   `json:"trimmed"`      // it leaves without its payload
	Rate    int64  `json:"rate_bps"`
}

// ReadFollowed reads what became of the packets that a run followed.
func ReadFollowed(dir string) (all []Followed, err error) {
	b, err := input.Read(filepath.Join(dir, FollowedFile), MaxJSON)
	if err != nil {
		return nil, err
	}
	return all, json.Unmarshal(b, &all)
}

// Following is the file.
func Following(all []Followed) File { return File{FollowedFile, asJSON(all)} }
