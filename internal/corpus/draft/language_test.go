package draft_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"quarry/internal/corpus"
	"quarry/internal/corpus/draft"
	"quarry/internal/query/evaluate"
	"quarry/internal/testkit"
	"quarry/internal/text/sentence"
)

// TestPartLanguages proves the language of every part of documents that mix languages: short parts follow what
// stands around, titles what they head, and other scripts speak for themselves.
func TestPartLanguages(t *testing.T) {
	t.Parallel()
	type part struct {
		text, want string
		title      bool
	}
	for name, parts := range map[string][]part{
		"halves": {
			{"Operation", "eng", true}, {"The valve must be closed before the pump is started.", "eng", false}, {"Radar 3000", "eng", false},
			{"Information", "deu", true}, {"Das Ventil muss geschlossen sein, bevor die Pumpe startet.", "deu", false}, {"Motor 3000", "deu", false},
			{"Nota", "spa", true}, {"La válvula debe estar cerrada antes de que arranque la bomba.", "spa", false},
		},
		"scripts": {
			{"Ventil 7", "deu", false}, {"Das Ventil ist seit gestern nicht mehr dicht und wird ersetzt.", "deu", false},
			{"阀门", "zho", true}, {"阀门从昨天起就漏水了。", "zho", false}, {"밸브가 샌다.", "kor", false}, {"バルブが漏れている。", "jpn", false},
			{"วาล์วรั่ว", "tha", false}, {"ປ່ຽງຮົ່ວ", "lao", false}, {"វ៉ាល់លេច", "khm", false}, {"အဆို့ရှင်ယို", "mya", false}, {"42", "mya", false},
		},
		"one language": {
			{"Status", "deu", true}, {"Die Pumpe läuft, und das Ventil ist offen, wie es sein soll.", "deu", false}, {"Alarm: Reset", "deu", false},
			{"Der Druck ist im grünen Bereich, die Anlage ist bereit für den Betrieb.", "deu", false}, {"Reset", "deu", false},
		},
	} {
		var d draft.Core
		d.ID = "d"
		for _, p := range parts {
			meta := "{}"
			if p.title {
				meta = `{"is_title":true}`
			}
			d.Parts = append(d.Parts, draft.CorePart{Text: p.text, Metadata: json.RawMessage(meta)})
		}
		for i, p := range build(t, d, corpus.Corpus{}).Parts {
			if p.Lang != parts[i].want || !strings.Contains(string(p.Metadata), `"lang":"`+p.Lang+`"`) {
				t.Errorf("%s: %q is taken for %q with metadata %s, want %q", name, p.Text, p.Lang, p.Metadata, parts[i].want)
			}
		}
	}
}

// TestPartLanguagesOfMixedDocuments proves the share of sentences whose language is right in documents that change
// their language every few sentences.
func TestPartLanguagesOfMixedDocuments(t *testing.T) {
	t.Parallel()
	const dir = "../../../../shared/data/xquad/"
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		testkit.Skip(t, "collections are not on this machine")
	}
	codes := map[string]string{"en": "eng", "de": "deu", "es": "spa", "ru": "rus", "ar": "ara", "hi": "hin", "zh": "zho"}
	records := map[string][]evaluate.Record{}
	for name := range codes {
		d, err := evaluate.Read(dir + name)
		if err != nil {
			t.Fatal(err)
		}
		records[name] = d.Documents
	}
	right, all := map[string]int{}, map[string]int{}
	for i := range 60 {
		d := draft.Core{ID: "d"}
		var want []string
		for _, name := range []string{"en", "de", "ru", "es", "zh", "en", "ar", "de", "hi", "es"} {
			text := records[name][(i*4+len(want))%len(records[name])].Text
			for n, s := range sentence.Split(text) {
				if n == 2 {
					break
				}
				d.Parts = append(d.Parts, draft.CorePart{Text: text[s.Start:s.End]})
				want = append(want, codes[name])
			}
		}
		for j, p := range build(t, d, corpus.Corpus{}).Parts {
			all[want[j]]++
			if p.Lang == want[j] {
				right[want[j]]++
			}
		}
	}
	for code, n := range all {
		share := float64(right[code]) / float64(n)
		t.Logf("%s %.4f of %d", code, share, n)
		if share < 0.97 {
			t.Errorf("%s: the language of %.3f of the sentences is right, want ≥ 0.97", code, share)
		}
	}
}
