package encode

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
)

// Info describes a packed file.
type Info struct {
	Path        string `json:"path"`
	Bytes       int64  `json:"bytes"`
	SHA256      string `json:"sha256"` // of the file
	Fingerprint string `json:"fingerprint"`
	Meta        Meta   `json:"meta"`
}

// Convert writes the checkpoint folder dir, quantised to int8, to the packed file out, for Open. It replaces out only if it
// succeeds. The result is the same on every machine. Convert sets meta.SourceSHA256.
func Convert(dir, out string, meta Meta) (Info, error) {
	e, sum, err := openFolder(dir, Int8)
	if err != nil {
		return Info{}, err
	}
	meta.SourceSHA256 = sum
	packed, err := e.pack(meta)
	if err != nil {
		return Info{}, err
	}
	if err := replace(out, packed); err != nil {
		return Info{}, fmt.Errorf("write packed encoder: %w", err)
	}
	file := sha256.Sum256(packed)
	return Info{out, int64(len(packed)), hex.EncodeToString(file[:]), e.fingerprint, meta}, nil
}

// replace writes b to a new file and renames it to path.
func replace(path string, b []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".quarry-model-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails after the rename, which is fine
	_, err = f.Write(b)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	return err
}
