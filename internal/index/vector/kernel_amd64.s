#include "textflag.h"

// func scan512(q *int8, base *byte, n int, out *int32)
// Rows of 384 bytes against a query in six registers.
TEXT ·scan512(SB), NOSPLIT, $0-32
	MOVQ q+0(FP), SI
	MOVQ base+8(FP), DI
	MOVQ n+16(FP), CX
	MOVQ out+24(FP), DX
	VMOVDQU64 (SI), Z10
	VMOVDQU64 64(SI), Z11
	VMOVDQU64 128(SI), Z12
	VMOVDQU64 192(SI), Z13
	VMOVDQU64 256(SI), Z14
	VMOVDQU64 320(SI), Z15
row512:
	TESTQ CX, CX
	JZ done512
	VPXORQ Z0, Z0, Z0
	VPXORQ Z1, Z1, Z1
	VMOVDQU64 (DI), Z2
	VMOVDQU64 64(DI), Z3
	VMOVDQU64 128(DI), Z4
	VMOVDQU64 192(DI), Z5
	VMOVDQU64 256(DI), Z6
	VMOVDQU64 320(DI), Z7
	VPDPBUSD Z10, Z2, Z0
	VPDPBUSD Z11, Z3, Z1
	VPDPBUSD Z12, Z4, Z0
	VPDPBUSD Z13, Z5, Z1
	VPDPBUSD Z14, Z6, Z0
	VPDPBUSD Z15, Z7, Z1
	VPADDD Z1, Z0, Z0
	VEXTRACTI64X4 $1, Z0, Y1
	VPADDD Y1, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPADDD X1, X0, X0
	VPSHUFD $0x4E, X0, X1
	VPADDD X1, X0, X0
	VPSHUFD $0xB1, X0, X1
	VPADDD X1, X0, X0
	VMOVD X0, (DX)
	ADDQ $4, DX
	ADDQ $384, DI
	DECQ CX
	JMP row512
done512:
	VZEROUPPER
	RET

// func scan256(q *int16, base *byte, width, n int, out *int32)
// width is a multiple of 64. Bytes are widened to 16 bits because VPMADDUBSW would saturate; VPMADDWD is exact.
TEXT ·scan256(SB), NOSPLIT, $0-40
	MOVQ q+0(FP), SI
	MOVQ base+8(FP), DI
	MOVQ width+16(FP), R8
	MOVQ n+24(FP), CX
	MOVQ out+32(FP), DX
row256:
	TESTQ CX, CX
	JZ done256
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	XORQ AX, AX
	MOVQ SI, BX
column256:
	VPMOVZXBW (DI)(AX*1), Y2
	VPMOVZXBW 16(DI)(AX*1), Y3
	VPMOVZXBW 32(DI)(AX*1), Y4
	VPMOVZXBW 48(DI)(AX*1), Y5
	VPMADDWD (BX), Y2, Y2
	VPMADDWD 32(BX), Y3, Y3
	VPMADDWD 64(BX), Y4, Y4
	VPMADDWD 96(BX), Y5, Y5
	VPADDD Y2, Y0, Y0
	VPADDD Y3, Y1, Y1
	VPADDD Y4, Y0, Y0
	VPADDD Y5, Y1, Y1
	ADDQ $128, BX
	ADDQ $64, AX
	CMPQ AX, R8
	JLT column256
	VPADDD Y1, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPADDD X1, X0, X0
	VPSHUFD $0x4E, X0, X1
	VPADDD X1, X0, X0
	VPSHUFD $0xB1, X0, X1
	VPADDD X1, X0, X0
	VMOVD X0, (DX)
	ADDQ $4, DX
	ADDQ R8, DI
	DECQ CX
	JMP row256
done256:
	VZEROUPPER
	RET

// func fine256(q *int32, hi, lo *byte, width int) int64
// width is a multiple of 8. Products of 24 and 16 bits are summed in 64 bits, even and odd dimensions apart.
TEXT ·fine256(SB), NOSPLIT, $0-40
	MOVQ q+0(FP), SI
	MOVQ hi+8(FP), DI
	MOVQ lo+16(FP), R8
	MOVQ width+24(FP), CX
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	MOVL $32768, AX
	VMOVD AX, X7
	VPBROADCASTD X7, Y7
	XORQ AX, AX
fine:
	VPMOVZXBD (DI)(AX*1), Y2
	VPMOVZXBD (R8)(AX*1), Y3
	VMOVDQU (SI)(AX*4), Y4
	VPSLLD $8, Y2, Y2
	VPOR Y3, Y2, Y2
	VPSUBD Y7, Y2, Y2
	VPMULDQ Y4, Y2, Y5
	VPSRLQ $32, Y2, Y2
	VPSRLQ $32, Y4, Y4
	VPMULDQ Y4, Y2, Y6
	VPADDQ Y5, Y0, Y0
	VPADDQ Y6, Y1, Y1
	ADDQ $8, AX
	CMPQ AX, CX
	JLT fine
	VPADDQ Y1, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPADDQ X1, X0, X0
	VPSHUFD $0x4E, X0, X1
	VPADDQ X1, X0, X0
	VMOVQ X0, AX
	VZEROUPPER
	MOVQ AX, ret+32(FP)
	RET

// func prefetch(base *byte, n int)
//
// Asks for the n bytes from base on. It reads nothing, so that it may pass the end of what is mapped.
TEXT ·prefetch(SB), NOSPLIT, $0-16
	MOVQ base+0(FP), AX
	MOVQ n+8(FP), CX
ahead:
	PREFETCHT0 (AX)
	ADDQ $64, AX
	SUBQ $64, CX
	JGT ahead
	RET
