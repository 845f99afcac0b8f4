package fact

import (
	"cmp"
	"strings"
)

// written reads a number in words; in Chinese and Japanese, in signs.
func written(text string, ws []Word, i int, lang string) (Number, int) {
	if _, ok := signs[ws[i].Text]; ok {
		return signNumber(ws, i)
	}
	total, current, used, pending := 0.0, 0.0, 0, 0
	for i+used+pending < len(ws) {
		at := i + used + pending
		if at > i && !blank(strings.Trim(text[ws[at-1].End:ws[at].Start], "-")) {
			break
		}
		w := ws[at].Text
		v, ok := wordValue(w)
		if lang == "eng" && foreign[w] || at > 0 && percents[ws[at-1].Text+" "+w] {
			ok = false
		}
		switch {
		case !ok && used > 0 && pending == 0 && joints[w]:
			pending = 1
			continue
		case !ok:
			return closeWritten(total+current, ws, i, used)
		}
		switch {
		case v == 100 && current > 0 && current < 100:
			current *= 100
		case v >= 1000:
			total, current = total+max(current, 1)*v, 0
		case v == 20 && current == 4: // quatre-vingts
			current = 80
		case used > 0 && current != 0 && !fits(current, v):
			return closeWritten(total+current, ws, i, used)
		default:
			current += v
		}
		used, pending = used+pending+1, 0
	}
	return closeWritten(total+current, ws, i, used)
}

// fits reports whether v may follow current in one number: twenty five, three hundred fifty, sixty ten (French).
func fits(current, v float64) bool {
	switch {
	case v >= 100:
		return current >= 1000
	case v >= 20:
		return int(current)%100 == 0
	case v >= 10:
		return int(current)%100 == 0 || int(current)%100 == 60 || int(current)%100 == 80
	}
	return int(current)%10 == 0 && int(current)%100 != 10
}

func closeWritten(v float64, ws []Word, i, used int) (Number, int) {
	if used == 0 {
		return Number{}, 0
	}
	return Number{Values: []float64{v}, Soft: used == 1 && (v <= 1 || ordinalWords[ws[i].Text])}, used
}

// wordValue returns the value of a number word, German compounds included.
func wordValue(w string) (float64, bool) {
	if v, ok := cardinals[w]; ok {
		return v, true
	}
	if unit, tens, ok := strings.Cut(w, "und"); ok {
		u, okUnit := cardinals[unit]
		t, okTens := cardinals[tens]
		if okUnit && okTens && u < 10 && t >= 20 && t < 100 {
			return u + t, true
		}
	}
	if head, tail, ok := strings.Cut(w, "hundert"); ok {
		h, okHead := cardinals[head]
		if head == "" {
			h, okHead = 1, true
		}
		t, okTail := wordValue(tail)
		if tail == "" {
			t, okTail = 0, true
		}
		if okHead && okTail && h < 10 && t < 100 {
			return 100*h + t, true
		}
	}
	return 0, false
}

// signNumber reads Chinese and Japanese number signs; a sign alone is often part of a word.
func signNumber(ws []Word, i int) (Number, int) {
	total, section, current, used := 0.0, 0.0, 0.0, 0
	for i+used < len(ws) && (used == 0 || ws[i+used].Start == ws[i+used-1].End) {
		v, ok := signs[ws[i+used].Text]
		if !ok {
			break
		}
		switch {
		case v >= 10000:
			total, section, current = cmp.Or(total+section+current, 1)*v, 0, 0
		case v >= 10:
			section, current = section+max(current, 1)*v, 0
		default:
			current = current*10 + v // 二〇二〇
		}
		used++
	}
	return Number{Values: []float64{total + section + current}, Soft: used == 1}, used
}
