package main

import (
	"fmt"
	"strings"
)

func sprint(name string, rows int, args string) string {
	return fmt.Sprintf("%s%d%s", name, rows, args)
}

// exp on the range where it does not overflow: log2 e, ln 2 in two parts, Taylor-like coefficients, 1, the range.
var expConstants = strings.Fields("1.44269504088896341 -0.693359375 2.12194440e-4 1.9875691500E-4 1.3981999507E-3 8.3334519073E-3 4.1665795894E-2 1.6666665459E-1 5.0000001201E-1 1.0 -87.5 88.0")

// erf as a rational function: range, numerator from x^13 down, denominator from x^8 down; then 1/√2, 1/2 and 1.
var erfConstants = strings.Fields("3.925724783138660 -3.925724783138660" +
	" -2.72614225801306e-10 2.77068142495902e-08 -2.10102402082508e-06 -5.69250639462346e-05 -7.34990630326855e-04 -2.95459980854025e-03 -1.60960333262415e-02" +
	" -1.45660718464996e-05 -2.13374055278905e-04 -1.68282697438203e-03 -7.37332916720468e-03 -1.42647390514189e-02" +
	" 0.70710678118654752 0.5 1.0")

func (b *asm) table(name string, copies int, values []string) {
	for i, v := range values {
		for c := range copies {
			b.p("DATA %s<>+%d(SB)/4, $%s", name, 4*(i*copies+c), v)
		}
	}
	b.p("GLOBL %s<>(SB), RODATA|NOPTR, $%d\n", name, 4*len(values)*copies)
}

func (b *asm) constants512() {
	b.table("expc", 1, expConstants)
	b.table("erfc", 1, erfConstants)
}

// exp512 replaces Z(x) by its exponential; Z(n) and Z(y) are overwritten, the constants stand in Z16…Z27.
func (b *asm) exp512(x, n, y int) {
	b.p("\tVMAXPS Z26, Z%d, Z%d\n\tVMINPS Z27, Z%d, Z%d", x, x, x, x)
	b.p("\tVMULPS Z16, Z%d, Z%d", x, n)
	b.p("\tVRNDSCALEPS $8, Z%d, Z%d", n, n)
	b.p("\tVFMADD231PS Z17, Z%d, Z%d", n, x)
	b.p("\tVFMADD231PS Z18, Z%d, Z%d", n, x)
	b.p("\tVMOVAPS Z19, Z%d", y)
	for c := 20; c <= 24; c++ {
		b.p("\tVFMADD213PS Z%d, Z%d, Z%d", c, x, y)
	}
	b.p("\tVMULPS Z%d, Z%d, Z%d", x, y, y)
	b.p("\tVFMADD213PS Z25, Z%d, Z%d", x, y)
	b.p("\tVADDPS Z%d, Z%d, Z%d", x, y, y)
	b.p("\tVSCALEFPS Z%d, Z%d, Z%d", n, y, x)
}

// reduce512 folds Z(x) by op into lane 0 of X(x).
func (b *asm) reduce512(op string, x, t int) {
	b.p("\tVEXTRACTF64X4 $1, Z%d, Y%d\n\t%s Y%d, Y%d, Y%d", x, t, op, t, x, x)
	b.reduce256(op, x, t)
}

// reduce256 folds Y(x) by op into lane 0 of X(x).
func (b *asm) reduce256(op string, x, t int) {
	b.p("\tVEXTRACTF128 $1, Y%d, X%d\n\t%s X%d, X%d, X%d", x, t, op, t, x, x)
	b.p("\tVPSHUFD $0x4e, X%d, X%d\n\t%s X%d, X%d, X%d", x, t, op, t, x, x)
	b.p("\tVPSHUFD $0xb1, X%d, X%d\n\t%s X%d, X%d, X%d", x, t, op, t, x, x)
}

func (b *asm) softmax512() {
	b.text("softmax512(x *float32, rows, n, ld int)", 32)
	b.p("\tMOVQ x+0(FP), DI\n\tMOVQ rows+8(FP), R8\n\tMOVQ n+16(FP), R9\n\tMOVQ ld+24(FP), R10")
	b.p("\tLEAQ expc<>(SB), R14")
	for i := range expConstants {
		b.p("\tVBROADCASTSS %d(R14), Z%d", 4*i, 16+i)
	}
	b.p("\tMOVQ R9, CX\n\tANDQ $15, CX\n\tMOVQ $1, AX\n\tSHLQ CX, AX\n\tDECQ AX\n\tKMOVW AX, K1")
	b.p("\tMOVQ R9, R11\n\tSHRQ $4, R11")
	b.p("\tMOVL $0xff7fffff, AX\n\tVPBROADCASTD AX, Z28")
	b.p("row:")
	b.p("\tVMOVAPS Z28, Z0\n\tMOVQ DI, SI\n\tMOVQ R11, DX\n\tTESTQ DX, DX\n\tJZ maxtail")
	b.p("maxl:\n\tVMAXPS (SI), Z0, Z0\n\tADDQ $64, SI\n\tDECQ DX\n\tJNZ maxl")
	b.p("maxtail:\n\tTESTQ CX, CX\n\tJZ maxr\n\tVMAXPS (SI), Z0, K1, Z0")
	b.p("maxr:")
	b.reduce512("VMAXPS", 0, 1)
	b.p("\tVBROADCASTSS X0, Z4\n\tVPXORQ Z5, Z5, Z5")
	b.p("\tMOVQ DI, SI\n\tMOVQ R11, DX\n\tTESTQ DX, DX\n\tJZ exptail")
	b.p("expl:\n\tVMOVUPS (SI), Z1\n\tVSUBPS Z4, Z1, Z1")
	b.exp512(1, 2, 3)
	b.p("\tVMOVUPS Z1, (SI)\n\tVADDPS Z1, Z5, Z5\n\tADDQ $64, SI\n\tDECQ DX\n\tJNZ expl")
	b.p("exptail:\n\tTESTQ CX, CX\n\tJZ sumr\n\tVMOVUPS.Z (SI), K1, Z1\n\tVSUBPS Z4, Z1, Z1")
	b.exp512(1, 2, 3)
	b.p("\tVMOVAPS.Z Z1, K1, Z1\n\tVMOVUPS Z1, (SI)\n\tVADDPS Z1, Z5, Z5")
	b.p("sumr:\n\tVMOVAPS Z5, Z0")
	b.reduce512("VADDPS", 0, 1)
	b.p("\tVBROADCASTSS X0, Z0\n\tVDIVPS Z0, Z25, Z0")
	b.p("\tMOVQ DI, SI\n\tMOVQ R9, DX\n\tADDQ $15, DX\n\tSHRQ $4, DX")
	b.p("mull:\n\tVMULPS (SI), Z0, Z1\n\tVMOVUPS Z1, (SI)\n\tADDQ $64, SI\n\tDECQ DX\n\tJNZ mull")
	b.p("\tADDQ R10, DI\n\tDECQ R8\n\tJNZ row\n\tVZEROUPPER\n\tRET\n")
}

func (b *asm) gelu512() {
	b.text("gelu512(x *float32, nvec int)", 16)
	b.p("\tMOVQ x+0(FP), DI\n\tMOVQ nvec+8(FP), CX")
	b.geluConstants512()
	b.p("gl:")
	b.p("\tVMOVUPS (DI), Z0")
	b.geluBody512(0, 1, 2, 3, 4)
	b.p("\tVMOVUPS Z0, (DI)\n\tADDQ $64, DI\n\tDECQ CX\n\tJNZ gl\n\tVZEROUPPER\n\tRET\n")

	b.text("geluQuant512(x *float32, nvec int, out *uint8, scale, zp *float32)", 40)
	b.p("\tMOVQ x+0(FP), DI\n\tMOVQ nvec+8(FP), CX")
	b.geluConstants512()
	b.p("\tVPXORQ Z5, Z5, Z5\n\tVPXORQ Z6, Z6, Z6")
	b.p("gq:")
	b.p("\tVMOVUPS (DI), Z0")
	b.geluBody512(0, 1, 2, 3, 4)
	b.p("\tVMINPS Z0, Z5, Z5\n\tVMAXPS Z0, Z6, Z6")
	b.p("\tVMOVUPS Z0, (DI)\n\tADDQ $64, DI\n\tDECQ CX\n\tJNZ gq")
	b.quantTail512()
}

func (b *asm) geluConstants512() {
	b.p("\tLEAQ erfc<>(SB), R14")
	for i := range 16 {
		b.p("\tVBROADCASTSS %d(R14), Z%d", 4*i, 16+i)
	}
	b.p("\tVBROADCASTSS 64(R14), Z15")
}

// geluBody512 replaces Z(x) by x/2·(1+erf(x/√2)). Z16, Z17 = range, Z18…Z24 numerator, Z25…Z29 denominator,
// Z30 = 1/√2, Z31 = 1/2.
func (b *asm) geluBody512(x, u, u2, num, den int) {
	b.p("\tVMULPS Z30, Z%d, Z%d", x, u)
	b.p("\tVMINPS Z16, Z%d, Z%d\n\tVMAXPS Z17, Z%d, Z%d", u, u, u, u)
	b.p("\tVMULPS Z%d, Z%d, Z%d", u, u, u2)
	b.p("\tVMOVAPS Z18, Z%d\n\tVMOVAPS Z25, Z%d", num, den)
	for i := 1; i < 7; i++ {
		b.p("\tVFMADD213PS Z%d, Z%d, Z%d", 18+i, u2, num)
		if i < 5 {
			b.p("\tVFMADD213PS Z%d, Z%d, Z%d", 25+i, u2, den)
		}
	}
	b.p("\tVMULPS Z%d, Z%d, Z%d", u, num, num)
	b.p("\tVDIVPS Z%d, Z%d, Z%d", den, num, num)
	b.p("\tVMULPS Z31, Z%d, Z%d", x, x)
	b.p("\tVFMADD213PS Z%d, Z%d, Z%d", x, x, num)
	b.p("\tVMOVAPS Z%d, Z%d", num, x)
}

// quantScale computes the row's scale X2 = (X0−X5)/255, its inverse X7 and zero point X8 from the least value X5 and
// the largest X0, and stores scale and zero point. Round is the instruction that rounds to even.
func (b *asm) quantScale(round string) {
	b.p("\tVSUBSS X5, X0, X2\n\tMOVL $0x437f0000, AX\n\tVMOVD AX, X3\n\tVDIVSS X3, X2, X2")
	b.p("\tMOVL $0x1e3ce508, AX\n\tVMOVD AX, X4\n\tVMAXSS X4, X2, X2") // at least 1e-20
	b.p("\tMOVL $0x3f800000, AX\n\tVMOVD AX, X4\n\tVDIVSS X2, X4, X7")
	b.p("\tVMULSS X7, X5, X8\n\t%s $8, X8, X8, X8\n\tVXORPS X9, X9, X9\n\tVSUBSS X8, X9, X8", round)
	b.p("\tMOVQ scale+24(FP), AX\n\tVMOVSS X2, (AX)\n\tMOVQ zp+32(FP), AX\n\tVMOVSS X8, (AX)")
}

// quantTail512 quantises x, whose values lie between the lanes of Z5 and Z6, and returns.
func (b *asm) quantTail512() {
	b.p("\tVMOVAPS Z5, Z0")
	b.reduce512("VMINPS", 0, 1)
	b.p("\tVMOVAPS X0, X5\n\tVMOVAPS Z6, Z0")
	b.reduce512("VMAXPS", 0, 1)
	b.quantScale("VRNDSCALESS")
	b.p("\tVBROADCASTSS X7, Z7\n\tVBROADCASTSS X8, Z8\n\tVPXORQ Z9, Z9, Z9")
	b.p("\tMOVQ x+0(FP), DI\n\tMOVQ nvec+8(FP), CX\n\tMOVQ out+16(FP), SI")
	b.p("qt:\n\tVMOVUPS (DI), Z0\n\tVFMADD213PS Z8, Z7, Z0\n\tVMAXPS Z9, Z0, Z0\n\tVCVTPS2DQ Z0, Z0\n\tVPMOVUSDB Z0, (SI)\n\tADDQ $64, DI\n\tADDQ $16, SI\n\tDECQ CX\n\tJNZ qt\n\tVZEROUPPER\n\tRET\n")
}

func (b *asm) quant512() {
	b.text("quantRow512(x *float32, nvec int, out *uint8, scale, zp *float32)", 40)
	b.p("\tMOVQ x+0(FP), DI\n\tMOVQ nvec+8(FP), CX")
	b.p("\tVPXORQ Z5, Z5, Z5\n\tVPXORQ Z6, Z6, Z6")
	b.p("qm:\n\tVMOVUPS (DI), Z0\n\tVMINPS Z0, Z5, Z5\n\tVMAXPS Z0, Z6, Z6\n\tADDQ $64, DI\n\tDECQ CX\n\tJNZ qm")
	b.quantTail512()
}

func (b *asm) norm512() {
	b.text("addNorm512(x, r, gamma, beta, out *float32, nvec int, invn, eps float32)", 56)
	b.p("\tMOVQ x+0(FP), SI\n\tMOVQ r+8(FP), DX\n\tMOVQ gamma+16(FP), R8\n\tMOVQ beta+24(FP), R9\n\tMOVQ out+32(FP), DI\n\tMOVQ nvec+40(FP), CX")
	b.p("\tVPXORQ Z0, Z0, Z0\n\tMOVQ CX, AX\n\tMOVQ DI, BX")
	b.p("l1:\n\tVMOVUPS (SI), Z1\n\tVADDPS (DX), Z1, Z1\n\tVMOVUPS Z1, (BX)\n\tVADDPS Z1, Z0, Z0\n\tADDQ $64, SI\n\tADDQ $64, DX\n\tADDQ $64, BX\n\tDECQ AX\n\tJNZ l1")
	b.reduce512("VADDPS", 0, 1)
	b.p("\tVBROADCASTSS X0, Z0\n\tVBROADCASTSS invn+48(FP), Z10\n\tVMULPS Z10, Z0, Z2")
	b.p("\tVPXORQ Z3, Z3, Z3\n\tMOVQ CX, AX\n\tMOVQ DI, BX")
	b.p("l2:\n\tVMOVUPS (BX), Z1\n\tVSUBPS Z2, Z1, Z1\n\tVFMADD231PS Z1, Z1, Z3\n\tADDQ $64, BX\n\tDECQ AX\n\tJNZ l2")
	b.p("\tVMOVAPS Z3, Z0")
	b.reduce512("VADDPS", 0, 1)
	b.p("\tVBROADCASTSS X0, Z0\n\tVBROADCASTSS eps+52(FP), Z4\n\tVFMADD213PS Z4, Z10, Z0\n\tVSQRTPS Z0, Z0")
	b.p("\tMOVL $0x3f800000, AX\n\tVPBROADCASTD AX, Z4\n\tVDIVPS Z0, Z4, Z0")
	b.p("l3:\n\tVMOVUPS (DI), Z1\n\tVSUBPS Z2, Z1, Z1\n\tVMULPS Z0, Z1, Z1\n\tVMOVUPS (R9), Z5\n\tVFMADD132PS (R8), Z5, Z1\n\tVMOVUPS Z1, (DI)\n\tADDQ $64, DI\n\tADDQ $64, R8\n\tADDQ $64, R9\n\tDECQ CX\n\tJNZ l3")
	b.p("\tVZEROUPPER\n\tRET\n")
}

// transpose512 writes a block of 16×16 values column by column.
func (b *asm) transpose512() {
	b.text("transpose512(src *float32, lds int, dst *float32, ldd int)", 32)
	b.p("\tMOVQ src+0(FP), SI\n\tMOVQ lds+8(FP), DX\n\tMOVQ dst+16(FP), DI\n\tMOVQ ldd+24(FP), R9")
	for i := range 16 {
		b.p("\tVMOVUPS (SI), Z%d", i)
		if i < 15 {
			b.p("\tADDQ DX, SI")
		}
	}
	for i := range 8 { // pairs of rows
		b.p("\tVUNPCKLPS Z%d, Z%d, Z%d\n\tVUNPCKHPS Z%d, Z%d, Z%d", 2*i+1, 2*i, 16+2*i, 2*i+1, 2*i, 16+2*i+1)
	}
	for i := range 4 { // then Z(4i+j) holds rows 4i…4i+3, in 128-bit lane L column 4L+j
		a, c := 16+4*i, 16+4*i+2
		b.p("\tVUNPCKLPD Z%d, Z%d, Z%d\n\tVUNPCKHPD Z%d, Z%d, Z%d", c, a, 4*i, c, a, 4*i+1)
		b.p("\tVUNPCKLPD Z%d, Z%d, Z%d\n\tVUNPCKHPD Z%d, Z%d, Z%d", c+1, a+1, 4*i+2, c+1, a+1, 4*i+3)
	}
	for j := range 4 { // even and odd lanes of rows 0–7 and 8–15
		b.p("\tVSHUFF32X4 $0x88, Z%d, Z%d, Z%d", 4+j, 0+j, 16+j)
		b.p("\tVSHUFF32X4 $0xdd, Z%d, Z%d, Z%d", 4+j, 0+j, 20+j)
		b.p("\tVSHUFF32X4 $0x88, Z%d, Z%d, Z%d", 12+j, 8+j, 24+j)
		b.p("\tVSHUFF32X4 $0xdd, Z%d, Z%d, Z%d", 12+j, 8+j, 28+j)
	}
	for j := range 4 {
		b.p("\tVSHUFF32X4 $0x88, Z%d, Z%d, Z%d", 24+j, 16+j, 0+j)
		b.p("\tVSHUFF32X4 $0x88, Z%d, Z%d, Z%d", 28+j, 20+j, 4+j)
		b.p("\tVSHUFF32X4 $0xdd, Z%d, Z%d, Z%d", 24+j, 16+j, 8+j)
		b.p("\tVSHUFF32X4 $0xdd, Z%d, Z%d, Z%d", 28+j, 20+j, 12+j)
	}
	for i := range 16 {
		b.p("\tVMOVUPS Z%d, (DI)", i)
		if i < 15 {
			b.p("\tADDQ R9, DI")
		}
	}
	b.p("\tVZEROUPPER\n\tRET\n")
}
