package encode

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"quarry/internal/encode/kernel"
)

// OpenFolder loads a checkpoint folder in the layout of the Hugging Face hub: config.json, model.safetensors, vocab.txt or
// tokenizer.json, and, if present, modules.json, the pooling's config.json, sentence_bert_config.json and
// tokenizer_config.json. A setting that is not implemented is an error that names it. Truncation and padding in
// tokenizer.json are ignored: they are settings of the program that wrote it, not of the model.
func OpenFolder(dir string, p Precision) (*Encoder, error) {
	e, _, err := openFolder(dir, p)
	return e, err
}

// openFolder is OpenFolder that also returns the SHA-256 of the weights.
func openFolder(dir string, p Precision) (*Encoder, string, error) {
	f := folder(dir)
	var c Config
	if err := f.required("config.json", &c); err != nil {
		return nil, "", err
	}
	if err := c.check(); err != nil {
		return nil, "", fmt.Errorf("config.json: %w", err)
	}
	if err := errors.Join(f.checkModules(c.Hidden), f.checkTokenizer()); err != nil {
		return nil, "", err
	}
	vocabulary, err := f.vocabulary()
	if err != nil {
		return nil, "", err
	}
	limit := struct {
		Max int `json:"max_seq_length"`
	}{c.Positions}
	if err := f.optional("sentence_bert_config.json", &limit); err != nil {
		return nil, "", err
	}
	weights, err := os.ReadFile(filepath.Join(dir, "model.safetensors"))
	if err != nil {
		return nil, "", fmt.Errorf("read weights: %w", err)
	}
	t, err := readTensors(weights)
	if err != nil {
		return nil, "", fmt.Errorf("model.safetensors: %w", err)
	}
	m, err := build(c, t, p)
	if err != nil {
		return nil, "", fmt.Errorf("model.safetensors: %w", err)
	}
	e, err := newEncoder(m, vocabulary, min(limit.Max, c.Positions))
	if err != nil {
		return nil, "", fmt.Errorf("open %s: %w", dir, err)
	}
	sum := sha256.Sum256(weights)
	if p == Int8 {
		e.fingerprint = e.identity().fingerprint(e.parts())
	} else {
		all := sha256.Sum256(fmt.Appendf(sum[:], "fp32 mean %d %+v %s", e.maxTokens, c, vocabulary))
		e.fingerprint = hex.EncodeToString(all[:])
	}
	return e, hex.EncodeToString(sum[:]), nil
}

// folder is the path of a checkpoint.
type folder string

func (f folder) required(name string, into any) error {
	b, err := os.ReadFile(filepath.Join(string(f), filepath.FromSlash(name)))
	if err != nil {
		return fmt.Errorf("read checkpoint: %w", err)
	}
	if err := json.Unmarshal(b, into); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func (f folder) optional(name string, into any) error {
	if err := f.required(name, into); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// checkModules returns an error unless the model consists of a transformer, mean pooling and normalisation, in this order.
// A model without modules.json is a bare transformer, for which sentence-transformers uses mean pooling, too.
func (f folder) checkModules(width int) error {
	var modules []struct{ Type, Path string }
	if err := f.optional("modules.json", &modules); err != nil {
		return err
	}
	order := []string{"Transformer", "Pooling", "Normalize"}
	for i, m := range modules {
		name := m.Type[strings.LastIndexByte(m.Type, '.')+1:]
		if i >= len(order) || name != order[i] {
			return fmt.Errorf("modules.json: module %d, %s, is not supported in this place", i, m.Type)
		}
		if name != "Pooling" {
			continue
		}
		if strings.Contains(m.Path, "..") {
			return fmt.Errorf("modules.json: path %q leaves the folder", m.Path)
		}
		if err := f.checkPooling(m.Path+"/config.json", width); err != nil {
			return err
		}
	}
	return nil
}

func (f folder) checkPooling(name string, width int) error {
	var settings map[string]any
	if err := f.required(name, &settings); err != nil {
		return err
	}
	for key, v := range settings {
		if on, _ := v.(bool); on && strings.HasPrefix(key, "pooling_mode_") && key != "pooling_mode_mean_tokens" {
			return fmt.Errorf("%s: %s is not supported, only pooling_mode_mean_tokens", name, key)
		}
	}
	if on, _ := settings["pooling_mode_mean_tokens"].(bool); !on {
		return fmt.Errorf("%s: pooling_mode_mean_tokens is off, and no other pooling is supported", name)
	}
	if d, ok := settings["word_embedding_dimension"].(float64); ok && int(d) != width {
		return fmt.Errorf("%s: word_embedding_dimension is %v, the model's width %d", name, d, width)
	}
	return nil
}

// checkTokenizer returns an error for variants of WordPiece that package tokenizer does not implement.
func (f folder) checkTokenizer() error {
	var c struct { // absent or null means the default of BERT uncased
		Lower   *bool `json:"do_lower_case"`
		Chinese *bool `json:"tokenize_chinese_chars"`
		Accents *bool `json:"strip_accents"`
	}
	if err := f.optional("tokenizer_config.json", &c); err != nil {
		return err
	}
	switch {
	case c.Lower != nil && !*c.Lower:
		return errors.New("tokenizer_config.json: do_lower_case false (a cased model) is not supported")
	case c.Chinese != nil && !*c.Chinese:
		return errors.New("tokenizer_config.json: tokenize_chinese_chars false is not supported")
	case c.Accents != nil && !*c.Accents:
		return errors.New("tokenizer_config.json: strip_accents false is not supported")
	}
	return nil
}

// vocabulary returns the pieces, one per line, from vocab.txt or else from tokenizer.json.
func (f folder) vocabulary() (string, error) {
	b, err := os.ReadFile(filepath.Join(string(f), "vocab.txt"))
	if err == nil {
		return string(b), nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("read checkpoint: %w", err)
	}
	var t struct {
		Model struct {
			Type  string         `json:"type"`
			Vocab map[string]int `json:"vocab"`
		} `json:"model"`
	}
	if err := f.required("tokenizer.json", &t); err != nil {
		return "", err
	}
	if t.Model.Type != "WordPiece" {
		return "", fmt.Errorf("tokenizer.json: model type %q is not supported, only WordPiece", t.Model.Type)
	}
	pieces := make([]string, len(t.Model.Vocab))
	for piece, id := range t.Model.Vocab {
		if id < 0 || id >= len(pieces) || pieces[id] != "" {
			return "", fmt.Errorf("tokenizer.json: the ids of the vocabulary are not 0 to %d, see %q", len(pieces)-1, piece)
		}
		pieces[id] = piece
	}
	if slices.ContainsFunc(pieces, func(p string) bool { return strings.ContainsAny(p, "\n\r") }) {
		return "", errors.New("tokenizer.json: a piece holds a line break")
	}
	return strings.Join(pieces, "\n") + "\n", nil
}

func build(c Config, t *tensors, p Precision) (*model, error) {
	h := c.Hidden
	m := &model{config: c}
	word := t.get("embeddings.word_embeddings.weight", c.Vocab*h)
	if p == Int8 {
		m.wordQ, m.wordScale = kernel.PackTable(word, h)
	} else {
		m.word = word
	}
	m.pos = t.get("embeddings.position_embeddings.weight", c.Positions*h)
	types := t.get("embeddings.token_type_embeddings.weight", c.Types*h)
	for i := range m.pos {
		m.pos[i] += types[i%h]
	}
	m.norm = t.norm("embeddings.LayerNorm", c)
	for i := range c.Layers {
		m.layers = append(m.layers, t.layer(fmt.Sprintf("encoder.layer.%d.", i), c, p))
	}
	return m, t.err
}

func (t *tensors) norm(name string, c Config) kernel.Norm {
	return kernel.Norm{Gain: t.get(name+".weight", c.Hidden), Shift: t.get(name+".bias", c.Hidden), Eps: c.Eps}
}

func (t *tensors) layer(prefix string, c Config, p Precision) layer {
	h := c.Hidden
	pack := func(w []float32, k int, bias []float32) dense {
		if p == Int8 {
			return dense{q: kernel.PackI8(w, k, bias)}
		}
		return dense{f: kernel.PackF32(w, k, bias)}
	}
	linear := func(name string, n, k int) dense {
		return pack(t.get(prefix+name+".weight", n*k), k, t.get(prefix+name+".bias", n))
	}
	var w, b []float32
	for _, n := range []string{"query", "key", "value"} {
		w = append(w, t.get(prefix+"attention.self."+n+".weight", h*h)...)
		b = append(b, t.get(prefix+"attention.self."+n+".bias", h)...)
	}
	scale := float32(1 / math.Sqrt(float64(h/c.Heads)))
	for i := range w[:h*h] {
		w[i] *= scale
	}
	for i := range b[:h] {
		b[i] *= scale
	}
	return layer{
		qkv: pack(w, h, b), out: linear("attention.output.dense", h, h),
		up: linear("intermediate.dense", c.FFN, h), down: linear("output.dense", h, c.FFN),
		norm1: t.norm(prefix+"attention.output.LayerNorm", c), norm2: t.norm(prefix+"output.LayerNorm", c),
	}
}
