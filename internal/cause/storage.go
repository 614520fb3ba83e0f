package cause

import (
	"fmt"

	"railyard/unit"
)

// Store is the storage of a run, as its keys set it.
type Store struct {
	Servers     int // 0: the run has no storage, or no key sets its servers
	NICs        int // of each server
	Read, Write unit.Rate
}

var storageMedia = Cause{ID: StorageMedia, Key: "storage_media", Name: "storage media",
	About: "media of storage servers read or write slower than the network carries",
	Color: "#6f8f5a", Loss: true, Trigger: false,
	Advice: "use more or faster storage servers",
	Without: func(f *Facts) Change {
		if f.Store.Read == 0 && f.Store.Write == 0 {
			return Change{Impossible: "storage media have no limit"}
		}
		return Change{Says: "storage media without limit", Set: []string{"storage.read=0bps", "storage.write=0bps"}}
	},
	Remedies: func(f *Facts) []Change {
		var faster []string
		if f.Store.Read > 0 {
			faster = append(faster, fmt.Sprintf("storage.read=%v", 2*f.Store.Read))
		}
		if f.Store.Write > 0 {
			faster = append(faster, fmt.Sprintf("storage.write=%v", 2*f.Store.Write))
		}
		if len(faster) == 0 {
			return nil
		}
		return append(moreServers(f), Change{Says: "media twice as fast", Needs: "faster media", Set: faster})
	}}

var storageNIC = Cause{ID: StorageNIC, Key: "storage_nic", Name: "storage servers' NICs",
	About: "other transfers of the same storage server's NIC go first",
	Color: "#8c7fd0", Loss: true, Trigger: false, Lasting: true,
	Advice:  "use more NICs per storage server, or more storage servers",
	Without: no("the transfers of a storage server are the job's own"),
	Remedies: func(f *Facts) (all []Change) {
		if f.Store.Servers > 0 {
			all = append(all, Change{Says: "twice as many NICs per storage server", Needs: "NICs and switch ports",
				Set: []string{fmt.Sprintf("storage.nics=%d", 2*f.Store.NICs)}})
		}
		return append(all, moreServers(f)...)
	}}

// moreServers doubles storage servers where a key sets them.
func moreServers(f *Facts) []Change {
	if f.Store.Servers == 0 {
		return nil
	}
	return []Change{{Says: "twice as many storage servers", Needs: "servers and switch ports",
		Set: []string{fmt.Sprintf("storage.servers=%d", 2*f.Store.Servers)}}}
}
