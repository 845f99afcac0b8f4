package encode

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
)

// tensors is a safetensors file: 8 bytes with the length of the header, a JSON header, then the data.
type tensors struct {
	data   []byte
	header map[string]tensor
	err    error // of the first tensor that is missing or has the wrong shape
}

type tensor struct {
	Type  string   `json:"dtype"`
	Shape []int    `json:"shape"`
	Range [2]int64 `json:"data_offsets"`
}

func readTensors(b []byte) (*tensors, error) {
	if len(b) < 8 {
		return nil, errors.New("the file ends before its header")
	}
	n := binary.LittleEndian.Uint64(b)
	if n > uint64(len(b)-8) {
		return nil, fmt.Errorf("a header of %d bytes exceeds the file", n)
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(b[8:8+n], &raw); err != nil {
		return nil, fmt.Errorf("read header: %w", err)
	}
	t := &tensors{data: b[8+n:], header: make(map[string]tensor, len(raw))}
	for name, js := range raw {
		if name == "__metadata__" {
			continue
		}
		var e tensor
		if err := json.Unmarshal(js, &e); err != nil {
			return nil, fmt.Errorf("read header of tensor %s: %w", name, err)
		}
		t.header[name] = e
	}
	return t, nil
}

// get returns a copy of a tensor of want fp32 values. In checkpoints with a task head, the names have the prefix "bert.". On
// an error, which t.err keeps, get returns zeros.
func (t *tensors) get(name string, want int) []float32 {
	out := make([]float32, want)
	e, ok := t.header[name]
	if !ok {
		e, ok = t.header["bert."+name]
	}
	var err error
	switch lo, hi := e.Range[0], e.Range[1]; {
	case !ok:
		err = fmt.Errorf("tensor %s is missing", name)
	case e.Type != "F32":
		err = fmt.Errorf("tensor %s has type %s, only F32 is supported", name, e.Type)
	case lo < 0 || hi > int64(len(t.data)) || hi-lo != int64(4*want):
		err = fmt.Errorf("tensor %s does not hold %d values within the file", name, want)
	default:
		for i, b := 0, t.data[lo:hi]; i < want; i++ {
			out[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
		}
	}
	if t.err == nil {
		t.err = err
	}
	return out
}
