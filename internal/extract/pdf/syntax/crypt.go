package syntax

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/md5"
	"crypto/rc4"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"fmt"
	"hash"

	"quarry/internal/extract/outline"
)

// padding pads a password to 32 bytes (ISO 32000-1, algorithm 2).
var padding = []byte("\x28\xBF\x4E\x5E\x4E\x75\x8A\x41\x64\x00\x4E\x56\xFF\xFA\x01\x08\x2E\x2E\x00\xB6\xD0\x68\x3E\x80\x2F\x0C\xA9\xFE\x64\x53\x69\x7A")

// method is a method of encryption.
type method int

const (
	methodNone method = iota
	methodRC4
	methodAES128
	methodAES256
)

// crypt decrypts a file whose user password is empty (ISO 32000-1, 7.6).
type crypt struct {
	key              []byte
	strings, streams method
	metadata         bool // whether the metadata stream is encrypted, too
}

// newCrypt returns a crypt with the key of the empty password. Its error is outline.ErrProtected if the file has another
// password.
func newCrypt(f *File, d Dict) (*crypt, error) {
	v, r := f.Int(d["V"], 0), f.Int(d["R"], 0)
	if name := f.Name(d["Filter"]); name != "Standard" {
		return nil, outline.ErrProtected
	}
	c := &crypt{metadata: true}
	if m, ok := f.Get(d["EncryptMetadata"]).(bool); ok {
		c.metadata = m
	}
	length := f.Int(d["Length"], 40)
	switch v {
	case 1, 2, 3:
		c.strings, c.streams = methodRC4, methodRC4
		if v == 1 {
			length = 40
		}
	case 4, 5:
		filters := f.Dict(d["CF"])
		c.strings, c.streams = filterMethod(f, filters, f.Name(d["StrF"])), filterMethod(f, filters, f.Name(d["StmF"]))
		if v == 4 {
			length = 128
		}
	default:
		return nil, fmt.Errorf("its encryption (version %d) is not known", v)
	}
	if length < 40 || length > 256 {
		length = 128
	}
	user, _ := f.Get(d["U"]).(String)
	if v == 5 {
		return c, c.key256(f, d, []byte(user), r)
	}
	return c, c.keyMD5(f, d, []byte(user), r, length/8)
}

// filterMethod returns the method of a crypt filter.
func filterMethod(f *File, filters Dict, name Name) method {
	switch f.Name(f.Dict(filters[name])["CFM"]) {
	case "V2":
		return methodRC4
	case "AESV2":
		return methodAES128
	case "AESV3":
		return methodAES256
	}
	return methodNone
}

// keyMD5 computes the key of revisions 2 to 4 (ISO 32000-1, algorithm 2) and verifies it (algorithms 4 and 5).
func (c *crypt) keyMD5(f *File, d Dict, user []byte, r, length int) error {
	owner, _ := f.Get(d["O"]).(String)
	var id String
	if ids := f.Array(f.Trailer["ID"]); len(ids) > 0 {
		id, _ = f.Get(ids[0]).(String)
	}
	h := md5.New()
	h.Write(padding)
	h.Write([]byte(owner)[:min(32, len(owner))])
	_ = binary.Write(h, binary.LittleEndian, uint32(f.Int(d["P"], 0)))
	h.Write([]byte(id))
	if r >= 4 && !c.metadata {
		h.Write([]byte("\xFF\xFF\xFF\xFF"))
	}
	key := h.Sum(nil)
	length = min(length, 16)
	if r >= 3 {
		for range 50 {
			sum := md5.Sum(key[:length])
			key = sum[:]
		}
	}
	c.key = key[:length]
	var want []byte
	if r == 2 {
		want = rc4Crypt(c.key, padding)
	} else {
		sum := md5.Sum(append(bytes.Clone(padding), id...))
		want = sum[:]
		for i := range 20 {
			k := bytes.Clone(c.key)
			for j := range k {
				k[j] ^= byte(i)
			}
			want = rc4Crypt(k, want)
		}
	}
	if len(user) < 16 || !bytes.Equal(want[:16], user[:16]) {
		return outline.ErrProtected
	}
	return nil
}

// key256 computes the key of revisions 5 and 6 (ISO 32000-2, algorithm 2.A) and verifies it. user holds a hash (32 bytes),
// a validation salt and a key salt (8 bytes each); UE is the key, encrypted.
func (c *crypt) key256(f *File, d Dict, user []byte, r int) error {
	sealed, _ := f.Get(d["UE"]).(String)
	if len(user) < 48 || len(sealed) < 32 {
		return outline.ErrProtected
	}
	hash := func(salt []byte) []byte {
		if r < 6 {
			sum := sha256.Sum256(salt)
			return sum[:]
		}
		return hash6(salt)
	}
	if !bytes.Equal(hash(user[32:40]), user[:32]) {
		return outline.ErrProtected
	}
	block, err := aes.NewCipher(hash(user[40:48]))
	if err != nil {
		return fmt.Errorf("compute key: %w", err)
	}
	c.key = make([]byte, 32)
	cipher.NewCBCDecrypter(block, make([]byte, 16)).CryptBlocks(c.key, []byte(sealed[:32]))
	return nil
}

// hash6 is the hash of revision 6 (ISO 32000-2, algorithm 2.B) for the empty password.
func hash6(salt []byte) []byte {
	sum := sha256.Sum256(salt)
	k := sum[:]
	for i := 0; ; i++ {
		k1 := bytes.Repeat(k, 64)
		block, err := aes.NewCipher(k[:16])
		if err != nil {
			return nil // impossible: 16 bytes are a valid key
		}
		e := make([]byte, len(k1))
		cipher.NewCBCEncrypter(block, k[16:32]).CryptBlocks(e, k1)
		mod := 0
		for _, b := range e[:16] {
			mod += int(b)
		}
		h := [...]func() hash.Hash{sha256.New, sha512.New384, sha512.New}[mod%3]()
		h.Write(e)
		k = h.Sum(nil)
		if i >= 63 && int(e[len(e)-1]) <= i-32 {
			return k[:32]
		}
	}
}

// rc4Crypt encrypts or decrypts data.
func rc4Crypt(key, data []byte) []byte {
	out := make([]byte, len(data))
	c, err := rc4.NewCipher(key)
	if err != nil {
		return data
	}
	c.XORKeyStream(out, data)
	return out
}

// string decrypts a string in the object num.
func (c *crypt) string(num, gen int, data []byte) []byte { return c.open(c.strings, num, gen, data) }

// stream decrypts the data of a stream.
func (c *crypt) stream(num, gen int, d Dict, data []byte) []byte {
	switch d["Type"] {
	case Name("XRef"):
		return data
	case Name("Metadata"):
		if !c.metadata {
			return data
		}
	}
	return c.open(c.streams, num, gen, data)
}

// open decrypts data of an object (ISO 32000-1, algorithm 1; ISO 32000-2, algorithm 1.A). Data encrypted by AES begins with
// the initialisation vector.
func (c *crypt) open(m method, num, gen int, data []byte) []byte {
	key := c.key
	switch m {
	case methodNone:
		return data
	case methodRC4, methodAES128:
		k := append(bytes.Clone(c.key), byte(num), byte(num>>8), byte(num>>16), byte(gen), byte(gen>>8))
		if m == methodAES128 {
			k = append(k, "sAlT"...)
		}
		sum := md5.Sum(k)
		key = sum[:min(16, len(c.key)+5)]
		if m == methodRC4 {
			return rc4Crypt(key, data)
		}
	case methodAES256:
	}
	n := len(data) / 16 * 16
	block, err := aes.NewCipher(key)
	if err != nil || n < 32 {
		return nil
	}
	out := make([]byte, n-16)
	cipher.NewCBCDecrypter(block, data[:16]).CryptBlocks(out, data[16:n])
	if pad := int(out[len(out)-1]); pad >= 1 && pad <= 16 {
		out = out[:len(out)-pad]
	}
	return out
}
