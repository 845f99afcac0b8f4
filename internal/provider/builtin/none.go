package builtin

// noAnswer says in the language, or else in that of the question, that there is no answer.
func noAnswer(languages ...string) string {
	for _, l := range languages {
		if text, ok := noAnswers[l]; ok {
			return text
		}
	}
	return noAnswers["eng"]
}

// noAnswers are the only words of the generator's own, in the languages of response_language (contract:
// generation-and-citations, section 4).
var noAnswers = map[string]string{
	"eng": "The sources found contain no answer to this question.",
	"deu": "Die gefundenen Quellen enthalten keine Antwort auf diese Frage.",
	"fra": "Les sources trouvées ne contiennent pas de réponse à cette question.",
	"spa": "Las fuentes encontradas no contienen ninguna respuesta a esta pregunta.",
	"por": "As fontes encontradas não contêm nenhuma resposta a esta pergunta.",
	"ita": "Le fonti trovate non contengono alcuna risposta a questa domanda.",
	"nld": "De gevonden bronnen bevatten geen antwoord op deze vraag.",
	"swe": "Källorna som hittades innehåller inget svar på den här frågan.",
	"pol": "Znalezione źródła nie zawierają odpowiedzi na to pytanie.",
	"ces": "Nalezené zdroje neobsahují odpověď na tuto otázku.",
	"ron": "Sursele găsite nu conțin niciun răspuns la această întrebare.",
	"rus": "Найденные источники не содержат ответа на этот вопрос.",
	"ukr": "Знайдені джерела не містять відповіді на це запитання.",
	"ell": "Οι πηγές που βρέθηκαν δεν περιέχουν απάντηση σε αυτή την ερώτηση.",
	"tur": "Bulunan kaynaklar bu soruya bir yanıt içermiyor.",
	"ara": "لا تحتوي المصادر التي عُثر عليها على إجابة عن هذا السؤال.",
	"fas": "منابع یافت\u200cشده پاسخی به این پرسش ندارند.",
	"urd": "ملنے والے ذرائع میں اس سوال کا کوئی جواب نہیں ہے۔",
	"heb": "המקורות שנמצאו אינם מכילים תשובה לשאלה זו.",
	"hin": "मिले हुए स्रोतों में इस प्रश्न का कोई उत्तर नहीं है।",
	"ben": "পাওয়া উৎসগুলিতে এই প্রশ্নের কোনো উত্তর নেই।",
	"tha": "แหล่งข้อมูลที่พบไม่มีคำตอบสำหรับคำถามนี้",
	"vie": "Các nguồn tìm được không có câu trả lời cho câu hỏi này.",
	"ind": "Sumber yang ditemukan tidak memuat jawaban atas pertanyaan ini.",
	"msa": "Sumber yang ditemui tidak mengandungi jawapan kepada soalan ini.",
	"zho": "找到的资料中没有这个问题的答案。",
	"jpn": "見つかった資料には、この質問に対する答えがありません。",
	"kor": "찾은 자료에는 이 질문에 대한 답이 없습니다.",
}
