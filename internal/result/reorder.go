package result

// ReorderMemory is the memory of NICs for packets that overtook others and could not be placed yet.
type ReorderMemory struct {
	Placement string `json:"placement"`               // address, order or local
	Limit     int64  `json:"limit_bytes,omitempty"`   // limit of each NIC; 0: none
	Entries   int    `json:"limit_packets,omitempty"` // likewise
	NIC       string `json:"nic"`                     // NIC with the largest content
	Peak      int64  `json:"peak_bytes"`              // payload that it stored
	Packets   int    `json:"peak_packets"`            // most packets that a NIC kept
	NICs      int    `json:"nics"`                    // NICs that used it
	Kept      int64  `json:"kept_packets"`            // ever, by all NICs
	Refused   int64  `json:"dropped_packets"`         // packets dropped for lack of room
	Full      int    `json:"nics_full"`               // NICs that dropped packets
}
