package encode

import "fmt"

// Config is the part of a checkpoint's config.json that the forward pass needs.
type Config struct {
	Layers       int     `json:"num_hidden_layers"`
	Hidden       int     `json:"hidden_size"`
	Heads        int     `json:"num_attention_heads"`
	FFN          int     `json:"intermediate_size"`
	Vocab        int     `json:"vocab_size"`
	Positions    int     `json:"max_position_embeddings"`
	Types        int     `json:"type_vocab_size"`
	Eps          float32 `json:"layer_norm_eps"`
	Type         string  `json:"model_type"`
	Act          string  `json:"hidden_act"`
	PositionType string  `json:"position_embedding_type"`
}

// Limits of the sizes of a model. They bound what a damaged header can make us allocate.
const maxLayers, maxHidden, maxVocab, maxPositions = 64, 4096, 1 << 20, 1 << 13

// check returns an error that names the first setting that the forward pass does not implement.
func (c Config) check() error {
	switch {
	case c.Type != "bert":
		return fmt.Errorf("model_type %q is not supported, only bert", c.Type)
	case c.Act != "gelu":
		return fmt.Errorf("hidden_act %q is not supported, only gelu", c.Act)
	case c.PositionType != "" && c.PositionType != "absolute":
		return fmt.Errorf("position_embedding_type %q is not supported, only absolute", c.PositionType)
	case c.Layers < 1 || c.Layers > maxLayers || c.Vocab < 1 || c.Vocab > maxVocab || c.Positions < 1 || c.Positions > maxPositions || c.Types < 1 || c.Types > 16:
		return fmt.Errorf("sizes out of range: %d layers, %d pieces, %d positions, %d token types", c.Layers, c.Vocab, c.Positions, c.Types)
	case c.Hidden < 64 || c.Hidden > maxHidden || c.FFN < 64 || c.FFN > 4*maxHidden || c.Heads < 1:
		return fmt.Errorf("sizes out of range: width %d, feed-forward %d, %d heads", c.Hidden, c.FFN, c.Heads)
	case c.Hidden%64 != 0 || c.FFN%64 != 0 || c.Hidden%c.Heads != 0 || c.Hidden/c.Heads%32 != 0:
		return fmt.Errorf("sizes do not fit the kernels: width %d, feed-forward %d, %d heads", c.Hidden, c.FFN, c.Heads)
	}
	return nil
}

// Precision is the representation of the weights of linear layers.
type Precision int

// The precisions.
const (
	Int8 Precision = iota // weights with a scale per output, activations quantised per token
	F32                   // the reference for Int8
)

// Meta is the origin of a model. It is for people and does not affect vectors.
type Meta struct {
	Source       string `json:"source"`        // publisher, name and revision
	Licence      string `json:"licence"`       // SPDX identifier
	SourceSHA256 string `json:"source_sha256"` // of model.safetensors, filled in by Convert
}
