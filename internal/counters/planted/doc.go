// Package planted has fabrics with one injected fault each: scenarios that differ from a healthy one ([Bases]) in
// one setting, and the culprit ([Fault], [Culprit]). The outputs of their devices are simulated, so that `railyard
// diagnose` can be tested against a known answer.
package planted
