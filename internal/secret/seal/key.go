package seal

import (
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"strings"
)

// keyPrefix begins the text form of a key, so that people and secret scanners recognise it.
const keyPrefix = "qsk_"

// keyText encodes keys: 32 bytes in 43 characters. It is strict, so that each key has one text only.
var keyText = base64.RawURLEncoding.Strict()

// Key is one key of the installation. However it is printed, only its id is shown; Text is the exception.
type Key struct {
	secret *[32]byte
	id     string
}

// NewKey returns a random key.
func NewKey() Key {
	var raw [32]byte
	_, _ = rand.Read(raw[:]) // never fails since Go 1.24
	return newKey(raw)
}

func newKey(raw [32]byte) Key {
	id, err := hkdf.Key(sha256.New, raw[:], nil, "quarry key id", idSize)
	if err != nil {
		panic(err) // only for a length that SHA-256 can't give
	}
	return Key{&raw, hex.EncodeToString(id)}
}

// ParseKey parses the text form of a key. Its errors do not repeat the text.
func ParseKey(text string) (Key, error) {
	body, ok := strings.CutPrefix(text, keyPrefix)
	if !ok {
		return Key{}, fmt.Errorf("a secret key begins with %s", keyPrefix)
	}
	if want := keyText.EncodedLen(32); len(body) != want {
		return Key{}, fmt.Errorf("a secret key has %d characters after %s, not %d", want, keyPrefix, len(body))
	}
	raw, err := keyText.DecodeString(body)
	if err != nil {
		return Key{}, errors.New("a secret key is written in letters, digits, - and _, as quarry secret new prints it; this one has other characters or a wrong last one")
	}
	return newKey([32]byte(raw)), nil
}

// ParseKeys parses keys separated by commas or line ends, newest first, as the setting secret_key and the key file have
// them. Lines that begin with # are skipped.
func ParseKeys(text string) ([]Key, error) {
	var keys []Key
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		for part := range strings.SplitSeq(line, ",") {
			k, err := ParseKey(strings.TrimSpace(part))
			if err != nil {
				return nil, fmt.Errorf("line %d, key %d: %w", n, len(keys)+1, err)
			}
			keys = append(keys, k)
		}
	}
	return keys, checkKeys(keys)
}

// maxKeys bounds a ring: there is one key after a rotation and two during it.
const maxKeys = 16

func checkKeys(keys []Key) error {
	if len(keys) == 0 {
		return errors.New("there is no secret key")
	}
	if len(keys) > maxKeys {
		return fmt.Errorf("there are %d secret keys, more than %d", len(keys), maxKeys)
	}
	seen := map[string]bool{}
	for _, k := range keys {
		if seen[k.id] {
			return fmt.Errorf("the secret key %s is given twice", k.id)
		}
		seen[k.id] = true
	}
	return nil
}

// ID returns the id of the key, which is no secret.
func (k Key) ID() string { return k.id }

// Text returns the key itself, for the key file and for the person who asked for a new key.
func (k Key) Text() string { return keyPrefix + keyText.EncodeToString(k.secret[:]) }

// String returns the id alone.
func (k Key) String() string { return "secret key " + k.id }

// Format writes the id alone, whatever the verb.
func (k Key) Format(s fmt.State, _ rune) { _, _ = s.Write([]byte(k.String())) }

// MarshalText returns the id alone.
func (k Key) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// LogValue returns the id alone.
func (k Key) LogValue() slog.Value { return slog.StringValue(k.String()) }
