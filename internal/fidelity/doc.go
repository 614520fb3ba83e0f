// Package fidelity lists the simulations by how closely they look at a network. Each is one file with a name and a
// constructor; commands, page and runner know [Fidelity] and Run only.
//
// Auto chooses between packets and flows. [Expect] says how far flows may be off: accuracy.json holds cases that both
// simulated, measured by internal/ci/accuracy.
//
// A fidelity carries an exec.Execution (exec.Carrier) and returns an explain.Observation. [Before] estimates its
// cost. [Waste] measures what a congestion control loses on an idle path, for the cost model of package planner.
package fidelity
