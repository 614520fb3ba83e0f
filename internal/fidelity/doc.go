// Package fidelity lists the simulations by how closely they look at a network. Each is one file with a name and a
// constructor; commands, page and runner depend only on [Fidelity] and Run.
//
// Auto chooses between packets and flows. [Expect] estimates the error of flows: accuracy.json contains cases simulated
// by both, measured by internal/ci/accuracy.
//
// A fidelity carries an exec.Execution (exec.Carrier) and returns an explain.Observation. [Before] estimates its cost.
// [Waste] measures the loss of a congestion control on an idle path, for the cost model of package planner.
package fidelity
