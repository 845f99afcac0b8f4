#include "textflag.h"

// ORDER stores 32 sums: X0/Y0 holds, in words, those of even bytes with what the odd ones carried, Y1 those of odd bytes.
#define ORDER \
	VPSLLW $8, Y1, Y2 \
	VPSUBW Y2, Y0, Y0 \
	VPUNPCKLWD Y1, Y0, Y2 \
	VPUNPCKHWD Y1, Y0, Y3 \
	VPERM2I128 $0x20, Y3, Y2, Y4 \
	VPERM2I128 $0x31, Y3, Y2, Y5 \
	VMOVDQU Y4, (DX) \
	VMOVDQU Y5, 32(DX)

// func sums512(table, codes *byte, quads, blocks int, out *uint16)
// quads is even. Entries are at most 63, so that four fit into a byte. Codes are asked for ahead: by itself the processor stops at the
// end of each page.
TEXT ·sums512(SB), NOSPLIT, $0-40
	MOVQ table+0(FP), SI
	MOVQ codes+8(FP), DI
	MOVQ quads+16(FP), R8
	MOVQ blocks+24(FP), CX
	MOVQ out+32(FP), DX
	MOVL $0x0f0f0f0f, AX
	VPBROADCASTD AX, Z15
block512:
	VPXORQ Z0, Z0, Z0
	VPXORQ Z1, Z1, Z1
	MOVQ SI, BX
	MOVQ R8, R9
quad512:
	PREFETCHT0 2048(DI)
	PREFETCHT0 2112(DI)
	VMOVDQU64 (DI), Z2
	VMOVDQU64 64(DI), Z3
	VPANDQ Z15, Z2, Z4
	VPANDQ Z15, Z3, Z5
	VPSRLW $4, Z2, Z2
	VPSRLW $4, Z3, Z3
	VPANDQ Z15, Z2, Z2
	VPANDQ Z15, Z3, Z3
	VMOVDQU64 (BX), Z6
	VMOVDQU64 64(BX), Z7
	VMOVDQU64 128(BX), Z8
	VMOVDQU64 192(BX), Z9
	VPSHUFB Z4, Z6, Z6
	VPSHUFB Z2, Z7, Z7
	VPSHUFB Z5, Z8, Z8
	VPSHUFB Z3, Z9, Z9
	VPADDB Z7, Z6, Z6
	VPADDB Z9, Z8, Z8
	VPADDB Z8, Z6, Z6
	VPADDW Z6, Z0, Z0
	VPSRLW $8, Z6, Z6
	VPADDW Z6, Z1, Z1
	ADDQ $128, DI
	ADDQ $256, BX
	SUBQ $2, R9
	JNZ quad512
	VEXTRACTI64X4 $1, Z0, Y2
	VEXTRACTI64X4 $1, Z1, Y3
	VPADDW Y2, Y0, Y0
	VPADDW Y3, Y1, Y1
	ORDER
	ADDQ $64, DX
	DECQ CX
	JNZ block512
	VZEROUPPER
	RET

// func sums256(table, codes *byte, quads, blocks int, out *uint16)
TEXT ·sums256(SB), NOSPLIT, $0-40
	MOVQ table+0(FP), SI
	MOVQ codes+8(FP), DI
	MOVQ quads+16(FP), R8
	MOVQ blocks+24(FP), CX
	MOVQ out+32(FP), DX
	MOVL $0x0f0f0f0f, AX
	VMOVD AX, X15
	VPBROADCASTD X15, Y15
block256:
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	MOVQ SI, BX
	MOVQ R8, R9
quad256:
	PREFETCHT0 2048(DI)
	VMOVDQU (DI), Y2
	VMOVDQU 32(DI), Y3
	VPAND Y15, Y2, Y4
	VPAND Y15, Y3, Y5
	VPSRLW $4, Y2, Y2
	VPSRLW $4, Y3, Y3
	VPAND Y15, Y2, Y2
	VPAND Y15, Y3, Y3
	VMOVDQU (BX), Y6
	VMOVDQU 32(BX), Y7
	VMOVDQU 64(BX), Y8
	VMOVDQU 96(BX), Y9
	VPSHUFB Y4, Y6, Y6
	VPSHUFB Y5, Y7, Y7
	VPSHUFB Y2, Y8, Y8
	VPSHUFB Y3, Y9, Y9
	VPADDB Y7, Y6, Y6
	VPADDB Y9, Y8, Y8
	VPADDB Y8, Y6, Y6
	VPADDW Y6, Y0, Y0
	VPSRLW $8, Y6, Y6
	VPADDW Y6, Y1, Y1
	ADDQ $64, DI
	ADDQ $128, BX
	DECQ R9
	JNZ quad256
	ORDER
	ADDQ $64, DX
	DECQ CX
	JNZ block256
	VZEROUPPER
	RET

// EIGHT decides about the eight codes from i on.
#define EIGHT(i, to) \
	VPMOVZXWD (2*i)(SI), Y0 \
	VCVTDQ2PS Y0, Y0 \
	VMULPS Y13, Y0, Y0 \
	VADDPS Y14, Y0, Y0 \
	VMULPS (4*i)(DI), Y0, Y0 \
	VCMPPS $0x1d, Y15, Y0, Y0 \
	VMOVMSKPS Y0, to

// func reach256(sums *uint16, factors *byte, blocks int, at *bar, mask *uint32)
TEXT ·reach256(SB), NOSPLIT, $0-40
	MOVQ sums+0(FP), SI
	MOVQ factors+8(FP), DI
	MOVQ blocks+16(FP), CX
	MOVQ at+24(FP), BX
	MOVQ mask+32(FP), DX
	VBROADCASTSS (BX), Y13
	VBROADCASTSS 4(BX), Y14
	VBROADCASTSS 8(BX), Y15
reach:
	EIGHT(0, AX)
	EIGHT(8, R8)
	EIGHT(16, R9)
	EIGHT(24, R10)
	SHLL $8, R8
	SHLL $16, R9
	SHLL $24, R10
	ORL R8, AX
	ORL R9, AX
	ORL R10, AX
	MOVL AX, (DX)
	ADDQ $64, SI
	ADDQ $128, DI
	ADDQ $4, DX
	DECQ CX
	JNZ reach
	VZEROUPPER
	RET
