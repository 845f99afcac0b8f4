package ooxml

// symbols maps characters to the commands of LaTeX for them. Characters that LaTeX reads as commands are written as what they are.
var symbols = map[rune]string{
	'α': `\alpha`, 'β': `\beta`, 'γ': `\gamma`, 'δ': `\delta`, 'ε': `\varepsilon`, 'ϵ': `\epsilon`, 'ζ': `\zeta`, 'η': `\eta`, 'θ': `\theta`,
	'ϑ': `\vartheta`, 'ι': `\iota`, 'κ': `\kappa`, 'λ': `\lambda`, 'μ': `\mu`, 'ν': `\nu`, 'ξ': `\xi`, 'π': `\pi`, 'ϖ': `\varpi`, 'ρ': `\rho`,
	'ϱ': `\varrho`, 'σ': `\sigma`, 'ς': `\varsigma`, 'τ': `\tau`, 'υ': `\upsilon`, 'φ': `\varphi`, 'ϕ': `\phi`, 'χ': `\chi`, 'ψ': `\psi`, 'ω': `\omega`,
	'Γ': `\Gamma`, 'Δ': `\Delta`, 'Θ': `\Theta`, 'Λ': `\Lambda`, 'Ξ': `\Xi`, 'Π': `\Pi`, 'Σ': `\Sigma`, 'Υ': `\Upsilon`, 'Φ': `\Phi`, 'Ψ': `\Psi`, 'Ω': `\Omega`,
	'±': `\pm`, '∓': `\mp`, '×': `\times`, '÷': `\div`, '⋅': `\cdot`, '·': `\cdot`, '∗': `*`, '∘': `\circ`, '∙': `\bullet`, '⊕': `\oplus`, '⊗': `\otimes`,
	'−': `-`, '–': `-`, '≤': `\leq`, '≥': `\geq`, '≠': `\neq`, '≈': `\approx`, '≡': `\equiv`, '≅': `\cong`, '∼': `\sim`, '≃': `\simeq`, '∝': `\propto`, '≪': `\ll`, '≫': `\gg`,
	'∞': `\infty`, '∂': `\partial`, '∇': `\nabla`, '∆': `\Delta`, '√': `\surd`, 'ℏ': `\hbar`, 'ℓ': `\ell`, 'ℜ': `\Re`, 'ℑ': `\Im`, 'ℵ': `\aleph`, '°': `{}^{\circ}`, '′': `'`, '″': `''`,
	'∑': `\sum`, '∏': `\prod`, '∐': `\coprod`, '∫': `\int`, '∬': `\iint`, '∭': `\iiint`, '∮': `\oint`, '∯': `\oiint`, '∰': `\oiiint`,
	'⋃': `\bigcup`, '⋂': `\bigcap`, '⋁': `\bigvee`, '⋀': `\bigwedge`, '⨁': `\bigoplus`, '⨂': `\bigotimes`,
	'∈': `\in`, '∉': `\notin`, '∋': `\ni`, '⊂': `\subset`, '⊃': `\supset`, '⊆': `\subseteq`, '⊇': `\supseteq`, '∪': `\cup`, '∩': `\cap`, '∅': `\emptyset`, '∖': `\setminus`,
	'∀': `\forall`, '∃': `\exists`, '∄': `\nexists`, '¬': `\neg`, '∧': `\wedge`, '∨': `\vee`, '⊢': `\vdash`, '⊨': `\models`, '⊥': `\perp`, '∥': `\parallel`, '∠': `\angle`, '∴': `\therefore`, '∵': `\because`,
	'→': `\to`, '←': `\leftarrow`, '↔': `\leftrightarrow`, '↑': `\uparrow`, '↓': `\downarrow`, '↦': `\mapsto`, '⇒': `\Rightarrow`, '⇐': `\Leftarrow`, '⇔': `\Leftrightarrow`, '⇌': `\rightleftharpoons`,
	'…': `\ldots`, '⋯': `\cdots`, '⋮': `\vdots`, '⋱': `\ddots`, '⟨': `\langle`, '⟩': `\rangle`, '〈': `\langle`, '〉': `\rangle`, '⌊': `\lfloor`, '⌋': `\rfloor`, '⌈': `\lceil`, '⌉': `\rceil`, '‖': `\|`,
	'\u00A0': ` `, '\u2003': ` `, '\u2002': ` `, '\u2009': ` `, '\u2005': ` `,
	'{': `\{`, '}': `\}`, '%': `\%`, '#': `\#`, '$': `\$`, '_': `\_`, '\\': `\backslash`,
}

// invisible are characters that stand for what is not written, such as a multiplication.
var invisible = map[rune]bool{'\u2061': true, '\u2062': true, '\u2063': true, '\u2064': true, '\u200B': true}

// accents maps what stands above or below a symbol to the command for it.
var accents = map[string]string{
	"\u0302": `\hat`, "\u0303": `\tilde`, "\u0304": `\bar`, "\u0305": `\overline`, "\u0307": `\dot`, "\u0308": `\ddot`, "\u20DB": `\dddot`, "\u030C": `\check`,
	"\u0301": `\acute`, "\u0300": `\grave`, "\u0306": `\breve`, "\u20D7": `\vec`, "\u20D6": `\overleftarrow`, "\u20E1": `\overleftrightarrow`,
	"⏞": `\overbrace`, "⏟": `\underbrace`,
}

// functions are the names of functions that are commands.
var functions = map[string]bool{
	"arccos": true, "arcsin": true, "arctan": true, "arg": true, "cos": true, "cosh": true, "cot": true, "coth": true, "csc": true, "deg": true,
	"det": true, "dim": true, "exp": true, "gcd": true, "hom": true, "inf": true, "ker": true, "lg": true, "lim": true, "liminf": true,
	"limsup": true, "ln": true, "log": true, "max": true, "min": true, "Pr": true, "sec": true, "sin": true, "sinh": true, "sup": true, "tan": true, "tanh": true,
}
