package generate

// language is one that answers can be asked in.
type language struct{ three, two, name string }

// languages are those of the contract (generation-and-citations, section 4), with the two letters that are taken for
// the three.
var languages = []language{
	{"eng", "en", "English"}, {"deu", "de", "German"}, {"fra", "fr", "French"}, {"zho", "zh", "Chinese"},
	{"kor", "ko", "Korean"}, {"ara", "ar", "Arabic"}, {"rus", "ru", "Russian"}, {"tha", "th", "Thai"},
	{"nld", "nl", "Dutch"}, {"ita", "it", "Italian"}, {"por", "pt", "Portuguese"}, {"spa", "es", "Spanish"},
	{"jpn", "ja", "Japanese"}, {"pol", "pl", "Polish"}, {"tur", "tr", "Turkish"}, {"vie", "vi", "Vietnamese"},
	{"ind", "id", "Indonesian"}, {"ces", "cs", "Czech"}, {"ukr", "uk", "Ukrainian"}, {"ell", "el", "Greek"},
	{"heb", "he", "Hebrew"}, {"fas", "fa", "Farsi"}, {"hin", "hi", "Hindi"}, {"urd", "ur", "Urdu"},
	{"swe", "sv", "Swedish"}, {"ben", "bn", "Bengali"}, {"msa", "ms", "Malay"}, {"ron", "ro", "Romanian"},
}

// LanguageCode returns the three letters of a language that answers can be asked in, from its three or two; ok is false
// for any other, and for "auto".
func LanguageCode(code string) (three string, ok bool) {
	for _, l := range languages {
		if code == l.three || code == l.two {
			return l.three, true
		}
	}
	return "", false
}

// LanguageName returns the English name of a language from its three letters, "" for one that answers can't be asked in.
func LanguageName(three string) string {
	for _, l := range languages {
		if three == l.three {
			return l.name
		}
	}
	return ""
}

// ResponseLanguage returns the language of an answer as three letters: the one asked for by three letters or two; for ""
// and "auto" that of the question, or of the passages where it does not tell.
func ResponseLanguage(asked, question string, results []Passage) string {
	return languageOf(asked, question, results)
}
