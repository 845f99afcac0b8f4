package source

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxKey is the length of the longest corpus key that the contract allows.
const maxKey = 50

// CorpusKey returns the key of the corpus that a root goes to where the user names none: that of its name without ending.
func (r Root) CorpusKey() (string, error) {
	name := filepath.Base(r.Path)
	if r.Kind != Folder && r.Kind != Glob {
		name = name[:len(name)-len(endingOf(name))]
	}
	return CorpusKey(name)
}

// CorpusKey returns the corpus key that stands for a name: its ASCII letters, digits, underscores and single dashes. A name with
// other letters is transliterated and comes out in lower case. Where letters cannot be, or the key is cut, a digest keeps it
// apart from others.
func CorpusKey(name string) (string, error) {
	if strings.Trim(name, `./\`) == "" {
		return "", errors.New("this folder has no name that could be a corpus key; name the corpus with --corpus")
	}
	var b strings.Builder
	var foreign, lost bool
	for _, r := range norm.NFD.String(name) {
		switch text, known := letters[unicode.ToLower(r)]; {
		case r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) || r == '_':
			b.WriteRune(r)
		case unicode.Is(unicode.Mn, r):
			foreign = true
		case known:
			foreign = true
			b.WriteString(text)
		case unicode.IsLetter(r) || unicode.IsNumber(r):
			lost = true
		default:
			b.WriteByte('-')
		}
	}
	key := strings.Join(strings.FieldsFunc(b.String(), func(r rune) bool { return r == '-' }), "-")
	if foreign || lost {
		key = strings.ToLower(key)
	}
	digest := fmt.Sprintf("%x", sha256.Sum256([]byte(norm.NFC.String(name))))[:8]
	switch {
	case key == "":
		return "corpus-" + digest, nil
	case lost || len(key) > maxKey:
		return strings.TrimRight(key[:min(len(key), maxKey-len(digest)-1)], "-") + "-" + digest, nil
	}
	return key, nil
}

// letters are those whose decomposition is not ASCII, in lower case; each stands before what is written for it. The Cyrillic
// and Greek ones follow how passports write them, where languages agree.
var letters = func() map[rune]string {
	pairs := strings.Fields(`
		ß ss æ ae œ oe ø o ł l đ d ð d þ th ħ h ı i ŋ n ĸ k ŧ t ſ s ə e ƒ f
		а a б b в v г g ґ g д d ђ dj е e є ie ж zh з z ѕ dz и i і i ј j к k л l љ lj м m н n њ nj о o п p р r с s т t ћ c у u
		ф f х kh ц ts ч ch џ dz ш sh щ shch ы y ѣ e э e ю iu я ia
		α a β v γ g δ d ε e ζ z η i θ th ι i κ k λ l μ m ν n ξ x ο o π p ρ r σ s ς s τ t υ y φ f χ ch ψ ps ω o`)
	all := map[rune]string{'ъ': "", 'ь': ""}
	for i := 0; i < len(pairs); i += 2 {
		letter, _ := utf8.DecodeRuneInString(pairs[i])
		all[letter] = pairs[i+1]
	}
	return all
}()
