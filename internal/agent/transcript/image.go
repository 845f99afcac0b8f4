package transcript

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"quarry/internal/agent/artifact"
	"quarry/internal/extract/bitmap"
	"quarry/internal/fault"
	"quarry/internal/llm"
)

// scheme begins the address of an image that is a file of the session, by its id.
const scheme = "artifact:"

// The most that one call of a model takes of images: providers refuse more. Those that were read last are taken.
const (
	maxImages     = 100
	maxImageBytes = 12 << 20
)

// Images reads the images of messages, for the call of a model that reads images or doesn't.
type Images struct {
	Files *artifact.Workspace // of the session; nil: there are none
	Read  bool                // whether the model reads images
}

// Fill returns messages with the bytes of the images that they name. One that can't be shown is told as a text that has the reason.
func (r Images) Fill(ctx context.Context, messages []llm.Message) ([]llm.Message, error) {
	out := slices.Clone(messages)
	f := filling{Images: r, known: map[string]found{}}
	for i := range slices.Backward(out) {
		for j := range slices.Backward(out[i].Parts) {
			id, ok := address(&out[i].Parts[j])
			if !ok {
				continue
			}
			part, err := f.part(ctx, id, out[i].Parts[j].Image.Detail)
			if err != nil {
				return nil, err
			}
			out[i].Parts = slices.Clone(out[i].Parts)
			out[i].Parts[j] = part
		}
	}
	return out, nil
}

// address returns the file of the session that a part shows.
func address(p *llm.Part) (id string, ok bool) {
	if p.Image == nil {
		return "", false
	}
	return strings.CutPrefix(p.Image.URL, scheme)
}

// filling is one Fill.
type filling struct {
	Images
	known        map[string]found
	count, bytes int
}

// found is what was found of a file: an image, or why it can't be shown.
type found struct {
	mime, why string
	data      []byte
}

// part returns the part that shows a file, or a text.
func (f *filling) part(ctx context.Context, id, detail string) (llm.Part, error) {
	if f.count >= maxImages || f.bytes >= maxImageBytes {
		return left("images that were read later take all the room of this message"), nil
	}
	got, ok := f.known[id]
	if !ok {
		var err error
		if got, err = f.find(ctx, id); err != nil {
			return llm.Part{}, err
		}
		f.known[id] = got
	}
	switch {
	case got.why != "":
		return left(got.why), nil
	case f.bytes+len(got.data) > maxImageBytes:
		f.bytes = maxImageBytes // so that all earlier ones go, too, and not those that happen to be small
		return f.part(ctx, id, detail)
	}
	f.count, f.bytes = f.count+1, f.bytes+len(got.data)
	return llm.Part{Image: &llm.Image{MimeType: got.mime, Data: got.data, Detail: detail}}, nil
}

// find reads a file.
func (f *filling) find(ctx context.Context, id string) (found, error) {
	if !f.Read {
		return found{why: "this language model reads no images"}, nil
	}
	if f.Files == nil {
		return found{why: "this session has no files"}, nil
	}
	data, err := f.open(ctx, id)
	switch {
	case fault.Is(err, fault.KindNotFound):
		return found{why: "the file is gone"}, nil
	case fault.Is(err, fault.KindUpstream): // it is damaged
		return found{why: "the file can't be read"}, nil
	case err != nil:
		return found{}, fmt.Errorf("read an image of the session: %w", err)
	}
	info, err := bitmap.Inspect(data)
	if err != nil { // the bounds have changed since
		return found{why: err.Error()}, nil
	}
	return found{mime: info.MIME, data: data}, nil
}

// open returns the bytes of a file, up to more than an image may have.
func (f *filling) open(ctx context.Context, id string) ([]byte, error) {
	_, content, err := f.Files.Open(ctx, id)
	if err != nil {
		return nil, err
	}
	defer func() { _ = content.Close() }()
	return io.ReadAll(io.LimitReader(content, bitmap.MaxBytes+1))
}

// left is what stands in the place of an image.
func left(why string) llm.Part { return llm.Part{Text: "(It can't be shown: " + why + ".)"} }
