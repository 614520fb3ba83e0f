// Package tune searches thresholds of ECN and PFC and parameters of the congestion control. A [Space] gives bounds,
// a [Search] draws each generation from seed and history, and the evaluator, a simulation, is passed in.
//
// Thresholds are drawn as shares of one another, so that xON < WRED min < WRED max < xOFF always holds. Neither an
// interruption nor the number of parallel simulations changes the result. [Front] is the Pareto front; [Best] is, of
// the trials within 1 % of the fastest, the one with the least pauses, then the one with the shortest queue.
package tune
