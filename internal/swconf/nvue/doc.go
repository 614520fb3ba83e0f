// Package nvue parses and renders the configuration of NVIDIA Cumulus Linux 5.6 to 5.14. It handles the commands nv
// set and nv unset, and the YAML and JSON of nv config show and startup.yaml. All are one tree in several forms.
//
// Defaults are from NVIDIA's guide, chapters Quality of Service and RoCE, and from the NVUE command reference. The
// mode lossy-multi-tc trims packets on a switch and not in the simulator.
package nvue
