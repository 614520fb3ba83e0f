package coll

import "railyard/unit"

// NVLS returns the all-reduce that NVSwitch does (NVLink SHARP), of GPUs that share one. Each rank owns 1/n of the
// bytes. It reads that part from all ranks in one operation, reduced by the switch, and writes the sum to all ranks
// in one operation. A GPU therefore sends all of its bytes once, because others read them, plus its 1/n of the
// sums. It receives the sums once, plus its reduced 1/n: (n+1)/n of the bytes in each direction (NVIDIA, nccl-tests
// pull request 239: the algorithm's bandwidth is n/(n+1) of NVLink's). Reading and writing follow each other piece
// by piece, and all take part from the first piece on.
//
// The switch reduces and copies at a share of NVLink's rate. The difference is counted as extra bytes, like the
// flags of LL. A transfer to the neighbour represents a rank's bytes to the switch and the neighbour's bytes from
// it. In a fabric of one pipe out and one in per GPU, all pipes thus have the correct load.
func NVLS(share float64) Algorithm {
	return func(s Sink, ranks []int, bytes unit.Bytes, ready [][]int32) [][]int32 {
		n := len(ranks)
		if n < 2 {
			return ready
		}
		var all []int32
		for _, r := range ready {
			all = append(all, r...)
		}
		through := NVLSBytes(share, n, bytes)
		var moved []int32
		for i := range n {
			moved = append(moved, s.Transfer(ranks[i], ranks[(i+1)%n], through, all...))
		}
		done := make([][]int32, n)
		for i := range done {
			done[i] = moved
		}
		return done
	}
}

// NVLSBytes returns the bytes that a GPU sends and receives, as bytes at NVLink's full rate.
func NVLSBytes(share float64, n int, bytes unit.Bytes) unit.Bytes {
	return max(bytes, unit.Bytes(float64(bytes)*float64(n+1)/float64(n)/share+0.5))
}

// NVLSFill returns the time in which NVLS's pipeline fills and drains, as bytes at NVLink's full rate. NVLS leaves
// them out. NCCL's kernel has three stages in separate warps. It copies chunks into NVSwitch's buffers, reduces and
// distributes them, and copies out of the buffers (src/device/all_reduce.h). A round is a chunk of every channel
// and head. The first stage of the first round and the last stage of the last round overlap with no other, which
// adds two rounds. Each is assumed to take the time of the middle stage.
func NVLSFill(share float64, n int, bytes unit.Bytes) unit.Bytes {
	return NVLSBytes(share, n, 2*nvlsRound(share, n, bytes))
}

// nvlsRound returns the bytes of a round. Chunks are smaller if there would be few (calcCollChunking of nccl
// src/enqueue.cc). Hopper has 16 channels, Blackwell 24 inside a node (NVLS_NCHANNELS of src/transport/nvls.cc).
func nvlsRound(share float64, n int, bytes unit.Bytes) unit.Bytes {
	at := unit.Bytes(16 * min(n, nvlsHeads))
	if share == NVLSShare(true) {
		at = unit.Bytes(24 * min(n, nvlsHeads))
	}
	chunk := 128 * unit.KiB
	for _, smaller := range []struct{ below, chunk unit.Bytes }{{64, 64 * unit.KiB}, {8, 32 * unit.KiB},
		{2, 16 * unit.KiB}} {
		if bytes < smaller.below*at*chunk && chunk > smaller.chunk {
			chunk = smaller.chunk
		}
	}
	return min(at*chunk, bytes)
}

// nvlsHeads is the most GPUs that NVSwitch's sums begin at (NCCL_MAX_NVLS_ARITY).
const nvlsHeads = 32

// NVLSShare returns the share of NVLink's bandwidth that NCCL expects of reductions by NVSwitch (nccl
// src/graph/tuning.cc: 0.85 for Hopper, 0.74 for Blackwell).
func NVLSShare(blackwell bool) float64 {
	if blackwell {
		return 0.74
	}
	return 0.85
}
