package aws_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/provider/aws"
	"quarry/internal/provider/scripted"
)

const (
	bedrock = "https://bedrock-runtime.us-east-1.amazonaws.com/model/"
	form    = "application/x-www-form-urlencoded"
)

// Sign gives the signatures of the published test suite (the first four), and those that Amazon's own SDK for Go
// 1.47.7 makes for the paths of Bedrock, whose colons and slashes are encoded.
func TestSign(t *testing.T) {
	t.Parallel()
	creds := aws.Credentials{KeyID: "AKIDEXAMPLE", Secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", Region: "us-east-1"}
	at := time.Date(2015, 8, 30, 12, 36, 0, 0, time.UTC)
	for _, c := range []struct{ method, url, kind, body, service, signed, want string }{
		{"GET", "https://example.amazonaws.com/", "", "", "service", "host;x-amz-date", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
		{"POST", "https://example.amazonaws.com/", "", "", "service", "host;x-amz-date", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
		{"POST", "https://example.amazonaws.com", form, "Param1=value1", "service", "content-type;host;x-amz-date", "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"},
		{"GET", "https://example.amazonaws.com/?Param2=value2&Param1=value1", "", "", "service", "host;x-amz-date", "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"},
		{"POST", bedrock + aws.Escape("us.anthropic.claude-sonnet-4-5-20250929-v1:0") + "/invoke-with-response-stream", "application/json", `{"max_tokens":1}`, "bedrock", "content-type;host;x-amz-date", "416f900e89a57e994411e648a3d9904c45f152a2fe8f0e975c3e974811e45b84"},
		{"POST", bedrock + aws.Escape("arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc") + "/invoke-with-response-stream", "application/json", `{"max_tokens":1}`, "bedrock", "content-type;host;x-amz-date", "12bb2b965c2a939bf3a709a7865b2a141fef8aac37bbd7d90fa3970cffc18a1c"},
	} {
		r, err := http.NewRequest(c.method, c.url, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		if c.kind != "" {
			r.Header.Set("Content-Type", c.kind)
		}
		r.Header.Set("User-Agent", "is not signed")
		creds.Sign(r, []byte(c.body), c.service, at)
		want := "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/" + c.service + "/aws4_request, SignedHeaders=" + c.signed + ", Signature=" + c.want
		if diff := cmp.Diff(want, r.Header.Get("Authorization")); diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", c.method, c.url, diff)
		}
		if got := r.Header.Get("X-Amz-Date"); got != "20150830T123600Z" {
			t.Errorf("X-Amz-Date is %q", got)
		}
	}
}

// foreign is a message that Amazon's own encoder made, with headers of every length: strings, a number, a time, bytes
// and a truth value.
const foreign = "AAAAZQAAAEUyRpJLCzpldmVudC10eXBlBwAFY2h1bmsNOm1lc3NhZ2UtdHlwZQcABWV2ZW50AW4EAAAABwF0CAAAAAAAAAPoAWIGAAF4AXkAeyJieXRlcyI6ImUzMD0ifYrFV64="

func decoded(t testing.TB, s string) []byte {
	t.Helper()
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// encoded writes a message as the scripted provider does.
func encoded(f aws.Frame) []byte {
	var headers [][2]string
	for name, value := range f.Headers {
		headers = append(headers, [2]string{name, value})
	}
	return scripted.Envelope(headers, f.Payload)
}

// TestFrames proves that messages of Amazon's encoder and of the scripted provider are read one after the other to a clean end.
func TestFrames(t *testing.T) {
	t.Parallel()
	own := aws.Frame{Headers: map[string]string{":message-type": "exception", ":exception-type": "throttlingException"}, Payload: []byte(`{"message":"slow down"}`)}
	frames := aws.NewFrames(bytes.NewReader(append(decoded(t, foreign), encoded(own)...)))
	want := []aws.Frame{{Headers: map[string]string{":event-type": "chunk", ":message-type": "event"}, Payload: []byte(`{"bytes":"e30="}`)}, own}
	for _, w := range want {
		got, err := frames.Next()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(w, got); diff != "" {
			t.Errorf("message (-want +got):\n%s", diff)
		}
	}
	if _, err := frames.Next(); err != io.EOF {
		t.Errorf("after the last message: %v", err)
	}
}

// A stream that is cut, damaged or none at all is told apart from one that ended.
func TestFramesRefuse(t *testing.T) {
	t.Parallel()
	whole := decoded(t, foreign)
	for n := 1; n < len(whole); n++ {
		if _, err := aws.NewFrames(bytes.NewReader(whole[:n])).Next(); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("cut after %d bytes: %v", n, err)
		}
		damaged := bytes.Clone(whole)
		damaged[n] ^= 0x20
		if _, err := aws.NewFrames(bytes.NewReader(damaged)).Next(); !errors.Is(err, aws.ErrFrame) {
			t.Fatalf("damaged at byte %d: %v", n, err)
		}
	}
	for name, b := range map[string][]byte{
		"html":      []byte("<html><body>Bad gateway</body></html>"),
		"too large": prelude(1<<30, 0), "too many headers": prelude(1<<19, 1<<18), "too short": prelude(15, 0), "headers beyond the end": prelude(20, 5),
	} {
		if _, err := aws.NewFrames(bytes.NewReader(b)).Next(); !errors.Is(err, aws.ErrFrame) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// prelude is the head of a message, with its checksum right.
func prelude(total, headers uint32) []byte {
	b := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, total), headers)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
}

// Whatever the bytes, reading them ends; what was read is written and read to the same.
func FuzzFrames(f *testing.F) {
	f.Add(decoded(f, foreign))
	f.Add(encoded(aws.Frame{Headers: map[string]string{"a": ""}}))
	f.Add([]byte("HTTP/1.1 502 Bad Gateway\r\n\r\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		frames := aws.NewFrames(bytes.NewReader(b))
		for {
			got, err := frames.Next()
			if err != nil {
				return
			}
			again, err := aws.NewFrames(bytes.NewReader(encoded(got))).Next()
			if err != nil {
				t.Fatalf("read back: %v", err)
			}
			if diff := cmp.Diff(got, again); diff != "" {
				t.Fatalf("read back (-want +got):\n%s", diff)
			}
		}
	})
}
