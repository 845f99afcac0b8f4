package openai_test

import (
	"testing"

	"quarry/internal/provider/openai"
)

// pieces are chunks as servers send them, and chunks that look like them.
var pieces = []struct {
	name, data string
	short      bool // is read the short way
}{
	{"OpenAI", `{"id":"c-1","object":"chat.completion.chunk","created":1900000000,"model":"gpt-4o","service_tier":"default","system_fingerprint":"fp_1","choices":[{"index":0,"delta":{"content":" the"},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"x"}`, true},
	{"vLLM", `{"id":"c-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"é, 語"},"logprobs":null,"finish_reason":null}]}`, true},
	{"Ollama", `{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","system_fingerprint":"fp","choices":[{"index":0,"delta":{"role":"assistant","content":"It"},"finish_reason":null}]}`, true},
	{"llama.cpp", `{"choices":[{"finish_reason":null,"index":0,"delta":{"content":"It"}}],"created":1,"id":"c","model":"m","object":"chat.completion.chunk"}`, true},
	{"blanks", " { \"choices\" : [ { \"index\" : 0 , \"delta\" : { \"content\" : \"It\" } } ] } ", true},
	{"no delta", `{"choices":[{"index":0}]}`, true},
	{"empty delta", `{"choices":[{"index":0,"delta":{}}]}`, true},
	{"a model that is named and not", `{"model":"m","model":null,"choices":[{"delta":{"content":"x"}}]}`, true},
	{"escape", `{"choices":[{"index":0,"delta":{"content":"a\n"}}]}`, false},
	{"finished", `{"choices":[{"index":0,"delta":{"content":"x"},"finish_reason":"stop"}]}`, false},
	{"another choice", `{"choices":[{"index":1,"delta":{"content":"x"}}]}`, false},
	{"two choices", `{"choices":[{"index":0,"delta":{"content":"x"}},{"index":1,"delta":{"content":"y"}}]}`, false},
	{"choices twice", `{"choices":[{"delta":{"content":"x"}}],"choices":[{"delta":{}}]}`, false},
	{"delta twice", `{"choices":[{"delta":{"content":"x"},"delta":{}}]}`, false},
	{"content twice", `{"choices":[{"delta":{"content":"x","content":"y"}}]}`, false},
	{"usage", `{"choices":[{"delta":{"content":"x"}}],"usage":{"prompt_tokens":1}}`, false},
	{"error", `{"error":{"message":"no"},"choices":[{"delta":{"content":"x"}}]}`, false},
	{"error by its object", `{"object":"error","choices":[{"delta":{"content":"x"}}]}`, false},
	{"reasoning", `{"choices":[{"delta":{"content":"x","reasoning":"y"}}]}`, false},
	{"parts", `{"choices":[{"delta":{"content":[{"type":"text","text":"x"}]}}]}`, false},
	{"names in capitals", `{"Choices":[{"delta":{"content":"x"}}]}`, false},
	{"whole answer", `{"choices":[{"message":{"content":"x"}}]}`, false},
	{"number", `{"created":01,"choices":[{"delta":{"content":"x"}}]}`, false},
	{"comma", `{"choices":[{"delta":{"content":"x"},}]}`, false},
	{"cut", `{"choices":[{"delta":{"content":"x"}}]`, false},
	{"more", `{"choices":[{"delta":{"content":"x"}}]}{}`, false},
	{"no UTF-8", "{\"choices\":[{\"delta\":{\"content\":\"\xff\"}}]}", false},
	{"control character", "{\"choices\":[{\"delta\":{\"content\":\"\t\"}}]}", false},
	{"nothing", ``, false},
}

// TestPiece proves that the chunks which servers send most are read the short way, that what says more is not, and that
// both ways read the same.
func TestPiece(t *testing.T) {
	t.Parallel()
	for _, c := range pieces {
		if _, _, ok := openai.Piece([]byte(c.data)); ok != c.short {
			t.Errorf("%s: read the short way: %t, want %t", c.name, ok, c.short)
		}
		samePiece(t, []byte(c.data))
	}
}

func samePiece(t *testing.T, data []byte) {
	t.Helper()
	model, text, ok := openai.Piece(data)
	if !ok {
		return
	}
	if wantModel, want, plain := openai.Plain(data); !plain || text != want || model != wantModel {
		t.Errorf("%q is read as %q of %q; encoding/json reads %q of %q (plain: %t)", data, text, model, want, wantModel, plain)
	}
}

// FuzzPiece proves the same of anything: the short way reads nothing that encoding/json reads otherwise, or refuses.
func FuzzPiece(f *testing.F) {
	for _, c := range pieces {
		f.Add([]byte(c.data))
	}
	f.Fuzz(samePiece)
}
