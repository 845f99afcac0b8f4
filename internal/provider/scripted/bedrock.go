package scripted

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"net/http"
	"strings"
)

// bedrock is Anthropic's format on Amazon Bedrock: the model is in the path, and events have the binary framing of AWS.
type bedrock struct{ messages }

func (bedrock) read(r *http.Request, c *call) error {
	if err := versioned(c, "bedrock-"); err != nil {
		return err
	}
	if err := readMessages(c); err != nil {
		return err
	}
	c.model, c.stream = r.PathValue("model"), strings.HasSuffix(r.URL.Path, "/invoke-with-response-stream")
	return nil
}

func versioned(c *call, prefix string) error {
	if !bytes.Contains(c.body, []byte(`"anthropic_version":"`+prefix)) {
		return fmt.Errorf("anthropic_version: Field required")
	}
	return nil
}

func (bedrock) mime() string { return "application/vnd.amazon.eventstream" }

// frame returns a message of an AWS event stream, whose payload contains the event of Anthropic's format.
func (bedrock) frame(event string, data []byte) []byte {
	if event == "exception" {
		return Envelope([][2]string{{":message-type", "exception"}, {":exception-type", "internalServerException"}, {":content-type", "application/json"}}, data)
	}
	payload := encode(obj{"bytes": data, "p": "abcdef"}) // bytes are base64 in JSON
	return Envelope([][2]string{{":event-type", "chunk"}, {":content-type", "application/json"}, {":message-type", "event"}}, payload)
}

// Envelope returns a message of an AWS event stream (application/vnd.amazon.eventstream): total length, length of the
// headers, CRC-32 of both, headers, payload, CRC-32 of everything before.
func Envelope(headers [][2]string, payload []byte) []byte {
	var h bytes.Buffer
	for _, kv := range headers {
		h.WriteByte(byte(len(kv[0])))
		h.WriteString(kv[0])
		h.WriteByte(7) // a string
		h.Write(binary.BigEndian.AppendUint16(nil, uint16(len(kv[1]))))
		h.WriteString(kv[1])
	}
	out := binary.BigEndian.AppendUint32(nil, uint32(16+h.Len()+len(payload)))
	out = binary.BigEndian.AppendUint32(out, uint32(h.Len()))
	out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out))
	out = append(append(out, h.Bytes()...), payload...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out))
}

func (d bedrock) frames(c *call, r *Reply) []frame {
	var out []frame
	for _, f := range d.messages.frames(c, r) {
		_, data, _ := bytes.Cut(f.raw, []byte("data: "))
		out = append(out, frame{d.frame("", bytes.TrimSpace(data)), f.content})
	}
	return out
}

func (bedrock) failure(_ int, message string) any { return obj{"message": message} }

func (d bedrock) broken(message string) (string, any) { return "exception", d.failure(0, message) }

// rawPredict is Anthropic's format on Vertex AI: the model is in the path, the version in the body.
type rawPredict struct{ messages }

func (rawPredict) read(r *http.Request, c *call) error {
	if err := versioned(c, "vertex-"); err != nil {
		return err
	}
	if err := readMessages(c); err != nil {
		return err
	}
	method := ""
	c.model, method = splitPath(r)
	c.stream = method == "streamRawPredict"
	return nil
}

// google returns the format of a path on Vertex AI: Gemini's, or that of Anthropic's models.
func google(r *http.Request) dialect {
	if strings.Contains(r.URL.Path, "/publishers/anthropic/") {
		return rawPredict{}
	}
	return contents{}
}
