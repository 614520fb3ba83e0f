#include "textflag.h"

// func prefetch(r *receiver)
TEXT ·prefetch(SB), NOSPLIT|NOFRAME, $0-8
	MOVQ r+0(FP), AX
	PREFETCHT0 (AX)
	PREFETCHT0 128(AX)
	RET
