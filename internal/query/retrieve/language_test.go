package retrieve

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"quarry/internal/index"
	"quarry/internal/search"
	"quarry/internal/text/analysis"
	"quarry/internal/text/lang"
)

// testIndex returns an index in memory over texts, each a document of one part in its own language.
func testIndex(t *testing.T, texts ...string) *index.Snapshot {
	t.Helper()
	x, err := index.Open(index.Config{Epoch: 1})
	if err != nil {
		t.Fatal(err)
	}
	var changes []index.Change
	for i, text := range texts {
		code := lang.Of(text, "")
		terms := analysis.Analyze(text, code)
		doc := &index.Document{No: int64(i + 1), ID: fmt.Sprint(i), Parts: []index.Part{{Lang: code, Stems: terms.Stems, Words: terms.Words}}}
		changes = append(changes, index.Change{Seq: int64(i + 1), Op: index.Put, No: doc.No, Doc: doc})
	}
	if err := x.Apply(changes); err != nil {
		t.Fatal(err)
	}
	s := x.Snapshot()
	t.Cleanup(func() {
		s.Release()
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// find returns the ids that the lexical side finds at λ = 1, in order of the ids.
func find(t *testing.T, s *index.Snapshot, text string) string {
	t.Helper()
	have, err := s.Languages()
	if err != nil {
		t.Fatal(err)
	}
	k := parseKeywords(text)
	q := search.Query{K: 100, PhrasesRequired: len(k.phrases) > 0}
	addTerms(&q, k, lang.Among(k.plain, have))
	found, err := s.Search(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, h := range found.Hits {
		if h.Full <= 0 || h.BM25 > 2.2*h.Full || h.Full != found.Hits[0].Full {
			t.Errorf("%q: BM25 %v, of a full match %v, of the first %v", text, h.BM25, h.Full, found.Hits[0].Full)
		}
		ids = append(ids, h.ID)
	}
	slices.Sort(ids)
	return strings.Join(ids, " ")
}

// TestLanguages proves words, phrases, prefixes and exclusions in each language, on two texts each: what is found of
// them, in a corpus of the language alone and in one that mixes all.
func TestLanguages(t *testing.T) {
	t.Parallel()
	type ask struct{ query, want string }
	tests := []struct {
		code  string
		texts [2]string
		asks  []ask
	}{
		{"eng", [2]string{"The old miller repaired both of his wooden wheels.", "In summer the river carries hardly any water."}, []ask{
			{"repairing a wheel", "0"}, {`"wooden wheels"`, "0"}, {`"wheels wooden"`, ""}, {"repa*", "0"}, {"river miller -miller", "1"}, {"river miller -mill*", "1"}, {"the", "0 1"},
		}},
		{"deu", [2]string{"Der alte Müller reparierte seine beiden Mühlräder.", "Im Sommer führt der Fluss nur wenig Wasser."}, []ask{
			{"Wer reparierte das Mühlrad?", "0"}, {`"alte Müller"`, "0"}, {`"Müller alte"`, ""}, {"Mühl*", "0"}, {"Fluss Müller -Müller", "1"}, {"Fluss Müller -müll*", "1"}, {"Flüsse", "1"},
		}},
		{"fra", [2]string{"Le vieux meunier répare les roues de l'ancien moulin.", "En été la rivière n'a presque plus d'eau."}, []ask{
			{"réparer une roue", "0"}, {`"vieux meunier"`, "0"}, {"meun*", "0"}, {"eau", "1"}, {"rivière meunier -meunier", "1"}, {"rivières", "1"},
		}},
		{"spa", [2]string{"El viejo molinero arregló las ruedas de madera.", "En verano el río apenas lleva agua."}, []ask{
			{"¿Quién arregló la rueda?", "0"}, {`"viejo molinero"`, "0"}, {"molin*", "0"}, {"río molinero -molinero", "1"}, {"veranos", "1"},
		}},
		{"rus", [2]string{"Старый мельник починил оба деревянных колеса.", "Летом в реке почти нет воды."}, []ask{
			{"деревянное колесо", "0"}, {`"старый мельник"`, "0"}, {`"мельник старый"`, ""}, {"мельн*", "0"}, {"река мельник -мельник", "1"}, {"вода", "1"},
		}},
		{"ara", [2]string{"أصلح الطحان العجوز عجلات المطحنة الخشبية.", "في الصيف لا يحمل النهر إلا القليل من الماء."}, []ask{
			{"عجلات خشبية", "0"}, {`"الطحان العجوز"`, "0"}, {"الطح*", "0"}, {"النهر الطحان -الطحان", "1"}, {"ماء", "1"},
		}},
		{"hin", [2]string{"बूढ़े चक्की वाले ने लकड़ी के दोनों पहियों की मरम्मत की।", "गर्मियों में नदी में बहुत कम पानी रहता है।"}, []ask{
			{"पहिया मरम्मत", "0"}, {`"दोनों पहियों"`, "0"}, {"मरम्*", "0"}, {"नदी मरम्मत -मरम्मत", "1"}, {"गर्मी", "1"},
		}},
		{"zho", [2]string{"老磨坊主修好了两个木轮。", "夏天河里几乎没有水"}, []ask{
			{"谁修好了木轮？", "0"}, {`"两个木轮"`, "0"}, {`"木轮两个"`, ""}, {"木轮*", "0"}, {"河里磨坊 -磨坊", "1"}, {"水", "1"}, {"轮", "0"}, {`"水"`, "1"}, {`"磨"`, "0"}, {"河里磨坊 -轮", "1"}, {"河里磨坊 -水*", "0"},
		}},
		{"jpn", [2]string{"年老いた粉屋は二つの木の車輪を修理した。", "夏の川には水がほとんどない"}, []ask{
			{"車輪の修理", "0"}, {`"車輪を修理"`, "0"}, {`"修理を車輪"`, ""}, {"粉屋*", "0"}, {"川には粉屋 -粉屋", "1"}, {"水", "1"}, {"輪", "0"}, {`"ほとんどない"`, "1"}, {"川には粉屋 -輪", "1"},
		}},
		{"kor", [2]string{"늙은 방앗간 주인이 나무 바퀴를 고쳤다.", "여름에는 강에 물이 거의 없다"}, []ask{
			{"바퀴 고치기", "0"}, {"방앗간", "0"}, {`"나무 바퀴"`, "0"}, {`"바퀴 나무"`, ""}, {"방앗*", "0"}, {"여름 바퀴 -바퀴", "1"}, {"물", "1"}, {"강", "1"}, {"여름 바퀴 -물", "0"},
		}},
		{"tha", [2]string{"ช่างสีข้าวเฒ่าซ่อมล้อไม้ทั้งสองอัน", "ฤดูร้อนแม่น้ำแทบไม่มีน้ำเลย"}, []ask{
			{"ซ่อมล้อ", "0"}, {`"ล้อไม้"`, "0"}, {`"ไม้ล้อ"`, ""}, {"ช่าง*", "0"}, {"แม่น้ำ", "1"}, {"ฤดูร้อน ซ่อมล้อ -ซ่อม", "1"}, {"อัน", "0"}, {`"ลย"`, "1"}, {"ฤดูร้อน ซ่อมล้อ -ฤดู*", "0"},
		}},
		{"lao", [2]string{"ຊ່າງເຖົ້າສ້ອມແປງລໍ້ໄມ້ສອງອັນ", "ໃນລະດູຮ້ອນແມ່ນ້ຳເກືອບບໍ່ມີນ້ຳ"}, []ask{
			{"ສ້ອມແປງ", "0"}, {`"ລໍ້ໄມ້"`, "0"}, {"ຊ່າງ*", "0"}, {"ລະດູຮ້ອນ ສ້ອມແປງ -ສ້ອມແປງ", "1"},
		}},
		{"khm", [2]string{"ជាងចាស់បានជួសជុលកង់ឈើទាំងពីរ", "នៅរដូវក្តៅទន្លេស្ទើរតែគ្មានទឹក"}, []ask{
			{"ជួសជុល", "0"}, {`"កង់ឈើ"`, "0"}, {"រដូវ*", "1"}, {"ទឹក", "1"}, {"រដូវក្តៅ ជួសជុល -ជួសជុល", "1"},
		}},
		{"mya", [2]string{"ဘိုးအေက သစ်သားဘီးနှစ်ခုကို ပြင်ခဲ့သည်။", "နွေရာသီတွင် မြစ်၌ ရေမရှိသလောက်ဖြစ်သည်။"}, []ask{
			{`"သစ်သားဘီး"`, "0"}, {"နွေ*", "1"}, {"နွေရာသီ သစ်သား -သစ်သား", "1"},
		}},
	}
	var all []string
	for _, tc := range tests {
		all = append(all, tc.texts[:]...)
	}
	mixed := testIndex(t, all...)
	for i, tc := range tests {
		for _, text := range tc.texts {
			if got := lang.Of(text, ""); got != tc.code {
				t.Errorf("%q is taken for %q, want %q", text, got, tc.code)
			}
		}
		alone := testIndex(t, tc.texts[:]...)
		for _, a := range tc.asks {
			if got := find(t, alone, a.query); got != a.want {
				t.Errorf("%s: %q finds %q, want %q", tc.code, a.query, got, a.want)
			}
			// Among the others' texts, its own two are found just the same.
			var own []string
			for _, id := range strings.Fields(find(t, mixed, a.query)) {
				for j := range tc.texts {
					if id == fmt.Sprint(2*i+j) {
						own = append(own, fmt.Sprint(j))
					}
				}
			}
			if got := strings.Join(own, " "); got != a.want {
				t.Errorf("%s: %q finds %q in the mixed corpus, want %q", tc.code, a.query, got, a.want)
			}
		}
	}
}
