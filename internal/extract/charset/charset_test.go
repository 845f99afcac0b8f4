package charset_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"

	detect "quarry/internal/extract/charset"
)

// texts are texts of our own in the languages that the encodings are for.
var texts = map[string]string{
	"Japanese":    "ポンプは一九九〇年に据え付けられ、毎月点検されています。弁を開く前に圧力を確認してください。故障の場合は技術者に連絡すること。",
	"Korean":      "펌프는 매달 점검해야 합니다. 밸브를 열기 전에 압력을 확인하십시오. 고장이 나면 기술자에게 알리십시오.",
	"simplified":  "水泵每月检查一次。打开阀门之前请先确认压力。如果发生故障，请通知技术人员。",
	"traditional": "水泵每月檢查一次。打開閥門之前請先確認壓力。如果發生故障，請通知技術人員。",
	"Russian":     "Насос проверяют каждый месяц. Перед открытием клапана проверьте давление. О неисправности сообщите мастеру.",
	"Ukrainian":   "Насос перевіряють щомісяця. Перш ніж відкрити клапан, перевірте тиск. Про несправність повідомте майстра.",
	"Bulgarian":   "Помпата се проверява всеки месец. Преди да отворите клапана, измерете налягането. Съобщете за повредите.",
	"German":      "Die Pumpe wird jeden Monat geprüft. Vor dem Öffnen des Ventils ist der Druck zu messen. Größere Schäden meldet man dem Meister.",
	"French":      "La pompe est contrôlée chaque mois. Avant d’ouvrir la vanne, mesurez la pression à l’entrée. Les dégâts sont signalés au maître.",
	"Spanish":     "La bomba se revisa cada mes según el señor López. Después mida la presión y avise al técnico de los daños.",
	"Danish":      "Pumpen efterses hver måned. Før ventilen åbnes, måles trykket. Større skader meldes til værkføreren.",
	"Icelandic":   "Dælan er skoðuð í hverjum mánuði. Áður en lokinn er opnaður skal mæla þrýstinginn.",
	"Polish":      "Pompę sprawdza się co miesiąc. Przed otwarciem zaworu należy zmierzyć ciśnienie. Większe usterki zgłasza się mistrzowi.",
	"Czech":       "Čerpadlo se kontroluje každý měsíc. Před otevřením ventilu změřte tlak. Závažné závady ohlaste mistrovi.",
	"Hungarian":   "A szivattyút minden hónapban ellenőrzik. A szelep kinyitása előtt mérje meg a nyomást. A hibát jelentse a művezetőnek.",
	"Croatian":    "Pumpa se pregledava svaki mjesec. Prije otvaranja ventila izmjerite tlak. Veća oštećenja prijavite majstoru; čuvajte ključ.",
	"Greek":       "Η αντλία ελέγχεται κάθε μήνα. Πριν ανοίξετε τη βαλβίδα μετρήστε την πίεση. Αναφέρετε τις βλάβες στον τεχνίτη.",
	"Turkish":     "Pompa her ay denetlenir. Vanayı açmadan önce basıncı ölçün. Büyük arızaları ustaya bildirin, yağ değişimini unutmayın.",
	"Hebrew":      "המשאבה נבדקת בכל חודש. לפני פתיחת השסתום יש למדוד את הלחץ. על תקלות יש להודיע לטכנאי.",
	"Arabic":      "يتم فحص المضخة كل شهر. قبل فتح الصمام يجب قياس الضغط. يجب إبلاغ الفني عن الأعطال الكبيرة.",
	"Lithuanian":  "Siurblys tikrinamas kas mėnesį. Prieš atidarydami vožtuvą, išmatuokite slėgį. Apie gedimus praneškite meistrui.",
	"Latvian":     "Sūkni pārbauda katru mēnesi. Pirms vārsta atvēršanas izmēriet spiedienu. Par bojājumiem ziņojiet meistaram.",
	"Thai":        "ปั๊มน้ำได้รับการตรวจสอบทุกเดือน ก่อนเปิดวาล์วให้วัดความดัน แจ้งช่างเมื่อเกิดความเสียหาย",
}

// written says in which encodings a language is written.
var written = map[string]string{
	"Japanese": "shift_jis euc-jp iso-2022-jp", "Korean": "euc-kr", "simplified": "gb18030", "traditional": "big5",
	"Russian": "windows-1251 koi8-r iso-8859-5 ibm866", "Ukrainian": "windows-1251 koi8-u iso-8859-5", "Bulgarian": "windows-1251 iso-8859-5",
	"German": "windows-1252 iso-8859-15 windows-1250", "French": "windows-1252 iso-8859-15", "Spanish": "windows-1252", "Danish": "windows-1252", "Icelandic": "windows-1252",
	"Polish": "windows-1250 iso-8859-2", "Czech": "windows-1250 iso-8859-2", "Hungarian": "windows-1250 iso-8859-2", "Croatian": "windows-1250 iso-8859-2",
	"Greek": "windows-1253 iso-8859-7", "Turkish": "windows-1254 iso-8859-9", "Hebrew": "windows-1255 iso-8859-8", "Arabic": "windows-1256 iso-8859-6",
	"Lithuanian": "windows-1257 iso-8859-13", "Latvian": "windows-1257 iso-8859-13", "Thai": "windows-874",
}

// eastern are the languages in the Latin script of which a few words don't show that they are none of the west.
var eastern = map[string]bool{"Polish": true, "Czech": true, "Hungarian": true, "Croatian": true, "Turkish": true, "Lithuanian": true, "Latvian": true}

// cut returns the first n characters of a text, or more if these are all ASCII.
func cut(text string, n int) string {
	r := []rune(text)
	for n < len(r) && len(string(r[:n])) == n {
		n++
	}
	return string(r[:min(n, len(r))])
}

func decode(t *testing.T, enc encoding.Encoding, data []byte) string {
	t.Helper()
	if enc == nil {
		return string(data)
	}
	out, err := enc.NewDecoder().Bytes(data)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestDetect(t *testing.T) {
	t.Parallel() // Proves that a text of each encoding is read as it was written: long, of two sentences, and of a few words.
	for language, text := range texts {
		for name := range strings.FieldsSeq(written[language]) {
			enc, _ := charset.Lookup(name)
			all := []string{strings.Repeat(text+"\n", 500), text, cut(text, 40), cut(text, 25)}
			if eastern[language] {
				all = all[:2]
			}
			for _, want := range all {
				want = strings.NewReplacer("’", "'").Replace(want) // which half of them lack
				data, err := enc.NewEncoder().Bytes([]byte(want))
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if utf8.Valid(data) && !detect.Escaped(data) {
					continue
				}
				found := detect.Detect(data)
				if got := decode(t, found, data); got != want {
					t.Errorf("%s in %s, %d bytes: read as %.60q (%v), want %.60q", language, name, len(data), got, found, want)
				}
			}
		}
	}
}

func TestWide(t *testing.T) {
	t.Parallel() // Proves that UTF-16 and UTF-32 without a mark are read as they were written, down to two characters.
	for language, text := range texts {
		for name, enc := range map[string]encoding.Encoding{
			"UTF-16LE": unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), "UTF-16BE": unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM),
			"UTF-32LE": utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM), "UTF-32BE": utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM),
		} {
			for _, want := range []string{strings.Repeat(text+"\n", 500), text, cut(text, 10), "Hi", "a", "№ 5, π"} {
				data, err := enc.NewEncoder().Bytes([]byte(want))
				if err != nil {
					t.Fatal(err)
				}
				found := detect.Wide(data)
				if found == nil {
					t.Errorf("%s in %s: %.40q is not read", language, name, want)
				} else if got := decode(t, found, data); got != want {
					t.Errorf("%s in %s: read as %.60q, want %.60q", language, name, got, want)
				}
			}
		}
	}
}

func TestNotWide(t *testing.T) {
	t.Parallel() // Proves that bytes which are no text don't pass for UTF-16 or UTF-32.
	counted, noise := make([]byte, 4096), make([]byte, 4096)
	state := uint32(1)
	for i := range noise {
		state = state*1664525 + 1013904223
		noise[i], counted[i] = byte(state>>24), byte(i/4>>(8*(i%4)))
	}
	for _, data := range []string{
		"", "\x00", "\x00\x01", "a\x00b", "\x00\x00\x00\x00", "\x01\x00\x02\x00", string(noise), string(counted), "MZ\x90\x00\x03\x00\x00\x00\x04\x00\x00\x00\xff\xff\x00\x00",
		"\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00", "\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00mp42isom", "SQLite format 3\x00\x10\x00\x02\x02",
		strings.Repeat("\xd0\xcf\x11\xe0", 9), strings.Repeat("\x41\x00\x00", 100), "\x12\x34\x56\x78\x9a\xbc\xde\xf0",
	} {
		if enc := detect.Wide([]byte(data)); enc != nil {
			t.Errorf("%.20q is read as %v", data, enc)
		}
	}
}

func TestDetectDamagedUTF8(t *testing.T) {
	t.Parallel() // Proves that UTF-8 which was cut inside a character stays UTF-8, and that a text which shows nothing is Windows-1252.
	text := []byte(texts["Russian"])
	if enc := detect.Detect(text[:len(text)-len(" сообщите мастеру.")+2]); enc != nil {
		t.Errorf("cut UTF-8 is read as %v", enc)
	}
	for data, want := range map[string]string{"\x93x\x94": "“x”", "Caf\xe9": "Café", "\xa9 2026": "© 2026", "na\xefve": "naïve", "10 \xb0C \x96 12 \xb0C": "10 °C – 12 °C"} {
		if got := decode(t, detect.Detect([]byte(data)), []byte(data)); got != want {
			t.Errorf("%q is read as %q, want %q", data, got, want)
		}
	}
}

func FuzzDetect(f *testing.F) {
	for _, text := range texts {
		f.Add([]byte(text))
	}
	f.Add([]byte("\x81"))
	f.Add([]byte("\x1B$B"))
	f.Fuzz(func(_ *testing.T, data []byte) {
		detect.Detect(data)
		detect.Wide(data)
	})
}
