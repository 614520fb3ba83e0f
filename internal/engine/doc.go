// Package engine is the event queue and the clock of the simulator.
//
// An [Event] is a value of 24 bytes. A [Queue] returns events in the order (time, element, sequence). Of two events
// at one time, that of the lower [Element] is first. Of two events of one element, the one pushed first is first.
// The order therefore does not depend on what other elements do in between. Several queues that share the events of
// one network return them in the order of one queue. The run itself is the element OfRun and is first. A sample or
// a link failure therefore precedes all other events at that time.
//
// A queue has three parts. Events whose delay repeats are appended to a lane. Time only moves forward, so a lane is
// sorted by construction. Frames of one size on links of one kind thus need no search. All other events are stored
// in a hierarchical timing wheel. Events for the instant being drained wait in a heap (late.go). A heap of lane
// heads merges the three. Pushing and popping allocate nothing once the slab has its peak size.
//
// A [Habit] assigns a timer that keeps its delay to a lane. [Timers] are n restartable timers over one queue; a
// generation number cancels an event without a search. One queue addresses at most 262,143 elements.
//
// TestOrderMatchesHeap compares the order with that of a plain binary heap.
package engine
