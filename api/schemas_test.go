package contract_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"quarry/internal/api"
)

func TestSchemasNameTheMemberAtFault(t *testing.T) {
	// Proves that a body that breaks the contract is refused at exactly the members at
	// fault, through unions, nulls and defaults, and that a good one passes.
	t.Parallel()
	c, _ := compiler(t)
	for _, tc := range []struct {
		name, schema, body string
		want               []string // places at fault
	}{
		{"minimal corpus", "CreateCorpusRequest", `{"key":"a-B_9"}`, nil},
		{"key with a character of another form", "CreateCorpusRequest", `{"key":"a=b"}`, []string{"/key"}},
		{"key that only ends well", "CreateCorpusRequest", `{"key":"ä b"}`, []string{"/key"}},
		{"key too long", "CreateCorpusRequest", `{"key":"` + strings.Repeat("k", 51) + `"}`, []string{"/key"}},
		{"key absent", "CreateCorpusRequest", `{}`, []string{""}},
		{"both spellings of real", "CreateCorpusRequest", `{"key":"k","filter_attributes":[
			{"name":"a","level":"document","type":"real"},{"name":"b","level":"part","type":"list[real_number]"}]}`, nil},
		{
			"attribute of unknown type and level", "CreateCorpusRequest",
			`{"key":"k","filter_attributes":[{"name":"a","level":"doc","type":"float"}]}`,
			[]string{"/filter_attributes/0/level", "/filter_attributes/0/type"},
		},
		{"unknown members pass", "CreateCorpusRequest", `{"key":"k","color":"blue"}`, nil},
		{"null in a patch", "UpdateCorpusRequest", `{"name":null,"enabled":false}`, nil},
		{"wrong type in a patch", "UpdateCorpusRequest", `{"enabled":"yes"}`, []string{"/enabled"}},

		{"structured document", "CreateDocumentRequest", `{"type":"structured","id":"d","sections":[{"title":"t","sections":[{"text":"x"}]}]}`, nil},
		{"document without type", "CreateDocumentRequest", `{"id":"d","sections":[{"text":"x"}]}`, []string{""}},
		{"document of unknown type", "CreateDocumentRequest", `{"type":"poem","id":"d"}`, []string{"/type"}},
		{"document that is no object", "CreateDocumentRequest", `[1]`, []string{""}},
		{
			"section with an id that is no int32", "CreateDocumentRequest",
			`{"type":"structured","id":"d","sections":[{"id":"id_1","text":"x"},{"id":3000000000,"text":"x"}]}`,
			[]string{"/sections/0/id", "/sections/1/id"},
		},
		{"core document without parts", "CreateDocumentRequest", `{"type":"core","id":"d","document_parts":[]}`, []string{"/document_parts"}},
		{"dimensions may be null", "CreateDocumentRequest", `{"type":"core","id":"d","document_parts":[{"text":"x","custom_dimensions":null}]}`, nil},
		{
			"dimension that is no number", "CreateDocumentRequest",
			`{"type":"core","id":"d","document_parts":[{"text":"x","custom_dimensions":{"a":"1"}}]}`,
			[]string{"/document_parts/0/custom_dimensions/a"},
		},
		{
			"chunk size under the bound", "CreateDocumentRequest",
			`{"type":"structured","id":"d","sections":[{"text":"x"}],"chunking_strategy":{"type":"max_chars_chunking_strategy","max_chars_per_chunk":99}}`,
			[]string{"/chunking_strategy/max_chars_per_chunk"},
		},

		{"flat query", "QueryCorpusRequest", `{"query":"q","search":{"lexical_interpolation":0.5,"reranker":null},"generation":null}`, nil},
		{"query with its corpus", "QueryCorpusRequest", `{"query":"q","search":{"corpora":[{"corpus_key":"k"}]}}`, nil},
		{"query with two corpora", "QueryCorpusRequest", `{"query":"q","search":{"corpora":[{"corpus_key":"k"},{"corpus_key":"l"}]}}`, []string{"/search/corpora"}},
		{"query without search", "QueryCorpusRequest", `{"query":"q"}`, []string{""}},
		{
			"faults deep in a chain", "QueryCorpusRequest",
			`{"query":"q","search":{"limit":-3,"reranker":{"type":"chain","rerankers":[{"type":"mmr","diversity_bias":"x"},{"type":"best"},{"type":"none","limit":0}]}}}`,
			[]string{"/search/limit", "/search/reranker/rerankers/0/diversity_bias", "/search/reranker/rerankers/1/type", "/search/reranker/rerankers/2/limit"},
		},
		{"generation that is a list", "QueryCorpusRequest", `{"query":"q","search":{},"generation":[]}`, []string{"/generation"}},
		{"corpus without key", "QueryRequest", `{"query":"q","search":{"corpora":[{}]}}`, []string{"/search/corpora/0"}},

		{"input without type is a message", "CreateInputRequest", `{"messages":[{"type":"text","content":"hi"}]}`, nil},
		{"input without type and messages", "CreateInputRequest", `{}`, []string{""}},
		{"transform without type is an agent", "PipelineTransform", `{"agent_key":"a","verification":null}`, nil},
		{"transform without type and agent", "PipelineTransform", `{}`, []string{""}},
		{"names of secrets", "CreateAgentSessionRequest", `{"secrets":{"a b":"x"}}`, []string{"/secrets"}},
		{"reference beside plain values", "WebGetHeaderValue", `{"$ref":"session.caller.id"}`, nil},
		{"patch of a model without type", "UpdateLLMRequest", `{"description":"d"}`, nil},

		{"limit", "param:query_limit_10_of_100", `101`, []string{""}},
		{"corpus ids", "param:listCorpora:corpus_id", `["crp_1","x"]`, []string{"/1"}},
		{"time", "param:getMetric:start", `"yesterday"`, []string{""}},
		{"reranker ids", "CustomerSpecificReranker", `{"reranker_id":"rnk_272725719"}`, nil},
		{"short reranker id", "CustomerSpecificReranker", `{"reranker_id":"rnk_2727"}`, nil},
		{"reranker id of another form", "CustomerSpecificReranker", `{"reranker_id":"mmr"}`, []string{"/reranker_id"}},
	} {
		schema, err := c.Compile(api.SchemaURL(tc.schema))
		if err != nil {
			t.Fatalf("compile %s: %v", tc.schema, err)
		}
		body, err := jsonschema.UnmarshalJSON(strings.NewReader(tc.body))
		if err != nil {
			t.Fatalf("%s: %v", tc.name, err)
		}
		if diff := cmp.Diff(tc.want, faults(schema.Validate(body))); diff != "" {
			t.Errorf("%s: places at fault (-want +got):\n%s", tc.name, diff)
		}
	}
}

// faults lists the places of the innermost errors.
func faults(err error) []string {
	if err == nil {
		return nil
	}
	var places []string
	var walk func(*jsonschema.ValidationError)
	walk = func(e *jsonschema.ValidationError) {
		for _, cause := range e.Causes {
			walk(cause)
		}
		if len(e.Causes) == 0 {
			place := ""
			for _, p := range e.InstanceLocation {
				place += "/" + p
			}
			places = append(places, place)
		}
	}
	walk(err.(*jsonschema.ValidationError))
	slices.Sort(places)
	return slices.Compact(places)
}
