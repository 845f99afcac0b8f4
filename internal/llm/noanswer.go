package llm

import (
	"maps"
	"slices"
	"strings"
)

// NoAnswer returns the sentence that there is nothing to answer from, in the first of the languages (ISO 639-3) that it
// knows, else in English. It is the answer where there are no results, and that of the embedded generator where the
// results hold none.
func NoAnswer(languages ...string) string {
	for _, l := range languages {
		if s, ok := noAnswers[l]; ok {
			return s
		}
	}
	return noAnswers["eng"]
}

// IsNoAnswer reports whether a text is one of those sentences: it claims nothing, so there is nothing to prove.
func IsNoAnswer(text string) bool {
	return slices.Contains(slices.Collect(maps.Values(noAnswers)), strings.TrimSpace(text))
}

// noAnswers are in the languages of response_language (contract: generation-and-citations, section 4).
var noAnswers = map[string]string{
	"eng": "The search results do not contain enough information to answer this question.",
	"deu": "Die Suchergebnisse enthalten nicht genug Informationen, um diese Frage zu beantworten.",
	"fra": "Les résultats de la recherche ne contiennent pas assez d'informations pour répondre à cette question.",
	"zho": "搜索结果中没有足够的信息来回答这个问题。",
	"kor": "검색 결과에 이 질문에 답할 수 있는 정보가 충분하지 않습니다.",
	"ara": "لا تحتوي نتائج البحث على معلومات كافية للإجابة عن هذا السؤال.",
	"rus": "В результатах поиска недостаточно информации, чтобы ответить на этот вопрос.",
	"tha": "ผลการค้นหามีข้อมูลไม่เพียงพอที่จะตอบคำถามนี้",
	"nld": "De zoekresultaten bevatten niet genoeg informatie om deze vraag te beantwoorden.",
	"ita": "I risultati della ricerca non contengono informazioni sufficienti per rispondere a questa domanda.",
	"por": "Os resultados da pesquisa não contêm informações suficientes para responder a esta pergunta.",
	"spa": "Los resultados de la búsqueda no contienen información suficiente para responder a esta pregunta.",
	"jpn": "検索結果には、この質問に答えるための十分な情報がありません。",
	"pol": "Wyniki wyszukiwania nie zawierają wystarczających informacji, aby odpowiedzieć na to pytanie.",
	"tur": "Arama sonuçları bu soruyu yanıtlamak için yeterli bilgi içermiyor.",
	"vie": "Kết quả tìm kiếm không có đủ thông tin để trả lời câu hỏi này.",
	"ind": "Hasil pencarian tidak memuat cukup informasi untuk menjawab pertanyaan ini.",
	"ces": "Výsledky vyhledávání neobsahují dost informací k zodpovězení této otázky.",
	"ukr": "Результати пошуку не містять достатньо інформації, щоб відповісти на це запитання.",
	"ell": "Τα αποτελέσματα της αναζήτησης δεν περιέχουν αρκετές πληροφορίες για να απαντηθεί αυτή η ερώτηση.",
	"heb": "תוצאות החיפוש אינן מכילות מספיק מידע כדי לענות על השאלה הזאת.",
	"fas": "نتایج جستجو اطلاعات کافی برای پاسخ به این پرسش ندارند.",
	"hin": "खोज के परिणामों में इस प्रश्न का उत्तर देने के लिए पर्याप्त जानकारी नहीं है।",
	"urd": "تلاش کے نتائج میں اس سوال کا جواب دینے کے لیے کافی معلومات نہیں ہیں۔",
	"swe": "Sökresultaten innehåller inte tillräckligt med information för att besvara den här frågan.",
	"ben": "অনুসন্ধানের ফলাফলে এই প্রশ্নের উত্তর দেওয়ার মতো যথেষ্ট তথ্য নেই।",
	"msa": "Hasil carian tidak mengandungi maklumat yang mencukupi untuk menjawab soalan ini.",
	"ron": "Rezultatele căutării nu conțin suficiente informații pentru a răspunde la această întrebare.",
}
