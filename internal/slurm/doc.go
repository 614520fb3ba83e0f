// Package slurm computes what Slurm does with a job: its options, the nodes that it gets by select/cons_tres and
// topology/tree, its tasks, and their environment.
//
// A [Cluster] is read from slurm.conf, topology.conf, scontrol or sinfo; a [Request] plus a Cluster gives an
// [Allocation]. Nothing is executed. TestSlurmAgrees of cmd/railyard compares with a real Slurm,
// testdata/slurm_answers.txt with its answers to 118 random sets of options. Heterogeneous jobs and
// blocks of nodes are refused with their place; --segment is noted.
package slurm
