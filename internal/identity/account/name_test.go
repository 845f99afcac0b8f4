package account_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"quarry/internal/identity/account"
)

// TestFold proves which names are one: those that differ in case, in how letters are composed, in width, ligatures and
// the like, or in runs of space.
func TestFold(t *testing.T) {
	t.Parallel()
	for want, spellings := range map[string][]string{
		"zoë":              {"zoë", "ZOË", "zoe\u0308", "ＺＯË", "Zoë"},
		"fifi":             {"Fiﬁ", "FIFI", "ﬁﬁ", "𝓯𝓲𝓯𝓲"},
		"strasse":          {"Straße", "STRASSE", "STRAẞE"},
		"ann smith":        {"Ann Smith", "ann  smith", "ANN\u00a0SMITH", "ann\u3000smith"},
		"σισυφοσ":          {"ΣΙΣΥΦΟΣ", "σισυφος", "σισυφοσ"},
		"ann@example.test": {"Ann@Example.TEST", "ann＠example.test"},
		"i̇stanbul":        {"İstanbul", "i̇stanbul"},
		"한글":               {"한글", "\u1112\u1161\u11ab\u1100\u1173\u11af"},
	} {
		for _, s := range spellings {
			if got := account.Fold(s); got != norm.NFKC.String(want) {
				t.Errorf("Fold(%q) = %q, want %q", s, got, want)
			}
		}
	}
	for _, pair := range [][2]string{{"ann", "anna"}, {"zoe", "zoë"}, {"a b", "ab"}, {"a/b", "a%2Fb"}} {
		if account.Fold(pair[0]) == account.Fold(pair[1]) {
			t.Errorf("%q and %q are one name", pair[0], pair[1])
		}
	}
}

// FuzzFold proves that folding is settled after one call, and that composing, decomposing and shouting change nothing.
func FuzzFold(f *testing.F) {
	for _, s := range []string{"Zoë", "ﬁ", "İ", "ß", "ΐ", "ǰ", "\u1fb3\u0345", "ﷺ", "\u0345\u0301", "ᾴ", "K", "Å", "㎏", " a  b ", "\u03f4"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) || len(s) > 300 { // no such name gets as far as being folded
			return
		}
		once := account.Fold(s)
		if twice := account.Fold(once); twice != once {
			t.Errorf("Fold(%q) = %q, and again %q", s, once, twice)
		}
		for name, other := range map[string]string{"NFC": norm.NFC.String(s), "NFD": norm.NFD.String(s), "NFKC": norm.NFKC.String(s), "NFKD": norm.NFKD.String(s)} {
			if got := account.Fold(other); got != once {
				t.Errorf("Fold of the %s form of %q = %q, want %q", name, s, got, once)
			}
		}
		if strings.TrimSpace(once) != once {
			t.Errorf("Fold(%q) = %q begins or ends with a space", s, once)
		}
	})
}
