// Package machine reads the inside of a server from its own tools: the matrix of nvidia-smi topo -m, and the XML that
// NCCL reads (NCCL_TOPO_FILE) and writes (NCCL_TOPO_DUMP_FILE), one file per format.
//
// [Read] returns a [Server]: GPUs, each [NIC] with its distance ([Near]) from each GPU, NVLinks as an inside.Fabric,
// and PCIe links that NICs share ([Bus]). [ReadGraphs] returns the rings and trees that NCCL reports.
package machine
