package main

// sgemm256 writes an fp32 tile of rows × 16 outputs: c = a·b + bias.
func (b *asm) sgemm256(rows int) {
	b.text(sprint("sgemm256x", rows, sgemmArgs), 64)
	b.p("\tMOVQ k+0(FP), CX\n\tMOVQ a+8(FP), R8\n\tMOVQ lda+16(FP), DX\n\tMOVQ b+24(FP), SI\n\tMOVQ ldb+32(FP), R13\n\tMOVQ c+40(FP), DI\n\tMOVQ ldc+48(FP), R15\n\tMOVQ bias+56(FP), AX")
	b.setupBases(rows)
	b.p("\tVMOVUPS (AX), Y0\n\tVMOVUPS 32(AX), Y1")
	for i := 1; i < rows; i++ {
		b.p("\tVMOVAPS Y0, Y%d\n\tVMOVAPS Y1, Y%d", 2*i, 2*i+1)
	}
	step := func(u int) {
		b.p("\tVMOVUPS (SI), Y12\n\tVMOVUPS 32(SI), Y13\n\tADDQ R13, SI")
		for i := range rows {
			t := 14 + i%2
			b.p("\tVBROADCASTSS %s, Y%d", row(i, 4*u), t)
			b.p("\tVFMADD231PS Y12, Y%d, Y%d\n\tVFMADD231PS Y13, Y%d, Y%d", t, 2*i, t, 2*i+1)
		}
	}
	b.unrolled("", step, func() { b.advance(rows, 16) }, func() { b.advance(rows, 4) })
	for i := range rows {
		b.p("\tVMOVUPS Y%d, (DI)\n\tVMOVUPS Y%d, 32(DI)", 2*i, 2*i+1)
		if i < rows-1 {
			b.p("\tADDQ R15, DI")
		}
	}
	b.p("\tVZEROUPPER\n\tRET\n")
}

// qgemm256 writes an int8 tile of rows × 32 outputs, 8 at a time: c = sa·(sw·Σ − zp·swcs) + bias. Weights are
// widened to 16 bits as they are loaded; activations have been widened before. VPMADDWD then adds pairs of products exactly,
// so that Σ is the same integer as with VPDPBUSD. An accumulator holds two halves of the sum of each of 4 outputs. Measured
// on Zen 3: products alone run at two per cycle, with their additions at 80 % of that, which is the limit here.
func (b *asm) qgemm256(rows int) {
	b.text(sprint("qgemm256x", rows, wideArgs), 88)
	b.p("\tXORQ R13, R13") // byte offset of the 8 outputs in the panel, and in c, sw, swcs and bias
	b.p("group:")
	b.p("\tMOVQ k4+0(FP), CX\n\tMOVQ a+8(FP), R8\n\tMOVQ lda+16(FP), DX\n\tMOVQ b+24(FP), SI\n\tADDQ R13, SI")
	b.setupBases(rows)
	for i := range 2 * rows {
		b.p("\tVPXOR Y%d, Y%d, Y%d", i, i, i)
	}
	step := func(u int) {
		b.p("\tPREFETCHT1 %d(SI)", far+128*u) // two groups ask for each line
		b.p("\tVPMOVSXBW %d(SI), Y12\n\tVPMOVSXBW %d(SI), Y13", 128*u, 128*u+16)
		for i := range rows {
			b.p("\tVPBROADCASTQ %s, Y14", row(i, 8*u))
			b.p("\tVPMADDWD Y12, Y14, Y15\n\tVPMADDWD Y13, Y14, Y14")
			b.p("\tVPADDD Y15, Y%d, Y%d\n\tVPADDD Y14, Y%d, Y%d", 2*i, 2*i, 2*i+1, 2*i+1)
		}
	}
	b.unrolled("", step, func() { b.p("\tADDQ $512, SI"); b.advance(rows, 32) }, func() { b.p("\tADDQ $128, SI"); b.advance(rows, 8) })
	b.p("\tMOVQ sw+48(FP), AX\n\tMOVQ swcs+56(FP), BX\n\tMOVQ bias+64(FP), CX\n\tMOVQ sa+72(FP), R8\n\tMOVQ zp+80(FP), R9\n\tMOVQ c+32(FP), DI\n\tMOVQ ldc+40(FP), R15")
	b.p("\tADDQ R13, DI\n\tVMOVUPS (CX)(R13*1), Y12\n\tVMOVUPS (AX)(R13*1), Y13")
	for i := range rows {
		b.dequantise256(i)
		if i < rows-1 {
			b.p("\tADDQ R15, DI")
		}
	}
	b.p("\tADDQ $32, R13\n\tCMPQ R13, $128\n\tJNE group")
	b.p("\tVZEROUPPER\n\tRET\n")
}

// dequantise256 turns the sums of row i into outputs, in the order of operations of dequantise512.
// BX = swcs, R8 = sa, R9 = zp, DI = c, R13 = byte offset, Y12 = bias, Y13 = sw.
func (b *asm) dequantise256(i int) {
	z := 2 * i
	b.p("\tVPHADDD Y%d, Y%d, Y%d\n\tVPERMQ $0xd8, Y%d, Y%d", z+1, z, z, z, z)
	b.p("\tVBROADCASTSS %d(R8), Y14\n\tVBROADCASTSS %d(R9), Y15", 4*i, 4*i)
	b.p("\tVCVTDQ2PS Y%d, Y%d", z, z)
	b.p("\tVMULPS Y13, Y%d, Y%d", z, z)
	b.p("\tVFNMADD231PS (BX)(R13*1), Y15, Y%d", z)
	b.p("\tVFMADD213PS Y12, Y14, Y%d", z)
	b.p("\tVMOVUPS Y%d, (DI)", z)
}

// widen writes the routine that converts uint8 to uint16.
func (b *asm) widen() {
	b.text("widen16(src *uint8, dst *uint16, nvec int)", 24)
	b.p("\tMOVQ src+0(FP), SI\n\tMOVQ dst+8(FP), DI\n\tMOVQ nvec+16(FP), CX")
	b.p("wl:\n\tVPMOVZXBW (SI), Y0\n\tVMOVDQU Y0, (DI)\n\tADDQ $16, SI\n\tADDQ $32, DI\n\tDECQ CX\n\tJNZ wl\n\tVZEROUPPER\n\tRET\n")
}
