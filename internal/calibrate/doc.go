// Package calibrate fits parameters that no data sheet gives to measurements.
//
// A [Param] has bounds, a point has a measured time, and a [Model] simulates; it is passed in. [Run] fits by
// Gauss-Newton on a part of the points and holds out the others. It drops parameters that the points do not
// constrain or that are collinear. It then simulates the result: its error on both parts, uncalibrated and
// calibrated. cnp.go fits from captures how receivers answer ECN marks.
package calibrate
