// Package validate compares the simulator with independent references: closed forms, worked examples, published tables
// and figures.
//
// A [Check] is a group of rows; a [Row] has the expected value, its source, the tolerance and, where both differ, the
// reason. Every row simulates at the defaults of a user; nothing is compared with a stored result of ours. The group
// "estimates" compares the cost model of the planner with the simulator. [JudgeRandom] draws scenarios, removes the
// largest cause and compares its account with the saving; [DrawUET] draws published runs of uet-htsim.
//
// docs/validation.md is written by `railyard validate --markdown docs/validation.md`.
package validate
