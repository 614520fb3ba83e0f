// Package engine is the event queue and the clock of the simulator.
//
// An [Event] is a value of 24 bytes. A [Queue] returns events in the order (time, element, sequence): of two events
// of one instant, that of the lower [Element] is first, and of one element's events the one that it pushed first.
// The order therefore does not depend on other elements' actions in between, and several queues that share the
// events of one network return them in the order of one queue. The run itself is the element OfRun and is first: a
// sample or a broken link at an instant precedes all other events of that instant.
//
// A queue has three parts. Events whose delay repeats are appended to a lane: time only moves forward, so a lane is
// sorted by construction, and frames of one size on links of one kind need no search. All other events are stored
// in a hierarchical timing wheel. Events for the instant being drained wait in a heap (late.go). A heap of lane
// heads merges the three. Pushing and popping allocate nothing once the slab has its peak size.
//
// A [Habit] assigns a timer that keeps its delay to a lane. [Timers] are n restartable timers over one queue; a
// generation number cancels an event without a search. One queue addresses at most 262,143 elements.
//
// TestOrderMatchesHeap compares the order with that of a plain binary heap.
package engine
