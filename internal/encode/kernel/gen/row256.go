package main

// Every routine here does the same operations in the same order as its 512-bit counterpart, so that vectors are bitwise
// identical (see package kernel): sums are kept in 16 lanes, in two registers, before they are folded.

// Constants are stored eight times each, so that instructions can read them from memory: 16 registers are too few.

func (b *asm) constants256() {
	b.table("expw", 8, expConstants)
	b.table("erfw", 8, erfConstants)
	// 8 zeros after 8 ones: a window into it is the mask of a tail
	ones := make([]string, 16)
	for i := range ones {
		ones[i] = [...]string{"0xffffffff", "0"}[i/8]
	}
	b.table("tailw", 1, ones)
	lowest := make([]string, 8)
	for i := range lowest {
		lowest[i] = "0xff7fffff"
	}
	b.table("loww", 1, lowest)
}

// exp256 replaces Y(x) by its exponential with the operations of exp512; R14 = expw, Y(n) and Y(y) are overwritten.
func (b *asm) exp256(x, n, y int) {
	b.p("\tVMAXPS 320(R14), Y%d, Y%d\n\tVMINPS 352(R14), Y%d, Y%d", x, x, x, x)
	b.p("\tVMULPS (R14), Y%d, Y%d", x, n)
	b.p("\tVROUNDPS $8, Y%d, Y%d", n, n)
	b.p("\tVFMADD231PS 32(R14), Y%d, Y%d", n, x)
	b.p("\tVFMADD231PS 64(R14), Y%d, Y%d", n, x)
	b.p("\tVMOVUPS 96(R14), Y%d", y)
	for c := 4; c <= 8; c++ {
		b.p("\tVFMADD213PS %d(R14), Y%d, Y%d", 32*c, x, y)
	}
	b.p("\tVMULPS Y%d, Y%d, Y%d", x, y, y)
	b.p("\tVFMADD213PS 288(R14), Y%d, Y%d", x, y)
	b.p("\tVADDPS Y%d, Y%d, Y%d", x, y, y)
	b.p("\tVCVTPS2DQ Y%d, Y%d\n\tVPSLLD $23, Y%d, Y%d\n\tVPADDD Y%d, Y%d, Y%d", n, n, n, n, n, y, x) // y·2ⁿ
}

func (b *asm) softmax256() {
	b.text("softmax256(x *float32, rows, n, ld int)", 32)
	b.p("\tMOVQ x+0(FP), DI\n\tMOVQ rows+8(FP), R8\n\tMOVQ n+16(FP), R9\n\tMOVQ ld+24(FP), R10")
	b.p("\tLEAQ expw<>(SB), R14\n\tLEAQ tailw<>(SB), R12")
	b.p("\tMOVQ R9, CX\n\tANDQ $7, CX\n\tMOVQ CX, AX\n\tSHLQ $2, AX\n\tSUBQ AX, R12\n\tVMOVUPS 32(R12), Y11") // lanes past the tail
	b.p("\tMOVQ R9, R11\n\tSHRQ $3, R11")
	b.p("\tVMOVUPS loww<>(SB), Y8")
	b.p("row:")
	b.p("\tVMOVAPS Y8, Y0\n\tMOVQ DI, SI\n\tMOVQ R11, DX\n\tTESTQ DX, DX\n\tJZ maxtail")
	b.p("maxl:\n\tVMAXPS (SI), Y0, Y0\n\tADDQ $32, SI\n\tDECQ DX\n\tJNZ maxl")
	b.p("maxtail:\n\tTESTQ CX, CX\n\tJZ maxr\n\tVMOVUPS (SI), Y1\n\tVBLENDVPS Y11, Y1, Y8, Y1\n\tVMAXPS Y1, Y0, Y0")
	b.p("maxr:")
	b.reduce256("VMAXPS", 0, 1)
	b.p("\tVBROADCASTSS X0, Y4\n\tVXORPS Y5, Y5, Y5\n\tVXORPS Y6, Y6, Y6")
	b.p("\tMOVQ DI, SI\n\tMOVQ R11, DX\n\tTESTQ DX, DX\n\tJZ exptail")
	b.p("expl:\n\tVMOVUPS (SI), Y1\n\tVSUBPS Y4, Y1, Y1")
	b.exp256(1, 2, 3)
	b.p("\tVMOVUPS Y1, (SI)\n\tVADDPS Y1, Y5, Y7\n\tVMOVAPS Y6, Y5\n\tVMOVAPS Y7, Y6\n\tADDQ $32, SI\n\tDECQ DX\n\tJNZ expl")
	b.p("exptail:\n\tTESTQ CX, CX\n\tJZ sumr\n\tVMOVUPS (SI), Y1\n\tVBLENDVPS Y11, Y1, Y8, Y1\n\tVSUBPS Y4, Y1, Y1")
	b.exp256(1, 2, 3)
	b.p("\tVANDPS Y11, Y1, Y1\n\tVMOVUPS Y1, (SI)\n\tVADDPS Y1, Y5, Y5")
	b.p("sumr:\n\tVADDPS Y6, Y5, Y0")
	b.reduce256("VADDPS", 0, 1)
	b.p("\tVBROADCASTSS X0, Y0\n\tVMOVUPS 288(R14), Y1\n\tVDIVPS Y0, Y1, Y0")
	b.p("\tMOVQ DI, SI\n\tMOVQ R9, DX\n\tADDQ $7, DX\n\tSHRQ $3, DX")
	b.p("mull:\n\tVMULPS (SI), Y0, Y1\n\tVMOVUPS Y1, (SI)\n\tADDQ $32, SI\n\tDECQ DX\n\tJNZ mull")
	b.p("\tADDQ R10, DI\n\tDECQ R8\n\tJNZ row\n\tVZEROUPPER\n\tRET\n")
}

func (b *asm) gelu256() {
	b.text("gelu256(x *float32, nvec int)", 16)
	b.p("\tMOVQ x+0(FP), DI\n\tMOVQ nvec+8(FP), CX\n\tSHLQ $1, CX\n\tLEAQ erfw<>(SB), R14")
	b.p("gl:")
	b.p("\tVMOVUPS (DI), Y0")
	b.geluBody256(0, 1, 2, 3, 4)
	b.p("\tVMOVUPS Y3, (DI)\n\tADDQ $32, DI\n\tDECQ CX\n\tJNZ gl\n\tVZEROUPPER\n\tRET\n")

	b.text("geluQuant256(x *float32, nvec int, out *uint8, scale, zp *float32)", 40)
	b.p("\tMOVQ x+0(FP), DI\n\tMOVQ nvec+8(FP), CX\n\tSHLQ $1, CX\n\tLEAQ erfw<>(SB), R14")
	b.p("\tVXORPS Y5, Y5, Y5\n\tVXORPS Y6, Y6, Y6")
	b.p("gq:")
	b.p("\tVMOVUPS (DI), Y0")
	b.geluBody256(0, 1, 2, 3, 4)
	b.p("\tVMINPS Y3, Y5, Y5\n\tVMAXPS Y3, Y6, Y6")
	b.p("\tVMOVUPS Y3, (DI)\n\tADDQ $32, DI\n\tDECQ CX\n\tJNZ gq")
	b.quantTail256()
}

// geluBody256 leaves x/2·(1+erf(x/√2)) of Y(x) in Y(num), with the operations of geluBody512; R14 = erfw.
func (b *asm) geluBody256(x, u, u2, num, den int) {
	b.p("\tVMULPS 448(R14), Y%d, Y%d", x, u)
	b.p("\tVMINPS (R14), Y%d, Y%d\n\tVMAXPS 32(R14), Y%d, Y%d", u, u, u, u)
	b.p("\tVMULPS Y%d, Y%d, Y%d", u, u, u2)
	b.p("\tVMOVUPS 64(R14), Y%d\n\tVMOVUPS 288(R14), Y%d", num, den)
	for i := 1; i < 7; i++ {
		b.p("\tVFMADD213PS %d(R14), Y%d, Y%d", 64+32*i, u2, num)
		if i < 5 {
			b.p("\tVFMADD213PS %d(R14), Y%d, Y%d", 288+32*i, u2, den)
		}
	}
	b.p("\tVMULPS Y%d, Y%d, Y%d", u, num, num)
	b.p("\tVDIVPS Y%d, Y%d, Y%d", den, num, num)
	b.p("\tVMULPS 480(R14), Y%d, Y%d", x, x)
	b.p("\tVFMADD213PS Y%d, Y%d, Y%d", x, x, num)
}

// quantTail256 quantises x, whose values lie between the lanes of Y5 and Y6, and returns.
func (b *asm) quantTail256() {
	b.p("\tVMOVAPS Y5, Y0")
	b.reduce256("VMINPS", 0, 1)
	b.p("\tVMOVAPS X0, X5\n\tVMOVAPS Y6, Y0")
	b.reduce256("VMAXPS", 0, 1)
	b.quantScale("VROUNDSS")
	b.p("\tVBROADCASTSS X7, Y7\n\tVBROADCASTSS X8, Y8\n\tVXORPS Y9, Y9, Y9")
	b.p("\tMOVQ x+0(FP), DI\n\tMOVQ nvec+8(FP), CX\n\tMOVQ out+16(FP), SI")
	b.p("qt:\n\tVMOVUPS (DI), Y0\n\tVMOVUPS 32(DI), Y1")
	for i := range 2 {
		b.p("\tVFMADD213PS Y8, Y7, Y%d\n\tVMAXPS Y9, Y%d, Y%d\n\tVCVTPS2DQ Y%d, Y%d", i, i, i, i, i)
	}
	// both packs work within 128-bit lanes: VPERMQ puts the 16-bit values in order
	b.p("\tVPACKUSDW Y1, Y0, Y0\n\tVPERMQ $0xd8, Y0, Y0\n\tVEXTRACTI128 $1, Y0, X1\n\tVPACKUSWB X1, X0, X0\n\tVMOVDQU X0, (SI)")
	b.p("\tADDQ $64, DI\n\tADDQ $16, SI\n\tDECQ CX\n\tJNZ qt\n\tVZEROUPPER\n\tRET\n")
}

func (b *asm) quant256() {
	b.text("quantRow256(x *float32, nvec int, out *uint8, scale, zp *float32)", 40)
	b.p("\tMOVQ x+0(FP), DI\n\tMOVQ nvec+8(FP), CX")
	b.p("\tVXORPS Y5, Y5, Y5\n\tVXORPS Y6, Y6, Y6")
	b.p("qm:\n\tVMOVUPS (DI), Y0\n\tVMOVUPS 32(DI), Y1\n\tVMINPS Y0, Y5, Y5\n\tVMAXPS Y0, Y6, Y6\n\tVMINPS Y1, Y5, Y5\n\tVMAXPS Y1, Y6, Y6\n\tADDQ $64, DI\n\tDECQ CX\n\tJNZ qm")
	b.quantTail256()
}

func (b *asm) norm256() {
	b.text("addNorm256(x, r, gamma, beta, out *float32, nvec int, invn, eps float32)", 56)
	b.p("\tMOVQ x+0(FP), SI\n\tMOVQ r+8(FP), DX\n\tMOVQ gamma+16(FP), R8\n\tMOVQ beta+24(FP), R9\n\tMOVQ out+32(FP), DI\n\tMOVQ nvec+40(FP), CX")
	b.p("\tVXORPS Y0, Y0, Y0\n\tVXORPS Y6, Y6, Y6\n\tMOVQ CX, AX\n\tMOVQ DI, BX")
	b.p("l1:\n\tVMOVUPS (SI), Y1\n\tVADDPS (DX), Y1, Y1\n\tVMOVUPS Y1, (BX)\n\tVADDPS Y1, Y0, Y0")
	b.p("\tVMOVUPS 32(SI), Y7\n\tVADDPS 32(DX), Y7, Y7\n\tVMOVUPS Y7, 32(BX)\n\tVADDPS Y7, Y6, Y6")
	b.p("\tADDQ $64, SI\n\tADDQ $64, DX\n\tADDQ $64, BX\n\tDECQ AX\n\tJNZ l1\n\tVADDPS Y6, Y0, Y0")
	b.reduce256("VADDPS", 0, 1)
	b.p("\tVBROADCASTSS X0, Y0\n\tVBROADCASTSS invn+48(FP), Y10\n\tVMULPS Y10, Y0, Y2")
	b.p("\tVXORPS Y3, Y3, Y3\n\tVXORPS Y6, Y6, Y6\n\tMOVQ CX, AX\n\tMOVQ DI, BX")
	b.p("l2:\n\tVMOVUPS (BX), Y1\n\tVSUBPS Y2, Y1, Y1\n\tVFMADD231PS Y1, Y1, Y3")
	b.p("\tVMOVUPS 32(BX), Y7\n\tVSUBPS Y2, Y7, Y7\n\tVFMADD231PS Y7, Y7, Y6\n\tADDQ $64, BX\n\tDECQ AX\n\tJNZ l2")
	b.p("\tVADDPS Y6, Y3, Y0")
	b.reduce256("VADDPS", 0, 1)
	b.p("\tVBROADCASTSS X0, Y0\n\tVBROADCASTSS eps+52(FP), Y4\n\tVFMADD213PS Y4, Y10, Y0\n\tVSQRTPS Y0, Y0")
	b.p("\tMOVL $0x3f800000, AX\n\tVMOVD AX, X4\n\tVBROADCASTSS X4, Y4\n\tVDIVPS Y0, Y4, Y0")
	b.p("\tSHLQ $1, CX")
	b.p("l3:\n\tVMOVUPS (DI), Y1\n\tVSUBPS Y2, Y1, Y1\n\tVMULPS Y0, Y1, Y1\n\tVMOVUPS (R9), Y5\n\tVFMADD132PS (R8), Y5, Y1\n\tVMOVUPS Y1, (DI)\n\tADDQ $32, DI\n\tADDQ $32, R8\n\tADDQ $32, R9\n\tDECQ CX\n\tJNZ l3")
	b.p("\tVZEROUPPER\n\tRET\n")
}

// transpose256 writes a block of 8×8 values column by column.
func (b *asm) transpose256() {
	b.text("transpose256(src *float32, lds int, dst *float32, ldd int)", 32)
	b.p("\tMOVQ src+0(FP), SI\n\tMOVQ lds+8(FP), DX\n\tMOVQ dst+16(FP), DI\n\tMOVQ ldd+24(FP), R9")
	for i := range 8 {
		b.p("\tVMOVUPS (SI), Y%d", i)
		if i < 7 {
			b.p("\tADDQ DX, SI")
		}
	}
	for i := range 4 { // pairs of rows
		b.p("\tVUNPCKLPS Y%d, Y%d, Y%d\n\tVUNPCKHPS Y%d, Y%d, Y%d", 2*i+1, 2*i, 8+2*i, 2*i+1, 2*i, 8+2*i+1)
	}
	for i := range 2 { // then Y(4i+j) holds rows 4i…4i+3, column j in the low lane and 4+j in the high one
		a, c := 8+4*i, 8+4*i+2
		b.p("\tVUNPCKLPD Y%d, Y%d, Y%d\n\tVUNPCKHPD Y%d, Y%d, Y%d", c, a, 4*i, c, a, 4*i+1)
		b.p("\tVUNPCKLPD Y%d, Y%d, Y%d\n\tVUNPCKHPD Y%d, Y%d, Y%d", c+1, a+1, 4*i+2, c+1, a+1, 4*i+3)
	}
	for j := range 4 {
		b.p("\tVPERM2F128 $0x20, Y%d, Y%d, Y%d\n\tVPERM2F128 $0x31, Y%d, Y%d, Y%d", 4+j, j, 8+j, 4+j, j, 12+j)
	}
	for i := range 8 {
		b.p("\tVMOVUPS Y%d, (DI)", 8+i)
		if i < 7 {
			b.p("\tADDQ R9, DI")
		}
	}
	b.p("\tVZEROUPPER\n\tRET\n")
}
