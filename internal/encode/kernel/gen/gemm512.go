package main

// sgemm512 writes an fp32 tile of rows × 32 outputs: c = a·b + bias.
func (b *asm) sgemm512(rows int) {
	b.text(sprint("sgemm512x", rows, sgemmArgs), 64)
	b.p("\tMOVQ k+0(FP), CX\n\tMOVQ a+8(FP), R8\n\tMOVQ lda+16(FP), DX\n\tMOVQ b+24(FP), SI\n\tMOVQ ldb+32(FP), R13\n\tMOVQ c+40(FP), DI\n\tMOVQ ldc+48(FP), R15\n\tMOVQ bias+56(FP), AX")
	b.setupBases(rows)
	b.p("\tVMOVUPS (AX), Z0\n\tVMOVUPS 64(AX), Z1")
	for i := 1; i < rows; i++ {
		b.p("\tVMOVAPS Z0, Z%d\n\tVMOVAPS Z1, Z%d", 2*i, 2*i+1)
	}
	prefetch := true
	step := func(u int) {
		if prefetch {
			b.p("\tPREFETCHT0 1024(SI)\n\tPREFETCHT0 1088(SI)")
		}
		b.p("\tVMOVUPS (SI), Z28\n\tVMOVUPS 64(SI), Z29")
		b.p("\tADDQ R13, SI")
		for i := range rows {
			t := 30 + i%2
			b.p("\tVBROADCASTSS %s, Z%d", row(i, 4*u), t)
			b.p("\tVFMADD231PS Z28, Z%d, Z%d\n\tVFMADD231PS Z29, Z%d, Z%d", t, 2*i, t, 2*i+1)
		}
	}
	b.unrolled("", step, func() { b.advance(rows, 16); prefetch = false }, func() { b.advance(rows, 4) })
	for i := range rows {
		b.p("\tVMOVUPS Z%d, (DI)\n\tVMOVUPS Z%d, 64(DI)", 2*i, 2*i+1)
		if i < rows-1 {
			b.p("\tADDQ R15, DI")
		}
	}
	b.p("\tVZEROUPPER\n\tRET\n")
}

// qgemm512 writes an int8 tile of rows × 32 outputs: c = sa·(sw·Σ − zp·swcs) + bias, Σ exact in int32.
func (b *asm) qgemm512(rows int) {
	b.text(sprint("qgemm512x", rows, qgemmArgs), 88)
	b.p("\tMOVQ k4+0(FP), CX\n\tMOVQ a+8(FP), R8\n\tMOVQ lda+16(FP), DX\n\tMOVQ b+24(FP), SI\n\tMOVQ c+32(FP), DI\n\tMOVQ ldc+40(FP), R15")
	b.setupBases(rows)
	for i := range 2 * rows {
		b.p("\tVPXORQ Z%d, Z%d, Z%d", i, i, i)
	}
	prefetch := true
	step := func(u int) {
		if prefetch {
			b.p("\tPREFETCHT0 %d(SI)\n\tPREFETCHT0 %d(SI)", 1024+128*u, 1088+128*u)
			b.p("\tPREFETCHT1 %d(SI)\n\tPREFETCHT1 %d(SI)", far+128*u, far+64+128*u)
		}
		b.p("\tVMOVDQU8 %d(SI), Z28\n\tVMOVDQU8 %d(SI), Z29", 128*u, 128*u+64)
		for i := range rows {
			t := 30 + i%2
			b.p("\tVPBROADCASTD %s, Z%d", row(i, 4*u), t)
			b.p("\tVPDPBUSD Z28, Z%d, Z%d\n\tVPDPBUSD Z29, Z%d, Z%d", t, 2*i, t, 2*i+1)
		}
	}
	quad := func() { b.p("\tADDQ $512, SI"); b.advance(rows, 16); prefetch = false }
	b.unrolled("", step, quad, func() { b.p("\tADDQ $128, SI"); b.advance(rows, 4) })
	b.p("\tMOVQ sw+48(FP), AX\n\tMOVQ swcs+56(FP), BX\n\tMOVQ bias+64(FP), CX\n\tMOVQ sa+72(FP), R8\n\tMOVQ zp+80(FP), R9")
	for i := range rows {
		b.dequantise512(i)
		if i < rows-1 {
			b.p("\tADDQ R15, DI")
		}
	}
	b.p("\tVZEROUPPER\n\tRET\n")
}

// dequantise512 turns the sums of row i into outputs. AX = sw, BX = swcs, CX = bias, R8 = sa, R9 = zp, DI = c.
func (b *asm) dequantise512(i int) {
	b.p("\tVBROADCASTSS %d(R8), Z30\n\tVBROADCASTSS %d(R9), Z31", 4*i, 4*i)
	for h := range 2 {
		z := 2*i + h
		b.p("\tVCVTDQ2PS Z%d, Z%d", z, z)
		b.p("\tVMULPS %d(AX), Z%d, Z%d", 64*h, z, z)
		b.p("\tVFNMADD231PS %d(BX), Z31, Z%d", 64*h, z)
		b.p("\tVMOVUPS %d(CX), Z28", 64*h)
		b.p("\tVFMADD213PS Z28, Z30, Z%d", z)
		b.p("\tVMOVUPS Z%d, %d(DI)", z, 64*h)
	}
}
