#include "textflag.h"

// func prefetch(p *Packet)
TEXT ·prefetch(SB), NOSPLIT|NOFRAME, $0-8
	MOVQ p+0(FP), AX
	PREFETCHT0 (AX)
	RET

// func prefetchHeaders(h *headers)
TEXT ·prefetchHeaders(SB), NOSPLIT|NOFRAME, $0-8
	MOVQ h+0(FP), AX
	PREFETCHT0 (AX)
	RET
