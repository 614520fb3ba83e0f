// Package gnmi reads live counters from devices over gNMI (OpenConfig, gnmi-specification.md): interfaces,
// queues, PFC and LLDP, under the paths of OpenConfig and of vendors (leaves.go).
//
// [Dial] connects to one device; a [Client] reads its state once, by Subscribe ONCE or Get, into the same
// counters.Snapshot that pasted outputs give, and changes nothing on the device. Bytes, leaves and time per device
// are bounded ([Options]).
package gnmi
