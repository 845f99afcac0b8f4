package check

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// spelled returns what Unknown finds in a body as "place" or "place near".
func spelled(t testing.TB, schema, body string) []string {
	t.Helper()
	s, err := Contract()
	if err != nil {
		t.Fatal(err)
	}
	v, err := Parse([]byte(body), "body")
	if err != nil {
		t.Fatal(err)
	}
	found, err := s.Unknown(schema, v, "")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, u := range found {
		out = append(out, strings.TrimSpace(u.Place+" "+u.Near))
	}
	return out
}

// TestUnknownMembers proves which members of a body are told as unknown, through references, lists and unions, with the
// one that was probably meant; and that what is the client's own is none of them.
func TestUnknownMembers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		schema, body string
		want         []string
	}{
		{"QueryCorpusRequest", `{"query":"q","search":{"limt":3}}`, []string{"search.limt limit"}},
		{"QueryCorpusRequest", `{"query":"q","search":{"limit":3}}`, nil},
		{"QueryCorpusRequest", `{"qery":"q","Search":{},"zzz":{"limt":1}}`, []string{"Search search", "qery query", "zzz"}},
		{"QueryCorpusRequest", `{"query":"q","search":{"metadataFilter":"x","context_config":1,"LIMIT":1}}`,
			[]string{"search.LIMIT limit", "search.context_config", "search.metadataFilter metadata_filter"}},
		{"QueryCorpusRequest", `{"query":"q","generation":{"citation":{}}}`, []string{"generation.citation citations"}},
		{"QueryCorpusRequest", `{"query":"q","generation":null,"search":null}`, nil},
		{"QueryCorpusRequest", `{"query":"q","generation":{"model_parameters":{"temprature":1}}}`, nil},
		// A union: the form that the discriminator chooses, the form of an absent one, none for a value that is no form.
		{"QueryRequest", `{"search":{"corpora":[{"corpus_key":"k","key":1},{"key":2}],"reranker":{"type":"mmr","diversity_bias":0.1,"cutof":1}}}`,
			[]string{"search.corpora[0].key", "search.reranker.cutof cutoff"}},
		{"QueryRequest", `{"search":{"reranker":{"type":"chain","rerankers":[{"type":"none"},{"type":"mmr","reranker_id":"x"}]}}}`,
			[]string{"search.reranker.rerankers[1].reranker_id"}},
		{"QueryRequest", `{"search":{"reranker":{"type":"nmr","anything":1}}}`, nil},
		{"CreateDocumentRequest", `{"type":"core","id":"d","metadata":{"any":{"thing":1}},"document_parts":[{"text":"a"},{"text":"b","metdata":{}}]}`,
			[]string{"document_parts[1].metdata metadata"}},
		{"CreateDocumentRequest", `{"type":"structured","id":"d","document_parts":[],"sections":[{"sections":[{"txet":"a"}]}]}`,
			[]string{"document_parts", "sections[0].sections[0].txet text"}},
		{"CreateCorpusRequest", `{"key":"k","filter_attributes":[{"name":"a","levle":"part"},{"name":"b","levle":"part","indexd":true}]}`,
			[]string{"filter_attributes[0].levle level", "filter_attributes[1].indexd indexed"}},
		// Values of the wrong type are refused elsewhere.
		{"CreateCorpusRequest", `{"key":{"x":1},"filter_attributes":{"x":1}}`, nil},
		// Names are shown in ASCII, cut, and without secrets.
		{"CreateCorpusRequest", `{"a.b":1,"c,d;e=f":1,"ключ":1,"":1,"x\r\ny":1,"[0]":1}`,
			[]string{`""`, "%5B0%5D", "a%2Eb", "c%2Cd%3Be%3Df", "x%0D%0Ay", "%D0%BA%D0%BB%D1%8E%D1%87"}},
		{"CreateCorpusRequest", `{"` + strings.Repeat("n", 65) + `":1,"zut_abcdefghijklmnopqrstuvwxyz":1}`,
			[]string{strings.Repeat("n", 64) + "~", "zut_****"}},
	} {
		if got := spelled(t, c.schema, c.body); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.body, got, c.want)
		}
	}
}

// TestUnknownMembersAreBounded proves that a body with very many unknown members, or one very deep, is searched no further
// than what is shown.
func TestUnknownMembersAreBounded(t *testing.T) {
	t.Parallel()
	var many, deep strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&many, `,"x%d":1`, i)
	}
	if got := spelled(t, "CreateCorpusRequest", `{"key":"k"`+many.String()+`}`); len(got) != MaxUnknown+1 {
		t.Errorf("%d members are named, want %d", len(got), MaxUnknown+1)
	}
	for range 80 {
		deep.WriteString(`{"sections":[`)
	}
	body := `{"type":"structured","id":"d","sections":[` + deep.String() + `{"txet":"a"}` + strings.Repeat("]}", 80) + `]}`
	got := spelled(t, "CreateDocumentRequest", body)
	if len(got) != 1 || !strings.HasPrefix(got[0], "sections[0].sections[0]") || len(got[0]) > 1100 {
		t.Errorf("deep: %q", got)
	}
}

// BenchmarkUnknown shows what naming unknown members costs beside BenchmarkCheck.
func BenchmarkUnknown(b *testing.B) {
	s, err := Contract()
	if err != nil {
		b.Fatal(err)
	}
	for name, c := range map[string]struct{ schema, body string }{
		"query": {"QueryRequest", `{"query":"q","search":{"limit":10,"corpora":[{"corpus_key":"k","metadata_filter":"doc.a = 1","lexical_interpolation":0.1}],` +
			`"context_configuration":{"sentences_before":2},"reranker":{"type":"chain","rerankers":[{"type":"mmr","diversity_bias":0.3},{"type":"none"}]}}}`},
		"parts": {"CreateDocumentRequest", `{"type":"core","id":"d","document_parts":[{"text":"a","metadata":{"x":1}}` +
			strings.Repeat(`,{"text":"a","metadata":{"x":1}}`, 9999) + `]}`},
	} {
		v, err := Parse([]byte(c.body), "body")
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.Unknown(c.schema, v, ""); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
