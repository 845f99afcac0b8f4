package userfn_test

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"quarry/internal/expr/userfn"
)

var now = time.Date(2024, 3, 1, 0, 0, 0, 0, time.UTC)

// sample is the result that the cases below are evaluated for, the second of three.
var sample = userfn.Result{
	Index: 1, Text: "how it reads", DocumentID: "d-1",
	DocumentMetadata: json.RawMessage(`{"quality":3,"issued":"2024-01-31T00:00:00Z","price":12.5,"flag":true,"title":"A 'b'",
		"ratings":[{"value":4.5},7],"any name":9,"nothing":null,"numeric":"7","both":"document","huge":1e999,"a":{"b":{"c":2}}}`),
	PartMetadata: json.RawMessage(`{"kind":"procedure","lang":"spa","lat":48.1,"lon":14.6,"both":"part","x-y":1,"größe":8}`),
}

var scores = []float64{0.9, 0.4, 0.1}

// expected is the score of a program; nil is null.
func expected(v float64) *float64 { return &v }

type program struct {
	text string
	want *float64
}

func check(t *testing.T, cases []program) {
	t.Helper()
	for _, c := range cases {
		p, err := userfn.Parse(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		got, ok := p.Score(userfn.NewBatch(now, scores), sample)
		switch {
		case ok != (c.want != nil):
			t.Errorf("%s: got %v (null: %v), want null: %v", c.text, got, !ok, c.want == nil)
		case ok && math.Abs(got-*c.want) > 1e-9*(1+math.Abs(*c.want)):
			t.Errorf("%s: got %v, want %v", c.text, got, *c.want)
		}
	}
}

// TestContractPrograms proves every valid program of the contract (rerankers.md section 6.6).
func TestContractPrograms(t *testing.T) {
	t.Parallel()
	check(t, []program{
		{`get('$.score') + 0.1 * get('$.document_metadata.quality', 0)`, expected(0.7)},
		{`if (get('$.score') < 0.35) null else get('$.score')`, expected(0.4)},
		{`if (get('$.score') < 0.45) null else get('$.score')`, nil},
		{`if (get('$.part_metadata.kind') == 'procedure') get('$.score') else null`, expected(0.4)},
		{`if (get('$.part_metadata.kind') == 'other') get('$.score') else null`, nil},
		{`get('$.score') * power(0.5, hours(now() - iso_datetime_parse(get('$.document_metadata.issued', '2000-01-01T00:00:00Z'))) / 720)`, expected(0.2)},
		{`to_unix_timestamp(iso_datetime_parse(get('$.document_metadata.issued')))`, expected(1706659200)},
		{`to_unix_timestamp(iso_datetime_parse(get('$.document_metadata.missing')))`, nil},
		{`0 - get('$.document_metadata.price', 1000000)`, expected(-12.5)},
		{`0 - get('$.document_metadata.missing', 1000000)`, expected(-1000000)},
		{`get('$.score') / (1 + sqrt(power(get('$.part_metadata.lat', 0) - 48.1, 2) + power(get('$.part_metadata.lon', 0) - 11.6, 2)))`, expected(0.1)},
		{`if (get('$.index') < 3) get('$.score') else null`, expected(0.4)},
		{`if (get('$.index') < 1) get('$.score') else null`, nil},
		{`get('$.score') * (if (get('$.part_metadata.lang', '') == 'spa') 1.25 else 1)`, expected(0.5)},
		{`knee()`, nil},
	})
}

// TestPaths proves which values get selects (section 6.2).
func TestPaths(t *testing.T) {
	t.Parallel()
	check(t, []program{
		{`get('$.score')`, expected(0.4)}, {`get('$.index')`, expected(1)}, {`get('$.all_scores[0]')`, expected(0.9)},
		{`get('$.all_scores[3]')`, nil}, {`get('$.all_scores')`, nil}, {`get('$.all_scores') != null`, expected(1)},
		{`get('$')`, nil}, {`get('$.text') == 'how it reads'`, expected(1)}, {`get('$.document_id') == 'd-1'`, expected(1)},
		{`get('$.document_metadata.ratings[0].value')`, expected(4.5)}, {`get('$.document_metadata.ratings[1]')`, expected(7)},
		{`get('$.document_metadata.ratings[2]', 3)`, expected(3)}, {`get('$.document_metadata.ratings.value', 3)`, expected(3)},
		{`get('$.document_metadata[''any name'']')`, expected(9)}, {`get('$[''document_metadata''][''any name'']')`, expected(9)},
		{`get('$.document_metadata.a.b.c')`, expected(2)}, {`get('$.document_metadata.a.b.c.d', 1)`, expected(1)},
		{`get('$.part_metadata.x-y')`, expected(1)}, {`get('$.part_metadata.größe')`, expected(8)},
		{`get('$.document_metadata.nothing', 5)`, expected(5)}, {`get('$.document_metadata.nothing')`, nil},
		{`get('$.document_metadata.huge', 5)`, expected(5)}, {`get('$.nowhere', 5)`, expected(5)}, {`get('$.score.x', 5)`, expected(5)},
		{`get('$.metadata.both') == 'part'`, expected(1)}, {`get('$.metadata.quality')`, expected(3)},
		{`get('$.missing', get('$.also_missing', 6))`, expected(6)}, {`get('$.document_metadata.title') == 'A ''b'''`, expected(1)},
	})
}

// TestGrammar proves precedence, the spellings of conditionals and how far their branches reach (section 6.3).
func TestGrammar(t *testing.T) {
	t.Parallel()
	check(t, []program{
		{`1 + 2 * 3`, expected(7)}, {`(1 + 2) * 3`, expected(9)}, {`10 - 4 - 3`, expected(3)}, {`16 / 4 / 2`, expected(2)},
		{`7 % 4`, expected(3)}, {`-7 % 4`, expected(-3)}, {`1 == 1 && 2 == 2`, expected(1)}, {`1 + 1 == 2`, expected(1)},
		{`1 < 2 == true`, expected(1)}, {`true || false && false`, expected(1)}, {`!true || true`, expected(1)},
		{`!(true || true)`, expected(0)}, {`- - 3`, expected(3)}, {`-+3`, expected(-3)}, {`!!3`, expected(1)}, {`2.45`, expected(2.45)},
		{`.5 + 1e2 + 1.5E-1`, expected(100.65)}, {`1 === 1`, expected(1)}, {`1 !== 1`, expected(0)}, {`1 != 2`, expected(1)},
		{"\n 1 \t+\n2 ", expected(3)},
		{`true ? 1 : 2`, expected(1)}, {`false ? 1 : true ? 2 : 3`, expected(2)}, {`1 > 2 ? 1 : 2 + 1`, expected(3)},
		{`if(true, 1, 2)`, expected(1)}, {`if (false, 1, 2) + 5`, expected(7)}, {`if true then 1 else 2`, expected(1)},
		{`if (1 > 2) then 1 else 2`, expected(2)}, {`if (1) > 2 then 1 else 2`, expected(2)}, {`if (5) - 4 > 0 then 1 else 2`, expected(1)},
		{`if (true) -1 else 2`, expected(-1)}, {`if (true) (1) else (2)`, expected(1)}, {`if (true) 1 else 2 + 10`, expected(1)},
		{`if (false) 1 else 2 + 10`, expected(12)}, {`(if (true) 1 else 2) + 10`, expected(11)}, {`2 * if (true) 3 else 4`, expected(6)},
		{`if (true) if (false) 1 else 2 else 3`, expected(2)}, {`if (false) if (true) 1 else 2 else 3`, expected(3)},
		{`if (if(true, false, true)) 1 else if 1 < 2 then 4 else 5`, expected(4)}, {`if if true then true else false then 1 else 2`, expected(1)},
		{`if (true) if true then 1 else 2 else 3`, expected(1)}, {`if ((true)) ((1)) else 2`, expected(1)},
		{`if (true) max(1, 2) else min(1, 2)`, expected(2)}, {`if (max(1, 2) == 2) 1 else 2`, expected(1)},
	})
}

// TestEvaluation proves the rules of section 6.4.
func TestEvaluation(t *testing.T) {
	t.Parallel()
	check(t, []program{
		{`true`, expected(1)}, {`false`, expected(0)}, {`null`, nil}, {`'text'`, nil}, {`'7'`, nil},
		{`minutes(2)`, expected(120)}, {`iso_datetime_parse('1970-01-02')`, expected(86400)},
		{`1 + null`, nil}, {`null * 0`, nil}, {`true + 1`, expected(2)}, {`get('$.document_metadata.flag') * 0.5`, expected(0.5)},
		{`null == null`, expected(1)}, {`1 == null`, expected(0)}, {`get('$.nowhere') != null`, expected(0)}, {`null < 1`, expected(0)},
		{`null >= null`, expected(0)}, {`1 == '1'`, expected(0)}, {`1 != '1'`, expected(1)}, {`1 == true`, expected(0)}, {`'a' == 'A'`, expected(0)},
		{`'a' < 'b'`, expected(1)}, {`'a' < 1`, nil}, {`get('$.document_metadata.a') == get('$.document_metadata.a')`, nil},
		{`get('$.document_metadata.a') == null`, expected(0)}, {`get('$.document_metadata.a') + 1`, nil},
		{`if (null) 1 else 2`, expected(2)}, {`if (0) 1 else 2`, expected(2)}, {`if (0.1) 1 else 2`, expected(1)}, {`if ('') 1 else 2`, expected(1)},
		{`if (now()) 1 else 2`, expected(1)}, {`!null`, expected(1)}, {`null && true`, expected(0)}, {`null || 3`, expected(1)},
		{`1 / 0`, nil}, {`0 / 0`, nil}, {`1 % 0`, nil}, {`power(10, 400)`, nil}, {`sqrt(-1)`, nil}, {`-null`, nil}, {`-'a'`, nil}, {`-true`, expected(-1)},
		{`get('$.document_metadata.numeric') + 1`, nil}, {`'1' * 2`, nil}, {`abs('x')`, nil}, {`abs(null)`, nil},
		{`to_unix_timestamp(iso_datetime_parse('1970-01-01T01:00:00Z') + minutes(1))`, expected(3660)},
		{`to_unix_timestamp(minutes(1) + iso_datetime_parse('1970-01-01'))`, expected(60)},
		{`to_unix_timestamp(iso_datetime_parse('1970-01-01T01:00:00Z') - hours(1))`, expected(0)}, {`minutes(1) - iso_datetime_parse('1970-01-01')`, nil},
		{`iso_datetime_parse('1970-01-02') - iso_datetime_parse('1970-01-01') == hours(24)`, expected(1)},
		{`iso_datetime_parse('1970-01-02') + iso_datetime_parse('1970-01-01')`, nil}, {`minutes(1) + seconds(1)`, expected(61)}, {`minutes(1) - seconds(1)`, expected(59)},
		{`minutes(1) * 2`, expected(120)}, {`2 * minutes(1)`, expected(120)}, {`minutes(1) / 2`, expected(30)}, {`hours(1) / minutes(1)`, expected(60)},
		{`minutes(1) * minutes(1)`, nil}, {`1 / minutes(1)`, nil}, {`hours(1) / seconds(0)`, nil}, {`minutes(1) + 1`, nil}, {`-minutes(1)`, expected(-60)},
		{`now() > iso_datetime_parse('2020-01-01')`, expected(1)}, {`now() > hours(1)`, nil}, {`minutes(60) == hours(1)`, expected(1)}, {`hours(1) == 3600`, expected(0)},
		{`now() - 1709251140`, expected(60)}, {`hours(now() - 1709251140)`, expected(216000)}, {`now() + 5`, nil}, {`5 - now()`, nil},
	})
}

// TestFunctions proves each function of section 6.5.
func TestFunctions(t *testing.T) {
	t.Parallel()
	check(t, []program{
		{`to_unix_timestamp(now())`, expected(1709251200)}, {`to_unix_timestamp(5)`, nil}, {`iso_datetime_parse(null)`, nil}, {`iso_datetime_parse(5)`, nil},
		{`iso_datetime_parse('yesterday')`, nil}, {`iso_datetime_parse('2024-02-30')`, nil}, {`iso_datetime_parse('')`, nil},
		{`iso_date_time_parse('1970-01-01T00:00:10Z')`, expected(10)}, {`iso_datetime_parse('1970-01-01T02:00:00+02:00')`, expected(0)},
		{`iso_datetime_parse('1970-01-01T00:00:00.25Z')`, expected(0.25)}, {`iso_datetime_parse('19700101T000001Z')`, expected(1)},
		{`iso_datetime_parse('1970-01-01T00:01')`, expected(60)}, {`iso_datetime_parse('1970-01-01T00:00:00-0030')`, expected(1800)}, {`iso_datetime_parse('1970-02')`, expected(2678400)},
		{`datetime_parse('02.01.1970', 'dd.MM.yyyy')`, expected(86400)}, {`datetime_parse('19700102', 'yyyyMMdd')`, expected(86400)},
		{`datetime_parse('2/1/70 3:04:05', 'd/M/yy H:mm:ss')`, expected(3155857445)}, {`datetime_parse('01 Feb 1970', 'dd MMM yyyy')`, expected(2678400)},
		{`datetime_parse('february 1, 1970', 'MMMM d, yyyy')`, expected(2678400)}, {`datetime_parse('Thu, 01 Jan 1970 00:00:09 GMT', 'EEE, dd MMM yyyy HH:mm:ss z')`, expected(9)},
		{`datetime_parse('Thursday 1 January 1970', 'EEEE d MMMM yyyy')`, expected(0)}, {`datetime_parse('1970-01-01T12:30 am', 'yyyy-MM-dd''T''hh:mm a')`, expected(1800)},
		{`datetime_parse('1970-01-01 12:30 PM', 'yyyy-MM-dd hh:mm a')`, expected(45000)}, {`datetime_parse('1970-01-01T01:00:00.500+01:00', 'yyyy-MM-dd''T''HH:mm:ss.SSSXXX')`, expected(0.5)},
		{`datetime_parse('1970-01-01T00:00:00Z', 'yyyy-MM-dd''T''HH:mm:ssXXX')`, expected(0)}, {`datetime_parse('1969-12-31 19:00 EST', 'yyyy-MM-dd HH:mm z')`, expected(0)},
		{`datetime_parse('30.02.2024', 'dd.MM.yyyy')`, nil}, {`datetime_parse('1.1.2024', 'dd.MM.yyyy')`, nil}, {`datetime_parse('01.01.2024 ', 'dd.MM.yyyy')`, nil},
		{`datetime_parse('13:61', 'HH:mm')`, nil}, {`datetime_parse(null, 'yyyy')`, nil}, {`datetime_parse('2024', get('$.nowhere', 'QQ'))`, nil},
		{`seconds(90)`, expected(90)}, {`hours(minutes(90))`, expected(1.5)}, {`minutes(hours(1))`, expected(60)}, {`days(hours(36))`, expected(1.5)}, {`days(1)`, expected(86400)},
		{`as_days(hours(12))`, expected(0.5)}, {`as_hours(minutes(30))`, expected(0.5)}, {`as_minutes(seconds(30))`, expected(0.5)}, {`as_seconds(minutes(1))`, expected(60)}, {`as_days(3)`, nil},
		{`hours('x')`, nil}, {`abs(-2)`, expected(2)}, {`sqrt(9)`, expected(3)}, {`trunc(-2.7)`, expected(-2)}, {`trunc(2.7)`, expected(2)}, {`sign(-3)`, expected(-1)}, {`sign(0)`, expected(0)}, {`sign(2)`, expected(1)},
		{`power(2, 10)`, expected(1024)}, {`power(-8, 0.5)`, nil}, {`min(2, 1)`, expected(1)}, {`max(2, 1)`, expected(2)}, {`max(1, 5, 3)`, expected(5)}, {`min(1, null)`, nil},
		{`log(2, 8)`, expected(3)}, {`log(10, 1000)`, expected(3)}, {`log(3, 81)`, expected(4)}, {`log(2.718281828459045)`, expected(1)}, {`log(1, 5)`, nil}, {`log(-2, 4)`, nil}, {`log(2, 0)`, nil},
		{`ln(1)`, expected(0)}, {`ln(0)`, nil}, {`log10(0.01)`, expected(-2)}, {`radians(180)`, expected(math.Pi)}, {`degrees(radians(90))`, expected(90)},
		{`sin(radians(90))`, expected(1)}, {`cos(0)`, expected(1)}, {`tan(0)`, expected(0)}, {`sind(30)`, expected(0.5)}, {`sind(-90)`, expected(-1)}, {`cosd(90)`, expected(0)}, {`cosd(60)`, expected(0.5)},
		{`cosd(180)`, expected(-1)}, {`tand(45)`, expected(1)}, {`tand(90)`, nil}, {`sind(20)`, expected(math.Sin(20 * math.Pi / 180))},
	})
}

// TestKnee proves which results are kept (section 7), with weights computed by hand.
func TestKnee(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text   string
		scores []float64
		kept   int
	}{
		{`knee()`, []float64{0.9, 0.85, 0.2, 0.15}, 2},
		{`knee()`, []float64{0.9, 0.8}, 2},      // fewer than three: all
		{`knee()`, []float64{0.5, 0.5, 0.5}, 3}, // no drop: all
		{`knee(0)`, []float64{1, 0.7, 0.4, 0}, 4},
		{`knee(0.5)`, []float64{1, 0.7, 0.4, 0}, 3},             // g = .3 .3 .4; 0.4 ≥ 0.25
		{`knee(0.5, 1)`, []float64{1, 0.7, 0.4, 0}, 1},          // w = .3·2, .3·5/3, .4·4/3
		{`knee(0.3)`, []float64{1, 0.7, 0.4, 0}, 3},             // 0.4 ≥ 0.35
		{`knee(0.1)`, []float64{1, 0.7, 0.4, 0}, 4},             // 0.4 < 0.45
		{`knee(1, 0)`, []float64{1, 0.75, 0.5, 0.25}, 1},        // equal gaps: the first
		{`knee(sensitivity=0.1)`, []float64{1, 0.7, 0.4, 0}, 4}, // by name
		{`knee(early_bias=1, sensitivity=0.5)`, []float64{1, 0.7, 0.4, 0}, 1},
		{`knee(0.5, early_bias=1)`, []float64{1, 0.7, 0.4, 0}, 1},
		{`knee()`, []float64{1e308, -1e308, -1e308}, 1},
		{`2 * knee() / 2`, []float64{0.9, 0.85, 0.2, 0.15}, 2}, // inside an expression
		{`if (knee() == null) get('$.score') else null`, []float64{0.9, 0.2, 0.1}, 2},
	} {
		p, err := userfn.Parse(c.text)
		if err != nil {
			t.Fatal(err)
		}
		batch, kept := userfn.NewBatch(now, c.scores), 0
		for i, s := range c.scores {
			if got, ok := p.Score(batch, userfn.Result{Index: i}); ok {
				kept++
				if got != s {
					t.Errorf("%s of %v: score %v became %v", c.text, c.scores, s, got)
				}
			}
		}
		if kept != c.kept {
			t.Errorf("%s of %v: %d kept, want %d", c.text, c.scores, kept, c.kept)
		}
	}
}

// TestKneeOfBands proves that results behind others change nothing for these, and that nothing behind a knee is kept.
func TestKneeOfBands(t *testing.T) {
	t.Parallel()
	p, err := userfn.Parse("knee()")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		bands [][]float64
		kept  int
	}{
		{[][]float64{{0.9, 0.85, 0.2, 0.15}, {0.14, 0.13}, {0.95}}, 2},
		{[][]float64{{1, 0.9, 0.8, 0.7, 0.6, 0.5}, {0.4, -50}, {0.95}}, 7}, // the drop of the second band
		{[][]float64{{1, 0.9, 0.8, 0.7, 0.6, 0.5}, {0.95, 0.55, 0.45}}, 9},
	} {
		batch, kept := userfn.NewBatch(now, nil), 0
		for _, scores := range c.bands {
			first := batch.Add(scores)
			for i := range scores {
				if _, ok := p.Score(batch, userfn.Result{Index: first + i}); ok {
					kept++
				}
			}
		}
		if kept != c.kept {
			t.Errorf("%v: %d kept, want %d", c.bands, kept, c.kept)
		}
	}
}

// TestRefused proves that a wrong program is refused, with the position and text of the error.
func TestRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text   string
		column int
		reason string
	}{
		{``, 0, "empty"}, {`   `, 3, "empty"}, {`1 +`, 3, "value is missing"}, {`(1`, 2, ") is missing"}, {`1)`, 1, "does not belong"}, {`1 2`, 2, "does not belong"},
		{`foo(1)`, 0, "no function"}, {`foo`, 0, "neither a value nor a function"}, {`abs()`, 0, "takes 1 argument"}, {`abs(1, 2)`, 0, "takes 1 argument"}, {`min(1)`, 0, "takes 2 arguments or more"},
		{`power(1)`, 0, "takes 2"}, {`log()`, 0, "takes 1 or 2"}, {`now(1)`, 0, "takes 0"}, {`get()`, 0, "takes 1 or 2"}, {`get('$.a', 1, 2)`, 0, "takes 1 or 2"}, {`get(1)`, 4, "path"},
		{`get('score')`, 5, "begins with $"}, {`get('$.*')`, 6, "nothing else"}, {`get('$..a')`, 6, "nothing else"}, {`get('$.a[?(1)]')`, 8, "nothing else"}, {`get('$[-1]')`, 6, "nothing else"},
		{`get('$.a[')`, 8, "nothing else"}, {`get('$a')`, 6, "nothing else"}, {`get('$[''''])')`, 6, "nothing else"}, {`get('$.a' + 'b')`, 4, "path"}, {`get('$[*]')`, 6, "nothing else"},
		{`"a"`, 0, "single quotes"}, {`'a`, 0, "no end"}, {`1 = 1`, 2, "does not belong"}, {`1 <> 1`, 2, "does not belong"}, {`a.b`, 0, "neither"}, {`1 & 2`, 2, "does not belong"}, {`#`, 0, "not a character"},
		{`if (true) 1`, 11, "else is missing"}, {`if true 1 else 2`, 8, "then is missing"}, {`if(true, 1)`, 10, ", is missing"}, {`if(1, 2, 3, 4)`, 10, ") is missing"}, {`true ? 1`, 8, ": is missing"},
		{`else`, 0, "value is missing"}, {`If (true) 1 else 2`, 0, "no function"}, {`knee(2)`, 5, "between 0 and 1"}, {`knee(-0.1)`, 5, "between 0 and 1"}, {`knee(0.1, 0.2, 0.3)`, 15, "at most once"},
		{`knee(bias=1)`, 5, "at most once"}, {`knee(0.5, sensitivity=0.4)`, 10, "at most once"}, {`knee(get('$.score'))`, 5, "at most once"}, {`knee('a')`, 5, "between 0 and 1"}, {`knee(`, 5, "between 0 and 1"},
		{`datetime_parse('x', 'QQ')`, 15, "not one of its letters"}, {`datetime_parse('x', '')`, 15, "empty"}, {`datetime_parse('x', 5)`, 15, "string"}, {`1e999`, 0, "too large"}, {`let x = 1`, 0, "neither"}, {`1; 2`, 1, "does not belong"},
		{strings.Repeat("(", 200) + "1" + strings.Repeat(")", 200), 100, "deep"}, {strings.Repeat("-", 200) + "1", 99, "deep"}, {strings.Repeat("abs(", 200) + "1" + strings.Repeat(")", 200), 400, "deep"},
		{strings.Repeat("if (true) 1 else ", 200) + "1", 1687, "deep"}, {strings.Repeat("true ? 1 : ", 200) + "1", 1096, "deep"}, {"1" + strings.Repeat("+1", 5000), -1, "parts"}, {strings.Repeat(" ", 20000), 0, "longer"},
	} {
		_, err := userfn.Parse(c.text)
		var bad *userfn.Error
		if !errors.As(err, &bad) {
			t.Errorf("%.60s: got %v, want a refusal", c.text, err)
			continue
		}
		if c.column >= 0 && bad.Column != c.column || bad.Line != 1 || !strings.Contains(bad.Reason, c.reason) {
			t.Errorf("%.60s: got %v, want column %d, %q", c.text, err, c.column, c.reason)
		}
	}
	if _, err := userfn.Parse("1 +\n  foo()"); err == nil || !strings.HasPrefix(err.Error(), "Syntax error at 2:2 ") {
		t.Errorf("second line: got %v", err)
	}
}

// TestReadsPassage proves that a program reports whether it reads more than scores.
func TestReadsPassage(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`get('$.score') * get('$.index')`: false, `knee()`: false, `get('$.document_id') == 'x'`: true,
		`get('$.text') == 'x'`: true, `1 + get('$.metadata.a', 0)`: true, `get('$.score', get('$.part_metadata.a'))`: true,
	} {
		p, err := userfn.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if p.ReadsPassage() != want {
			t.Errorf("%s: got %v", text, !want)
		}
	}
}

// TestMadeUp proves that generated programs parse, and that their score is finite or null and reproducible.
func TestMadeUp(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	leaves := []string{"1", "0", "-2.5", "null", "true", "'x'", "get('$.score')", "get('$.part_metadata.lat', 1)", "get('$.document_metadata.a')", "now()", "minutes(3)", "knee()", "iso_datetime_parse(get('$.document_metadata.issued'))"}
	shapes := []string{"(% + %)", "(% - %)", "(% * %)", "(% / %)", "(% %% %)", "(% == %)", "(% < %)", "(% && %)", "!%", "-%", "(if (%) % else %)", "if(%, %, %)", "(% ? % : %)", "(if % then % else %)", "abs(%)", "log(%, %)", "max(%, %)", "hours(%)", "power(%, %)", "to_unix_timestamp(%)"}
	var make func(depth int) string
	make = func(depth int) string {
		if depth == 0 || r.IntN(5) == 0 {
			return leaves[r.IntN(len(leaves))]
		}
		var b strings.Builder
		for i, s := range strings.Split(strings.ReplaceAll(shapes[r.IntN(len(shapes))], "%%", "\x00"), "%") {
			if i > 0 {
				b.WriteString(make(depth - 1))
			}
			b.WriteString(s)
		}
		return strings.ReplaceAll(b.String(), "\x00", "%")
	}
	numbers := 0
	for range 5000 {
		text := make(5)
		p, err := userfn.Parse(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		batch := userfn.NewBatch(now, scores)
		a, ok := p.Score(batch, sample)
		b, again := p.Score(batch, sample)
		if ok != again || ok && (a != b || math.IsNaN(a) || math.IsInf(a, 0)) {
			t.Fatalf("%s: %v %v, then %v %v", text, a, ok, b, again)
		}
		if ok {
			numbers++
		}
	}
	if numbers < 500 {
		t.Errorf("only %d of 5000 programs gave a number", numbers)
	}
}

// FuzzParse proves that no text makes the parser or a program panic, and that a program's score is finite or null and
// reproducible.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		`get('$.score') * power(0.5, hours(now() - iso_datetime_parse(get('$.document_metadata.issued'))) / 720)`, `knee(0.7, early_bias=0.3)`,
		`if (get('$.index') < 3) get('$.score') else null`, `if(a, b, c)`, `if x then y else z ? 1 : 2`, `datetime_parse('1 Jan 1970', 'd MMM yyyy')`, `get('$[''a''][0].b', 'c')`, `((((`, `'`, "`a`",
	} {
		f.Add(s, 0.5)
	}
	f.Fuzz(func(t *testing.T, text string, score float64) {
		p, err := userfn.Parse(text)
		if err != nil {
			var bad *userfn.Error
			if !errors.As(err, &bad) || bad.Line < 1 || bad.Column < 0 || bad.Reason == "" {
				t.Fatalf("%q: %#v", text, err)
			}
			return
		}
		r := sample
		r.Index = 2
		all := []float64{3, 1, score, -1}
		a, ok := p.Score(userfn.NewBatch(now, all), r)
		b, again := p.Score(userfn.NewBatch(now, all), r)
		if ok != again || a != b && ok || ok && (math.IsNaN(a) || math.IsInf(a, 0)) {
			t.Fatalf("%q: %v %v, then %v %v", text, a, ok, b, again)
		}
	})
}
