// Package queue describes the treatment of a packet in a switch between ingress and egress.
//
// [Spec] is the description of a switch: DSCP classification, queues and their scheduling ([Class]), WRED and ECN
// ([WRED]), trimming ([Trim]), PFC thresholds, shared buffer, headroom, and watchdog ([Watchdog]). A scheduled
// fabric also has virtual output queues and cells ([Scheduled]). The simulated switch executes a Spec,
// configurations are rendered from it and parsed into it.
//
// Rules that need no switch state are functions here: WRED's marking probability (RFC 3168, section 5, for ECN),
// SAI's XON threshold max(xON, limit - offset), dynamic thresholds with alpha, and [Headroom]. Headroom is a sum of
// bytes: the frame that delays the pause, the pause frame, propagation both ways, the response time of the peer
// (IEEE 802.1Qbb), the pipeline of the switch and the frames already on the wire. `railyard validate headroom`
// shows that one MTU less loses packets.
//
// ECN marks at dequeue, by the length of the queue without the packet. A packet that cannot be marked (Not-ECT, or
// a WRED curve without ECN) is dropped at enqueue instead, in lossless classes too. [ASIC] holds buffer sizes and
// limits of switch chips as data.
package queue
