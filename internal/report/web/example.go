package web

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// exampleName is the run that the server simulates itself, for users without runs. No folder of a run is called so.
const exampleName = "~example"

// exampleScenario is the example step, in half a second. It has four GPUs, so the ring's chunks are A to D, and an
// uplink slower than a host's link, so a queue passes WRED min and rates fall and recover.
const exampleScenario = `name: example
about: four GPUs train a small model; their ring crosses uplinks that are slower than the hosts' links
seed: 1
fabric:
  kind: rail
  segments: 2
  hosts: 2
  spines: 1
  uplinks: 1
  host_link: {rate: 100Gbps, cable: 3m}
  fabric_link: {rate: 50Gbps, cable: 30m}
server: {gpus: 1, nics: 1}
workload: {training: {model: gpt3-125m, dp: 4, global_batch: 4, sequence: 1024, bucket: 25MB}}
output: {sample: 20us}
`

// exampleTrace traces a packet that is marked at the uplink, and the last one of a chunk, whose acknowledgement
// completes the chunk.
var exampleTrace = Trace{Follow: []string{"1/+1340", "1/+1525"}}

// example is the server's own run, simulated when it is first opened.
type example struct {
	mu  sync.Mutex
	dir string
	run *Directory
	err error
}

// example returns the server's own run.
func (s *Server) example() (*Directory, error) {
	e := &s.own
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.run != nil || e.err != nil {
		return e.run, e.err
	}
	if s.ended.Err() != nil {
		return nil, &InputError{"the server is stopping"}
	}
	if e.dir, e.err = os.MkdirTemp("", "railyard-"); e.err != nil {
		return nil, e.err
	}
	e.run, e.err = simulated(e.dir, s.Version)
	return e.run, e.err
}

// simulated runs the example in a folder.
func simulated(dir, version string) (*Directory, error) {
	own := newJobs(dir, version)
	x, err := own.start(request{Text: exampleScenario, Trace: &exampleTrace})
	own.wait.Wait()
	if err != nil {
		return nil, err
	}
	own.mu.Lock()
	x = *own.byID[x.ID]
	own.mu.Unlock()
	if x.State != "done" {
		return nil, fmt.Errorf("the example run is %s: %w", x.State, errors.New(x.Error))
	}
	r, err := Open(filepath.Join(dir, x.Run))
	if err == nil {
		r.Name = exampleName
	}
	return r, err
}

// close removes the run.
func (e *example) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.dir != "" {
		_ = os.RemoveAll(e.dir) // temporary: the system removes what remains
	}
}
