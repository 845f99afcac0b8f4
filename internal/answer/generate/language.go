package generate

// language is a language for answers.
type language struct{ three, two, name string }

// languages are those of the contract (generation-and-citations, section 4), with their codes of two letters.
var languages = []language{
	{"eng", "en", "English"}, {"deu", "de", "German"}, {"fra", "fr", "French"}, {"zho", "zh", "Chinese"},
	{"kor", "ko", "Korean"}, {"ara", "ar", "Arabic"}, {"rus", "ru", "Russian"}, {"tha", "th", "Thai"},
	{"nld", "nl", "Dutch"}, {"ita", "it", "Italian"}, {"por", "pt", "Portuguese"}, {"spa", "es", "Spanish"},
	{"jpn", "ja", "Japanese"}, {"pol", "pl", "Polish"}, {"tur", "tr", "Turkish"}, {"vie", "vi", "Vietnamese"},
	{"ind", "id", "Indonesian"}, {"ces", "cs", "Czech"}, {"ukr", "uk", "Ukrainian"}, {"ell", "el", "Greek"},
	{"heb", "he", "Hebrew"}, {"fas", "fa", "Farsi"}, {"hin", "hi", "Hindi"}, {"urd", "ur", "Urdu"},
	{"swe", "sv", "Swedish"}, {"ben", "bn", "Bengali"}, {"msa", "ms", "Malay"}, {"ron", "ro", "Romanian"},
}

// LanguageCode returns the code of three letters of a language for answers, from that of three or two; ok is false for any other
// code, and for "auto".
func LanguageCode(code string) (three string, ok bool) {
	for _, l := range languages {
		if code == l.three || code == l.two {
			return l.three, true
		}
	}
	return "", false
}

// LanguageName returns the English name of a language for answers from its code of three letters, "" for others.
func LanguageName(three string) string {
	for _, l := range languages {
		if three == l.three {
			return l.name
		}
	}
	return ""
}
