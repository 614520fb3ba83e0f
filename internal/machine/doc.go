// Package machine reads the inside of a server from its own tools: the matrix of nvidia-smi topo -m, and NCCL's XML
// (read from NCCL_TOPO_FILE, written to NCCL_TOPO_DUMP_FILE), one Go file per format.
//
// [Read] returns a [Server]. It has GPUs, each [NIC] with its distance ([Near]) from each GPU, NVLinks as an
// inside.Fabric, and PCIe links that NICs share ([Bus]). [ReadGraphs] returns the rings and trees that NCCL
// reports.
package machine
