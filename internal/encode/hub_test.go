package encode_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"hash/crc32"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"quarry/internal/encode"
	"quarry/internal/encode/asset"
	"quarry/internal/encode/kernel"
)

// pieces is the vocabulary of the made-up checkpoint.
const pieces = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nalpha\nbeta\n##s\n,\n中\n"

// files is a checkpoint folder in memory.
type files map[string][]byte

// madeUp is a checkpoint of two small layers with random weights.
func madeUp(t testing.TB) files {
	t.Helper()
	const h, ffn, positions = 64, 128, 40
	rng := rand.New(rand.NewPCG(1, 2))
	head, data := map[string]any{"__metadata__": map[string]string{"format": "pt"}}, []byte{}
	add := func(name string, mean, spread float64, shape ...int) {
		n, off := 1, len(data)
		for _, s := range shape {
			n *= s
		}
		for range n {
			data, _ = binary.Append(data, binary.LittleEndian, float32(mean+spread*rng.NormFloat64()))
		}
		head[name] = map[string]any{"dtype": "F32", "shape": shape, "data_offsets": []int{off, len(data)}}
	}
	norm := func(p string) { add(p+".weight", 1, .1, h); add(p+".bias", 0, .1, h) }
	linear := func(p string, n, k int) { add(p+".weight", 0, .1, n, k); add(p+".bias", 0, .1, n) }
	add("embeddings.word_embeddings.weight", 0, .5, strings.Count(pieces, "\n"), h)
	add("embeddings.position_embeddings.weight", 0, .1, positions, h)
	add("embeddings.token_type_embeddings.weight", 0, .1, 2, h)
	norm("embeddings.LayerNorm")
	for _, p := range []string{"encoder.layer.0.", "encoder.layer.1."} {
		for _, n := range []string{"query", "key", "value"} {
			linear(p+"attention.self."+n, h, h)
		}
		linear(p+"attention.output.dense", h, h)
		linear(p+"intermediate.dense", ffn, h)
		linear(p+"output.dense", h, ffn)
		norm(p + "attention.output.LayerNorm")
		norm(p + "output.LayerNorm")
	}
	js, err := json.Marshal(head)
	if err != nil {
		t.Fatal(err)
	}
	weights := append(binary.LittleEndian.AppendUint64(nil, uint64(len(js))), js...)
	return files{
		"model.safetensors": append(weights, data...),
		"vocab.txt":         []byte(pieces),
		"config.json": []byte(`{"num_hidden_layers":2,"hidden_size":64,"num_attention_heads":2,"intermediate_size":128,"vocab_size":10,
			"max_position_embeddings":40,"type_vocab_size":2,"layer_norm_eps":1e-12,"model_type":"bert","hidden_act":"gelu","position_embedding_type":"absolute"}`),
		"modules.json": []byte(`[{"idx":0,"path":"","type":"sentence_transformers.models.Transformer"},
			{"idx":1,"path":"1_Pooling","type":"sentence_transformers.models.Pooling"},{"idx":2,"path":"2_Normalize","type":"sentence_transformers.models.Normalize"}]`),
		"1_Pooling/config.json":     []byte(`{"word_embedding_dimension":64,"pooling_mode_cls_token":false,"pooling_mode_mean_tokens":true}`),
		"sentence_bert_config.json": []byte(`{"max_seq_length":32}`),
		"tokenizer_config.json":     []byte(`{"do_lower_case":true,"tokenize_chinese_chars":true,"strip_accents":null}`),
	}
}

// write puts the files into a new folder.
func (f files) write(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	for name, b := range f {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func openFolder(t testing.TB, dir string, p encode.Precision) *encode.Encoder {
	t.Helper()
	e, err := encode.OpenFolder(dir, p)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func vector(t testing.TB, e *encode.Encoder, text string) []float32 {
	t.Helper()
	v := make([]float32, e.Dim())
	if err := e.Encode(text, false, v); err != nil {
		t.Fatal(err)
	}
	return v
}

// TestConvert proves that converting is deterministic, keeps what it is told and gives the encoder that the folder
// gives in int8.
func TestConvert(t *testing.T) {
	t.Parallel()
	dir, out := madeUp(t).write(t), t.TempDir()
	meta := encode.Meta{Source: "made up", Licence: "none"}
	var made [][]byte
	var info encode.Info
	for _, name := range []string{"one", "two"} {
		var err error
		if info, err = encode.Convert(dir, filepath.Join(out, name), meta); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(info.Path)
		if err != nil {
			t.Fatal(err)
		}
		made = append(made, b)
	}
	if !bytes.Equal(made[0], made[1]) {
		t.Error("two conversions of one folder differ")
	}
	packed, err := encode.Open(made[0])
	if err != nil {
		t.Fatal(err)
	}
	folder := openFolder(t, dir, encode.Int8)
	if packed.Fingerprint() != folder.Fingerprint() || info.Fingerprint != folder.Fingerprint() {
		t.Error("the fingerprints of the file, the folder and the report differ")
	}
	if packed.Meta().Source != "made up" || packed.Meta().SourceSHA256 == "" || packed.MaxTokens() != 32 {
		t.Errorf("meta is %+v, max tokens %d", packed.Meta(), packed.MaxTokens())
	}
	if !slices.Equal(vector(t, packed, "alpha betas"), vector(t, folder, "alpha betas")) {
		t.Error("the file and the folder give different vectors")
	}
	if sum := sha256.Sum256(made[1]); info.SHA256 != hex.EncodeToString(sum[:]) || info.Bytes != int64(len(made[1])) {
		t.Errorf("the report says %+v", info)
	}
}

// TestConvertKeepsOldFile proves that a failed conversion leaves an older file as it was and nothing beside it.
func TestConvertKeepsOldFile(t *testing.T) {
	t.Parallel()
	f := madeUp(t)
	delete(f, "model.safetensors")
	out := filepath.Join(t.TempDir(), "model")
	if err := os.WriteFile(out, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := encode.Convert(f.write(t), out, encode.Meta{}); err == nil {
		t.Error("a folder without weights was converted")
	}
	if b, err := os.ReadFile(out); err != nil || string(b) != "old" {
		t.Errorf("the older file holds %q, %v", b, err)
	}
	if left, err := os.ReadDir(filepath.Dir(out)); err != nil || len(left) != 1 {
		t.Errorf("beside the older file: %v, %v", left, err)
	}
}

// TestAssetFromCheckpoint proves that the asset comes out of its checkpoint again, byte by byte, where
// QUARRY_CHECKPOINT names that folder; and everywhere that the asset says which weights it came from.
func TestAssetFromCheckpoint(t *testing.T) {
	t.Parallel()
	meta := builtin(t).Meta()
	if want := "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"; meta.SourceSHA256 != want {
		t.Errorf("the asset was made from weights %s, want %s", meta.SourceSHA256, want)
	}
	dir := os.Getenv("QUARRY_CHECKPOINT")
	if dir == "" {
		t.Log("not converted again: QUARRY_CHECKPOINT is not set, see asset/ORIGIN.md")
		return
	}
	info, err := encode.Convert(dir, filepath.Join(t.TempDir(), "again"), meta)
	if err != nil {
		t.Fatal(err)
	}
	if sum := sha256.Sum256(asset.MiniLM()); info.SHA256 != hex.EncodeToString(sum[:]) {
		t.Errorf("sha256 of the new file is %s, of the asset %x", info.SHA256, sum)
	}
}

// TestInt8FollowsF32 proves that int8 follows fp32 at every length around the kernels' tiles, and that precision
// changes the fingerprint.
func TestInt8FollowsF32(t *testing.T) {
	t.Parallel()
	dir := madeUp(t).write(t)
	f, q := openFolder(t, dir, encode.F32), openFolder(t, dir, encode.Int8)
	if f.Fingerprint() == q.Fingerprint() {
		t.Error("fp32 and int8 have one fingerprint")
	}
	for n := range 35 {
		text := strings.Repeat("alpha, 中 betas ", n)
		if c := kernel.Dot(vector(t, f, text), vector(t, q, text)); c < 0.99 {
			t.Errorf("%d words: cosine %g", 4*n, c)
		}
	}
}

// TestVocabularyOfTokenizerJSON proves that a vocabulary comes from tokenizer.json where vocab.txt is absent, and that
// its truncation and padding are ignored.
func TestVocabularyOfTokenizerJSON(t *testing.T) {
	t.Parallel()
	f := madeUp(t)
	want := vector(t, openFolder(t, f.write(t), encode.Int8), "alpha betas 中")
	vocab := map[string]int{}
	for i, p := range strings.Fields(pieces) {
		vocab[p] = i
	}
	js, err := json.Marshal(map[string]any{
		"truncation": map[string]any{"max_length": 3}, "padding": map[string]any{"strategy": map[string]int{"Fixed": 30}},
		"model": map[string]any{"type": "WordPiece", "vocab": vocab},
	})
	if err != nil {
		t.Fatal(err)
	}
	delete(f, "vocab.txt")
	f["tokenizer.json"] = js
	if !slices.Equal(vector(t, openFolder(t, f.write(t), encode.Int8), "alpha betas 中"), want) {
		t.Error("other vectors than with vocab.txt")
	}
}

// TestOpenFolderRefuses proves that what the forward pass, the pooling and the tokenizer do not implement is refused,
// naming the setting.
func TestOpenFolderRefuses(t *testing.T) {
	t.Parallel()
	good := madeUp(t)
	for name, c := range map[string]struct{ file, old, new, want string }{
		"activation":    {"config.json", `"gelu"`, `"relu"`, "hidden_act"},
		"model type":    {"config.json", `"bert"`, `"roberta"`, "model_type"},
		"positions":     {"config.json", `"absolute"`, `"relative_key"`, "position_embedding_type"},
		"width":         {"config.json", `"hidden_size":64`, `"hidden_size":96`, "do not fit"},
		"layers":        {"config.json", `"num_hidden_layers":2`, `"num_hidden_layers":3`, "encoder.layer.2"},
		"huge":          {"config.json", `"vocab_size":10`, `"vocab_size":1000000000000`, "out of range"},
		"pieces":        {"config.json", `"vocab_size":10`, `"vocab_size":9`, ""},
		"pooling":       {"1_Pooling/config.json", `"pooling_mode_cls_token":false`, `"pooling_mode_cls_token":true`, "pooling_mode_cls_token"},
		"no mean":       {"1_Pooling/config.json", `_mean_tokens":true`, `_mean_tokens":false`, "pooling_mode_mean_tokens"},
		"module":        {"modules.json", "models.Normalize", "models.Dense", "models.Dense"},
		"leaves folder": {"modules.json", "1_Pooling", "../1_Pooling", "leaves the folder"},
		"cased":         {"tokenizer_config.json", `"do_lower_case":true`, `"do_lower_case":false`, "do_lower_case"},
		"accents":       {"tokenizer_config.json", `null`, `false`, "strip_accents"},
		"half":          {"model.safetensors", `"F32"`, `"F16"`, "F16"},
		"json":          {"config.json", `{`, `[`, "config.json"},
		"vocabulary":    {"vocab.txt", "[SEP]\n", "x\n", "[SEP]"},
		"length":        {"sentence_bert_config.json", "32", "1", "maximum"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := maps.Clone(good)
			f[c.file] = bytes.Replace(f[c.file], []byte(c.old), []byte(c.new), 1)
			if bytes.Equal(f[c.file], good[c.file]) {
				t.Fatal("the case changes nothing")
			}
			if _, err := encode.OpenFolder(f.write(t), encode.Int8); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error is %v, want one that names %q", err, c.want)
			}
		})
	}
}

// TestOpenFolderRefusesCutWeights proves that weights cut anywhere are refused without a panic.
func TestOpenFolderRefusesCutWeights(t *testing.T) {
	t.Parallel()
	f := madeUp(t)
	whole := f["model.safetensors"]
	for _, n := range []int{0, 7, 8, 100, 3000, len(whole) - 4} {
		f["model.safetensors"] = whole[:n]
		if _, err := encode.OpenFolder(f.write(t), encode.F32); err == nil {
			t.Errorf("weights cut to %d bytes were accepted", n)
		}
	}
}

// TestEncodeRefusesBrokenWeights proves that weights that lead nowhere give an error instead of a vector that poisons
// an index.
func TestEncodeRefusesBrokenWeights(t *testing.T) {
	t.Parallel()
	for name, value := range map[string]float32{"NaN": float32(math.NaN()), "zero": 0, "infinite": float32(math.Inf(1))} {
		f := madeUp(t)
		w := slices.Clone(f["model.safetensors"])
		for i := len(w) - 2*64*4; i < len(w); i += 4 { // gain and shift of the last norm
			binary.LittleEndian.PutUint32(w[i:], math.Float32bits(value))
		}
		f["model.safetensors"] = w
		for _, p := range []encode.Precision{encode.F32, encode.Int8} {
			e := openFolder(t, f.write(t), p)
			if err := e.Encode("alpha", false, make([]float32, e.Dim())); err == nil {
				t.Errorf("%s, precision %d: a vector without a direction was returned", name, p)
			}
		}
	}
}

// FuzzOpen proves that no header of a packed file, however wrong, makes Open or an accepted encoder panic.
func FuzzOpen(f *testing.F) {
	out := filepath.Join(f.TempDir(), "packed")
	if _, err := encode.Convert(madeUp(f).write(f), out, encode.Meta{}); err != nil {
		f.Fatal(err)
	}
	whole, err := os.ReadFile(out)
	if err != nil {
		f.Fatal(err)
	}
	n := int(binary.LittleEndian.Uint32(whole[8:]))
	header, body := whole[16:16+n], whole[(16+n+63)/64*64:]
	f.Add(header)
	f.Add(bytes.Replace(header, []byte(`"off":0`), []byte(`"off":-1`), 1))
	f.Add(bytes.Replace(header, []byte(`"num_hidden_layers":2`), []byte(`"num_hidden_layers":3`), 1))
	f.Fuzz(func(t *testing.T, js []byte) {
		b := binary.LittleEndian.AppendUint32([]byte("QUARENC1"), uint32(len(js)))
		b = append(append(b, 0, 0, 0, 0), js...)
		b = append(append(b, make([]byte, (len(b)+63)/64*64-len(b))...), body...)
		binary.LittleEndian.PutUint32(b[12:], crc32.Checksum(b[16:], crc32.MakeTable(crc32.Castagnoli)))
		e, err := encode.Open(b)
		if err != nil {
			return
		}
		v := make([]float32, e.Dim())
		if err := e.Encode("alpha betas", false, v); err == nil && math.Abs(float64(kernel.Dot(v, v))-1) > 1e-3 {
			t.Errorf("squared length %g", kernel.Dot(v, v))
		}
	})
}
